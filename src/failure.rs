//! What a person sees when a command can't go on: what was attempted on what, the cause, and what to do next.

use std::error::Error;
use std::fmt;

use crate::exit::ExitStatus;

/// Which exit code a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Refused: something blocks.
    Blocked,
    /// The call's words are off.
    Usage,
    /// Configuration, git, or I/O: could not judge.
    CouldNotJudge,
    Interrupted,
}

/// A failure that reaches a person. Lower-case message, cause chain, hints.
#[derive(Debug)]
pub struct Failure {
    kind: FailureKind,
    message: String,
    source: Option<anyhow::Error>,
    hints: Vec<String>,
}

/// What commands and flows return.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, hints: Vec::new() }
    }

    /// Could not judge or could not do.
    pub fn broken(message: impl Into<String>) -> Self {
        Self::new(FailureKind::CouldNotJudge, message)
    }

    /// Refused.
    pub fn blocked(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Blocked, message)
    }

    /// The call's words are off.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// The cause below.
    #[must_use]
    pub fn because(mut self, source: impl Into<anyhow::Error>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The next step. Every failure that a person sees has one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub const fn kind(&self) -> FailureKind {
        self.kind
    }

    pub const fn exit(&self) -> ExitStatus {
        match self.kind {
            FailureKind::Blocked => ExitStatus::Blocked,
            FailureKind::Usage => ExitStatus::Usage,
            FailureKind::CouldNotJudge => ExitStatus::CouldNotJudge,
            FailureKind::Interrupted => ExitStatus::Interrupted,
        }
    }

    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Message and causes on one line, without the hints.
    pub fn chain(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source.as_ref().map(|error| error.as_ref() as &dyn Error);
        while let Some(error) = cause {
            let line = error.to_string();
            if !text.contains(&line) {
                text.push_str(": ");
                text.push_str(&line);
            }
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain())
    }
}

impl Error for Failure {}
