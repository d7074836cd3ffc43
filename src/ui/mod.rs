//! What people see: data on standard output, everything else on standard error, readable without colour. A closed
//! pipe is not an error.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::AutoStream;
use owo_colors::OwoColorize as _;

use crate::failure::Failure;
use crate::model::Severity;

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    Quiet,
    #[default]
    Normal,
    Verbose,
}

/// The two streams. Colours follow `NO_COLOR`, `CLICOLOR_FORCE` and whether the stream is a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ui {
    pub verbosity: Verbosity,
}

impl Ui {
    /// Data, to standard output, with a line end.
    pub fn data(&self, text: impl Display) -> io::Result<()> {
        let mut out = AutoStream::auto(io::stdout().lock());
        closed_pipe_is_fine(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// Data as it is, to standard output.
    pub fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        closed_pipe_is_fine(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// A sentence to standard error; not with `-q`.
    pub fn say(&self, text: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            Self::error_line(text);
        }
    }

    /// A remark to standard error; only with `-v`.
    pub fn detail(&self, text: impl Display) {
        if self.verbosity > Verbosity::Normal {
            Self::error_line(text);
        }
    }

    /// The next step, on a line of its own.
    pub fn hint(&self, text: impl Display) {
        self.say(format_args!("{} {text}", "hint:".cyan()));
    }

    /// Something that is not right but stops nothing.
    pub fn warn(&self, text: impl Display) {
        Self::error_line(format_args!("{} {text}", "warning:".yellow().bold()));
    }

    /// A failure with its hints.
    pub fn failure(&self, failure: &Failure) {
        Self::error_line(format_args!("{} {}", "error:".red().bold(), failure.chain()));
        for hint in failure.hints() {
            Self::error_line(format_args!("{} {hint}", "hint:".cyan()));
        }
    }

    /// Whether a person sits at it: both ends are a terminal.
    pub fn has_person(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether standard error is a terminal: for progress lines.
    pub fn is_live(&self) -> bool {
        io::stderr().is_terminal() && self.verbosity > Verbosity::Quiet
    }

    fn error_line(text: impl Display) {
        let mut err = AutoStream::auto(io::stderr().lock());
        // standard error that can't be written leaves nowhere to complain
        writeln!(err, "{text}").ok();
    }
}

fn closed_pipe_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A severity's word in its colour.
pub fn severity(severity: Severity) -> String {
    match severity {
        Severity::Block => "block".red().bold().to_string(),
        Severity::Warn => "warn".yellow().to_string(),
        Severity::Info => "info".dimmed().to_string(),
    }
}

/// Text from outside (paths, commands, logs) on one line, with control characters and direction marks made visible,
/// so that nothing in it can move the cursor or disguise itself.
pub fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        out
    })
}

/// Raw bytes as one word that can be pasted into a shell; what can't be shown is escaped within `$'…'`.
pub fn shell_word(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if plain(text) == text => shell_words::quote(text).into_owned(),
        _ => {
            let mut out = "$'".to_owned();
            for byte in bytes {
                match byte {
                    b'\\' | b'\'' => out.extend(['\\', char::from(*byte)]),
                    b' '..=b'~' => out.push(char::from(*byte)),
                    b'\n' => out.push_str("\\n"),
                    // three octal digits: a hexadecimal escape would take in the digits behind it
                    other => out.extend(format!("\\{other:03o}").chars()),
                }
            }
            out.push('\'');
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_pasted_whatever_it_holds() {
        assert_eq!(shell_word(b"src/a.rs"), "src/a.rs");
        assert_eq!(shell_word(b"a b"), "'a b'");
        assert_eq!(shell_word("漢".as_bytes()), "漢");
        assert_eq!(shell_word(b"a\n1'\xff"), r"$'a\n1\'\377'");
    }

    #[test]
    fn nothing_from_outside_can_move_the_cursor() {
        assert_eq!(plain("a\nb\u{1b}[31m\u{202e}é漢"), "a\\nb\\u{1b}[31m\\u{202e}é漢");
    }
}
