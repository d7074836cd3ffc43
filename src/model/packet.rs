//! `handoff.json` version 1: what the next session needs. A pure function of its inputs; `status` alone is lifecycle
//! and stands outside the digest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckId, Severity};
use crate::model::clean::CheckStatus;

/// The packet of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Packet {
    pub schema_version: u32,
    pub session_id: String,
    /// The client, or `manual`.
    pub agent: String,
    pub task_id: Option<String>,
    /// The active feature's id, else the task's, else the branch.
    pub topic: String,
    /// Absent on a detached HEAD.
    pub branch: Option<String>,
    pub head_commit: String,
    /// Newest commit at or before HEAD whose tree has green evidence.
    pub last_known_good_commit: Option<String>,
    pub status: PacketStatus,
    /// Packets of the same branch and topic, from sessions that started earlier.
    pub supersedes: Vec<String>,
    /// One paragraph by a fixed grammar.
    pub summary: String,
    /// Net difference from the baseline to HEAD.
    pub changed_files: Vec<ChangedFile>,
    /// What ran, in order, repeats in a row folded.
    pub commands_run: Vec<CommandRun>,
    pub failed_attempts: Vec<FailedAttempt>,
    /// Most severe first.
    pub open_risks: Vec<OpenRisk>,
    pub next_action: NextAction,
    pub verdict_pointer: VerdictPointer,
    /// The last records plus every failure, each once, in log order.
    pub feedback_tail: Vec<TailEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_omitted: Option<FeedbackOmitted>,
    pub assumptions_to_validate: Vec<String>,
    pub questions_for_human: Vec<QuestionForHuman>,
    pub prerequisites: Vec<Prerequisite>,
    pub clean_state: CleanState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// sha256 over everything that this packet was computed from.
    pub inputs_digest: String,
}

/// Where a packet is in its life; derived from the pointer of its branch and topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PacketStatus {
    Active,
    Superseded,
    Archived,
}

/// One file of the net difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    pub status: ChangeKind,
    /// Lines; absent for binary files and submodules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// The former path of a renamed file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChanged,
}

/// A record of the feedback log as the packet carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TailEntry {
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `null`: unknown.
    pub exit_code: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout_tail: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
    /// How many identical failures this entry stands for.
    pub times: u64,
}

/// A command, with how often it ran in a row with the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRun {
    pub command: String,
    /// `null`: unknown.
    pub exit_code: Option<i64>,
    pub times: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Something that was tried and did not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedAttempt {
    pub command: String,
    pub exit_code: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The line of its output that says why.
    pub why: String,
    pub times: u64,
    /// The id of the later run that succeeded, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default)]
    pub resolved: bool,
}

/// What could bite next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenRisk {
    pub severity: Severity,
    pub detail: String,
    /// Where it was found: `state`, `verdict`, `review`, `check`, `tests`, `gate`, `log`.
    pub source: String,
}

/// The first concrete step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextAction {
    pub text: String,
    /// Not the agent's words, but worked out from the board.
    pub derived: bool,
}

/// The receipts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictPointer {
    pub verification: FileRef,
    pub review: Option<FileRef>,
}

/// A file and its content's sha256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRef {
    pub path: String,
    pub sha256: String,
}

/// What was left out of `feedback_tail`, and where all of it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackOmitted {
    /// Failures that stand in the log only.
    pub failures: u64,
    /// The full log, from the top of the work tree.
    pub log: String,
}

/// An unanswered question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionForHuman {
    pub text: String,
    pub blocking: bool,
}

/// What the next session must load or do before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prerequisite {
    /// `file`, `parked`, `stash` or `command`.
    pub kind: PrerequisiteKind,
    /// The path, the parked entry, the stash, or the command line.
    pub what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Why it is needed.
    pub why: String,
}

/// What kind of thing a prerequisite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrerequisiteKind {
    File,
    Parked,
    Stash,
    Command,
}

/// The checks that let the packet through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanState {
    pub tree: Option<String>,
    pub checks: Vec<CheckResult>,
}

/// One check, without the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    pub check: CheckId,
    pub status: CheckStatus,
}

/// How full the context was at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextUse {
    pub tokens: u64,
    /// Absent or assumed where the client does not tell.
    pub window: Option<u64>,
    pub window_assumed: bool,
}
