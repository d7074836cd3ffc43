//! Refs that keep the commit of an agent's session from being collected, from its last turn's end until the session is
//! finished: somebody may rewrite the branch after the agent is gone. They are this machine's own business, so the push
//! gate refuses them.

use super::park::{ref_part, worktree_name};
use super::{GitError, Repo};
use crate::model::SessionId;

/// Where they stand: `<worktree>/<session>` below.
const PREFIX: &str = "refs/endwell/sessions/";

/// Whether a ref is one of those that never leave this machine.
pub fn is_pin(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl Repo {
    /// Makes the session's ref name this commit.
    pub fn pin(&self, session: &SessionId, commit: &str) -> Result<(), GitError> {
        self.git(&["update-ref", &self.pin_name(session), commit]).map(drop)
    }

    /// Removes the session's ref; none there is fine.
    pub fn unpin(&self, session: &SessionId) -> Result<(), GitError> {
        self.git(&["update-ref", "-d", &self.pin_name(session)]).map(drop)
    }

    /// Removes the refs of every session, in every work tree.
    pub fn unpin_all(&self) -> Result<(), GitError> {
        let pins = self.git(&["for-each-ref", "--format=delete %(refname)", PREFIX])?;
        if pins.stdout.is_empty() {
            return Ok(());
        }
        self.git_with_input(&["update-ref", "--stdin"], pins.stdout).map(drop)
    }

    fn pin_name(&self, session: &SessionId) -> String {
        format!("{PREFIX}{}/{}", worktree_name(self), ref_part(session.as_str()))
    }
}
