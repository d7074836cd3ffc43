//! Escapes that are written out, as they stand in nested JSON and in quoted logs: a backslash and `n`, or `\\u001b[31m`.
//! Their last letter hides where the next word begins. Nothing is taken out here.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::compile;

static WRITTEN_OUT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,16}[A-Za-z]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[nrtbf]",
    )
});

/// Whether there is any.
pub(super) fn are_in(text: &str) -> bool {
    text.contains('\\') && WRITTEN_OUT.is_match(text)
}

/// The text with blanks in their place, at the same length.
pub(super) fn blanked(text: &str) -> String {
    WRITTEN_OUT.replace_all(text, |found: &regex::Captures<'_>| " ".repeat(found[0].len())).into_owned()
}
