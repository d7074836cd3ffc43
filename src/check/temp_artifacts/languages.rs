//! The languages, as data: what can hide or fake a comment, what a statement looks like, what a debug call and a print
//! look like. To add one: one more [`Language`] in [`ALL`], and cases in `tests/fixtures/detect`. No logic here.

use std::sync::OnceLock;

use super::language::{Debug, Escape, Files, Heredocs, Language, Prefix, Quirk, Quote, Style, Syntax};

const fn only(endings: &'static [&'static str]) -> Files {
    Files { endings, interpreters: &[] }
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
    block: Some(("/*", "*/")),
    doc: &["/**"],
    quotes: &[DOUBLE],
    quirks: &[Quirk::Characters],
    heredocs: Heredocs::None,
    end: None,
};

const HASH: Syntax =
    Syntax { line: &["#"], block: None, doc: &[], quotes: &[DOUBLE, SINGLE], quirks: &[], ..C_LIKE };

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
    Syntax { doc: &["/**", "/// <"], quotes: SCRIPT_QUOTES, quirks: &[Quirk::Regexes], ..C_LIKE };
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
            quirks: &[Quirk::Characters, Quirk::Nested],
            doc: &["///", "//!", "/**", "/*!"],
            quotes: &[Quote { prefix: Prefix::RustRaw, ..raw("\"") }, multi("\"")],
            ..C_LIKE
        },
        Style::Semicolons,
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
        Style::Colons,
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
        Style::Free,
        SCRIPT_DEBUG,
    ),
    language(
        "typescript",
        Files { endings: &["ts", "mts", "cts", "tsx"], interpreters: &["ts-node", "deno", "bun", "tsx"] },
        SCRIPT,
        Style::Free,
        SCRIPT_DEBUG,
    ),
    language(
        "go",
        only(&["go"]),
        Syntax { quotes: &[DOUBLE, raw("`")], doc: &[], ..C_LIKE },
        Style::Free,
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
        Style::TypesFirst,
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
            quirks: &[Quirk::Characters, Quirk::Nested],
            quotes: &[with(raw("\"\"\""), "${", b'{', b'}'), with(DOUBLE, "${", b'{', b'}')],
            ..C_LIKE
        },
        Style::Free,
        Debug {
            hints: &["print", "dumpStack", "fdescribe", "fit", "fcontext", "System."],
            calls: r"\bThread\.dumpStack\s*\(",
            prints: r"\bSystem\.(out|err)\.print(ln|f)?\s*\(|\.printStackTrace\s*\(\s*\)|(^|[^\w.])print(ln)?\s*\(",
            no_print: r"\bfun\b.*\bprint(ln)?\s*\(",
            focused: SPEC_FOCUS,
            ..QUIET
        },
    ),
    language("c", only(&["c", "h"]), C, Style::TypesFirst, C_DEBUG),
    language("c++", only(&["cc", "cpp", "cxx", "hpp", "hh", "hxx"]), C, Style::TypesFirst, C_DEBUG),
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
        Style::TypesFirst,
        Debug {
            hints: &["Debugger.", "Console.", "#if", "# if"],
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
            quirks: &[Quirk::Regexes],
            heredocs: Heredocs::Ruby,
            end: Some("__END__"),
            ..HASH
        },
        Style::BareCalls,
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
            quirks: &[Quirk::Islands],
            heredocs: Heredocs::Php,
            ..C_LIKE
        },
        Style::Semicolons,
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
            quirks: &[Quirk::Nested],
            doc: &["///", "/**"],
            quotes: &[
                Quote { prefix: Prefix::Hashes, ..raw("\"\"\"") },
                Quote { prefix: Prefix::Hashes, multi: false, ..raw("\"") },
                with(multi("\"\"\""), "\\(", b'(', b')'),
                with(DOUBLE, "\\(", b'(', b')'),
            ],
            ..C_LIKE
        },
        Style::Free,
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
            quirks: &[Quirk::WordComments],
            quotes: &[
                Quote { prefix: Prefix::Dollar, ..multi("'") },
                Quote { escape: Escape::None, ..multi("'") },
                multi("\""),
            ],
            heredocs: Heredocs::Shell,
            ..HASH
        },
        Style::Shell,
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
