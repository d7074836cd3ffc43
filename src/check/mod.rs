//! The five checks, one file each. A check looks at a [`Context`] that the flow has filled and returns issues; one
//! that can't judge returns [`CouldNotCheck`], which becomes a blocking issue. An empty list means "I looked".

pub mod branch;
pub mod feature_board;
pub mod temp_artifacts;
pub mod tests;
pub mod working_tree;

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::config::Config;
use crate::git::{Entry, GitError, Objects, Refs, Repo, Status};
use crate::model::board::{BoardReading, Proof};
use crate::model::report::TestStanding;
use crate::model::session::{Baseline, BoardBaseline};
use crate::model::state::AgentState;
use crate::model::{CheckId, Issue, Owner};

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
    /// An agent's session is judged (the baseline is its own), not a person's work since the installation.
    pub in_session: bool,
    /// The branches that other work trees have checked out; `None` for a detached one.
    pub other_worktrees: &'a [Option<String>],
    /// What is recorded about the tests of this content.
    pub tests: &'a TestStanding,
    /// The feature board as it was read.
    pub board: &'a BoardReading,
    /// The board as it was before the session; absent where nobody knows.
    pub board_before: Option<&'a BoardBaseline>,
    /// What is recorded about the acceptance of the board's entries, by id.
    pub proofs: &'a BTreeMap<String, Proof>,
}

impl Context<'_> {
    /// An issue about a dirty path, with its owner. What lay there at the baseline and is unchanged since only warns.
    pub fn owned(&self, issue: Issue, entry: &Entry) -> Issue {
        let Some(baseline) = self.baseline else { return issue };
        let known = baseline.dirty.get(&crate::model::session::path_key(&entry.path));
        let unchanged = known.is_some_and(|digest| *digest == self.repo.content_digest(entry));
        if unchanged { issue.stood_before() } else { issue.owned_by(Owner::Session) }
    }

    /// An issue that the session made, where there is a baseline to tell.
    pub fn by_session(&self, issue: Issue) -> Issue {
        if self.baseline.is_some() { issue.owned_by(Owner::Session) } else { issue }
    }
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

/// Every check, in report order.
pub const ALL: [&dyn Check; 5] = [
    &working_tree::WorkingTree,
    &temp_artifacts::TempArtifacts,
    &tests::Tests,
    &feature_board::FeatureBoard,
    &branch::Branch,
];
