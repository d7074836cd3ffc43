//! What a test runner's output says: names of the failing tests and counts. Pure functions over text, one file a
//! family; a family that does not recognise its own marks in the text says nothing. Several may speak, where one
//! command runs several runners.

mod cargo;
mod python;

use std::collections::BTreeSet;

/// What the output told. A count that it does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
    /// Sorted, each once.
    pub failing: Vec<String>,
}

/// One family's reader: nothing where the text is not of its runner.
type Reader = fn(&str) -> Option<Told>;

const FAMILIES: [Reader; 3] = [cargo::read, cargo::read_nextest, python::read_unittest];

/// Reads both streams.
pub fn read(stdout: &str, stderr: &str) -> Told {
    let text = format!("{}\n{}\n", plain_text(stdout), plain_text(stderr));
    let told: Vec<Told> = FAMILIES.iter().filter_map(|read| read(&text)).collect();
    merged(&told)
}

fn merged(all: &[Told]) -> Told {
    let sum = |count: fn(&Told) -> Option<u64>| {
        all.iter().filter_map(count).fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0) + count))
    };
    let names: BTreeSet<&String> = all.iter().flat_map(|told| &told.failing).collect();
    Told {
        passed: sum(|told| told.passed),
        failed: sum(|told| told.failed),
        skipped: sum(|told| told.skipped),
        failing: names.into_iter().cloned().collect(),
    }
}

/// The text without terminal escapes and with plain line ends; a line that was overwritten by carriage returns is its
/// last state.
pub fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => {
                let line = out.rfind('\n').map_or(0, |end| end + 1);
                out.truncate(line);
            }
            '\u{8}' => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // a control sequence ends with a byte from `@` to `~`
        Some('[') => {
            chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
        // an operating system command ends with a bell or another escape
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next();
                    break;
                }
            }
        }
        _ => {}
    }
}
