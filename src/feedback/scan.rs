//! Reading the log, however long it is: every failure and the last records of a session, without parsing the rest.
//!
//! One pass looks at how each record ended (a nested `"exit_code"` must not stand for the record's own) and parses only
//! the failures that are kept. A second pass reads backwards for the last records. Lines that are torn or no JSON are
//! counted, never fatal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;

use serde_json::Value;

use super::lines::{Ending, Look, backward, forward};
use crate::model::feedback::{FeedbackRecord, Outcome};

/// So many failures are held at most; of more, the newest.
const MAX_FAILURES: usize = 2_000;

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
        forward(path, |offset, line, look| found.failure((index, offset), line, look))?;
    }
    let lines = std::mem::take(&mut found.failures);
    let mut kept: BTreeMap<(usize, u64), Numbered> = lines
        .into_iter()
        .filter_map(|(place, line)| {
            let record = found.read(place, &line)?;
            Some((place, Numbered { place, record, recent: false }))
        })
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

    fn failure(&mut self, place: (usize, u64), line: &[u8], look: Look) {
        let failed = look == Look::Failed
            || match Ending::of(line) {
                Some(ending) if !ending.session_id.contains(&b'\\') => {
                    self.is_ours(text(ending.session_id)) && is_failure(&ending)
                }
                // torn, or escapes in the wrong place: read with more patience
                _ => self.read(place, line).is_some_and(|record| record.outcome() == Outcome::Failure),
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

/// The text of a raw value; `None` where it is none.
fn text(raw: &[u8]) -> Option<&str> {
    std::str::from_utf8(raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?).ok()
}

/// What [`FeedbackRecord::outcome`] says of the record, from the little that it looks at.
fn is_failure(ending: &Ending<'_>) -> bool {
    let has_command = match ending.command {
        [b'"', words @ .., b'"'] | [b'[', words @ .., b']'] => !words.trim_ascii().is_empty(),
        _ => false,
    };
    let record = FeedbackRecord {
        exit_code: std::str::from_utf8(ending.exit_code).ok().and_then(|code| code.parse().ok()),
        error: text(ending.error).filter(|error| !error.is_empty()).map(str::to_owned),
        benign: Some(ending.benign == b"true"),
        ..FeedbackRecord::default()
    };
    has_command && record.outcome() == Outcome::Failure
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::fs;

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
    fn a_look_and_a_full_reading_agree() {
        let codes = ["0", "1", "-1", "null", "101", "\"1\"", "1.0", "1e2", "true"];
        let others = [
            "",
            r#","error":"timeout""#,
            r#","error":"""#,
            r#","benign":true"#,
            r#","benign":false"#,
            r#","session_id":"x""#,
            r#","session_id":"y""#,
            r#","session_id":"\u0078""#,
            r#","extra":{"exit_code":0}"#,
            r#","extra":[{"exit_code":5,"benign":true}]"#,
            r#","stdout_tail":"{\"exit_code\":1} \\""#,
        ];
        for code in codes {
            for other in others {
                for line in [
                    format!(r#"{{"command":["rg","exit_code"],"exit_code":{code}{other}}}"#),
                    format!(r#"{{"command":"a {{b}}"{other}, "exit_code" : {code} }}"#),
                    format!(r#"{{"x":1{other},"exit_code":{code},"command":["a"]}}"#),
                    format!(r#"{{"exit_code":{code}{other}}}"#),
                    format!(r#"{{"command":[],"exit_code":{code}{other}"#),
                ] {
                    let session = Some("x");
                    let record = parse(line.as_bytes());
                    let wanted = record.is_some_and(|record| {
                        record.outcome() == Outcome::Failure
                            && record.session_id.as_deref().is_none_or(|id| Some(id) == session)
                    });
                    let reading = scan_text(&format!("{line}\n"), &Wanted { last: 0, session });
                    assert_eq!(!reading.records.is_empty(), wanted, "{line}");
                }
            }
        }
    }

    #[test]
    fn of_too_many_failures_the_newest_stay_and_the_others_are_counted() {
        let line = |n: usize| format!("{{\"command\":\"c{n}\",\"exit_code\":1}}\n");
        let text: String = (0..MAX_FAILURES + 3).map(line).collect();
        let reading = scan_text(&text, &Wanted { last: 1, session: None });
        assert_eq!((reading.records.len(), reading.dropped), (MAX_FAILURES, 3));
        assert_eq!(commands(&reading)[0], "c3");
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
