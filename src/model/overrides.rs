//! A push that the gate refused, and a person's exception for it: bound to the commits and to the findings that the
//! person was shown, so that it lets nothing else through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckId, Issue, SCHEMA_VERSION};

/// The code of a finding that no exception covers: parked work is never pushed.
pub const PARKED: &str = "parked-ref";

/// What tells its lines from those of other exceptions in the same file.
pub const KIND: &str = "push";

/// `<git-common-dir>/endwell/refused.json`: the last push that the gate refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedPush {
    pub schema_version: u32,
    /// RFC 3339.
    pub at: String,
    /// The remote's name, or its URL.
    pub remote: String,
    pub refs: Vec<RefusedRef>,
    pub issues: Vec<OverriddenIssue>,
}

/// One line of `outputs/verification/overrides.jsonl`: a person's exception for one push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Override {
    pub schema_version: u32,
    /// `push`.
    pub kind: String,
    pub id: String,
    /// RFC 3339.
    pub at: String,
    /// Who said so, by the name that git knows.
    pub by: String,
    /// The agent in whose session it was said, where `allow.agents` lets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub reason: String,
    /// The remote's name, or its URL.
    pub remote: String,
    pub refs: Vec<RefusedRef>,
    pub issues: Vec<OverriddenIssue>,
}

/// One ref of a push that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedRef {
    /// On the remote.
    #[serde(rename = "ref")]
    pub name: String,
    /// The object id as git named it.
    pub commit: String,
}

/// A finding that an exception is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverriddenIssue {
    pub check: CheckId,
    pub code: String,
    pub fingerprint: String,
    pub message: String,
}

impl OverriddenIssue {
    pub fn of(issue: &Issue) -> Self {
        Self {
            check: issue.check,
            code: issue.code.clone(),
            fingerprint: issue.fingerprint.clone(),
            message: issue.message.clone(),
        }
    }
}

impl Override {
    /// Whether it lets a push of these commits with these findings through: nothing may have come to either.
    pub fn covers<'a>(&self, mut commits: impl Iterator<Item = &'a str>, issues: &[Issue]) -> bool {
        let knows = |issue: &Issue| self.issues.iter().any(|known| known.fingerprint == issue.fingerprint);
        self.schema_version == SCHEMA_VERSION
            && self.kind == KIND
            && commits.all(|commit| self.refs.iter().any(|known| known.commit == commit))
            && issues.iter().all(|issue| issue.code != PARKED && knows(issue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_covers_what_was_shown_and_nothing_more() {
        let issue = |path: &str| Issue::block(CheckId::WorkingTree, "untracked", path).at(path.as_bytes());
        let exception = Override {
            schema_version: SCHEMA_VERSION,
            kind: KIND.to_owned(),
            id: String::new(),
            at: String::new(),
            by: String::new(),
            agent: None,
            reason: String::new(),
            remote: String::new(),
            refs: vec![RefusedRef { name: "refs/heads/main".to_owned(), commit: "a1".to_owned() }],
            issues: [issue("x"), issue("y")].iter().map(OverriddenIssue::of).collect(),
        };
        let covers = |commits: &[&str], issues: &[Issue]| exception.covers(commits.iter().copied(), issues);
        assert!(covers(&["a1"], &[issue("x")]));
        assert!(!covers(&["a1"], &[issue("x"), issue("z")]), "a finding came to it");
        assert!(!covers(&["a1", "b2"], &[issue("x")]), "a commit came to it");
        assert!(!covers(&["a1"], &[Issue::block(CheckId::Branch, PARKED, "p")]));
    }
}
