//! Literals on one line: regular expressions and percent literals in JavaScript and Ruby, characters elsewhere. Whether
//! one opens, and how long it is; one line at most, so that a wrong guess can't swallow the file.

/// The length of the literal that opens at `at`, or `None` if this is division.
pub(super) fn expression(text: &[u8], at: usize, ruby: bool) -> Option<usize> {
    let rest = text.get(at..)?;
    let rest = rest.get(..rest.len().min(4000))?;
    let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()))?;
    match line.first()? {
        b'%' if ruby => percent(text, at, line),
        b'/' if may_begin(text, at, ruby) => slashes(line, ruby),
        _ => None,
    }
}

/// After an operator, an opening bracket or a keyword a value begins.
fn may_begin(text: &[u8], at: usize, ruby: bool) -> bool {
    let before = text.get(at.saturating_sub(80)..at).unwrap_or_default();
    let before = before.trim_ascii_end();
    let Some(last) = before.last() else { return true };
    if b"(,=:[!&|?>{};~+-*%^".contains(last) {
        return true;
    }
    if !last.is_ascii_alphanumeric() && *last != b'_' {
        return false;
    }
    let start =
        before.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').map_or(0, |i| i + 1);
    let word = before.get(start..).unwrap_or_default();
    let words: &[&[u8]] = if ruby {
        &[
            b"if", b"unless", b"while", b"until", b"when", b"and", b"or", b"not", b"return", b"in", b"then",
            b"elsif",
        ]
    } else {
        &[
            b"return", b"typeof", b"case", b"in", b"of", b"void", b"delete", b"throw", b"await", b"yield",
            b"do", b"else",
        ]
    };
    words.contains(&word)
}

fn slashes(line: &[u8], ruby: bool) -> Option<usize> {
    if line.get(1).is_none_or(|byte| !ruby && matches!(byte, b'/' | b'*')) {
        return None;
    }
    let (mut class, mut at) = (false, 1);
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// `%w[…]`, `%q(…)`, `%r{…}` and their like.
fn percent(text: &[u8], at: usize, line: &[u8]) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|index| text.get(index)).copied().unwrap_or(b'\n');
    if before.is_ascii_alphanumeric() || matches!(before, b')' | b']' | b'_') {
        return None;
    }
    let letter = line.get(1).is_some_and(|byte| b"qQwWiIrx".contains(byte));
    let open_at = if letter { 2 } else { 1 };
    let open = *line.get(open_at)?;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' if letter => b'>',
        b'|' | b'!' | b'/' if letter => open,
        _ => return None,
    };
    let (mut depth, mut index) = (0_usize, open_at);
    while let Some(byte) = line.get(index) {
        if *byte == b'\\' {
            index += 1;
        } else if *byte == open && open != close {
            depth += 1;
        } else if *byte == close && index > open_at {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(index + 1);
            }
        }
        index += 1;
    }
    None
}

/// The length of a character literal, or 1 for a quote that opens none (a lifetime, a digit separator).
pub(super) fn character(rest: &[u8], before: u8) -> usize {
    if before.is_ascii_alphanumeric() || before == b'_' {
        return 1;
    }
    let line = rest.get(..rest.len().min(16)).unwrap_or_default();
    let escaped = line.get(1) == Some(&b'\\');
    let from = if escaped { 3 } else { 2 };
    let limit = if escaped { line.len() } else { line.len().min(7) };
    let end = (from..limit).find(|at| matches!(line.get(*at), Some(b'\'' | b'\n')));
    match end {
        // between quotes stands one character: one byte, or the bytes of one
        Some(end) if line.get(end) == Some(&b'\'') => {
            let inside = line.get(1..end).unwrap_or_default();
            let one = escaped || std::str::from_utf8(inside).is_ok_and(|text| text.chars().count() == 1);
            if one { end + 1 } else { 1 }
        }
        _ => 1,
    }
}
