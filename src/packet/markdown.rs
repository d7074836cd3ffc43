//! Text from anywhere as `CommonMark` that means that text and nothing else. Code spans that the text brings along are
//! kept, since a next action is mostly one.

use crate::redact::clean;

/// One line: every run of white space is one blank, and nothing in it is hidden or moves a cursor.
pub(super) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A code span, whatever back-ticks are in it.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let fence =
        "`".repeat(longest_run(&text) + usize::from(text.contains('`')) + usize::from(!text.contains('`')));
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A fenced block, whatever fences are in it.
pub(super) fn fenced(text: &str) -> String {
    let text = clean(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A paragraph's text: code spans as they are, everything else with its marks escaped.
pub(super) fn prose(text: &str) -> String {
    let text = one_line(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.as_str();
    while let Some(at) = rest.find('`') {
        escape(&rest[..at], &mut out);
        let run = rest[at..].chars().take_while(|c| *c == '`').count();
        let inside = &rest[at + run..];
        if let Some(length) = closing(inside, run) {
            out.push_str(&rest[at..at + run + length + run]);
            rest = &inside[length + run..];
        } else {
            (0..run).for_each(|_| out.push_str("\\`"));
            rest = inside;
        }
    }
    escape(rest, &mut out);
    guard_start(&out)
}

/// Where a run of exactly `run` back-ticks closes the span.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let start = from + at;
        let length = text[start..].chars().take_while(|c| *c == '`').count();
        if length == run {
            return Some(start);
        }
        from = start + length;
    }
    None
}

fn escape(text: &str, out: &mut String) {
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let marks = match c {
            '*' | '[' | ']' | '<' => true,
            '\\' => after.is_none_or(|c| c.is_ascii_punctuation()),
            // inside of a word it is only a character
            '_' => !(word(before) && word(after)),
            '&' => after.is_some_and(|c| c == '#' || c.is_ascii_alphabetic()),
            '~' => before == Some('~') || after == Some('~'),
            _ => false,
        };
        if marks {
            out.push('\\');
        }
        out.push(*c);
    }
}

/// Marks that would make a heading, a quote, a list or a rule at the start of a line.
fn guard_start(text: &str) -> String {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let ordered = (1..10).contains(&digits) && text[digits..].starts_with(['.', ')']);
    if ordered {
        return format!("{}\\{}", &text[..digits], &text[digits..]);
    }
    if text.starts_with(['#', '>', '+', '-', '=', '~', '|']) {
        return format!("\\{text}");
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lose_their_meaning_and_code_spans_stay() {
        assert_eq!(prose("Run `pytest -q a_b` now"), "Run `pytest -q a_b` now");
        assert_eq!(prose("# not a heading"), "\\# not a heading");
        assert_eq!(prose("1. not a list"), "1\\. not a list");
        assert_eq!(
            prose("<!-- *x* [a](b) snake_case _em_ ` -->"),
            "\\<!-- \\*x\\* \\[a\\](b) snake_case \\_em\\_ \\` -->"
        );
        assert_eq!(prose("a\n\n- b"), "a - b");
        assert_eq!(code("a\u{1b}[31mb\u{202e}c.rs"), "`abc.rs`");
        assert_eq!(prose("ends with \\"), "ends with \\\\");
        assert_eq!(prose("x &lt; y & z"), "x \\&lt; y & z");
    }

    #[test]
    fn spans_and_fences_are_longer_than_what_is_in_them() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("```"), "```` ``` ````");
        assert_eq!(fenced("x\n```\ny\n"), "````text\nx\n```\ny\n````");
    }
}
