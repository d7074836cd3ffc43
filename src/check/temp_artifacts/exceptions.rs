//! Exceptions that stand in the code: what people write for other linters, and `endwell:allow(code) reason`. A used one
//! becomes a remark; one of ours without a reason does not count; one that nothing needs is warned about.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::language::pattern;
use super::scan::Scan;
use super::{Added, Found, issue};
use crate::git::changes::lines;
use crate::model::{Issue, Severity};

static OURS: LazyLock<Regex> = LazyLock::new(|| pattern(r"endwell:allow\(([\w ,-]*)\)([^\n]*)"));

/// On the line itself, or alone on the one above.
static THEIRS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bnoqa\b|eslint-disable|\bnolint\b|#!?\[(allow|expect)\([^\]]*clippy::(dbg_macro|print_std(out|err)|use_debug)|rubocop:disable|\bNOSONAR\b|\bNOLINT|\bNOPMD\b|biome-ignore|oxlint-disable|swiftlint:disable|phpcs:ignore|deno-lint-ignore|tslint:disable",
    )
});

/// From here to the end of the file, or to where it is taken back.
static FROM_HERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"/\*\s*eslint-disable(\s|\*)|#!\[(allow|expect)\([^\]]*clippy::(dbg_macro|print_std(out|err)|use_debug)|^\s*#\s*rubocop:disable|(ruff|flake8):\s*noqa|swiftlint:disable\s",
    )
});
static TAKEN_BACK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"eslint-enable|rubocop:enable|swiftlint:enable"));

/// Found by any of the above.
static HINTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern("endwell:allow|noqa|lint|clippy::|rubocop:|NOSONAR|NOLINT|NOPMD|biome-ignore|phpcs:ignore")
});

/// One `endwell:allow`.
struct Allow {
    line: usize,
    codes: Vec<String>,
    reason: String,
    /// Nothing but the comment stands on its line.
    alone: bool,
    used: bool,
}

/// Makes issues of findings, exceptions considered.
pub(super) fn settle(
    found: Vec<Found>,
    path: &[u8],
    text: &[u8],
    scan: Option<&Scan>,
    added: &Added<'_>,
) -> Vec<Issue> {
    if found.is_empty() && memchr::memmem::find(text, b"endwell:allow").is_none() {
        return Vec::new();
    }
    let all: Vec<&[u8]> = lines(text).collect();
    let any = HINTS.is_match(text);
    let mut allows = if any { ours(&all, text, scan) } else { Vec::new() };
    let theirs = if any { from_here(&all) } else { Vec::new() };
    let mut issues: Vec<Issue> = found
        .into_iter()
        .map(|found| {
            let line = all.get(found.line).copied().unwrap_or_default();
            let issue = issue(found.code, found.severity, format!("{}.", found.message), path)
                .line(u32::try_from(found.line + 1).unwrap_or(u32::MAX))
                .text(&String::from_utf8_lossy(line))
                .hint(found.hint);
            excepted(issue, &found, &mut allows, &theirs, if any { &all } else { &[] })
        })
        .collect();
    // a file of no known language may speak of exceptions without making one, and so may documentation of the form
    let speaks = |allow: &Allow| scan.is_none() || allow.codes.iter().all(|code| code == "code");
    let unused = allows.iter().filter(|allow| !allow.used && added.is_raw(allow.line) && !speaks(allow));
    issues.extend(unused.map(|allow| {
        let line = all.get(allow.line).copied().unwrap_or_default();
        issue("unused-exception", Severity::Warn, "Nothing here needs this `endwell:allow`.", path)
            .line(u32::try_from(allow.line + 1).unwrap_or(u32::MAX))
            .text(&String::from_utf8_lossy(line))
            .hint("Delete it, or name the code of the finding that it is for.")
    }));
    issues
}

fn excepted(mut issue: Issue, found: &Found, allows: &mut [Allow], theirs: &[bool], all: &[&[u8]]) -> Issue {
    let ours = allows.iter_mut().find(|allow| {
        let beside = (found.first..=found.last).contains(&allow.line);
        let above = allow.alone && allow.line + 1 == found.first;
        (beside || above) && allow.codes.iter().any(|code| code == found.code)
    });
    if let Some(allow) = ours {
        allow.used = true;
        if allow.reason.is_empty() {
            issue.message.push_str(" The `endwell:allow` beside it gives no reason, so it does not count.");
            return issue;
        }
        issue.severity = Severity::Info;
        issue.message = format!("Allowed ({}): {}", allow.reason, issue.message);
        return issue;
    }
    if found.code != "conflict-marker" && found.code != "do-not-commit" && has_theirs(found, theirs, all) {
        issue.severity = Severity::Info;
        issue.message = format!("Allowed by a linter's exception: {}", issue.message);
    }
    issue
}

fn has_theirs(found: &Found, theirs: &[bool], all: &[&[u8]]) -> bool {
    let line = |number: usize| all.get(number).copied().unwrap_or_default();
    let above = found.first.checked_sub(1).map(line).unwrap_or_default();
    theirs.get(found.line).copied().unwrap_or_default()
        || THEIRS.is_match(line(found.line))
        || (is_alone(above) && THEIRS.is_match(above))
}

/// A comment, or an attribute, with nothing before it.
fn is_alone(line: &[u8]) -> bool {
    let bare = line.trim_ascii_start();
    [b"//".as_slice(), b"#", b"/*", b"*", b"--"].iter().any(|open| bare.starts_with(open))
}

fn ours(all: &[&[u8]], text: &[u8], scan: Option<&Scan>) -> Vec<Allow> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (number, line) in all.iter().enumerate() {
        // offsets only matter where the scan knows strings; both count the same lines
        let start = scan.map_or(offset, |scan| scan.span(number, text).0);
        offset += line.len() + 1;
        let Some(captures) = OURS.captures(line) else { continue };
        let at = captures.get(0).map_or(0, |whole| whole.start());
        if scan.is_some_and(|scan| scan.in_string(start + at)) {
            continue;
        }
        let part = |index: usize| captures.get(index).map(|part| part.as_bytes()).unwrap_or_default();
        let codes = String::from_utf8_lossy(part(1)).into_owned();
        let reason = String::from_utf8_lossy(part(2)).into_owned();
        let reason = reason.trim().trim_end_matches("*/").trim_end_matches("-->").trim();
        found.push(Allow {
            line: number,
            codes: codes.split(',').map(|code| code.trim().to_owned()).collect(),
            reason: reason.trim_start_matches([':', '-', ' ']).to_owned(),
            alone: is_alone(line) || scan.is_none(),
            used: false,
        });
    }
    found
}

/// For each line, whether another linter's exception is in force that began above it.
fn from_here(all: &[&[u8]]) -> Vec<bool> {
    let mut covered = vec![false; all.len()];
    let mut active = false;
    let mut until: Option<usize> = None;
    for (number, line) in all.iter().enumerate() {
        if TAKEN_BACK.is_match(line) {
            active = false;
        } else if FROM_HERE.is_match(line) {
            active = true;
        }
        let bare = line.trim_ascii_start();
        let depth = line.len() - bare.len();
        if bare.starts_with(b"#[") && THEIRS.is_match(bare) {
            // an attribute of Rust covers the item below it
            until = Some(depth);
        }
        if let Some(item) = until {
            covered[number] = true;
            if depth <= item && (bare.starts_with(b"}") || (bare.ends_with(b";") && !bare.starts_with(b"#[")))
            {
                until = None;
            }
        }
        covered[number] |= active;
    }
    covered
}
