//! From bytes to text: byte order marks, UTF-16, text that is not UTF-8, conflict markers. Must never fail on any bytes,
//! and must say when the text is not what stands in the file, since such a file is never written.

use std::borrow::Cow;

use crate::model::board::Remark;

/// A file's text and where it begins in the bytes.
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    /// Bytes before the text (a UTF-8 byte order mark).
    pub offset: usize,
    pub remark: Option<Remark>,
    pub read_only: Option<&'static str>,
}

/// Decodes a file.
pub(super) fn decode(bytes: &[u8]) -> Decoded<'_> {
    if let Some((text, name)) = utf16(bytes) {
        let message = format!("the file is {name}, not UTF-8");
        return odd(Cow::Owned(text), message, "it is UTF-16");
    }
    let (body, offset) = bytes.strip_prefix(b"\xef\xbb\xbf").map_or((bytes, 0), |body| (body, 3));
    match String::from_utf8_lossy(body) {
        Cow::Borrowed(text) => Decoded { text: Cow::Borrowed(text), offset, remark: None, read_only: None },
        Cow::Owned(text) => odd(
            Cow::Owned(text),
            "the file is not UTF-8; what can't be read shows as `\u{fffd}`".to_owned(),
            "it is not UTF-8",
        ),
    }
}

fn odd<'a>(text: Cow<'a, str>, message: String, why: &'static str) -> Decoded<'a> {
    let remark = Remark { code: "board-encoding", message, line: None };
    Decoded { text, offset: 0, remark: Some(remark), read_only: Some(why) }
}

/// UTF-16 by its mark, or by the zero bytes that plain English has in it.
fn utf16(bytes: &[u8]) -> Option<(String, &'static str)> {
    let (body, little) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, true),
        [0xfe, 0xff, rest @ ..] => (rest, false),
        [b'{' | b'[' | b' ' | b'\r' | b'\n', 0, ..] => (bytes, true),
        [0, b'{' | b'[' | b' ' | b'\r' | b'\n', ..] => (bytes, false),
        _ => return None,
    };
    let unit = |pair: &[u8]| match (pair, little) {
        ([low, high], true) | ([high, low], false) => u16::from_be_bytes([*high, *low]),
        _ => 0xfffd,
    };
    let units = body.chunks(2).map(unit);
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')).collect();
    Some((text, if little { "UTF-16 (little-endian)" } else { "UTF-16 (big-endian)" }))
}

/// The 1-based line of the first conflict marker of a merge that was not finished.
pub(super) fn conflict_line(text: &str) -> Option<u32> {
    let opens = |line: &str| line.starts_with("<<<<<<< ");
    let closes = |line: &str| line.starts_with(">>>>>>> ");
    let first = text.lines().position(opens)?;
    text.lines().skip(first).any(closes).then(|| line_number(first))
}

/// A 0-based count as a 1-based line.
pub(super) fn line_number(before: usize) -> u32 {
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// Turns growing offsets into 1-based lines, each byte looked at once.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of an offset; offsets must not go back.
    pub(super) fn line_of(&mut self, offset: usize) -> u32 {
        let passed = self.bytes.get(self.at..offset).unwrap_or_default();
        self.line = self.line.saturating_add(line_number(memchr::memchr_iter(b'\n', passed).count()) - 1);
        self.at = self.at.max(offset);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_is_known_with_and_without_its_mark() {
        let little: Vec<u8> = "{é}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&little).text, "{é}");
        let mut big = vec![0xfe, 0xff];
        big.extend("[]".encode_utf16().flat_map(u16::to_be_bytes));
        let decoded = decode(&big);
        assert_eq!(decoded.text, "[]");
        assert!(decoded.read_only.is_some());
    }

    #[test]
    fn lines_are_counted_once_each() {
        let mut lines = Lines::new("a\nb\n\nc");
        assert_eq!([lines.line_of(0), lines.line_of(2), lines.line_of(5)], [1, 2, 4]);
    }

    #[test]
    fn a_lone_marker_is_no_conflict() {
        assert_eq!(conflict_line("a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n"), Some(2));
        assert_eq!(conflict_line("a\n<<<<<<< HEAD\n"), None);
    }
}
