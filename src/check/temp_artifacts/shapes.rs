//! Whether one line of a comment is code: what it is not by form and by words, then the shapes of statements. Judges a
//! line by itself; what a whole run of lines is, `runs` says.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use super::languages::{Language, pattern};
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

/// Forms that are not code, tried on the whole line.
static FORMS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        // directives, licences, pointers
        r"(?i)^(!|-\*-|vim:|noqa|nosec|pragma\b|type:|pylint|mypy|ruff|pyright|fmt:|isort|eslint|prettier|@ts-|tslint|istanbul|c8 |v8 |go:|nolint|\+build|region\b|endregion|#region|rubocop|frozen_string|shellcheck|spdx|copyright|\(c\)|clippy|rustfmt|nosonar|nopmd|noinspection|checkstyle|phpcs|phpstan|psalm|swiftlint|swift-tools|sourcery|ktlint|clang-|resharper|mark:|%%|https?:|(unordered )?output:|e\.g\.|i\.e\.|note\b|see\b|usage:|flags:|example|endwell:)",
        r"(?i)^(todo|fixme|xxx|hack)\b",
        r"^@\w+(\s+\w|:)",
        // rules and arrows
        r"^[-=~_*#+/|\s]{4,}$|^[-=~_*#]{4,}|[-=~_*]{5,}$",
        r"-->|<--|==>|<==[^=]|\+--|\|--|--\+|--\||=>>|~>\s*$",
        // table rows, lists
        r"^\|.*\|$|\w \| \w+ \| ",
        r"^([-*+]|\d+[.):]|\(\d+\)|\(?[a-z]\)|[ivx]+[.)]) ",
        // grammars
        r"::=|->.*\s\|\s|^\w+\s*[:=]\s*.*\w\s\|\s.*\||^[\w-]+\s+=\s+\w[\w-]*\s+([{\[(]\s*\w|\x22)",
        // sessions, headers
        r"^(\$|>{1,3}|<{1,3}|%|[CS]:|#|In \[\d+\]:|irb.*>)(\s|$)",
        r"^[A-Z][\w-]*: \S",
        r"^[A-Z][A-Z]+ /\S*( HTTP|$)",
        r"^[0-9^]|^[\w+.-]+://",
        r"\xe2\x80\xa6|[^(\[{,\s]\.\.\.[^)\w]|\.\.\.$|^\.\.\.|\s\.\.\.\s|\bO\([\w^ ]+\)",
        // sentences, abbreviations, headings and lists of RDoc
        r"[a-z)]\.$|\b(e\.g|i\.e|etc|cf)\.|^={1,6} \S|^\S+::(\s|$)",
        // grammars: alternatives, repetitions, texts beside names, a full stop
        r"^;|\s\|$|\s\.$|=\s*\d*\*[\w(]|=\s*<\w+ [^>]*>$|^\|\s",
        // legends
        r"=\s*\d+\s+[a-z]+(\s[a-z]+)*$",
        // placeholders of usage texts
        r"\[-{1,2}\w[\w-]*([= ]\S*)?\]|<[a-z]+-[a-z-]+>\s|\[<\w+>\]",
    ])
});

/// An expression of code among the words: brackets that touch names, operators, sigils, dotted and snake names.
static EVIDENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"[\w\]][(\[]|[)\]]\.|[a-z_]\w*\.[a-z_]|[a-zA-Z]_[A-Za-z]|[=!<>]=|&&|\|\||\s[<>]\s|\$[\w({]|(^|[\s(!])@\w|\w::\w|\w->\w|""|''|``|\{\}|\[\]|\s=\s|\+\+|--;|:=|=>|[;{]$|(^|\s)[!*&][\w(]|\s%\s|:\w+\b.*,|\?\."#,
    )
});

/// A declaration word or type before a name that is assigned to.
static ASSIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?P<pre>([\w.:]+(<[^=]*>)?[*&?!\[\]]*\s+){0,4})(?P<name>[*&@$]*[\w$][\w$.:>()\[\]*?'\x22!-]*(\s*,\s*[*&@$]*[\w$][\w$.\[\]]*)*|[(\[{][^=]*,[^=]*[)\]}]|[\[{]\s*\w+\s*[\]}])(\s*:\s*[\w<>\[\]|?.,& ():*']+)?\s*([-+*/%|&^.]|<<|>>|\|\||&&|\?\?|\*\*|//)?:?=\s*[^=>~\s]",
    )
});
static STEP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\+\+|--)[\w$.\[\]>-]+;?$|^[\w$.\[\]>-]+(\+\+|--);?$"));
static OPEN_ASSIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((const|let|var|val|final|static|public|private|local|mut|auto)\s+)+[\w$:<>\[\], .|]+\s*=$|^[\w$.@\[\]>-]+\s*[-+*/|&]?:?=$",
    )
});

static CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((await|return|yield|new|go|defer|throw|raise|try[?!]?|assert|else|in|co_await|co_return|not|!|const|mut)\s+)*(\(\*?)?[\w$@*&!\\~][\w$@>:.?!\[\]&<,\x22'\\-]*\(",
    )
});
static AFTER_CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*[;,?!)\]}]*\s*$|^(\.|\?\.|->|::|!\.|!!\.|\(|\[|\?)[\w$&(\[{]|^\s+(if|unless|as|or|and|rescue|while|until|else|catch)\s|^\s*[{]|^\s*(\|\||&&|\?\?|[?]|[-+*/%|]|==|!=|[<>]=?)\s.*[;{,(]$|^\s*;|^\s+do(\s*\|.*\|)?$|^\s*=>\s*\{?",
    )
});
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\}\s*)?(else\s+)?(if|elif|elseif|while|for|foreach|switch|catch|until|using|lock|when|guard|with|match)\s*(\(|!|let\s)",
    )
});
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(@\w+\s+)*((pub(\([a-z]+\))?|public|private|protected|internal|static|async|export|default|final|override|open|abstract|inline|suspend|data|sealed|const|unsafe|extern)\s+)*(if|elif|else if|elsif|for|foreach|while|until|unless|switch|match|when|with|guard|def|fn|func|function|fun|class|struct|enum|impl|interface|trait|protocol|module|namespace|try|catch|except|finally|else|do|case|default|select|loop|async|begin|mod)\b.*(:|\{|\bdo(\s*\|[^|]*\|)?|\bthen)$",
    )
});
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((pub|public|private|protected|internal|static|async|export|default|final|override|open|abstract|inline|suspend|virtual|const|unsafe|extern)(\(\w+\))?\s+)*(def|fn|func|function|fun|class|interface|struct|enum|trait|module)\s+[\w.$<~`]+[\w.]*[?!]?\s*(\(|<|$|;|:|\{|=)",
    )
});
static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^([\w:.]+(<[^()=]*>)?[*&?\[\]]*\s+)+[*&]*[\w:~]+\([^;{}]*\)?(\s*(const|noexcept|override|throws\s+[\w., ]+|where\s.*))?$",
    )
});
static LONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(end|else|begin|ensure|rescue|fi|done|esac|then|do|pass|break|continue|next|return|try|finally|default|\}?\s*else\s*\{?)\s*[;:]?$",
    )
});
static CLOSERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[})\]]+[;,)]*$|^[})\]]+\s*[;,)]+$|^[({\[]$|^[})\]]+\s*(else|while|catch|finally)?.*[{;]$|^\}\)?,?$|^end[,.)]|^\][,;]?$",
    )
});
static CHAIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\?|&|!!)?\.\w+[(?!{<\[;]|^(\?|&)?\.\w+$|^->\w+\("));
static ARM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\S\s*=>\s*\S.*[),;}]$|\S\s*=>\s*\{?$|\S\s*->\s*(\S.*[;,}{]|[\w.]+\(.*\))$"));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(import|from|use|using|require|require_once|include|require_relative|export|package|mod|pub use|pub mod)\b[\s({]*[\w.:@$*{}"'\\/, ~-]*("|'|;|\.\w|::|_\w|\bimport\s)|^#\s*(include|define|undef|if|ifdef|ifndef|endif|else|pragma|elif)\b|^import\s+[\w.]+(\s+as\s+\w+)?$"#,
    )
});
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(if|unless|while|until|elsif|elif|case|when|def|class|module|for|return|raise|throw|from|next|break|yield|await|assert|guard|del|global|nonlocal|goto|delete|else|let|const|var|val|export|try|rescue|except|catch|typealias|defer)\b",
    )
});
static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(typedef|extern|static|struct|enum|local|readonly|super|async|default|public|private|protected|internal|override|final|pub|mut|type|void|int|char|unsigned|double|float|bool|string|auto|long|size_t|print|puts|echo)\b",
    )
});
/// Heads that end in `:` where blocks do.
static BLOCK_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(if|elif|while|for|def|class|with|try|except|else|finally|case|match|when|until|unless|elsif|catch|guard)\b",
    )
});
/// What a `for` has besides words.
static LOOPS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^for\b.*(\bin\b|\bof\b|\(|:=|;|<-|\{$)"));
/// A value with a second word right behind it that joins nothing.
static SECOND_WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(=|:=)\s*([a-z]\w*|.*[\x22\])])\s+([A-Za-z]\w*)"));

static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(""|''|``),?$|^((""|''|``),\s*)+|^(""|''|:?[\w$-]+\??)\s*(:|=>)\s*(""|''|``|[\[{(]|-?\d[\w.]*,?$|(true|false|null|None|nil|True|False)\b|[\w$.]+\(|\$|@|[\w$]+(\.[\w$]+)+,?$|:\w+,?$)|^\*{1,2}\w+,?$|^[\w.]+=(""|''|[\w.\[\]()"']+),?$|^\.\.\.[\w.]+,?$"#,
    )
});
static BARE_CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[\w.]+[?!]?\s+(:\w+|""|''|@\w+|\[\S|&?[A-Z]\w*(::\w+)+|->)[^=]*$|^[\w.]+[?!]?(\(.*\))?\s+(do(\s*\|[^|]*\|)?|\{\s*\|.*)$|^[\w.@]+(\(.*\))?\s*(\.\w+[?!]?)*\s*\{.*\}$|^(attr_(reader|writer|accessor)|include|extend|require|raise|puts|belongs_to|has_many|has_one|validates|private|protected|alias)\s+[:A-Z"'@]\S*"#,
    )
});
static SHELL_STRONG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^([a-z_./$"{-][\w./${}"-]*|\[{1,2}|!)(\s|$).*(\$[\w({*@#?!]|"\$|\$\(|[0-9&]?>{1,2}\s*[&/$"]|<\s*[$"/]|`)|^\$[\w({]|^[a-z_]\w*\+?=("|'|\$|\()|^""\s*\S*\$"#,
    )
});
static SHELL_WEAK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[A-Za-z_]\w*\+?=\S*$|^[a-z_./-][\w./-]*(\s+\S+)*\s+(-{1,2}[a-z][\w=./-]*|\||\|\||&&|""|''|/\S*|\.{1,2}/\S*)(\s|$)|^[\w-]+\)$|^;;$|^[\w-]+\s*\(\)\s*\{?$|\s(\\|&&|\|\||\|)$"#,
    )
});
static GAPS: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\w)\]>]\s{2,}\(?[A-Za-z\x80-\xff]"));
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"^@[\w.]+(\(.*\)?)?$|^#\[.*\]$|^\[\w+(\(.*\))?\]$"));
static OPENER: LazyLock<Regex> = LazyLock::new(|| pattern(r"([(\[{\\]|&&|\|\||=>|->)$"));
static CONTINUED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([,+?:|&]|\bor|\band|\bthen|\bdo)$|^([|&?:+*/.]|or|and)\s"));

fn set(patterns: &[&str]) -> RegexSet {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants, and every test of a line compiles them"
    )]
    let set = regex::bytes::RegexSetBuilder::new(patterns).unicode(false).build().expect("constant patterns");
    set
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
    let style = &language.style;
    // C in a comment of a language without semicolons explains something
    if code.ends_with(b";") && (style.colons || (style.bare_calls && !style.shell)) {
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
    let style = &language.style;
    let evidence = EVIDENCE.is_match(code);
    if style.shell
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
    let strict = style.semicolons;
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
    let style = &language.style;
    if DEFINITION.is_match(code) {
        return if has_structure(code) { Shape::Strong } else { Shape::Weak };
    }
    if CONDITION.is_match(code) && !prose_in_parentheses(code) && (evidence || code.ends_with(b")")) {
        return Shape::Strong;
    }
    if HEAD.is_match(code) {
        let colon = code.ends_with(b":")
            && !style.colons
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
    if style.bare_calls && BARE_CALL.is_match(code) && !code.ends_with(b":") {
        return Shape::Strong;
    }
    if let Some(shape) = keyword_line(code, language) {
        return shape;
    }
    if style.types_first && TYPED.is_match(code) && words::count(code) >= 2 {
        return Shape::Weak;
    }
    let continues = style.shell || style.colons || style.types_first || !code.ends_with(b"\\");
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
        let style = &language.style;
        let cut = style.colons && BLOCK_HEAD.is_match(code) && !code.ends_with(b":");
        return Some(if structure && !style.semicolons && !cut { Shape::Strong } else { Shape::Weak });
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
    let call = language.style.bare_calls && part(2).last().is_some_and(u8::is_ascii_alphanumeric);
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
    if !language.style.shell && has_second_word(code, language) {
        return false;
    }
    let before = found.name("pre").map(|part| part.as_bytes()).unwrap_or_default();
    let mut plain = 0;
    for word in before.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        let known = words::is_keyword(word);
        if !known && !language.style.types_first && !language.style.semicolons && language.name != "go" {
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
