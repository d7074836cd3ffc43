//! What endwell remembers of a session: the baseline at its start and its journal since. One file a session in the
//! work tree's own git dir.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::board::Feature;
use super::board::Status;
use super::packet::ContextUse;
use super::{Issue, SessionId};

/// What was there when the session (or the installation) began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    pub schema_version: u32,
    /// RFC 3339; never copied into a packet.
    pub taken_at: String,
    /// HEAD's commit; absent before the first one.
    pub head: Option<String>,
    /// HEAD's branch, short; absent on a detached HEAD.
    pub branch: Option<String>,
    /// Local branches, short name to commit.
    pub branches: BTreeMap<String, String>,
    /// Commit ids of the stash entries.
    pub stashes: Vec<String>,
    /// Dirty paths, as the bytes' lossless key (see [`path_key`]), to a digest of what lay there.
    pub dirty: BTreeMap<String, String>,
    /// Operations under way, by git's names.
    #[serde(default)]
    pub operations: Vec<String>,
    /// Fingerprints of the board's findings and the digest of its bytes.
    #[serde(default)]
    pub board: Option<BoardBaseline>,
    /// The settings in force, as plain data; absent where a former version took the baseline.
    #[serde(default)]
    pub settings: Option<serde_json::Value>,
}

/// What the board looked like at the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardBaseline {
    /// Path from the top of the work tree.
    pub path: String,
    /// sha256 of the file's bytes; absent where it could not be read as a board.
    pub sha256: Option<String>,
    /// The status of every entry, by [`Feature::key`]; absent where it could not be read as a board.
    pub statuses: Option<BTreeMap<String, Status>>,
    /// Fingerprints of the findings that stood already.
    pub findings: Vec<String>,
}

/// A session's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub schema_version: u32,
    pub id: SessionId,
    /// The client's name, or `manual`.
    pub agent: String,
    /// RFC 3339.
    pub started_at: String,
    pub baseline: Baseline,
    pub phase: Phase,
    /// Whose session it is; absent where that can't be told.
    #[serde(default)]
    pub owner: Option<Owner>,
    /// When the client was last heard, RFC 3339.
    #[serde(default)]
    pub heard_at: String,
    #[serde(default)]
    pub ending: Option<Ending>,
    /// Somebody ran `endwell wrap-up`, or the client runs one prompt and exits.
    #[serde(default)]
    pub wrapping_up: bool,
    /// Whether the agent's shell may write git's folder, where its client told.
    #[serde(default)]
    pub can_commit: Option<bool>,
    /// How full the context was when it was last told.
    #[serde(default)]
    pub context: Option<ContextUse>,
    /// The agent was told that its context is filling.
    #[serde(default)]
    pub hinted: bool,
    /// Digests of the sets of reasons that the turn-end gate has already blocked for.
    #[serde(default)]
    pub blocked_for: Vec<String>,
    /// Why the last end left no packet.
    #[serde(default)]
    pub refusal: Option<Refusal>,
    /// Call ids that are in the feedback log already.
    #[serde(default)]
    pub recorded_calls: Vec<String>,
    /// Where the client writes the session's transcript.
    #[serde(default)]
    pub transcript: Option<String>,
    /// What the last turn's end left; absent in the middle of a turn, when the bench is what counts.
    #[serde(default)]
    pub turn_end: Option<TurnEnd>,
    /// The commit that the session's ref keeps.
    #[serde(default)]
    pub pinned: Option<String>,
}

/// What a turn's end left, so that a session that dies afterwards ends as it would have ended then. The refusal, where
/// there is one instead of a packet, is the session's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// RFC 3339.
    pub at: String,
    /// endwell's version.
    pub version: String,
    /// What lay there: `head`, `branch`, `work-tree`, `tree`, `state`, `board`, `reports`, `settings`, each as an id or
    /// the sha256 of its bytes. What was not there is absent.
    pub facts: BTreeMap<String, String>,
    /// How long the feedback log was.
    #[serde(default)]
    pub log_bytes: Option<u64>,
    /// Digest of what stood in the log before that place.
    #[serde(default)]
    pub log_digest: Option<String>,
    #[serde(default)]
    pub packet: Option<RenderedPacket>,
}

/// The packet's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPacket {
    /// `handoff.json`.
    pub json: String,
    /// `handoff.md`.
    pub markdown: String,
}

/// The process of the agent's client, told apart from every other one that this machine has run or will run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The kernel's id of this boot.
    pub boot: String,
    /// The namespace in which `pid` counts.
    pub namespace: String,
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

/// How a session came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Its client told.
    Told,
    /// Its client was gone, between two turns: what the last turn end left is what counts.
    RecoveredAtRest,
    /// Its client was gone in the middle of a turn: the bench was judged when that was found.
    RecoveredMidTurn,
}

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// In the middle of a turn.
    Busy,
    /// Between turns.
    Idle,
    /// Its end was handled.
    Ended,
}

/// Why a session ended without a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// RFC 3339.
    pub at: String,
    /// Sentences: each reason with what mends it.
    pub reasons: Vec<String>,
    pub issues: Vec<Issue>,
}

/// The lossless text form of a path's bytes: UTF-8 as it is, anything else as `base64:` and the bytes.
pub fn path_key(path: &[u8]) -> String {
    match super::issue::lossy_path(path) {
        (text, None) if !text.starts_with("base64:") => text,
        _ => {
            use base64::Engine as _;
            format!("base64:{}", base64::engine::general_purpose::STANDARD.encode(path))
        }
    }
}

/// The bytes of a path behind its key.
pub fn path_of_key(key: &str) -> Vec<u8> {
    use base64::Engine as _;
    let coded = key.strip_prefix("base64:");
    coded
        .and_then(|text| base64::engine::general_purpose::STANDARD.decode(text).ok())
        .unwrap_or_else(|| key.as_bytes().to_vec())
}
