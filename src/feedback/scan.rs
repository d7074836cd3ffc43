//! Reading the log, however long it is: every failure and the last records of a session, without parsing the rest.
//!
//! One pass in pieces looks at every `"exit_code"` and `"error"` key (a nested one must not hide the record's own)
//! and parses only lines where one of them may mean a failure. A second pass reads backwards for the last records.
//! Lines that are torn or no JSON are counted, never fatal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::{memchr, memmem, memrchr};
use serde::Deserialize;
use serde_json::Value;

use crate::fs;
use crate::model::feedback::{FeedbackRecord, Outcome};

const PIECE: usize = 256 * 1024;

/// A longer line is no record.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// So many failures are held at most; of more, the newest.
const MAX_FAILURES: usize = 5_000;

/// How far back the last records are looked for.
const MAX_BACK: u64 = 64 * 1024 * 1024;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// How many of the last records, whatever they are.
    pub last: usize,
    /// Only this session's, and those of none; `None`: all.
    pub session: Option<&'a str>,
}

/// A record and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// File (0 is the oldest) and byte offset of the line: log order.
    pub place: (usize, u64),
    pub record: FeedbackRecord,
    /// Among the last records that were asked for.
    pub recent: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Every failure and the last records, each once, in log order.
    pub records: Vec<Numbered>,
    /// Lines that were looked at and are no record.
    pub unreadable: u64,
    /// Failures that were let go because there are too many.
    pub dropped: u64,
    /// There are records before the recent ones.
    pub more: bool,
}

/// Reads the files, oldest first.
pub fn scan(files: &[PathBuf], wanted: &Wanted<'_>) -> io::Result<Reading> {
    let mut found =
        Found { wanted: *wanted, failures: VecDeque::new(), unreadable: BTreeSet::new(), dropped: 0 };
    for (index, path) in files.iter().enumerate() {
        forward(path, |offset, line| found.failure((index, offset), line))?;
    }
    let lines = std::mem::take(&mut found.failures);
    let mut kept: BTreeMap<(usize, u64), Numbered> = lines
        .into_iter()
        .filter_map(|(place, line)| Some((place, Numbered { place, record: parse(&line)?, recent: false })))
        .collect();
    let mut count = 0;
    let mut more = false;
    for (index, path) in files.iter().enumerate().rev() {
        let done = backward(path, |offset, line| {
            let Some(record) = found.read((index, offset), line) else { return true };
            if count == wanted.last {
                more = true;
                return false;
            }
            count += 1;
            let place = (index, offset);
            kept.insert(place, Numbered { place, record, recent: true });
            true
        })?;
        if !done {
            more = true;
            break;
        }
    }
    let unreadable = found.unreadable.len() as u64;
    Ok(Reading { records: kept.into_values().collect(), unreadable, dropped: found.dropped, more })
}

struct Found<'a> {
    wanted: Wanted<'a>,
    /// Failures as they stand in the log: of many, most are let go again before they are worth a record.
    failures: VecDeque<((usize, u64), Vec<u8>)>,
    unreadable: BTreeSet<(usize, u64)>,
    dropped: u64,
}

impl Found<'_> {
    /// Parses a line of the session that is asked for.
    fn read(&mut self, place: (usize, u64), line: &[u8]) -> Option<FeedbackRecord> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let Some(record) = parse(line) else {
            if self.unreadable.len() < MAX_FAILURES {
                self.unreadable.insert(place);
            }
            return None;
        };
        self.is_ours(record.session_id.as_deref()).then_some(record)
    }

    fn is_ours(&self, session: Option<&str>) -> bool {
        match (self.wanted.session, session) {
            (Some(wanted), Some(session)) => wanted == session,
            _ => true,
        }
    }

    fn failure(&mut self, place: (usize, u64), line: &[u8]) {
        let failed = match serde_json::from_slice::<Ending<'_>>(line) {
            Ok(ending) => self.is_ours(ending.session_id) && ending.is_failure(),
            // other types, doubled keys, escapes in the wrong place: read with more patience
            Err(_) => self.read(place, line).is_some_and(|record| record.outcome() == Outcome::Failure),
        };
        if !failed {
            return;
        }
        let mut kept = if self.failures.len() == MAX_FAILURES {
            self.dropped += 1;
            self.failures.pop_front().map(|(_, line)| line).unwrap_or_default()
        } else {
            Vec::new()
        };
        kept.clear();
        kept.extend_from_slice(line);
        self.failures.push_back((place, kept));
    }
}

/// As much of a record as tells how it ended, without building it.
#[derive(Deserialize)]
struct Ending<'a> {
    #[serde(rename = "command")]
    _command: Command,
    exit_code: Option<i64>,
    error: Option<&'a str>,
    session_id: Option<&'a str>,
    benign: Option<bool>,
}

/// A command is there; which one does not matter yet.
struct Command;

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl Ending<'_> {
    fn is_failure(&self) -> bool {
        let record = FeedbackRecord {
            exit_code: self.exit_code,
            error: self.error.filter(|error| !error.is_empty()).map(str::to_owned),
            benign: self.benign,
            ..FeedbackRecord::default()
        };
        record.outcome() == Outcome::Failure
    }
}

/// A line as a record. Bytes that are no UTF-8 and halves of a surrogate pair cost their character, not the line.
fn parse(line: &[u8]) -> Option<FeedbackRecord> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Option<Value> = serde_json::from_slice(line).ok();
    let value = value.or_else(|| serde_json::from_str(&mended(line)).ok())?;
    FeedbackRecord::read(&value)
}

fn mended(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("\\u") {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let escaped = head.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let code = tail.get(2..6).unwrap_or_default();
        let half = code.len() == 4
            && matches!(code.as_bytes()[..2], [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']);
        if half && !escaped {
            out.push('\u{fffd}');
            rest = &tail[6..];
        } else {
            out.push_str(&tail[..2]);
            rest = &tail[2..];
        }
    }
    out.push_str(rest);
    out
}

/// Gives every line to `see` that may be a failure, with its offset.
fn forward(path: &Path, mut see: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut file = fs::open(path)?;
    let finder = Finder::new();
    let mut buffer = vec![0; PIECE];
    let (mut filled, mut base, mut skipping) = (0, 0_u64, false);
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let got = file.read(&mut buffer[filled..])?;
        filled += got;
        let end = if got == 0 { filled } else { memrchr(b'\n', &buffer[..filled]).map_or(0, |at| at + 1) };
        let from = if skipping { memchr(b'\n', &buffer[..end]).map_or(end, |at| at + 1) } else { 0 };
        skipping = skipping && end == 0;
        finder.lines(&buffer[from..end], |at, line| see(base + (from + at) as u64, line));
        buffer.copy_within(end..filled, 0);
        filled -= end;
        base += end as u64;
        if got == 0 {
            return Ok(());
        }
        if filled > MAX_LINE {
            see(base, b"{");
            skipping = true;
            base += filled as u64;
            filled = 0;
        }
    }
}

struct Finder {
    code: memmem::Finder<'static>,
    error: memmem::Finder<'static>,
}

impl Finder {
    fn new() -> Self {
        Self { code: memmem::Finder::new(b"\"exit_code\""), error: memmem::Finder::new(b"\"error\"") }
    }

    /// The lines of a piece that may be failures.
    fn lines(&self, piece: &[u8], mut see: impl FnMut(usize, &[u8])) {
        let mut places: Vec<usize> = self
            .code
            .find_iter(piece)
            .filter(|at| !is_zero(&piece[at + b"\"exit_code\"".len()..]))
            .chain(self.error.find_iter(piece))
            .collect();
        places.sort_unstable();
        let mut done = 0;
        for at in places {
            if at < done {
                continue;
            }
            let start = memrchr(b'\n', &piece[..at]).map_or(0, |newline| newline + 1);
            let end = memchr(b'\n', &piece[at..]).map_or(piece.len(), |newline| at + newline);
            see(start, &piece[start..end]);
            done = end;
        }
    }
}

/// Whether the value behind a key is a plain `0`.
fn is_zero(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let Some(rest) = rest.strip_prefix(b":") else { return true };
    match rest.trim_ascii_start() {
        [b'0', next, ..] => matches!(next, b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n'),
        _ => false,
    }
}

/// Gives the lines from the last to the first until `see` has enough; whether the file's start was reached.
fn backward(path: &Path, mut see: impl FnMut(u64, &[u8]) -> bool) -> io::Result<bool> {
    let mut file = fs::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut start = length;
    let mut pending: Vec<u8> = Vec::new();
    while start > 0 {
        if length - start > MAX_BACK || pending.len() > MAX_LINE {
            return Ok(false);
        }
        let size = start.min(PIECE as u64);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut piece = vec![0; usize::try_from(size).unwrap_or(PIECE)];
        file.read_exact(&mut piece)?;
        piece.append(&mut pending);
        pending = piece;
        let mut end = pending.len();
        while let Some(newline) = memrchr(b'\n', &pending[..end]) {
            if !see(start + newline as u64 + 1, &pending[newline + 1..end]) {
                return Ok(false);
            }
            end = newline;
        }
        pending.truncate(end);
    }
    Ok(pending.is_empty() || see(0, &pending))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn scan_text(text: &str, wanted: &Wanted<'_>) -> Reading {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write_atomic(&path, text.as_bytes()).unwrap();
        scan(&[path], wanted).unwrap()
    }

    fn commands(reading: &Reading) -> Vec<String> {
        reading.records.iter().map(|found| found.record.command_line()).collect()
    }

    #[test]
    fn a_nested_key_fools_nobody() {
        let text = concat!(
            r#"{"command":"a","extra":{"exit_code":0},"exit_code":3}"#,
            "\n",
            r#"{"command":"b","extra":{"exit_code":3},"exit_code":0}"#,
            "\n",
            r#"{"command":"c","stdout_tail":"\"exit_code\": 7","exit_code":0}"#,
            "\n",
            r#"{"command":"d","exit_code" : null,"error":"timeout"}"#,
            "\n",
            r#"{"command":"e","error":"signal"}"#,
            "\n",
            r#"{"command":"f","exit_code":null}"#,
            "\n",
            r#"{"command":"g","exit_code":0}"#,
            "\n",
        );
        let reading = scan_text(text, &Wanted { last: 1, session: None });
        assert_eq!(commands(&reading), ["a", "d", "e", "g"]);
        assert!(reading.more);
    }

    #[test]
    fn sessions_are_told_apart_and_order_is_the_logs() {
        let text = concat!(
            r#"{"command":["a"],"exit_code":1,"session_id":"x"}"#,
            "\n",
            r#"{"command":["b"],"exit_code":1,"session_id":"y"}"#,
            "\n",
            "{\"torn\n",
            r#"{"command":["c"],"exit_code":0}"#,
        );
        let reading = scan_text(text, &Wanted { last: 5, session: Some("x") });
        assert_eq!(commands(&reading), ["a", "c"]);
        assert_eq!((reading.unreadable, reading.more), (1, false));
    }

    #[test]
    fn bytes_that_are_no_text_cost_a_character_only() {
        let half = r#"{"command":"x \ud800 y \\ud800","exit_code":1}"#;
        assert_eq!(commands(&scan_text(half, &Wanted { last: 1, session: None })), ["x \u{fffd} y \\ud800"]);
        assert_eq!(parse(b"{\"command\":\"a\xff\",\"exit_code\":0}").unwrap().command_line(), "a\u{fffd}");
    }

    #[test]
    fn pieces_do_not_split_records() {
        let mut text = String::new();
        for n in 0..3_000 {
            let code = i32::from(n % 100 == 7);
            let filler = "x".repeat(n % 700);
            // writing to a String can't fail
            writeln!(text, "{{\"command\":\"c{n}\",\"stdout_tail\":\"{filler}\",\"exit_code\":{code}}}").ok();
        }
        let reading = scan_text(&text, &Wanted { last: 2, session: None });
        let mut expected: Vec<String> = (0..30).map(|n| format!("c{}", n * 100 + 7)).collect();
        expected.extend(["c2998".to_owned(), "c2999".to_owned()]);
        assert_eq!(commands(&reading), expected);
    }
}
