//! What the scanner found: where lines, comments and strings stand in a text. Only places; judges nothing.

use super::language::Language;
use super::scanner::Scanner;

/// What stands where. All places are byte offsets.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Where each line starts, and the end of the text.
    pub(super) starts: Vec<usize>,
    /// The text with comments, and all of multi-line strings but their first line, blanked.
    pub(super) live: Vec<u8>,
    pub(super) comments: Vec<Comment>,
    /// Pieces of strings that are still in `live`.
    pub(super) strings: Vec<(usize, usize)>,
    /// Pieces that are blanked as strings.
    pub(super) hidden: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    pub(super) start: usize,
    pub(super) end: usize,
    /// 0-based.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) block: bool,
    pub(super) doc: bool,
    /// Only blanks stand before and after it on its lines.
    pub(super) own: bool,
}

impl Scan {
    /// Number of lines.
    pub(super) fn lines(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The 0-based line of an offset.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Offsets of a 0-based line, without its end.
    pub(super) fn span(&self, line: usize, text: &[u8]) -> (usize, usize) {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(text.len());
        let (start, mut end) = (at(line), at(line + 1));
        while end > start && matches!(text.get(end - 1), Some(b'\n' | b'\r')) {
            end -= 1;
        }
        (start, end)
    }

    /// The live code of a 0-based line.
    pub(super) fn live_line(&self, line: usize) -> &[u8] {
        let (start, end) = self.span(line, &self.live);
        self.live.get(start..end).unwrap_or_default()
    }

    /// The first string that lies on a stretch of a line.
    pub(super) fn string_in(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let next = self.strings.partition_point(|(start, _)| *start < from);
        self.strings.get(next).copied().filter(|(start, _)| *start < to)
    }

    /// Whether an offset lies in a string, blanked or not.
    pub(super) fn in_string(&self, offset: usize) -> bool {
        within(&self.strings, offset) || within(&self.hidden, offset)
    }
}

fn within(pieces: &[(usize, usize)], offset: usize) -> bool {
    let next = pieces.partition_point(|(start, _)| *start <= offset);
    next.checked_sub(1).and_then(|index| pieces.get(index)).is_some_and(|(_, end)| offset < *end)
}

/// Scans a text. One that ends inside a string is scanned again without strings over several lines.
pub(super) fn scan(text: &[u8], language: &Language) -> Scan {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    let (mut scan, open) = Scanner::new(text, language, true).run();
    if open {
        scan = Scanner::new(text, language, false).run().0;
    }
    scan.starts = starts;
    for index in 0..scan.comments.len() {
        let Some(comment) = scan.comments.get(index).copied() else { break };
        let (first, last) = (scan.line_of(comment.start), scan.line_of(comment.end.saturating_sub(1)));
        let before = scan.span(first, text).0..comment.start;
        let after = comment.end..scan.span(last, text).1.max(comment.end);
        let blank =
            |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().trim_ascii().is_empty();
        let own = blank(before) && blank(after);
        if let Some(comment) = scan.comments.get_mut(index) {
            *comment = Comment { first, last, own, ..*comment };
        }
    }
    scan
}
