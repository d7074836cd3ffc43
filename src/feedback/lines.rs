//! The log's lines, forwards and backwards, in pieces: a log may be far larger than memory. What ended well is told by a
//! look at its first bytes, and never parsed.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use memchr::{memchr, memmem, memrchr};

use crate::fs;

const PIECE: usize = 256 * 1024;

/// A longer line is no record.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// How far back the last records are looked for.
const MAX_BACK: u64 = 64 * 1024 * 1024;

const CODE: &[u8] = b"\"exit_code\"";
const ERROR: &[u8] = b"\"error\"";

/// What a look at a line told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Fine,
    /// A record's own code that is not zero, and nothing in the line that could speak against it.
    Failed,
    Unsure,
}

/// Gives every line to `see` that is not fine for certain, with its offset.
pub(super) fn forward(path: &Path, mut see: impl FnMut(u64, &[u8], Look)) -> io::Result<()> {
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
        finder.lines(&buffer[from..end], |at, line, look| {
            see(base + (from + at) as u64, line, look);
        });
        buffer.copy_within(end..filled, 0);
        filled -= end;
        base += end as u64;
        if got == 0 {
            return Ok(());
        }
        if filled > MAX_LINE {
            see(base, b"{", Look::Unsure);
            skipping = true;
            base += filled as u64;
            filled = 0;
        }
    }
}

/// Gives the lines from the last to the first until `see` has enough; whether the file's start was reached.
pub(super) fn backward(path: &Path, mut see: impl FnMut(u64, &[u8]) -> bool) -> io::Result<bool> {
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

struct Finder {
    code: memmem::Finder<'static>,
    error: memmem::Finder<'static>,
    benign: memmem::Finder<'static>,
    session: memmem::Finder<'static>,
}

impl Finder {
    fn new() -> Self {
        Self {
            code: memmem::Finder::new(CODE),
            error: memmem::Finder::new(ERROR),
            benign: memmem::Finder::new(b"\"benign\""),
            session: memmem::Finder::new(b"\"session_id\""),
        }
    }

    /// The lines of a piece that are not fine for certain.
    fn lines(&self, piece: &[u8], mut see: impl FnMut(usize, &[u8], Look)) {
        let mut start = 0;
        while start < piece.len() {
            let end = memchr(b'\n', &piece[start..]).map_or(piece.len(), |newline| start + newline);
            let line = &piece[start..end];
            match self.look(line) {
                Look::Fine => {}
                look => see(start, line, look),
            }
            start = end + 1;
        }
    }

    /// A nested code is no proof of anything; the record's own is.
    fn look(&self, line: &[u8]) -> Look {
        let mut from = 0;
        while let Some(found) = self.code.find(&line[from..]) {
            let at = from + found;
            from = at + CODE.len();
            // the words are a value, not a key
            let Some(value) = line[from..].trim_ascii_start().strip_prefix(b":") else { continue };
            let head = line[..at].trim_ascii_start().strip_prefix(b"{");
            let is_own = head.is_some_and(|head| memchr(b'{', head).is_none());
            return match value.trim_ascii_start() {
                _ if !is_own => Look::Unsure,
                [b'0', b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n', ..] => Look::Fine,
                value if is_number(value) && self.stands(line, from) => Look::Failed,
                _ => Look::Unsure,
            };
        }
        if self.error.find(line).is_some() { Look::Unsure } else { Look::Fine }
    }

    /// Whether nothing else in the line may say whose a failure is, or that it is none.
    fn stands(&self, line: &[u8], from: usize) -> bool {
        line.trim_ascii_end().ends_with(b"}")
            && self.code.find(&line[from..]).is_none()
            && self.benign.find(line).is_none()
            && self.session.find(line).is_none()
    }
}

/// Whether a value is a whole number other than zero.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=10).contains(&count) && digits[0] != b'0' && matches!(digits.get(count), Some(b',' | b'}' | b' '))
}

/// The parts of a record that tell how it ended, as they stand in the line, without building the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending<'a> {
    pub(super) command: &'a [u8],
    pub(super) exit_code: &'a [u8],
    pub(super) error: &'a [u8],
    pub(super) session_id: &'a [u8],
    pub(super) benign: &'a [u8],
}

impl<'a> Ending<'a> {
    /// `None` where the line is not of a form that this can tell apart.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let mut walk = Walk { line, at: 0 };
        let mut found = Self::default();
        walk.expect(b'{')?;
        loop {
            let key = walk.string()?;
            walk.expect(b':')?;
            let value = walk.value()?;
            match key {
                b"command" => found.command = value,
                b"exit_code" => found.exit_code = value,
                b"error" => found.error = value,
                b"session_id" => found.session_id = value,
                b"benign" => found.benign = value,
                _ if key.contains(&b'\\') => return None,
                _ => {}
            }
            match walk.next()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        walk.next().is_none().then_some(found)
    }
}

/// Steps over JSON values. It finds their ends; it doesn't say that they are well formed.
struct Walk<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    /// The next byte that is no blank.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.line.get(self.at)?;
            self.at += 1;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// A text as it stands between its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let end = self.at + memchr(b'"', self.line.get(self.at..)?)?;
            let text = &self.line[start..end];
            self.at = end + 1;
            // an even number of backslashes escapes only itself
            if text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 {
                return Some(text);
            }
        }
    }

    fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.next()?;
        self.at -= 1;
        let start = self.at;
        match first {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => {
                let mut depth = 0_usize;
                loop {
                    match *self.line.get(self.at)? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                let rest = &self.line[start..];
                let length = rest
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']'))?;
                if length == 0 {
                    return None;
                }
                self.at += length;
            }
        }
        Some(&self.line[start..self.at])
    }
}
