//! The five checks, one file each. A check looks at a [`Context`] that the flow has filled and returns issues; one
//! that can't judge returns [`CouldNotCheck`], which becomes a blocking issue. An empty list means "I looked".

pub mod temp_artifacts;

use std::fmt::Display;

use crate::config::Config;
use crate::git::{GitError, Objects, Refs, Repo, Status};
use crate::model::board::BoardReading;
use crate::model::report::TestStanding;
use crate::model::session::Baseline;
use crate::model::state::AgentState;
use crate::model::{CheckId, Issue};

/// Everything that a check may look at. Filled once; shared by all checks.
pub struct Context<'a> {
    pub repo: &'a Repo,
    pub objects: &'a Objects,
    pub refs: &'a Refs,
    /// The one walk of the work tree.
    pub status: &'a Status,
    pub state: &'a AgentState,
    /// The session's baseline, else the installation's; absent where endwell is not installed.
    pub baseline: Option<&'a Baseline>,
    /// The commit since which lines and files count as added; absent: everything in HEAD stood there before.
    pub base: Option<&'a str>,
    pub config: &'a Config,
    /// What is recorded about the tests of this content.
    pub tests: &'a TestStanding,
    /// The feature board as it was read.
    pub board: &'a BoardReading,
}

/// Why a check could not judge.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CouldNotCheck(pub String);

impl CouldNotCheck {
    pub fn because(why: impl Display) -> Self {
        Self(why.to_string())
    }
}

impl From<GitError> for CouldNotCheck {
    fn from(error: GitError) -> Self {
        Self(error.to_string())
    }
}

/// What a check returns.
pub type Found = Result<Vec<Issue>, CouldNotCheck>;

/// One check.
pub trait Check: Sync {
    fn id(&self) -> CheckId;
    fn run(&self, context: &Context<'_>) -> Found;
}
