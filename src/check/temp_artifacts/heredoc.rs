//! Heredocs of the shell, Ruby and PHP: texts that begin on the line below their opener. Only where they begin and end.

use std::collections::HashSet;

use super::language::Heredocs;

/// Names without an end that are remembered before heredocs are given up for the file, which keeps it linear.
const MAX_MISSING: usize = 64;

/// A heredoc whose body has not begun.
#[derive(Debug)]
pub(super) struct Pending {
    word: Vec<u8>,
    kind: Heredocs,
    /// Blanks may stand before the closing word.
    indented: bool,
}

/// The heredoc that is opened here, and the length of its opener.
pub(super) fn opener(rest: &[u8], before: u8, kind: Heredocs) -> Option<(Pending, usize)> {
    let mut at = if kind == Heredocs::Php { 3 } else { 2 };
    if !rest.starts_with(b"<<") || (kind == Heredocs::Php && rest.get(2) != Some(&b'<')) {
        return None;
    }
    let mut indented = kind == Heredocs::Php;
    if kind != Heredocs::Php && matches!(rest.get(at), Some(b'-' | b'~')) {
        if rest.get(at) == Some(&b'~') && kind == Heredocs::Shell {
            return None;
        }
        indented = true;
        at += 1;
    }
    // `<<` after a name or a number shifts or appends, in Ruby
    let shift = kind == Heredocs::Ruby && !indented && (before.is_ascii_alphanumeric() || before == b')');
    if shift {
        return None;
    }
    if kind != Heredocs::Ruby {
        while rest.get(at) == Some(&b' ') {
            at += 1;
        }
    }
    if kind == Heredocs::Shell && rest.get(at) == Some(&b'\\') {
        at += 1;
    }
    let quote = rest.get(at).copied().filter(|byte| matches!(byte, b'\'' | b'"' | b'`'));
    at += usize::from(quote.is_some());
    let name = rest.get(at..rest.len().min(at + 64))?;
    let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = name.get(..length)?;
    if word.first().is_none_or(u8::is_ascii_digit) {
        return None;
    }
    at += length;
    if let Some(quote) = quote {
        if rest.get(at) != Some(&quote) {
            return None;
        }
        at += 1;
    }
    Some((Pending { word: word.to_vec(), kind, indented }, at))
}

/// Where the body that begins at `from` ends, behind its closing line; `None` if it never does.
pub(super) fn body_end(
    text: &[u8],
    from: usize,
    pending: &Pending,
    missing: &mut HashSet<Vec<u8>>,
) -> Option<usize> {
    if missing.len() >= MAX_MISSING || missing.contains(&pending.word) {
        return None;
    }
    let mut at = from;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        if closes(line, pending) {
            // PHP's closing word is followed by code
            return Some(if pending.kind == Heredocs::Php { at } else { at + length });
        }
        at += length + 1;
    }
    missing.insert(pending.word.clone());
    None
}

fn closes(line: &[u8], pending: &Pending) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = if pending.indented { line.trim_ascii_start() } else { line };
    let Some(rest) = line.strip_prefix(pending.word.as_slice()) else { return false };
    match pending.kind {
        Heredocs::Php => rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_'),
        _ => rest.is_empty(),
    }
}
