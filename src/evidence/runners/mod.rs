//! What a test runner's output says: names of the failing tests and counts. Pure functions over text, one file a
//! family; a family that does not recognise its own marks in the text says nothing. Several may speak, where one
//! command runs several runners.

mod cargo;
mod ctest;
mod dotnet;
mod go;
mod javascript;
mod jvm;
mod php;
mod python;
mod ruby;
mod swift;
mod tap;

use std::collections::BTreeSet;
use std::path::Path;

/// What the output told. A count that it does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
    /// Sorted, each once.
    pub failing: Vec<String>,
}

/// One runner's reader: nothing where the text is not its own.
type Reader = fn(&str) -> Option<Told>;

const RUNNERS: [Reader; 18] = [
    cargo::libtest,
    cargo::nextest,
    python::pytest,
    python::unittest,
    go::plain,
    go::json,
    javascript::jest,
    javascript::vitest,
    javascript::mocha,
    javascript::node_spec,
    jvm::surefire,
    jvm::gradle,
    dotnet::vstest,
    ruby::rspec,
    ruby::minitest,
    php::phpunit,
    ctest::ctest,
    swift::xctest,
];

/// Reads both streams. Names that start with the folder's own path lose it, so that they are the same everywhere.
pub fn read(stdout: &str, stderr: &str, root: &Path) -> Told {
    let mut text = String::with_capacity(stdout.len() + stderr.len() + 2);
    for stream in [stdout, stderr] {
        put_plain(&mut text, stream);
        text.push('\n');
    }
    let mut told: Vec<Told> = RUNNERS.iter().filter_map(|read| read(&text)).collect();
    if told.is_empty() {
        // many tools print single lines that look like it, so it speaks only where nobody else does
        told.extend(tap::tap(&text));
    }
    merged(&told, &format!("{}/", root.display()))
}

fn merged(all: &[Told], root: &str) -> Told {
    let sum = |count: fn(&Told) -> Option<u64>| {
        all.iter().filter_map(count).fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0) + count))
    };
    let names: BTreeSet<&str> = all.iter().flat_map(|told| &told.failing).map(|name| name.trim()).collect();
    let own = |name: &str| name.strip_prefix(root).unwrap_or(name).to_owned();
    Told {
        passed: sum(|told| told.passed),
        failed: sum(|told| told.failed),
        skipped: sum(|told| told.skipped),
        failing: names.into_iter().filter(|name| !name.is_empty()).map(own).collect(),
    }
}

impl Told {
    fn counted(passed: u64, failed: u64, skipped: u64, failing: Vec<String>) -> Self {
        Self { passed: Some(passed), failed: Some(failed), skipped: Some(skipped), failing }
    }
}

/// The number that stands right before a word; 0 where there is none.
fn before(text: &str, word: &str) -> u64 {
    let Some(end) = text.find(word) else { return 0 };
    let digits = text[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |last| last + 1);
    text[digits..end].parse().unwrap_or(0)
}

/// The number that stands after a word and spaces; 0 where there is none.
fn after(text: &str, word: &str) -> u64 {
    let Some(start) = text.find(word) else { return 0 };
    let rest = text[start + word.len()..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().unwrap_or(0)
}

/// How far a line is indented, in spaces.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The text without terminal escapes and with plain line ends; a line that was overwritten after a carriage return is
/// its last state.
pub fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    put_plain(&mut out, text);
    out
}

fn put_plain(out: &mut String, text: &str) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if matches!(chars.peek(), Some('\n') | None) => {}
            '\r' => {
                let line = out.rfind('\n').map_or(0, |end| end + 1);
                out.truncate(line);
            }
            '\u{8}' => {}
            c => out.push(c),
        }
    }
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // a control sequence ends with a character from `@` to `~`
        Some('[') => {
            chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
        // an operating system command ends with a bell or another escape
        Some(']') => {
            let end = chars.by_ref().find(|c| matches!(c, '\u{7}' | '\u{1b}'));
            if end == Some('\u{1b}') {
                chars.next();
            }
        }
        _ => {}
    }
}
