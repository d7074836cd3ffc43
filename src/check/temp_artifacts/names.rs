//! Files that are litter by their name. Only files that are new since the base; never what endwell, a client or an
//! installer writes.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use super::language::{pattern, set};
use crate::git::changes::{Content, FileChange, Place};
use crate::model::Severity;

/// Warned about above this size in bytes.
const LARGE: u64 = 5 * 1024 * 1024;

/// Certain, whatever the folder: tried on the last part of the path.
static CERTAIN: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"\.py[co]$",
        r"^.+~$|\.sw[op]$|^\.#.|^#.+#$",
        r"\.pid$",
        r"^(\.DS_Store|Thumbs\.db|desktop\.ini)$",
        r"\.rej$",
        r"^nohup\.out$|^core\.\d+$|^hs_err_pid\d*\.log$|\.stackdump$|\.heapsnapshot$|^\.nfs[0-9a-f]+$|^\.fuse_hidden",
        r"^tmpclaude-",
        r"^(nul|NUL|\$null)$|^&\d$|^=\d[\w.]*$|^-\w",
    ])
});

/// Certain, but at home in folders of test data.
static OUTSIDE_TESTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.(log|orig|bak|tmp|temp|dmp)$"));
static ROOT_SLIP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(undefined|[12])$"));
static ROOT_SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^_?(debug|scratch|tmp|temp|fix|quick)([_-].*)?\.(py|js|ts|sh|rb|go|php|mjs|cjs)$")
});
static ROOT_OUTPUT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(test_)?(output|out|results)\.(txt|json)$"));
static COPY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^.+ copy( \d+)?\.\w+$|^.+ \(\d+\)\.\w+$"));
static TWIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(.+)_(old|backup|bak|copy|v2|final)(\.\w+)$"));

const TEST_DIRS: [&[u8]; 9] = [
    b"test",
    b"tests",
    b"spec",
    b"specs",
    b"fixtures",
    b"testdata",
    b"snapshots",
    b"__snapshots__",
    b"examples",
];
const SCRATCH_DIRS: [&[u8]; 4] = [b"scratch", b"tmp", b"temp", b"playground"];

/// What a file's name says.
pub(super) struct Verdict {
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    pub(super) message: &'static str,
}

/// Judges a file by its name, mode and size. `exists` tells whether a path is there now.
pub(super) fn judge(file: &FileChange, exists: &dyn Fn(&[u8]) -> bool) -> Option<Verdict> {
    if !file.is_new {
        return None;
    }
    let mut parts: Vec<&[u8]> = file.path.split(|byte| *byte == b'/').collect();
    let name = parts.pop()?;
    if is_certain(name, &parts, file) {
        let message = "A temporary file, by its name";
        return Some(Verdict { code: "temp-file", severity: Severity::Block, message });
    }
    let keeps = matches!(name, b".gitkeep" | b".gitignore" | b".keep");
    if parts.iter().any(|part| SCRATCH_DIRS.contains(part)) && !keeps {
        let severity = if file.place == Place::Untracked { Severity::Block } else { Severity::Warn };
        return Some(Verdict { code: "scratch-dir", severity, message: "A file in a scratch folder" });
    }
    let message = suspicion(name, &parts, file, exists)?;
    Some(Verdict { code: "suspect-file", severity: Severity::Warn, message })
}

fn is_certain(name: &[u8], parts: &[&[u8]], file: &FileChange) -> bool {
    let in_tests = parts.iter().any(|part| TEST_DIRS.contains(part));
    let core = name == b"core" && file.place == Place::Untracked && file.content != Content::NoFile;
    parts.contains(&b"__pycache__".as_slice())
        || CERTAIN.is_match(name)
        || core
        || (!in_tests && OUTSIDE_TESTS.is_match(name))
        || (parts.is_empty() && ROOT_SLIP.is_match(name))
}

fn suspicion(
    name: &[u8],
    parts: &[&[u8]],
    file: &FileChange,
    exists: &dyn Fn(&[u8]) -> bool,
) -> Option<&'static str> {
    let root = parts.is_empty();
    if name.ends_with(b".old") {
        return Some("A file that looks like an old copy");
    }
    if root && ROOT_SCRIPT.is_match(name) {
        return Some("A file that looks like a throw-away script");
    }
    if root && ROOT_OUTPUT.is_match(name) {
        return Some("A file that looks like saved output");
    }
    if COPY.is_match(name) || is_twin(name, &file.path, exists) {
        return Some("A file that looks like a copy of another one");
    }
    if file.size > LARGE {
        return Some("A file of more than 5 MB");
    }
    is_program(name, file).then_some("A compiled program")
}

/// `depot_old.py` beside `depot.py`.
fn is_twin(name: &[u8], path: &[u8], exists: &dyn Fn(&[u8]) -> bool) -> bool {
    let Some(found) = TWIN.captures(name) else { return false };
    let part = |index: usize| found.get(index).map(|part| part.as_bytes()).unwrap_or_default();
    let folder = path.get(..path.len() - name.len()).unwrap_or_default();
    exists(&[folder, part(1), part(3)].concat())
}

/// An executable without an ending whose first bytes are those of ELF or Mach-O.
fn is_program(name: &[u8], file: &FileChange) -> bool {
    let Content::Binary(head) = file.content else { return false };
    let magic =
        head == *b"\x7fELF" || matches!(head, [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe]);
    file.executable && magic && (name == b"a.out" || !name.contains(&b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(path: &str, place: Place) -> Option<(&'static str, Severity)> {
        let file = FileChange::text(path.as_bytes(), None, b"x\n", place);
        let beside: [&[u8]; 2] = [b"depot.py", b"src/lane.rs"];
        judge(&file, &|path| beside.contains(&path)).map(|verdict| (verdict.code, verdict.severity))
    }

    #[test]
    fn litter_is_known_by_its_name() {
        let temp = Some(("temp-file", Severity::Block));
        for path in [
            "a.log",
            "logs/x.log",
            "x/__pycache__/a.pyc",
            "a.bak",
            "src/a.rs.orig",
            "a.rej",
            "a~",
            ".a.swp",
            ".#a",
            "#a#",
            "x.pid",
            "lib/.DS_Store",
            "a.tmp",
            "core",
            "core.12",
            "nul",
            "=1.0",
            "-p",
            "&1",
            "2",
            "tmpclaude-1-cwd",
            "b/tmpclaude-x-cwd",
        ] {
            assert_eq!(code(path, Place::Untracked), temp, "{path}");
        }
        let suspect = Some(("suspect-file", Severity::Warn));
        for path in [
            "a.old",
            "debug_x.py",
            "_fix_encoding.py",
            "tmp.js",
            "depot_old.py",
            "src/lane_v2.rs",
            "a copy.ts",
            "a (1).csv",
            "out.json",
        ] {
            assert_eq!(code(path, Place::Tracked), suspect, "{path}");
        }
        assert_eq!(code("scratch/a.py", Place::Untracked), Some(("scratch-dir", Severity::Block)));
        assert_eq!(code("src/tmp/a.py", Place::Tracked), Some(("scratch-dir", Severity::Warn)));
    }

    #[test]
    fn well_kept_names_are_left_alone() {
        for path in [
            "tests/a.log",
            "spec/x/a.bak",
            "testdata/a.tmp",
            "fixtures/a.orig",
            "tmp/.gitkeep",
            "src/debug.go",
            "src/fix.py",
            "core/mod.rs",
            "src/core.rs",
            "old_lane.py",
            "lane_old.py",
            "lane_v2.rs",
            "docs/log.md",
            "src/output.txt",
            "catalog.json",
            "src/2",
            "template.py",
            "temperature.js",
            "fixtures.rb",
            "quickstart.py",
            "a-b.c",
            "CHANGELOG",
            ".env.example",
        ] {
            assert_eq!(code(path, Place::Tracked), None, "{path}");
        }
        assert_eq!(code("core", Place::Tracked), None);
    }
}
