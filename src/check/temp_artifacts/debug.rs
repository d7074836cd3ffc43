//! What exists only while somebody looks for a fault: debugger calls, prints, focused tests, notes in capitals that
//! forbid a commit. Judges live code on added lines; text in strings is data.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::language::{Compiled, Language, Style, pattern};
use super::scan::Scan;
use super::{Added, Found};
use crate::model::Severity;

static NO_COMMIT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(DO NOT (COMMIT|MERGE)|NOCOMMIT|DELETE ME)\b|\bREMOVE BEFORE\s+\w"));

/// A text that says that it is for debugging.
static SAYS_SO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\[?\s*((DEBUG|HERE|XXX|WTF|CHECKPOINT|GOT HERE)([^\w=-]|-\s|=\s|=$|$)|([Dd]ebug|[Hh]ere|[Gg]ot here|[Cc]heckpoint)([\s!:=]*$|\s*\]|\s*:|=([\s{%]|$)|\s+=|\s*[{$%#\\<>!]|\s*\d|\s*[-.]+(\s|>|$)))",
    )
});

/// Folders in which printing is the program's job.
const PRINTING_DIRS: [&str; 15] = [
    "bin",
    "cmd",
    "cli",
    "examples",
    "example",
    "test",
    "tests",
    "spec",
    "specs",
    "scripts",
    "benches",
    "docs",
    "testdata",
    "__tests__",
    "bench",
];

/// Names of files in which it is, without the ending.
const PRINTING_NAMES: [&str; 8] = ["main", "cli", "manage", "build", "Program", "Main", "__main__", "setup"];

/// One file to be looked at.
pub(super) struct Subject<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a [u8],
    pub(super) base: Option<&'a [u8]>,
    pub(super) scan: &'a Scan,
    pub(super) language: &'a Language,
    pub(super) added: &'a Added<'a>,
}

/// Everything of this kind on the added lines.
pub(super) fn find(subject: &Subject<'_>) -> Vec<Found> {
    let compiled = subject.language.compiled();
    let mut found = Vec::new();
    let mut quiet: Option<bool> = None;
    let mut from = 0;
    while let Some(hit) = compiled.hints.find_at(subject.text, from) {
        let line = subject.scan.line_of(hit.start());
        let (start, end) = subject.scan.span(line, subject.text);
        from = end.max(hit.end());
        if end - start > super::MAX_LINE || !subject.added.counts(line, subject.text, subject.scan) {
            continue;
        }
        found.extend(no_commit(subject, line, start));
        if let Some(issue) = call(subject, compiled, line, start) {
            found.push(issue);
        } else if let Some(offset) = print_at(subject, compiled, line, start) {
            let printing = || is_printing_place(subject.path) || printed_before(subject.base, compiled);
            if says_so(subject, offset, end) {
                found.push(debugging(line, "A print whose text says that it is for debugging"));
            } else if !subject.language.debug.text_only && !*quiet.get_or_insert_with(printing) {
                found.push(print(line));
            }
        }
        found.extend(focused(subject, compiled, line, start));
        found.extend(switched_off(subject, compiled, line));
    }
    found
}

/// The end of the first match on a line that is not in a string.
fn matched(regex: Option<&Regex>, subject: &Subject<'_>, line: usize, start: usize) -> Option<usize> {
    let live = subject.scan.live_line(line);
    let mut matches = regex?.find_iter(live);
    let outside = |end: &usize| !subject.scan.in_string(start + end.saturating_sub(1));
    matches.find_map(|hit| Some(hit.end()).filter(outside)).map(|end| start + end)
}

fn call(subject: &Subject<'_>, compiled: &Compiled, line: usize, start: usize) -> Option<Found> {
    matched(compiled.calls.as_ref(), subject, line, start)?;
    Some(debugging(line, "A call that exists only for debugging"))
}

fn debugging(line: usize, message: &str) -> Found {
    let hint = "Delete the line, or write `endwell:allow(debug-call) REASON` on it or above it.";
    Found::new("debug-call", Severity::Block, line, message, hint)
}

fn print(line: usize) -> Found {
    let message = "A print in a file that printed nothing before";
    let hint = "Delete it if it was for debugging; else use the project's logger, or `endwell:allow(debug-print) REASON`.";
    Found::new("debug-print", Severity::Warn, line, message, hint)
}

fn print_at(subject: &Subject<'_>, compiled: &Compiled, line: usize, start: usize) -> Option<usize> {
    let end = matched(compiled.prints.as_ref(), subject, line, start)?;
    let live = subject.scan.live_line(line);
    let none = compiled.no_print.as_ref().is_some_and(|regex| regex.is_match(live));
    let defined = subject.language.debug.no_print.contains("define") && in_define(subject, line);
    (!none && !defined).then_some(end)
}

/// Whether a line goes on with a `#define` above it.
fn in_define(subject: &Subject<'_>, line: usize) -> bool {
    let above = (1..=50)
        .filter_map(|back| line.checked_sub(back))
        .map(|line| subject.scan.live_line(line).trim_ascii());
    let mut above = above.take_while(|text| text.ends_with(b"\\"));
    above.any(|text| {
        text.starts_with(b"#") && text.get(1..).unwrap_or_default().trim_ascii().starts_with(b"define")
    })
}

/// Whether the first literal of a print that ends at `offset` says that it is for debugging.
fn says_so(subject: &Subject<'_>, offset: usize, end: usize) -> bool {
    if let Some((from, to)) = subject.scan.string_in(offset.saturating_sub(1), end) {
        // what is added to the literal, or comes after it, goes on with it
        return SAYS_SO.is_match(subject.text.get(from..to).unwrap_or_default());
    }
    if subject.language.style != Style::Shell {
        return false;
    }
    let rest = subject.text.get(offset..end).unwrap_or_default().trim_ascii();
    let rest = rest.strip_prefix(b"-e ").or_else(|| rest.strip_prefix(b"-n ")).unwrap_or(rest);
    let cut = rest.iter().position(|byte| matches!(byte, b'>' | b';' | b'|' | b'&')).unwrap_or(rest.len());
    SAYS_SO.is_match(rest.get(..cut).unwrap_or_default())
}

fn printed_before(base: Option<&[u8]>, compiled: &Compiled) -> bool {
    let Some(base) = base else { return false };
    compiled.prints.as_ref().is_some_and(|prints| {
        let mut lines = base.split(|byte| *byte == b'\n').filter(|line| line.len() <= super::MAX_LINE);
        lines.any(|line| {
            prints.is_match(line) && !compiled.no_print.as_ref().is_some_and(|none| none.is_match(line))
        })
    })
}

/// Whether printing is the job of a file at this place.
fn is_printing_place(path: &str) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let middle = |part: &str| name.contains(&format!(".{part}."));
    dirs.split('/')
        .any(|dir| PRINTING_DIRS.contains(&dir.to_ascii_lowercase().as_str()) || dir.ends_with(".Tests"))
        || PRINTING_NAMES.contains(&stem)
        || middle("test")
        || middle("spec")
        || ["_test", "_spec", "Test", "Tests", "Spec"].iter().any(|end| stem.ends_with(end))
        || stem.starts_with("test_")
}

fn no_commit(subject: &Subject<'_>, line: usize, start: usize) -> Option<Found> {
    let (_, end) = subject.scan.span(line, subject.text);
    let text = subject.text.get(start..end).unwrap_or_default();
    let hit = NO_COMMIT.find_iter(text).find(|hit| !subject.scan.in_string(start + hit.start()))?;
    let words = String::from_utf8_lossy(hit.as_bytes()).into_owned();
    let message = format!("The line says that it must not be committed: `{words}`");
    let hint =
        "Do what it says, then delete the note; or write `endwell:allow(do-not-commit) REASON` above it.";
    Some(Found::new("do-not-commit", Severity::Block, line, message, hint))
}

fn focused(subject: &Subject<'_>, compiled: &Compiled, line: usize, start: usize) -> Option<Found> {
    matched(compiled.focused.as_ref(), subject, line, start)?;
    let message = "A focused test: it switches its siblings off";
    let hint = "Take the focus away (`.only`, `fit`, `focus: true`), so that all tests run.";
    Some(Found::new("focused-test", Severity::Block, line, message, hint))
}

fn switched_off(subject: &Subject<'_>, compiled: &Compiled, line: usize) -> Option<Found> {
    let regex = compiled.switched_off.as_ref()?;
    if !regex.is_match(subject.scan.live_line(line)) {
        return None;
    }
    let message = "Code is switched off by the preprocessor";
    let hint = "Delete it (git keeps it), or write `endwell:allow(commented-code) REASON` above it.";
    Some(Found::new("commented-code", Severity::Warn, line, message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_that_it_is_for_debugging() {
        let says = |text: &str| SAYS_SO.is_match(text.as_bytes());
        for text in [
            "here",
            "Here",
            "here {id}",
            "debug: %s",
            "DEBUG lane",
            "[DEBUG] route",
            "XXX",
            "got here",
            "here 1",
            "debug",
            "checkpoint",
            "HERE!",
            "GOT HERE x",
            "debug: ",
            "here\\n",
            "DEBUG=",
            "here -> ",
            "WTF?",
        ] {
            assert!(says(text), "{text}");
        }
        for text in [
            "here are the lanes",
            "debug builds are larger",
            "debugging is off",
            "here's your label",
            "Here is",
            "DEBUG_MODE is",
            "checkpoint files",
            "here, take it",
            "heretic",
            "debug-mode on",
            "XXXL",
            "HEREIN",
            "DEBUG-only",
            "here=$(pwd)",
            "DEBUG=1",
            "",
        ] {
            assert!(!says(text), "{text}");
        }
    }
}
