//! What besides the tree could change a test's result, as named parts: ignored files, toolchain, chosen variables. It
//! is looked at without starting anything, so that a look-up stays cheap. Values of variables are kept as digests:
//! they may be secrets.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::model::issue::sha256_hex;

/// The parts, by name: `file:PATH`, `folder:PATH`, `tool:NAME`, `variable:NAME`, `platform`.
pub type Parts = BTreeMap<String, String>;

/// An ignored file up to this size is known by its content, a larger one by size and time.
const SMALL: u64 = 64 << 10;
/// So many ignored files are looked at, in order of their names; of more only the number counts.
const MOST: usize = 400;

/// Variables that are known to steer test runs.
const VARIABLES: [&str; 30] = [
    "APP_ENV",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "CGO_ENABLED",
    "CLASSPATH",
    "DATABASE_URL",
    "DJANGO_SETTINGS_MODULE",
    "ENV",
    "GOARCH",
    "GOFLAGS",
    "GOOS",
    "GRADLE_OPTS",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_OPTS",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTEST_ADDOPTS",
    "PYTHONHASHSEED",
    "PYTHONPATH",
    "RAILS_ENV",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "RUST_TEST_THREADS",
    "TZ",
];

/// Folders that tools fill with what they derive from the rest: their content follows from what is looked at anyway.
const DERIVED: [&str; 34] = [
    ".cache",
    ".eggs",
    ".gradle",
    ".hypothesis",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".phpunit.cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".tox",
    ".turbo",
    ".vite",
    "Testing",
    "__pycache__",
    "_build",
    "bin",
    "build",
    "coverage",
    "dist",
    "htmlcov",
    "log",
    "logs",
    "obj",
    "out",
    "target",
    "temp",
    "tmp",
    ".build",
    ".swiftpm",
];

/// Folders of agents and editors: no test looks into them, and they change all the time.
const WORKSHOP: [&str; 10] = [
    ".claude",
    ".codex",
    ".cursor",
    ".factory",
    ".fleet",
    ".gemini",
    ".idea",
    ".opencode",
    ".qwen",
    ".vscode",
];

/// Ends of file names that tools write.
const DERIVED_ENDS: [&str; 13] = [
    ".class",
    ".eslintcache",
    ".log",
    ".o",
    ".pid",
    ".pyc",
    ".pyo",
    ".swo",
    ".swp",
    ".tmp",
    ".tsbuildinfo",
    "~",
    ".DS_Store",
];

/// Ends of names of files that runs write anew each time: reports, counters, and databases made for tests.
const RUN_WRITES: [&str; 20] = [
    ".coverage",
    ".db",
    ".db-journal",
    ".db-shm",
    ".db-wal",
    ".gcda",
    ".gcno",
    ".gcov",
    ".lcov",
    ".profdata",
    ".profraw",
    ".sqlite",
    ".sqlite3",
    ".sqlite3-journal",
    ".trx",
    "coverage.json",
    "coverage.out",
    "coverage.xml",
    "junit.xml",
    "lcov.info",
];

/// Whether a part is what test runs are known to write. Whatever else changes while the tests run may have steered
/// them, so the result belongs to neither state.
pub fn written_by_runs(part: &str) -> bool {
    part.starts_with("folder:")
        || part.strip_prefix("file:").is_some_and(|path| RUN_WRITES.iter().any(|end| path.ends_with(end)))
}

/// Where to look.
pub struct Look<'a> {
    pub env: &'a Env,
    /// The top of the work tree.
    pub top: &'a Path,
    pub argv: &'a [String],
    /// The ignored paths as the status walk found them.
    pub ignored: &'a [Vec<u8>],
    /// `[tests] inputs`: files, folders or patterns that matter whatever they are.
    pub inputs: &'a [String],
}

/// Looks.
pub fn look(look: &Look<'_>, own: &dyn Fn(&[u8]) -> bool) -> Parts {
    let mut parts = Parts::new();
    parts.insert("platform".to_owned(), format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH));
    for name in VARIABLES {
        if let Some(value) = look.env.os(name) {
            parts.insert(format!("variable:{name}"), digest(value.as_bytes()));
        }
    }
    tools(look, &mut parts);
    ignored(look, own, &mut parts);
    for input in look.inputs {
        for path in inputs(look.top, input) {
            let shown = path.strip_prefix(look.top).unwrap_or(&path).display().to_string();
            parts.insert(format!("file:{shown}"), content(&path, u64::MAX));
        }
    }
    parts
}

/// The digest that stands for the parts, without those that the run itself changes.
pub fn digest_of(parts: &Parts, volatile: &[String]) -> String {
    let counted = parts.iter().filter(|(name, _)| !volatile.contains(name));
    let texts: Vec<String> = counted.map(|(name, value)| format!("{name}\0{value}\0")).collect();
    sha256_hex(texts.concat().as_bytes())
}

/// Names of the parts that differ, in order.
pub fn differences(one: &Parts, two: &Parts) -> Vec<String> {
    let differs = |name: &&String| one.get(*name) != two.get(*name);
    let mut names: Vec<String> = one.keys().chain(two.keys()).filter(differs).cloned().collect();
    names.sort();
    names.dedup();
    names
}

fn ignored(look: &Look<'_>, own: &dyn Fn(&[u8]) -> bool, parts: &mut Parts) {
    let matters = |path: &&Vec<u8>| !own(path) && !own(trimmed(path)) && !is_derived(path);
    let mut paths: Vec<&Vec<u8>> = look.ignored.iter().filter(matters).collect();
    paths.sort();
    if paths.len() > MOST {
        parts.insert("file:more".to_owned(), (paths.len() - MOST).to_string());
    }
    for path in paths.into_iter().take(MOST) {
        let shown = String::from_utf8_lossy(path).into_owned();
        if path.ends_with(b"/") {
            parts.insert(format!("folder:{shown}"), "there".to_owned());
        } else {
            parts.insert(format!("file:{shown}"), content(&look.top.join(OsStr::from_bytes(path)), SMALL));
        }
    }
}

fn trimmed(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}

/// Whether an ignored path is a tool's product or a workshop's.
fn is_derived(path: &[u8]) -> bool {
    let text = String::from_utf8_lossy(trimmed(path)).into_owned();
    let mut folders: Vec<&str> = text.split('/').collect();
    let name = if path.ends_with(b"/") { "" } else { folders.pop().unwrap_or_default() };
    let covered = name == ".coverage" || name.starts_with(".coverage.") || name.starts_with(".endwell-");
    covered
        || folders.iter().any(|folder| {
            DERIVED.contains(folder) || WORKSHOP.contains(folder) || folder.ends_with(".egg-info")
        })
        || (!name.is_empty() && DERIVED_ENDS.iter().any(|end| name.ends_with(end)))
}

/// A file's content, or its size and time where it is large; never opens anything but a regular file.
fn content(path: &Path, small: u64) -> String {
    match crate::fs::stat(path) {
        None => "gone".to_owned(),
        Some(meta) if meta.is_file() && meta.len() <= small => match crate::fs::read(path) {
            Ok(bytes) => digest(&bytes),
            Err(_) => "unreadable".to_owned(),
        },
        Some(meta) => stamp(&meta),
    }
}

fn stamp(meta: &std::fs::Metadata) -> String {
    format!("{} bytes at {}.{:09}", meta.len(), meta.mtime(), meta.mtime_nsec())
}

fn digest(bytes: &[u8]) -> String {
    sha256_hex(bytes)[..16].to_owned()
}

/// The programs behind a test command, and what tells a shim's choice.
fn tools(look: &Look<'_>, parts: &mut Parts) {
    let program = look.argv.first().map(String::as_str).unwrap_or_default();
    let words = look.argv.join(" ");
    let mut names: Vec<&str> = vec![program];
    let families: [(&[&str], &[&str]); 9] = [
        (&["go test"], &["go"]),
        (&["cargo"], &["cargo", "rustc"]),
        (&["python", "pytest", "tox", "uv ", "poetry"], &["python3", "python"]),
        (&["npm", "pnpm", "yarn", "node", "npx"], &["node"]),
        (&["bun"], &["bun"]),
        (&["mvn", "gradle"], &["java"]),
        (&["rspec", "rake", "rails", "bundle"], &["ruby"]),
        (&["phpunit"], &["php"]),
        (&["ctest", "make"], &["cc"]),
    ];
    for (signs, tools) in families {
        if signs.iter().any(|sign| words.contains(sign)) {
            names.extend(tools);
        }
    }
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        let place = if name.contains('/') { Some(look.top.join(name)) } else { look.env.which(name) };
        let Some(place) = place else {
            parts.insert(format!("tool:{name}"), "not on PATH".to_owned());
            continue;
        };
        let stamp = place.metadata().map_or_else(|_| "gone".to_owned(), |meta| stamp(&meta));
        parts.insert(format!("tool:{name}"), format!("{} {stamp}", place.display()));
    }
    shims(look, parts);
}

/// Version managers put shims on PATH that never change; what they choose lies in small files.
fn shims(look: &Look<'_>, parts: &mut Parts) {
    let home = look.env.home().unwrap_or_default();
    let root = |variable: &str, default: &str| {
        look.env.os(variable).map_or_else(|| home.join(default), PathBuf::from)
    };
    let words = look.argv.join(" ");
    if words.contains("cargo") {
        let rustup = root("RUSTUP_HOME", ".rustup");
        file_part(parts, "tool:rustup settings", &rustup.join("settings.toml"));
        for hashes in crate::fs::list(&rustup.join("update-hashes")).unwrap_or_default() {
            let name = hashes.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            file_part(parts, &format!("tool:rustup {name}"), &hashes);
        }
    }
    if words.contains("py") || words.contains("tox") {
        file_part(parts, "tool:pyenv version", &root("PYENV_ROOT", ".pyenv").join("version"));
    }
}

fn file_part(parts: &mut Parts, name: &str, path: &Path) {
    if crate::fs::exists(path) {
        parts.insert(name.to_owned(), content(path, SMALL));
    }
}

/// The files that an input names: itself, all below it, or what its pattern matches below its fixed part.
fn inputs(top: &Path, input: &str) -> Vec<PathBuf> {
    let fixed: PathBuf = Path::new(input)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let mut found = Vec::new();
    walk(&top.join(&fixed), &mut found, 0);
    let literal = Path::new(input).components().count() == fixed.components().count();
    if literal {
        if found.is_empty() {
            found.push(top.join(fixed));
        }
        return found;
    }
    let Ok(pattern) = globset::GlobBuilder::new(input).literal_separator(true).build() else {
        return Vec::new();
    };
    let matcher = pattern.compile_matcher();
    found.retain(|path| path.strip_prefix(top).is_ok_and(|path| matcher.is_match(path)));
    found
}

fn walk(path: &Path, found: &mut Vec<PathBuf>, depth: usize) {
    match crate::fs::stat(path) {
        Some(meta) if meta.is_dir() && depth < 32 => {
            for below in crate::fs::list(path).unwrap_or_default() {
                walk(&below, found, depth + 1);
            }
        }
        Some(meta) if meta.is_file() => found.push(path.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(top: &Path, ignored: &[&str], inputs: &[&str], vars: &[(&str, &str)]) -> Parts {
        let env = Env::made_of(top, vars.iter().copied());
        let ignored: Vec<Vec<u8>> = ignored.iter().map(|path| path.as_bytes().to_vec()).collect();
        let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
        let argv = vec!["no-such-tool".to_owned()];
        look(&Look { env: &env, top, argv: &argv, ignored: &ignored, inputs: &inputs }, &|path| {
            path == b"outputs"
        })
    }

    #[test]
    fn an_ignored_file_matters_and_a_tools_product_does_not() {
        let dir = tempfile::tempdir().unwrap();
        crate::fs::write_plain(&dir.path().join(".env"), b"A=1").unwrap();
        let ignored = [
            ".env",
            "target/",
            "a/__pycache__/",
            "x.log",
            "outputs/",
            "node_modules/",
            ".claude/settings.local.json",
        ];
        let one = parts(dir.path(), &ignored, &[], &[("HOME", "/h")]);
        let looked: Vec<&str> = one.keys().map(String::as_str).collect();
        assert_eq!(looked, ["file:.env", "folder:node_modules/", "platform", "tool:no-such-tool"]);
        crate::fs::write_plain(&dir.path().join(".env"), b"A=2").unwrap();
        let two = parts(dir.path(), &ignored, &[], &[("HOME", "/h"), ("NODE_ENV", "secret")]);
        assert_eq!(differences(&one, &two), ["file:.env", "variable:NODE_ENV"]);
        assert!(!two.values().any(|value| value.contains("secret")));
        let volatile = ["file:.env".to_owned(), "variable:NODE_ENV".to_owned()];
        assert_eq!(digest_of(&one, &volatile), digest_of(&two, &volatile));
        assert_ne!(digest_of(&one, &[]), digest_of(&two, &[]));
    }

    #[test]
    fn inputs_are_files_folders_and_patterns() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["data/a.bin", "data/deep/b.bin", "data/c.txt"] {
            crate::fs::write_atomic(&dir.path().join(name), b"x").unwrap();
        }
        let names = |input: &str| -> Vec<String> {
            let found = inputs(dir.path(), input);
            found.iter().map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(names("data/**/*.bin"), ["data/a.bin", "data/deep/b.bin"]);
        assert_eq!(names("data/*.bin"), ["data/a.bin"]);
        assert_eq!(names("data"), ["data/a.bin", "data/c.txt", "data/deep/b.bin"]);
        assert_eq!(names("missing"), ["missing"]);
    }
}
