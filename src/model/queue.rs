//! What a command could not write into the git folder, as it waits in `outputs/.endwell-queue/` for the next hook. Whoever
//! wrote it may have been confined on purpose, so nothing in it is a proof of anything.

use serde::{Deserialize, Serialize};

use super::report::Evidence;

/// One record that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub schema_version: u32,
    pub kind: QueuedKind,
    /// The session whose command it was.
    pub session_id: String,
    /// RFC 3339.
    pub queued_at: String,
    /// The run, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// The session whose packet was read, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
}

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuedKind {
    /// A test run. It counts as missing: kept only so that people are told of it.
    Evidence,
    /// The session is wrapping up.
    WrapUp,
    /// The session's packet is wanted.
    Handoff,
    /// A packet was read.
    Loaded,
}

impl QueuedKind {
    /// The word in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::WrapUp => "wrap-up",
            Self::Handoff => "handoff",
            Self::Loaded => "loaded",
        }
    }
}
