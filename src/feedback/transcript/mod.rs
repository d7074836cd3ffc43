//! What a client wrote down about a session: the commands that ran, their output, how they ended. One file a client, each
//! a pure reader of one line at a time; this file reads on where it stopped. Only the frame that a client wrote is read,
//! never an output: an output may hold anything, another transcript included.

mod calls;
mod claude;
mod codex;
mod copilot;
mod frame;
mod gemini;
mod opencode;
mod qwen;
mod script;

use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use calls::{About, Call, Calls};

use super::Mark;
use crate::fs;

/// A longer line is passed over.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// So much is read in one go; of more, the end.
const MAX_NEW: u64 = 64 * 1024 * 1024;

/// The largest file that is one JSON value.
const MAX_WHOLE: u64 = 64 * 1024 * 1024;

/// A client's transcript.
#[derive(Debug)]
pub struct Format {
    /// Lines without any of these are passed over unread.
    wanted: &'static [&'static str],
    /// Reads a line, or the whole of a file that is one value.
    read: fn(&Value, &mut Calls),
}

/// The format of a client's transcripts, by its name in `--client`.
pub fn of_client(client: &str) -> Option<&'static Format> {
    Some(match client {
        "claude" => &claude::FORMAT,
        "codex" => &codex::FORMAT,
        "copilot" => &copilot::FORMAT,
        "gemini" => &gemini::FORMAT,
        "opencode" => &opencode::FORMAT,
        "qwen" => &qwen::FORMAT,
        _ => return None,
    })
}

/// How far a transcript was read, and what is not through yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    #[serde(default)]
    pub mark: Option<Mark>,
    #[serde(default)]
    pub calls: Calls,
    /// Bytes that were passed over because there was too much to read in one go.
    #[serde(default)]
    pub passed_over: u64,
}

/// Reads on from where the last reading stopped, or from the start where the file is another one by now. `false`: there
/// was nothing new.
pub fn read_on(path: &Path, format: &Format, progress: &mut Progress) -> io::Result<bool> {
    let length = fs::open(path)?.metadata()?.len();
    if progress.mark.as_ref().is_some_and(|mark| mark.offset == length && mark.holds(path)) {
        return Ok(false);
    }
    if progress.mark.as_ref().is_some_and(|mark| mark.offset > length || !mark.holds(path)) {
        progress.mark = None;
        progress.calls.start_again();
    }
    let mut from = progress.mark.as_ref().map_or(0, |mark| mark.offset);
    if from == 0 && is_whole(path)? {
        return read_whole(path, format, progress, length);
    }
    if length - from > MAX_NEW {
        progress.passed_over += length - from - MAX_NEW;
        from = length - MAX_NEW;
    }
    let end = read_lines(path, format, progress, from)?;
    progress.mark = Some(Mark::at(path, end)?);
    Ok(true)
}

/// Whether the file is one JSON value over many lines.
fn is_whole(path: &Path) -> io::Result<bool> {
    let mut first = Vec::new();
    BufReader::new(fs::open(path)?.take(4096)).read_until(b'\n', &mut first)?;
    Ok(first.trim_ascii() == b"{")
}

fn read_whole(path: &Path, format: &Format, progress: &mut Progress, length: u64) -> io::Result<bool> {
    if length <= MAX_WHOLE
        && let Ok(value) = serde_json::from_slice::<Value>(&fs::read(path)?)
    {
        // it is written anew each time: what was read before is known by its ids
        (format.read)(&value, &mut progress.calls);
    }
    progress.mark = Some(Mark::at(path, length)?);
    Ok(true)
}

/// Reads lines from an offset; returns where the first line begins that is not whole yet.
fn read_lines(path: &Path, format: &Format, progress: &mut Progress, from: u64) -> io::Result<u64> {
    let finders: Vec<memmem::Finder<'_>> = format.wanted.iter().map(memmem::Finder::new).collect();
    let mut file = fs::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut line = Vec::new();
    let mut at = from;
    loop {
        line.clear();
        let got = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)? as u64;
        let ended = line.last() == Some(&b'\n');
        if got == 0 {
            return Ok(at);
        }
        if !ended && got == MAX_LINE {
            at += got + skip_line(&mut reader)?;
            continue;
        }
        let is_wanted = finders.iter().any(|finder| finder.find(&line).is_some());
        // a transcript that does not begin at its start begins in the middle of a line: that one does not parse
        let value: Option<Value> = if is_wanted { serde_json::from_slice(&line).ok() } else { None };
        if !ended && value.is_none() {
            // torn: the client is writing it
            return Ok(at);
        }
        if let Some(value) = value {
            (format.read)(&value, &mut progress.calls);
        }
        at += got;
    }
}

/// Passes over the rest of a line, without keeping it.
fn skip_line(reader: &mut impl io::BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let newline = memchr::memchr(b'\n', buffer);
        let count = newline.map_or(buffer.len(), |at| at + 1);
        reader.consume(count);
        skipped += count as u64;
        if newline.is_some() {
            return Ok(skipped);
        }
    }
}

/// A text field that is there and not empty.
fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The items of a list; none where there is no list.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
