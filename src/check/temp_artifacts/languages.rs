//! The languages, as data: what can hide or fake a comment, what a statement looks like, what a debug call and a print
//! look like. To add one: one more [`Language`] in [`ALL`], and cases in `tests/fixtures/detect`. No logic here.

use std::sync::OnceLock;

use regex::bytes::Regex;

/// One language.
pub(super) struct Language {
    pub(super) name: &'static str,
    files: Files,
    pub(super) syntax: Syntax,
    pub(super) style: Style,
    pub(super) debug: Debug,
    pub(super) compiled: OnceLock<Compiled>,
}

/// How its files are known.
#[derive(Clone, Copy)]
struct Files {
    /// Endings of names, without the dot.
    endings: &'static [&'static str],
    /// How an interpreter in a `#!` line ends, for files without an ending.
    interpreters: &'static [&'static str],
}

const fn only(endings: &'static [&'static str]) -> Files {
    Files { endings, interpreters: &[] }
}

/// What the scanner must know.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    /// What opens a comment that ends with the line.
    pub(super) line: &'static [&'static str],
    /// `#` opens a comment only at the start of a word.
    pub(super) at_word: bool,
    /// What opens and closes a block comment.
    pub(super) block: Option<(&'static str, &'static str)>,
    pub(super) nested: bool,
    /// Openers of documentation; the line and block openers above are tried first.
    pub(super) doc: &'static [&'static str],
    /// Strings, the more special first.
    pub(super) quotes: &'static [Quote],
    /// `'x'` is a character; anything else after `'` is no string.
    pub(super) characters: bool,
    /// `/…/` after an operator is a regular expression.
    pub(super) regexes: bool,
    pub(super) heredocs: Heredocs,
    /// A text that ends the code in the rest of the file, alone on a line.
    pub(super) end: Option<&'static str>,
    /// Code stands only between `<?` and `?>`.
    pub(super) islands: bool,
}

/// One kind of string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// What must stand right before it.
    pub(super) prefix: Prefix,
    pub(super) escape: Escape,
    pub(super) multi: bool,
    /// What opens code inside of it, with the bracket that ends it.
    pub(super) inner: Option<(&'static str, u8, u8)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Any,
    /// `r` and any number of `#`, which close it too.
    RustRaw,
    /// Any number of `#` but none.
    Hashes,
    /// `R`, and a delimiter before the bracket.
    CppRaw,
    /// `@`, alone or beside `$`.
    Verbatim,
    /// `$`.
    Dollar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    None,
    Backslash,
    Doubled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heredocs {
    None,
    /// `<<X`, `<<-X`; closed by the word alone on a line.
    Shell,
    /// As in the shell, and `<<~X`.
    Ruby,
    /// `<<<X`; closed by the word at the start of a line.
    Php,
}

/// How its statements look.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// Statements end in `;`, so that a line without one says less.
    pub(super) semicolons: bool,
    /// Heads end in `:`.
    pub(super) colons: bool,
    /// Types stand before names.
    pub(super) types_first: bool,
    /// Calls may stand without parentheses.
    pub(super) bare_calls: bool,
    /// Lines are commands.
    pub(super) shell: bool,
}

/// What is looked for in live code; regular expressions on one line.
#[derive(Clone, Copy)]
pub(super) struct Debug {
    /// Plain texts, one of which stands in every line that the others match.
    pub(super) hints: &'static [&'static str],
    pub(super) calls: &'static str,
    pub(super) prints: &'static str,
    /// What looks like a print, and is none.
    pub(super) no_print: &'static str,
    /// A print is an issue only if its text says that it is for debugging.
    pub(super) text_only: bool,
    pub(super) focused: &'static str,
    /// Code that the preprocessor switches off.
    pub(super) switched_off: &'static str,
}

/// The patterns of a language, compiled once.
pub(super) struct Compiled {
    pub(super) hints: Regex,
    pub(super) calls: Option<Regex>,
    pub(super) prints: Option<Regex>,
    pub(super) no_print: Option<Regex>,
    pub(super) focused: Option<Regex>,
    pub(super) switched_off: Option<Regex>,
}

impl Language {
    /// The language of a file, by its ending, else by its first line.
    pub(super) fn of(path: &str, content: &[u8]) -> Option<&'static Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some((stem, ending)) = name.rsplit_once('.')
            && !stem.is_empty()
        {
            let ending = ending.to_ascii_lowercase();
            return ALL.iter().find(|language| language.files.endings.contains(&ending.as_str()));
        }
        let first = content.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let first = String::from_utf8_lossy(first);
        let mut words = first.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        ALL.iter().find(|language| language.files.interpreters.iter().any(|known| program.ends_with(known)))
    }

    /// Its patterns.
    pub(super) fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let always = ["DO NOT", "NOCOMMIT", "DELETE ME", "REMOVE BEFORE"];
            let hints: Vec<String> =
                self.debug.hints.iter().chain(&always).map(|hint| regex::escape(hint)).collect();
            Compiled {
                hints: pattern(&hints.join("|")),
                calls: optional(self.debug.calls),
                prints: optional(self.debug.prints),
                no_print: optional(self.debug.no_print),
                focused: optional(self.debug.focused),
                switched_off: optional(self.debug.switched_off),
            }
        })
    }
}

/// Compiles a pattern of this check; bytes, no Unicode classes.
pub(super) fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    let regex = regex::bytes::RegexBuilder::new(text).unicode(false).build().expect("a constant pattern");
    regex
}

fn optional(text: &str) -> Option<Regex> {
    (!text.is_empty()).then(|| pattern(text))
}

const fn quote(open: &'static str) -> Quote {
    Quote { open, close: open, prefix: Prefix::Any, escape: Escape::Backslash, multi: false, inner: None }
}

const fn multi(open: &'static str) -> Quote {
    Quote { multi: true, ..quote(open) }
}

const fn raw(open: &'static str) -> Quote {
    Quote { escape: Escape::None, ..multi(open) }
}

const fn with(quote: Quote, open: &'static str, up: u8, down: u8) -> Quote {
    Quote { inner: Some((open, up, down)), ..quote }
}

const DOUBLE: Quote = quote("\"");
const SINGLE: Quote = quote("'");

const C_LIKE: Syntax = Syntax {
    line: &["//"],
    at_word: false,
    block: Some(("/*", "*/")),
    nested: false,
    doc: &["/**"],
    quotes: &[DOUBLE],
    characters: true,
    regexes: false,
    heredocs: Heredocs::None,
    end: None,
    islands: false,
};

const HASH: Syntax =
    Syntax { line: &["#"], block: None, doc: &[], quotes: &[DOUBLE, SINGLE], characters: false, ..C_LIKE };

const FREE: Style =
    Style { semicolons: false, colons: false, types_first: false, bare_calls: false, shell: false };
const STRICT: Style = Style { semicolons: true, ..FREE };

const QUIET: Debug = Debug {
    hints: &[],
    calls: "",
    prints: "",
    no_print: "",
    text_only: false,
    focused: "",
    switched_off: "",
};

const SPEC_FOCUS: &str = r#"^\s*f(describe|it|context)\b\s*[\s(]\s*["'`]"#;

const SCRIPT_QUOTES: &[Quote] = &[DOUBLE, SINGLE, with(multi("`"), "${", b'{', b'}')];
const SCRIPT: Syntax =
    Syntax { doc: &["/**", "/// <"], quotes: SCRIPT_QUOTES, characters: false, regexes: true, ..C_LIKE };
const SCRIPT_DEBUG: Debug = Debug {
    hints: &["debugger", "console.", ".only", "fdescribe", "fit", "fcontext"],
    calls: r"(^|[;{})])\s*debugger\s*(;|\}|$)",
    prints: r"\bconsole\.(log|debug|info|warn|error|dir|trace|table)\s*\(",
    focused: r#"\b(describe|it|test|context|suite|bench)\.only\s*[.(`]|^\s*f(describe|it|context)\s*\(\s*["'`]"#,
    ..QUIET
};

const PYTHON_TOOLS: &str = r"(^|;)\s*(import|from)\s+(pdb|ipdb|pudb|wdb|rpdb|bpdb|pdbr|debugpy|pydevd\w*)\b|\.set_trace\s*\(|(^|[;:])\s*breakpoint\s*\(|\bdebugpy\.(breakpoint|listen|wait_for_client)\s*\(";

const fn language(name: &'static str, files: Files, syntax: Syntax, style: Style, debug: Debug) -> Language {
    Language { name, files, syntax, style, debug, compiled: OnceLock::new() }
}

/// Every language that is known.
pub(super) static ALL: [Language; 14] = [
    language(
        "rust",
        only(&["rs"]),
        Syntax {
            nested: true,
            doc: &["///", "//!", "/**", "/*!"],
            quotes: &[Quote { prefix: Prefix::RustRaw, ..raw("\"") }, multi("\"")],
            ..C_LIKE
        },
        STRICT,
        Debug {
            hints: &["dbg!", "print"],
            calls: r"\bdbg!\s*[(\[{]",
            prints: r"\be?print(ln)?!\s*[(\[{]",
            ..QUIET
        },
    ),
    language(
        "python",
        Files { endings: &["py", "pyi"], interpreters: &["python"] },
        Syntax { quotes: &[multi("\"\"\""), multi("'''"), DOUBLE, SINGLE], ..HASH },
        Style { colons: true, ..FREE },
        Debug {
            hints: &["pdb", "pudb", "wdb", "debugpy", "pydevd", "set_trace", "breakpoint", "print"],
            calls: PYTHON_TOOLS,
            prints: r"(^|[^\w.])p?print\s*\(|\bpprint\.pp(rint)?\s*\(",
            no_print: r"\bfile\s*=\s*([^s]|s[^y]|sys\.[^s])|\bdef\s+p?print\b",
            ..QUIET
        },
    ),
    language(
        "javascript",
        Files { endings: &["js", "mjs", "cjs", "jsx"], interpreters: &["node", "nodejs"] },
        SCRIPT,
        FREE,
        SCRIPT_DEBUG,
    ),
    language(
        "typescript",
        Files { endings: &["ts", "mts", "cts", "tsx"], interpreters: &["ts-node", "deno", "bun", "tsx"] },
        SCRIPT,
        FREE,
        SCRIPT_DEBUG,
    ),
    language(
        "go",
        only(&["go"]),
        Syntax { quotes: &[DOUBLE, raw("`")], doc: &[], ..C_LIKE },
        FREE,
        Debug {
            hints: &["spew.", "Breakpoint", "fmt.Print", "print"],
            calls: r"\bspew\.(Dump|Sdump|Fdump|Print(f|ln)?)\s*\(|\bruntime\.Breakpoint\s*\(",
            prints: r"\bfmt\.Print(f|ln)?\s*\(|(^|[^\w.])print(ln)?\s*\(",
            no_print: r"\bfunc\b.*\bprint(ln)?\s*\(",
            ..QUIET
        },
    ),
    language(
        "java",
        only(&["java"]),
        Syntax { quotes: &[multi("\"\"\""), DOUBLE], ..C_LIKE },
        Style { types_first: true, ..STRICT },
        Debug {
            hints: &["System.", "dumpStack", "printStackTrace"],
            calls: r"\bThread\.dumpStack\s*\(",
            prints: r"\bSystem\.(out|err)\.print(ln|f)?\s*\(|\.printStackTrace\s*\(\s*\)",
            ..QUIET
        },
    ),
    language(
        "kotlin",
        only(&["kt", "kts"]),
        Syntax {
            nested: true,
            quotes: &[with(raw("\"\"\""), "${", b'{', b'}'), with(DOUBLE, "${", b'{', b'}')],
            ..C_LIKE
        },
        FREE,
        Debug {
            hints: &["print", "dumpStack", "fdescribe", "fit", "fcontext", "System."],
            calls: r"\bThread\.dumpStack\s*\(",
            prints: r"\bSystem\.(out|err)\.print(ln|f)?\s*\(|\.printStackTrace\s*\(\s*\)|(^|[^\w.])print(ln)?\s*\(",
            no_print: r"\bfun\b.*\bprint(ln)?\s*\(",
            focused: SPEC_FOCUS,
            ..QUIET
        },
    ),
    language("c", only(&["c", "h"]), C, Style { types_first: true, ..STRICT }, C_DEBUG),
    language(
        "c++",
        only(&["cc", "cpp", "cxx", "hpp", "hh", "hxx"]),
        C,
        Style { types_first: true, ..STRICT },
        C_DEBUG,
    ),
    language(
        "csharp",
        only(&["cs"]),
        Syntax {
            doc: &["///", "/**"],
            quotes: &[
                raw("\"\"\""),
                Quote { prefix: Prefix::Verbatim, escape: Escape::Doubled, ..raw("\"") },
                Quote { prefix: Prefix::Dollar, ..with(DOUBLE, "{", b'{', b'}') },
                DOUBLE,
            ],
            ..C_LIKE
        },
        Style { types_first: true, ..STRICT },
        Debug {
            hints: &["Debugger.", "Console."],
            calls: r"\bDebugger\.(Break|Launch)\s*\(",
            prints: r"\bConsole\.(Error\.|Out\.)?Write(Line)?\s*\(",
            switched_off: r"^\s*#\s*if\s+false\b",
            ..QUIET
        },
    ),
    language(
        "ruby",
        Files { endings: &["rb", "rake"], interpreters: &["ruby"] },
        Syntax {
            block: Some(("=begin", "=end")),
            quotes: &[with(multi("\""), "#{", b'{', b'}'), multi("'"), with(multi("`"), "#{", b'{', b'}')],
            regexes: true,
            heredocs: Heredocs::Ruby,
            end: Some("__END__"),
            ..HASH
        },
        Style { bare_calls: true, ..FREE },
        Debug {
            hints: &[
                "binding.",
                "byebug",
                "debugger",
                "save_and_open",
                "puts",
                "p ",
                "p(",
                "pp",
                "print",
                "warn",
                "focus",
                "fdescribe",
                "fit",
                "fcontext",
            ],
            calls: r"(^|;)\s*(binding\.(pry|irb|break|b|remote_pry)|byebug|debugger|save_and_open_(page|screenshot))(\(.*\))?\s*(;|$|(if|unless)\b)",
            prints: r#"(^|[;{|]|\bdo|\bthen)\s*(puts|pp?|print|warn)(\s+[\w:"'@\[({$\#<*&!-]|\(|\s*$)"#,
            no_print: r"(^|[;{|]|\bdo|\bthen)\s*(puts|pp?|print|warn)(\s+(if|unless|and|or|=|[-+*/|&<]=|[-*<&]\s)|\s*$)",
            focused: r#"^\s*f(describe|it|context)\b\s*[\s(]\s*["'`]|\bfocus:\s*true\b|:focus\s*=>\s*true\b"#,
            ..QUIET
        },
    ),
    language(
        "php",
        Files { endings: &["php"], interpreters: &["php"] },
        Syntax {
            line: &["//", "#"],
            quotes: &[multi("\""), multi("'")],
            characters: false,
            heredocs: Heredocs::Php,
            islands: true,
            ..C_LIKE
        },
        STRICT,
        Debug {
            hints: &[
                "var_dump",
                "dd(",
                "xdebug_break",
                "debug_zval",
                "print",
                "var_export",
                "error_log",
                "dump(",
                "echo",
                "die",
            ],
            calls: r"(^|[;{}])\s*\\?(var_dump|ddd?|xdebug_break|debug_zval_refcount)\s*\(",
            prints: r"(^|[;{}(])\s*\\?(print_r|var_export|error_log|dump)\s*\(|^\s*(echo|die|print)\b",
            no_print: r"\b(print_r|var_export)\s*\(.*,\s*true\s*\)\s*;|\bfunction\s+\w+\s*\(",
            ..QUIET
        },
    ),
    language(
        "swift",
        only(&["swift"]),
        Syntax {
            nested: true,
            doc: &["///", "/**"],
            quotes: &[
                Quote { prefix: Prefix::Hashes, ..raw("\"\"\"") },
                Quote { prefix: Prefix::Hashes, multi: false, ..raw("\"") },
                with(multi("\"\"\""), "\\(", b'(', b')'),
                with(DOUBLE, "\\(", b'(', b')'),
            ],
            characters: false,
            ..C_LIKE
        },
        FREE,
        Debug {
            hints: &["debugPrint", "print", "NSLog", "dump(", "fdescribe", "fit", "fcontext"],
            calls: r"(^|[^\w.])debugPrint\s*\(",
            prints: r"(^|[^\w.])(print|NSLog|dump)\s*\(",
            no_print: r"\bfunc\s+(print|dump)\b",
            focused: SPEC_FOCUS,
            ..QUIET
        },
    ),
    language(
        "shell",
        Files { endings: &["sh", "bash"], interpreters: &["sh", "bash", "dash", "ash", "ksh", "zsh"] },
        Syntax {
            at_word: true,
            quotes: &[
                Quote { prefix: Prefix::Dollar, ..multi("'") },
                Quote { escape: Escape::None, ..multi("'") },
                multi("\""),
            ],
            heredocs: Heredocs::Shell,
            ..HASH
        },
        Style { shell: true, bare_calls: true, ..FREE },
        Debug {
            hints: &["echo", "printf"],
            prints: r"(^|[;&|({]|\bthen|\bdo|\belse)\s*(echo|printf)\s",
            text_only: true,
            ..QUIET
        },
    ),
];

const C: Syntax = Syntax {
    doc: &["///", "//!", "/**", "/*!"],
    quotes: &[Quote { prefix: Prefix::CppRaw, ..raw("\"") }, DOUBLE],
    ..C_LIKE
};
const C_DEBUG: Debug = Debug {
    hints: &["__debugbreak", "__builtin_debugtrap", "printf", "puts", "#if", "# if"],
    calls: r"\b(__debugbreak|__builtin_debugtrap)\s*\(",
    prints: r"(^|[^\w.>:])(std::)?(printf|puts)\s*\(|\bfprintf\s*\(\s*stderr\b",
    no_print: r"^\s*#\s*define\b",
    switched_off: r"^\s*#\s*if\s+0\b",
    ..QUIET
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for language in &ALL {
            assert!(!language.compiled().hints.is_match(b"nothing of interest"), "{}", language.name);
        }
    }

    #[test]
    fn files_without_an_ending_are_known_by_their_first_line() {
        let of = |path: &str, text: &str| Language::of(path, text.as_bytes()).map(|language| language.name);
        assert_eq!(of("bin/route", "#!/usr/bin/env python3\n"), Some("python"));
        assert_eq!(of("bin/route", "#!/usr/bin/env -S FOO=1 bash -e\n"), Some("shell"));
        assert_eq!(of("bin/route", "#!/usr/bin/ruby3.1\n"), Some("ruby"));
        assert_eq!(of("bin/route", "text"), None);
        assert_eq!(of("a/b.RS", ""), Some("rust"));
        assert_eq!(of(".bashrc", "#!/bin/bash\n"), Some("shell"));
        assert_eq!(of("notes.md", "#!/bin/sh\n"), None);
    }
}
