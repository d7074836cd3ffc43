//! The outcome of the cleanliness phase: what `endwell check --format json` prints and `clean_report.json` holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckId, Issue};

/// The whole outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CleanReport {
    pub schema_version: u32,
    /// No blocking issue.
    pub clean: bool,
    /// HEAD's commit; absent before the first one.
    pub head: Option<String>,
    /// The tree that was judged: HEAD's where the work tree equals it, else absent.
    pub tree: Option<String>,
    /// The commit since which added lines and files were judged.
    pub base: Option<String>,
    /// The session that was judged.
    pub session: Option<String>,
    pub checks: Vec<CheckOutcome>,
    pub issues: Vec<Issue>,
}

/// One check's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutcome {
    pub check: CheckId,
    pub status: CheckStatus,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// A check's worst issue, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    Clean,
    Warn,
    Block,
    CouldNotCheck,
}

impl CleanReport {
    /// The blocking issues, exactly what `clean_state.json` holds.
    pub fn blocking(&self) -> Vec<&Issue> {
        self.issues.iter().filter(|issue| issue.blocks()).collect()
    }

    /// Whether some check could not judge.
    pub fn could_not_judge(&self) -> bool {
        self.issues.iter().any(|issue| issue.code == super::issue::COULD_NOT_CHECK)
    }
}
