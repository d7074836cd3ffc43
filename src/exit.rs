//! The exit codes, the same for every command but `run` and `hook … --client`.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done, or clean.
    Done,
    /// Something blocks.
    Blocked,
    /// The call's words are off.
    Usage,
    /// Could not judge: a check that could not run, configuration, git, I/O.
    CouldNotJudge,
    /// Interrupted by the person.
    Interrupted,
    /// The code of the command that `endwell run` ran.
    Child(u8),
}

impl ExitStatus {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Blocked => 1,
            Self::Usage => 2,
            Self::CouldNotJudge => 3,
            Self::Interrupted => 130,
            Self::Child(code) => code,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
