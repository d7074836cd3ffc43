//! Everything that a packet is computed from, as plain data. The flow fills it; two equal values give the same bytes.
//! Texts in here went through the redactor already. No time that endwell itself measured may be in here.

use serde::{Deserialize, Serialize};

use crate::model::clean::CleanReport;
use crate::model::feedback::FeedbackRecord;
use crate::model::issue::sha256_hex;
use crate::model::packet::{ChangedFile, ContextUse, FileRef, NextAction, OpenRisk, Prerequisite};
use crate::model::report::{ReviewReport, VerificationReport};
use crate::model::state::AgentState;

/// The inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Inputs {
    pub session_id: String,
    pub agent: String,
    pub task_id: Option<String>,
    pub topic: String,
    pub branch: Option<String>,
    pub head_commit: String,
    /// The commit that the session began on; absent before the first one.
    pub base_commit: Option<String>,
    /// Commits since then.
    pub commits: u64,
    pub last_known_good_commit: Option<String>,
    pub supersedes: Vec<String>,
    pub changed_files: Vec<ChangedFile>,
    pub state: AgentState,
    pub board: Option<BoardInput>,
    pub receipts: Receipts,
    pub log: LogInput,
    /// Judged freshly; the times in it are not looked at.
    #[serde(skip_serializing)]
    pub clean: CleanReport,
    /// The agent's words, else derived; absent: there is no packet.
    pub next_action: Option<NextAction>,
    pub parked: Vec<Parked>,
    pub stashes: Vec<StashInput>,
    /// What the flow found beyond the checks: bypasses, loosened gates, inputs that could not be read.
    pub found_risks: Vec<OpenRisk>,
    /// Files that the next session must load, by path.
    pub files_to_load: Vec<Prerequisite>,
    /// RFC 3339, by the session's journal.
    pub started_at: Option<String>,
    pub context: Option<ContextUse>,
    pub limits: Limits,
}

/// The active feature.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoardInput {
    pub feature: String,
    pub status: String,
    /// The board's own goal line.
    pub goal: Option<String>,
}

/// The reports and where they lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipts {
    pub verification: VerificationReport,
    pub verification_file: FileRef,
    pub review: Option<ReviewReport>,
    pub review_file: Option<FileRef>,
}

/// What was read of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LogInput {
    /// In log order: every failure and the last records. Redacted.
    pub records: Vec<FeedbackRecord>,
    /// Which of them are among the last ones; the rest are failures from before.
    pub recent_from: usize,
    /// Records before those are not here.
    pub more: bool,
    pub unreadable: u64,
    /// Failures that were too many to be held.
    pub dropped: u64,
    /// From the top of the work tree.
    pub path: String,
}

/// Work that was put aside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parked {
    pub id: String,
    pub note: String,
}

/// A stash entry of this session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StashInput {
    pub commit: String,
    pub note: String,
}

/// The settings that bound a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Records at the end of the log that are always there.
    pub tail: usize,
    /// Entries of the feedback tail and of the failed attempts.
    pub entries: usize,
    /// Characters of `handoff.md`.
    pub max_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tail: 5, entries: 30, max_chars: 8_000 }
    }
}

/// The parts of the checks' report that a packet may depend on.
#[derive(Serialize)]
struct Judged<'a> {
    head: &'a Option<String>,
    tree: &'a Option<String>,
    checks: Vec<(&'static str, crate::model::clean::CheckStatus)>,
    issues: &'a [crate::model::Issue],
}

impl Inputs {
    /// sha256 over all inputs.
    pub fn digest(&self) -> String {
        let clean = &self.clean;
        let judged = Judged {
            head: &clean.head,
            tree: &clean.tree,
            checks: clean.checks.iter().map(|outcome| (outcome.check.name(), outcome.status)).collect(),
            issues: &clean.issues,
        };
        // plain data always goes into JSON; an empty text would only make two digests equal that name no inputs
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(0);
        bytes.extend(serde_json::to_vec(&judged).unwrap_or_default());
        sha256_hex(&bytes)
    }
}
