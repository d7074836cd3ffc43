//! What is said about a language: its comments and strings, its statements, its debug calls. The languages themselves
//! are data, in `languages`.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexSet};

use super::languages::ALL;

/// One language.
pub(super) struct Language {
    pub(super) name: &'static str,
    pub(super) files: Files,
    pub(super) syntax: Syntax,
    pub(super) style: Style,
    pub(super) debug: Debug,
    pub(super) compiled: OnceLock<Compiled>,
}

/// How its files are known.
#[derive(Clone, Copy)]
pub(super) struct Files {
    /// Endings of names, without the dot.
    pub(super) endings: &'static [&'static str],
    /// How an interpreter in a `#!` line ends, for files without an ending.
    pub(super) interpreters: &'static [&'static str],
}

/// What the scanner must know.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    /// What opens a comment that ends with the line.
    pub(super) line: &'static [&'static str],
    /// What opens and closes a block comment.
    pub(super) block: Option<(&'static str, &'static str)>,
    /// Openers of documentation; the line and block openers above are tried first.
    pub(super) doc: &'static [&'static str],
    /// Strings, the more special first.
    pub(super) quotes: &'static [Quote],
    pub(super) quirks: &'static [Quirk],
    pub(super) heredocs: Heredocs,
    /// A text that ends the code in the rest of the file, alone on a line.
    pub(super) end: Option<&'static str>,
}

impl Syntax {
    pub(super) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

/// What one language does and another does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quirk {
    /// `#` opens a comment only at the start of a word.
    WordComments,
    /// Block comments nest.
    Nested,
    /// `'x'` is a character; anything else after `'` is no string.
    Characters,
    /// `/…/` after an operator is a regular expression.
    Regexes,
    /// Code stands only between `<?` and `?>`.
    Islands,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Nothing in particular marks a statement.
    Free,
    /// Statements end in `;`, so that a line without one says less.
    Semicolons,
    /// The same, and types stand before names.
    TypesFirst,
    /// Heads end in `:`.
    Colons,
    /// Calls may stand without parentheses.
    BareCalls,
    /// Lines are commands.
    Shell,
}

impl Style {
    pub(super) const fn semicolons(self) -> bool {
        matches!(self, Self::Semicolons | Self::TypesFirst)
    }

    pub(super) const fn bare_calls(self) -> bool {
        matches!(self, Self::BareCalls | Self::Shell)
    }
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

/// Compiles several patterns into one set.
pub(super) fn set(patterns: &[&str]) -> RegexSet {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile them all")]
    let set = regex::bytes::RegexSetBuilder::new(patterns).unicode(false).build().expect("constant patterns");
    set
}

fn optional(text: &str) -> Option<Regex> {
    (!text.is_empty()).then(|| pattern(text))
}

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
