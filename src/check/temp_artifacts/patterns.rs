//! The forms and shapes of lines, as regular expressions. What they add up to is decided in `shapes`.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use super::language::{pattern, set};

/// Forms that are not code, tried on the whole line.
pub(super) static FORMS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        // directives, licences, pointers
        r"(?i)^(!|-\*-|vim:|noqa|nosec|pragma\b|type:|pylint|mypy|ruff|pyright|fmt:|isort|eslint|prettier|@ts-|tslint|istanbul|c8 |v8 |go:|nolint|\+build|region\b|endregion|#region|rubocop|frozen_string|shellcheck|spdx|copyright|\(c\)|clippy|rustfmt|nosonar|nopmd|noinspection|checkstyle|phpcs|phpstan|psalm|swiftlint|swift-tools|sourcery|ktlint|clang-|resharper|mark:|%%|https?:|(unordered )?output:|e\.g\.|i\.e\.|note\b|see\b|usage:|flags:|example|endwell:)",
        r"(?i)^(todo|fixme|xxx|hack)\b|^```",
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
pub(super) static EVIDENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"[\w\]][(\[]|[)\]]\.|[a-z_]\w*\.[a-z_]|[a-zA-Z]_[A-Za-z]|[=!<>]=|&&|\|\||\s[<>]\s|\$[\w({]|(^|[\s(!])@\w|\w::\w|\w->\w|""|''|``|\{\}|\[\]|\s=\s|\+\+|--;|:=|=>|[;{]$|(^|\s)[!*&][\w(]|\s%\s|:\w+\b.*,|\?\."#,
    )
});

/// A declaration word or type before a name that is assigned to.
pub(super) static ASSIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?P<pre>([\w.:]+(<[^=]*>)?[*&?!\[\]]*\s+){0,4})(?P<name>[*&@$]*[\w$][\w$.:>()\[\]*?'\x22!-]*(\s*,\s*[*&@$]*[\w$][\w$.\[\]]*)*|[(\[{][^=]*,[^=]*[)\]}]|[\[{]\s*\w+\s*[\]}])(\s*:\s*[\w<>\[\]|?.,& ():*']+)?\s*([-+*/%|&^.]|<<|>>|\|\||&&|\?\?|\*\*|//)?:?=\s*[^=>~\s]",
    )
});
pub(super) static STEP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\+\+|--)[\w$.\[\]>-]+;?$|^[\w$.\[\]>-]+(\+\+|--);?$"));
pub(super) static OPEN_ASSIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((const|let|var|val|final|static|public|private|local|mut|auto)\s+)+[\w$:<>\[\], .|]+\s*=$|^[\w$.@\[\]>-]+\s*[-+*/|&]?:?=$",
    )
});

pub(super) static CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((await|return|yield|new|go|defer|throw|raise|try[?!]?|assert|else|in|co_await|co_return|not|!|const|mut)\s+)*(\(\*?)?[\w$@*&!\\~][\w$@>:.?!\[\]&<,\x22'\\-]*\(",
    )
});
pub(super) static AFTER_CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*[;,?!)\]}]*\s*$|^(\.|\?\.|->|::|!\.|!!\.|\(|\[|\?)[\w$&(\[{]|^\s+(if|unless|as|or|and|rescue|while|until|else|catch)\s|^\s*[{]|^\s*(\|\||&&|\?\?|[?]|[-+*/%|]|==|!=|[<>]=?)\s.*[;{,(]$|^\s*;|^\s+do(\s*\|.*\|)?$|^\s*=>\s*\{?",
    )
});
pub(super) static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\}\s*)?(else\s+)?(if|elif|elseif|while|for|foreach|switch|catch|until|using|lock|when|guard|with|match)\s*(\(|!|let\s)",
    )
});
pub(super) static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(@\w+\s+)*((pub(\([a-z]+\))?|public|private|protected|internal|static|async|export|default|final|override|open|abstract|inline|suspend|data|sealed|const|unsafe|extern)\s+)*(if|elif|else if|elsif|for|foreach|while|until|unless|switch|match|when|with|guard|def|fn|func|function|fun|class|struct|enum|impl|interface|trait|protocol|module|namespace|try|catch|except|finally|else|do|case|default|select|loop|async|begin|mod)\b.*(:|\{|\bdo(\s*\|[^|]*\|)?|\bthen)$",
    )
});
pub(super) static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((pub|public|private|protected|internal|static|async|export|default|final|override|open|abstract|inline|suspend|virtual|const|unsafe|extern)(\(\w+\))?\s+)*(def|fn|func|function|fun|class|interface|struct|enum|trait|module)\s+[\w.$<~`]+[\w.]*[?!]?\s*(\(|<|$|;|:|\{|=)",
    )
});
pub(super) static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^([\w:.]+(<[^()=]*>)?[*&?\[\]]*\s+)+[*&]*[\w:~]+\([^;{}]*\)?(\s*(const|noexcept|override|throws\s+[\w., ]+|where\s.*))?$",
    )
});
pub(super) static LONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(end|else|begin|ensure|rescue|fi|done|esac|then|do|pass|break|continue|next|return|try|finally|default|\}?\s*else\s*\{?)\s*[;:]?$",
    )
});
pub(super) static CLOSERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[})\]]+[;,)]*$|^[})\]]+\s*[;,)]+$|^[({\[]$|^[})\]]+\s*(else|while|catch|finally)?.*[{;]$|^\}\)?,?$|^end[,.)]|^\][,;]?$",
    )
});
pub(super) static CHAIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\?|&|!!)?\.\w+[(?!{<\[;]|^(\?|&)?\.\w+$|^->\w+\("));
pub(super) static ARM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\S\s*=>\s*\S.*[),;}]$|\S\s*=>\s*\{?$|\S\s*->\s*(\S.*[;,}{]|[\w.]+\(.*\))$"));
pub(super) static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(import|from|use|using|require|require_once|include|require_relative|export|package|mod|pub use|pub mod)\b[\s({]*[\w.:@$*{}"'\\/, ~-]*("|'|;|\.\w|::|_\w|\bimport\s)|^#\s*(include|define|undef|if|ifdef|ifndef|endif|else|pragma|elif)\b|^import\s+[\w.]+(\s+as\s+\w+)?$"#,
    )
});
pub(super) static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(if|unless|while|until|elsif|elif|case|when|def|class|module|for|return|raise|throw|from|next|break|yield|await|assert|guard|del|global|nonlocal|goto|delete|else|let|const|var|val|export|try|rescue|except|catch|typealias|defer)\b",
    )
});
pub(super) static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(typedef|extern|static|struct|enum|local|readonly|super|async|default|public|private|protected|internal|override|final|pub|mut|type|void|int|char|unsigned|double|float|bool|string|auto|long|size_t|print|puts|echo)\b",
    )
});
/// Heads that end in `:` where blocks do.
pub(super) static BLOCK_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(if|elif|while|for|def|class|with|try|except|else|finally|case|match|when|until|unless|elsif|catch|guard)\b",
    )
});
/// What a `for` has besides words.
pub(super) static LOOPS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^for\b.*(\bin\b|\bof\b|\(|:=|;|<-|\{$)"));
/// A value with a second word right behind it that joins nothing.
pub(super) static SECOND_WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(=|:=)\s*([a-z]\w*|.*[\x22\])])\s+([A-Za-z]\w*)"));

pub(super) static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(""|''|``),?$|^((""|''|``),\s*)+|^(""|''|:?[\w$-]+\??)\s*(:|=>)\s*(""|''|``|[\[{(]|-?\d[\w.]*,?$|(true|false|null|None|nil|True|False)\b|[\w$.]+\(|\$|@|[\w$]+(\.[\w$]+)+,?$|:\w+,?$)|^\*{1,2}\w+,?$|^[\w.]+=(""|''|[\w.\[\]()"']+),?$|^\.\.\.[\w.]+,?$"#,
    )
});
pub(super) static BARE_CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[\w.]+[?!]?\s+(:\w+|""|''|@\w+|\[\S|&?[A-Z]\w*(::\w+)+|->)[^=]*$|^[\w.]+[?!]?(\(.*\))?\s+(do(\s*\|[^|]*\|)?|\{\s*\|.*)$|^[\w.@]+(\(.*\))?\s*(\.\w+[?!]?)*\s*\{.*\}$|^(attr_(reader|writer|accessor)|include|extend|require|raise|puts|belongs_to|has_many|has_one|validates|private|protected|alias)\s+[:A-Z"'@]\S*"#,
    )
});
pub(super) static SHELL_STRONG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^([a-z_./$"{-][\w./${}"-]*|\[{1,2}|!)(\s|$).*(\$[\w({*@#?!]|"\$|\$\(|[0-9&]?>{1,2}\s*[&/$"]|<\s*[$"/]|`)|^\$[\w({]|^[a-z_]\w*\+?=("|'|\$|\()|^""\s*\S*\$"#,
    )
});
pub(super) static SHELL_WEAK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^[A-Za-z_]\w*\+?=\S*$|^[a-z_./-][\w./-]*(\s+\S+)*\s+(-{1,2}[a-z][\w=./-]*|\||\|\||&&|""|''|/\S*|\.{1,2}/\S*)(\s|$)|^[\w-]+\)$|^;;$|^[\w-]+\s*\(\)\s*\{?$|\s(\\|&&|\|\||\|)$"#,
    )
});
pub(super) static GAPS: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\w)\]>]\s{2,}\(?[A-Za-z\x80-\xff]"));
pub(super) static TAG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^@[\w.]+(\(.*\)?)?$|^#\[.*\]$|^\[\w+(\(.*\))?\]$"));
pub(super) static OPENER: LazyLock<Regex> = LazyLock::new(|| pattern(r"([(\[{\\]|&&|\|\||=>|->)$"));
pub(super) static CONTINUED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([,+?:|&]|\bor|\band|\bthen|\bdo)$|^([|&?:+*/.]|or|and)\s"));
