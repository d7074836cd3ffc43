//! Whether one line of a comment is code: what it is not by form and by words, then the shapes of statements. Judges a
//! line by itself; what a whole run of lines is, `runs` says.

use super::language::{Language, Style};
use super::patterns::{
    AFTER_CALL, ARM, ASSIGN, BARE_CALL, BLOCK_HEAD, CALL, CHAIN, CLOSERS, CONDITION, CONTINUED, DECLARED,
    DEFINITION, ENTRY, EVIDENCE, FORMS, GAPS, HEAD, IMPORT, LONE, LOOPS, OPEN_ASSIGN, OPENER, SECOND_WORD,
    SHELL_STRONG, SHELL_WEAK, STATEMENT, STEP, TAG, TYPED,
};
use super::words;

/// What a line of a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// Prose, a diagram, a directive, and anything in doubt.
    Other,
    /// Code where its neighbours are: it can't carry a run.
    Weak,
    Strong,
}

/// Judges one line of a comment, its markers stripped.
pub(super) fn judge(line: &[u8], language: &Language) -> Shape {
    let line = line.trim_ascii();
    if line.is_empty() || line.len() > super::MAX_LINE {
        return Shape::Other;
    }
    let code = words::blanked(line, language);
    if code.is_empty() || words::is_prose(&code) || FORMS.is_match(line) {
        return Shape::Other;
    }
    let style = language.style;
    // C in a comment of a language without semicolons explains something
    if code.ends_with(b";") && matches!(style, Style::Colons | Style::BareCalls) {
        return Shape::Other;
    }
    let shape = statement(&code, language);
    // a gap between two words is a table's, unless a statement ends the line
    if shape != Shape::Other
        && GAPS.is_match(&code)
        && !code.ends_with(b";")
        && !code.ends_with(b"{")
        && !ASSIGN.is_match(&code)
    {
        return Shape::Other;
    }
    shape
}

fn statement(code: &[u8], language: &Language) -> Shape {
    let style = language.style;
    let evidence = EVIDENCE.is_match(code);
    if style == Style::Shell
        && let Some(shape) = shell(code)
    {
        return shape;
    }
    let tag = TAG.is_match(code);
    if tag && language.name == "ruby" && !code.contains(&b'(') {
        return Shape::Other;
    }
    if (tag && language.name != "ruby") || CLOSERS.is_match(code) {
        return if code.len() > 12 && code.ends_with(b"{") { Shape::Strong } else { Shape::Weak };
    }
    if LONE.is_match(code) {
        return if code.ends_with(b";") { Shape::Strong } else { Shape::Weak };
    }
    let ended = code.ends_with(b";") || code.ends_with(b"{");
    if ended && (evidence || CALL.is_match(code)) && (words::count(code) <= 2 || has_structure(code)) {
        return Shape::Strong;
    }
    if ended && words::count(code) <= 2 && STATEMENT.is_match(code) {
        return Shape::Strong;
    }
    let strict = style.semicolons();
    let free_or = |strong: bool| if strong || !strict { Shape::Strong } else { Shape::Weak };
    if STEP.is_match(code) {
        return free_or(ended);
    }
    if is_assignment(code, language) {
        return free_or(ended || OPENER.is_match(code) || code.ends_with(b","));
    }
    if is_call(code) {
        return free_or(ended || code.ends_with(b","));
    }
    heads(code, language, evidence)
}

fn heads(code: &[u8], language: &Language, evidence: bool) -> Shape {
    let style = language.style;
    if DEFINITION.is_match(code) {
        return if has_structure(code) { Shape::Strong } else { Shape::Weak };
    }
    if CONDITION.is_match(code) && !prose_in_parentheses(code) && (evidence || code.ends_with(b")")) {
        return Shape::Strong;
    }
    if HEAD.is_match(code) {
        let colon = code.ends_with(b":")
            && style != Style::Colons
            && !code.starts_with(b"case ")
            && !code.starts_with(b"default");
        let plain = !has_structure(code.strip_suffix(b":").unwrap_or(code));
        return if colon || plain { Shape::Weak } else { Shape::Strong };
    }
    if CHAIN.is_match(code) || ARM.is_match(code) || IMPORT.is_match(code) {
        return if code == b"import" { Shape::Weak } else { Shape::Strong };
    }
    if ENTRY.is_match(code) {
        return if code.ends_with(b",") || code.starts_with(b"\"") { Shape::Strong } else { Shape::Weak };
    }
    if style.bare_calls() && BARE_CALL.is_match(code) && !code.ends_with(b":") {
        return Shape::Strong;
    }
    if let Some(shape) = keyword_line(code, language) {
        return shape;
    }
    if style == Style::TypesFirst && TYPED.is_match(code) && words::count(code) >= 2 {
        return Shape::Weak;
    }
    let continues =
        matches!(style, Style::Shell | Style::Colons | Style::TypesFirst) || !code.ends_with(b"\\");
    if OPENER.is_match(code) && evidence && continues {
        return if has_structure(code) { Shape::Strong } else { Shape::Weak };
    }
    if (CONTINUED.is_match(code) || ended_by_bracket(code)) && (evidence || words::count(code) <= 1) {
        return Shape::Weak;
    }
    if evidence && words::count(code) <= 4 && has_structure(code) { Shape::Weak } else { Shape::Other }
}

/// A line that starts with the keyword of a statement.
fn keyword_line(code: &[u8], language: &Language) -> Option<Shape> {
    let structure = has_structure(code);
    let label = code.ends_with(b":") && !structure && !BLOCK_HEAD.is_match(code);
    if label || (code.starts_with(b"for ") && !LOOPS.is_match(code)) {
        return Some(Shape::Other);
    }
    if STATEMENT.is_match(code) && (structure || words::count(code) <= 2) {
        let style = language.style;
        let cut = style == Style::Colons && BLOCK_HEAD.is_match(code) && !code.ends_with(b":");
        return Some(if structure && !style.semicolons() && !cut { Shape::Strong } else { Shape::Weak });
    }
    (DECLARED.is_match(code) && (structure || words::count(code) <= 2)).then_some(Shape::Weak)
}

/// `s = symbol for loader`, `path = "/" segments`: words that stand beside a value are prose, or a grammar.
fn has_second_word(code: &[u8], language: &Language) -> bool {
    let Some(found) = SECOND_WORD.captures(code) else { return false };
    let part = |index: usize| found.get(index).map(|part| part.as_bytes()).unwrap_or_default();
    let joins: [&[u8]; 28] = [
        b"if",
        b"in",
        b"or",
        b"and",
        b"else",
        b"as",
        b"is",
        b"unless",
        b"instanceof",
        b"not",
        b"to",
        b"until",
        b"step",
        b"shl",
        b"shr",
        b"ushr",
        b"xor",
        b"rescue",
        b"while",
        b"then",
        b"do",
        b"of",
        b"with",
        b"where",
        b"for",
        b"downTo",
        b"satisfies",
        b"catch",
    ];
    // a call without parentheses looks the same
    let call = language.style.bare_calls() && part(2).last().is_some_and(u8::is_ascii_alphanumeric);
    !call && !words::is_keyword(part(2)) && !joins.contains(&part(3)) && part(2) != b"new"
}

fn ended_by_bracket(code: &[u8]) -> bool {
    matches!(code.last(), Some(b')' | b']' | b'}'))
}

/// Evidence that does not come from the end of the line alone.
fn has_structure(code: &[u8]) -> bool {
    let tail = code.iter().rev().take_while(|byte| matches!(byte, b';' | b'{' | b':' | b' ')).count();
    let body = code.get(..code.len() - tail).unwrap_or_default();
    EVIDENCE.is_match(body) || matches!(body.last(), Some(b')' | b']' | b'"'))
}

fn is_assignment(code: &[u8], language: &Language) -> bool {
    if OPEN_ASSIGN.is_match(code) {
        return true;
    }
    let Some(found) = ASSIGN.captures(code) else { return false };
    if language.style != Style::Shell && has_second_word(code, language) {
        return false;
    }
    let before = found.name("pre").map(|part| part.as_bytes()).unwrap_or_default();
    let mut plain = 0;
    for word in before.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        let known = words::is_keyword(word);
        if !known && !language.style.semicolons() && language.name != "go" {
            return false;
        }
        plain += usize::from(!known);
    }
    plain <= 1
}

/// A call whose bracket closes, followed by nothing that a sentence would go on with.
fn is_call(code: &[u8]) -> bool {
    let Some(found) = CALL.find(code) else { return false };
    let open = found.end() - 1;
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let inside = code.get(open + 1..at).unwrap_or_default();
                    // `parcel(s)` is a plural
                    return inside != b"s" && AFTER_CALL.is_match(code.get(at + 1..).unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    matches!(code.last(), Some(b',' | b'(' | b'[' | b'{' | b'\\' | b'|' | b'&' | b'+'))
}

/// `(and only if …)`: words alone between the first bracket and its end.
fn prose_in_parentheses(code: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'(', code) else { return false };
    let inside = code.get(open + 1..).unwrap_or_default();
    let inside = inside.get(..memchr::memchr(b')', inside).unwrap_or(inside.len())).unwrap_or_default();
    words::count(inside) >= 3
        && inside.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b','))
}

/// Lines of shell scripts; `None` where the other shapes decide.
fn shell(code: &[u8]) -> Option<Shape> {
    if HEAD.is_match(code) && has_structure(code) {
        return Some(Shape::Strong);
    }
    if SHELL_STRONG.is_match(code) {
        return Some(Shape::Strong);
    }
    if SHELL_WEAK.is_match(code) {
        return Some(Shape::Weak);
    }
    LONE.is_match(code).then_some(Shape::Weak)
}
