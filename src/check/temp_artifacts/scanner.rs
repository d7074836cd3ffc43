//! Tells code, comments and strings apart over a whole file. Knows only what can hide or fake a comment. Linear in the
//! size of the file whatever is in it; never fails, never judges.

use std::collections::HashSet;

use super::heredoc::{self, Pending};
use super::language::{Escape, Heredocs, Language, Prefix, Quirk, Quote};
use super::literals::character;
use super::scan::{Comment, Scan};

/// Frames of strings with code in them that are followed; deeper ones count as text.
const MAX_DEPTH: usize = 100;

/// Where the scanner is.
#[derive(Clone, Copy)]
enum Frame {
    /// Code; within a string it ends with a bracket that it did not open.
    Code {
        up: u8,
        down: u8,
        depth: usize,
    },
    Text {
        quote: Quote,
        extra: usize,
    },
}

pub(super) struct Scanner<'a> {
    text: &'a [u8],
    language: &'a Language,
    multi: bool,
    pos: usize,
    frames: Vec<Frame>,
    /// Bytes at which code may turn into something else.
    stops: [bool; 256],
    pending: Vec<Pending>,
    missing: HashSet<Vec<u8>>,
    scan: Scan,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], language: &'a Language, multi: bool) -> Self {
        let syntax = &language.syntax;
        let mut stops = [false; 256];
        let mut stop = |text: &str| {
            if let Some(byte) = text.bytes().next() {
                stops[usize::from(byte)] = true;
            }
        };
        syntax.line.iter().chain(syntax.doc).for_each(|open| stop(open));
        syntax.quotes.iter().for_each(|quote| stop(quote.open));
        syntax.block.iter().for_each(|(open, _)| stop(open));
        syntax.end.iter().for_each(|end| stop(end));
        for byte in ["\n", "\\", "{", "}", "(", ")"] {
            stop(byte);
        }
        if syntax.has(Quirk::Characters) {
            stop("'");
        }
        if syntax.has(Quirk::Regexes) {
            stop("/");
            stop("%");
        }
        if syntax.heredocs != Heredocs::None {
            stop("<");
        }
        if syntax.has(Quirk::Islands) {
            stop("?");
        }
        let scan = Scan { live: text.to_vec(), ..Scan::default() };
        let frames = vec![Frame::Code { up: 0, down: 0, depth: 0 }];
        let missing = HashSet::new();
        Self { text, language, multi, pos: 0, frames, stops, pending: Vec::new(), missing, scan }
    }

    /// The scan, and whether the text ended inside a string.
    pub(super) fn run(mut self) -> (Scan, bool) {
        if self.language.syntax.has(Quirk::Islands) && memchr::memmem::find(self.text, b"<?").is_some() {
            self.outside_island();
        }
        while self.pos < self.text.len() {
            match self.frames.last().copied() {
                Some(Frame::Text { quote, extra }) => self.string(quote, extra),
                _ => self.code(),
            }
        }
        let open = self.multi
            && self.frames.iter().any(|frame| matches!(frame, Frame::Text { quote, .. } if quote.multi));
        (self.scan, open)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn byte_before(&self, back: usize) -> u8 {
        self.pos.checked_sub(back).and_then(|at| self.text.get(at)).copied().unwrap_or(b'\n')
    }

    /// Reads code up to the next thing that is none, and enters it.
    fn code(&mut self) {
        while let Some(byte) = self.text.get(self.pos).copied() {
            if !self.stops[usize::from(byte)] {
                self.pos += 1;
                continue;
            }
            if byte == b'\n' {
                self.pos += 1;
                self.heredocs();
                continue;
            }
            if self.comment() || self.literal(byte) {
                return;
            }
            if self.bracket(byte) {
                return;
            }
            self.pos += if byte == b'\\' && self.language.syntax.has(Quirk::WordComments) { 2 } else { 1 };
        }
    }

    /// Counts brackets of code inside a string; true when that code has ended.
    fn bracket(&mut self, byte: u8) -> bool {
        let Some(Frame::Code { up, down, depth }) = self.frames.last_mut() else { return false };
        if byte == *up && *up != 0 {
            *depth += 1;
        } else if byte == *down && *down != 0 {
            if *depth == 0 {
                self.frames.pop();
                self.pos += 1;
                return true;
            }
            *depth -= 1;
        }
        false
    }

    fn comment(&mut self) -> bool {
        let syntax = &self.language.syntax;
        let rest = self.rest();
        let opens = |open: &&str| rest.starts_with(open.as_bytes());
        let line_start = matches!(self.byte_before(1), b'\n');
        if syntax.end.is_some_and(|end| line_start && rest.starts_with(end.as_bytes())) {
            self.hide(self.pos, self.text.len());
            self.pos = self.text.len();
            return true;
        }
        if syntax.has(Quirk::Islands) && rest.starts_with(b"?>") {
            self.pos += 2;
            self.outside_island();
            return true;
        }
        if let Some((open, close)) = syntax.block
            && rest.starts_with(open.as_bytes())
            && (open.starts_with('/') || line_start)
        {
            // `/**/` is an empty comment
            let doc = syntax.doc.iter().any(opens) && !rest.starts_with(b"/**/");
            self.block_comment(open, close, doc);
            return true;
        }
        let word_starts =
            matches!(self.byte_before(1), b' ' | b'\t' | b'\n' | b'\r' | b';' | b'(' | b')' | b'|' | b'&');
        let attribute = syntax.has(Quirk::Islands) && rest.starts_with(b"#[");
        if !syntax.line.iter().any(opens) || attribute || (syntax.has(Quirk::WordComments) && !word_starts) {
            return false;
        }
        let doc = syntax.doc.iter().any(opens) && !rest.starts_with(b"////");
        let mut end = memchr::memchr(b'\n', rest).map_or(self.text.len(), |at| self.pos + at);
        if syntax.has(Quirk::Islands)
            && let Some(at) = memchr::memmem::find(self.text.get(self.pos..end).unwrap_or_default(), b"?>")
        {
            end = self.pos + at;
        }
        self.push_comment(end, false, doc);
        true
    }

    fn block_comment(&mut self, open: &str, close: &str, doc: bool) {
        let (open, close) = (open.as_bytes(), close.as_bytes());
        let mut at = self.pos + open.len();
        if self.language.syntax.has(Quirk::Nested) {
            let mut depth = 1_usize;
            while depth > 0 && at < self.text.len() {
                let rest = self.text.get(at..).unwrap_or_default();
                if rest.starts_with(close) {
                    depth -= 1;
                    at += close.len();
                } else if rest.starts_with(open) {
                    depth += 1;
                    at += open.len();
                } else {
                    at += 1;
                }
            }
        } else {
            let rest = self.text.get(at..).unwrap_or_default();
            at = memchr::memmem::find(rest, close).map_or(self.text.len(), |found| at + found + close.len());
        }
        let end = if close.starts_with(b"=") {
            memchr::memchr(b'\n', self.text.get(at..).unwrap_or_default())
                .map_or(self.text.len(), |more| at + more)
        } else {
            at
        };
        self.push_comment(end, true, doc);
    }

    fn push_comment(&mut self, end: usize, block: bool, doc: bool) {
        let end = end.max(self.pos + 1).min(self.text.len());
        let comment = Comment { start: self.pos, end, first: 0, last: 0, block, doc, own: false };
        self.scan.comments.push(comment);
        self.blank(self.pos, end);
        self.pos = end;
    }

    /// Enters a string, or steps over a character, a regular expression, the name of a heredoc.
    fn literal(&mut self, byte: u8) -> bool {
        let syntax = &self.language.syntax;
        if byte == b'<' && syntax.heredocs != Heredocs::None && self.pending.len() < 16 {
            if let Some((pending, length)) =
                heredoc::opener(self.rest(), self.byte_before(1), syntax.heredocs)
            {
                self.pending.push(pending);
                self.pos += length;
                return true;
            }
            return false;
        }
        if byte == b'\'' && syntax.has(Quirk::Characters) {
            let length = character(self.rest(), self.byte_before(1));
            self.scan.strings.push((self.pos, self.pos + length));
            self.pos += length;
            return true;
        }
        if syntax.has(Quirk::Regexes)
            && matches!(byte, b'/' | b'%')
            && let Some(length) =
                super::literals::expression(self.text, self.pos, syntax.heredocs == Heredocs::Ruby)
        {
            self.scan.strings.push((self.pos, self.pos + length));
            self.pos += length;
            return true;
        }
        let rest = self.rest();
        for quote in syntax.quotes {
            if rest.starts_with(quote.open.as_bytes())
                && let Some(extra) = self.prefixed(quote)
            {
                self.pos += quote.open.len();
                self.frames.push(Frame::Text { quote: *quote, extra });
                return true;
            }
        }
        false
    }

    /// Whether a quote's prefix stands before it; how much longer its end is than `close`.
    fn prefixed(&self, quote: &Quote) -> Option<usize> {
        let hashes = (1..=64).take_while(|back| self.byte_before(*back) == b'#').count();
        match quote.prefix {
            Prefix::Any => Some(0),
            Prefix::RustRaw => (self.byte_before(hashes + 1) == b'r').then_some(hashes),
            Prefix::Hashes => (hashes > 0).then_some(hashes),
            Prefix::CppRaw => {
                let name = self.rest().get(1..18)?.iter().position(|byte| *byte == b'(')?;
                (self.byte_before(1) == b'R').then_some(name)
            }
            Prefix::Verbatim => {
                let (one, two) = (self.byte_before(1), self.byte_before(2));
                (one == b'@' || (one == b'$' && two == b'@')).then_some(0)
            }
            Prefix::Dollar => (self.byte_before(1) == b'$').then_some(0),
        }
    }

    /// Reads a string up to its end, to code inside of it, or to the end of a line that ends it too.
    fn string(&mut self, quote: Quote, extra: usize) {
        let from = self.pos;
        let close = self.closing(&quote, extra);
        let mut ended = false;
        while let Some(byte) = self.text.get(self.pos).copied() {
            if byte == b'\n' && !(quote.multi && self.multi) {
                ended = true;
                break;
            }
            if byte == b'\\' && quote.escape == Escape::Backslash && !self.opens_inner(&quote) {
                self.pos += 2;
                continue;
            }
            if Some(&byte) == close.first() && self.rest().starts_with(&close) {
                let twice = quote.escape == Escape::Doubled && self.rest().get(1) == Some(&byte);
                if twice {
                    self.pos += 2;
                    continue;
                }
                ended = true;
                break;
            }
            if self.opens_inner(&quote)
                && let Some((open, up, down)) = quote.inner
            {
                self.pos += open.len();
                self.piece(from, self.pos);
                self.frames.push(Frame::Code { up, down, depth: 0 });
                return;
            }
            self.pos += 1;
        }
        self.pos = self.pos.min(self.text.len());
        self.piece(from, self.pos);
        if ended {
            self.frames.pop();
            self.pos += if self.text.get(self.pos) == Some(&b'\n') { 0 } else { close.len() };
        }
    }

    fn closing(&self, quote: &Quote, extra: usize) -> Vec<u8> {
        match quote.prefix {
            Prefix::RustRaw | Prefix::Hashes => {
                let mut close = quote.close.as_bytes().to_vec();
                close.extend(std::iter::repeat_n(b'#', extra));
                close
            }
            Prefix::CppRaw => {
                // the delimiter stands between the quote and the bracket
                let name = self.text.get(self.pos..self.pos + extra).unwrap_or_default();
                [b")", name, b"\""].concat()
            }
            _ => quote.close.as_bytes().to_vec(),
        }
    }

    fn opens_inner(&self, quote: &Quote) -> bool {
        self.frames.len() < MAX_DEPTH
            && quote.inner.is_some_and(|(open, ..)| self.rest().starts_with(open.as_bytes()))
    }

    /// Steps over the bodies of the heredocs that the last line opened.
    fn heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            if let Some(end) = heredoc::body_end(self.text, self.pos, &pending, &mut self.missing) {
                self.hide(self.pos, end);
                self.pos = end;
            }
        }
    }

    /// Steps over what stands outside of `<?` and `?>`.
    fn outside_island(&mut self) {
        let end = memchr::memmem::find(self.rest(), b"<?").map_or(self.text.len(), |at| self.pos + at);
        self.hide(self.pos, end);
        self.pos = end.min(self.text.len());
        if self.rest().starts_with(b"<?") {
            self.blank(self.pos, self.pos + 2);
            self.pos += 2;
            if self.rest().starts_with(b"php") {
                self.blank(self.pos, self.pos + 3);
                self.pos += 3;
            }
        }
    }

    /// Notes a piece of a string; of one over several lines only the first stays in the live text.
    fn piece(&mut self, from: usize, to: usize) {
        let piece = self.text.get(from..to).unwrap_or_default();
        match memchr::memchr(b'\n', piece) {
            None => self.scan.strings.push((from, to)),
            Some(at) => {
                self.scan.strings.push((from, from + at));
                self.hide(from + at, to);
            }
        }
    }

    fn hide(&mut self, from: usize, to: usize) {
        if from < to {
            self.scan.hidden.push((from, to));
            self.blank(from, to);
        }
    }

    fn blank(&mut self, from: usize, to: usize) {
        let to = to.min(self.scan.live.len());
        for byte in self.scan.live.get_mut(from..to).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
}
