//! Formats of parked work: the manifest inside of the parked commit, the record of it that all work trees share, and
//! the journal by which a park or unpark that was killed goes forward.

use serde::{Deserialize, Serialize};

use super::SessionId;

/// What lies at a path, as far as it can be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Lies {
    /// No file and no link; a folder counts as nothing, since git knows only what is in it.
    Nothing,
    /// A regular file: its permission bits, and the id that its raw bytes have as a blob.
    File { mode: u32, id: String },
    /// A symbolic link: the id that its target has as a blob.
    Link { id: String },
}

/// One path of parked work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedPath {
    /// See [`super::session::path_key`].
    pub path: String,
    pub lies: Lies,
    /// Time of the last change: seconds and nanoseconds since the epoch.
    #[serde(default)]
    pub modified: Option<(i64, i64)>,
}

/// A folder whose permission bits are put back when it has to be made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedFolder {
    /// See [`super::session::path_key`].
    pub path: String,
    pub mode: u32,
}

/// The record of one piece of parked work: a file in the common git dir. The ref is the truth; a record without its
/// ref stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedRecord {
    pub schema_version: u32,
    /// What `endwell unpark` takes: the last part of the ref.
    pub id: String,
    /// The work tree's part of the ref.
    pub worktree: String,
    #[serde(rename = "ref")]
    pub reference: String,
    pub session_id: SessionId,
    /// HEAD's branch, short; absent on a detached HEAD.
    pub branch: Option<String>,
    pub head: String,
    pub note: String,
    /// RFC 3339.
    pub parked_at: String,
    /// Number of paths.
    pub paths: u64,
}

/// Everything that is needed to bring it back exactly; lies in the parked commit beside the blobs that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedManifest {
    pub schema_version: u32,
    pub record: ParkedRecord,
    pub entries: Vec<ParkedPath>,
    pub folders: Vec<ParkedFolder>,
    /// Time of the last change of the index file: by it git tells which entries it must compare by content.
    pub index_modified: (i64, i64),
    /// What the index held (names, ids, modes, stages, flags) once the work was put aside.
    pub index_after: String,
    /// endwell's own artifacts that were not as in HEAD: their entries stay as they are now.
    pub own: Vec<String>,
}

/// What a journal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    Park,
    Unpark,
    /// An unpark on another HEAD, which git does.
    Apply,
}

/// One path that goes from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// See [`super::session::path_key`].
    pub path: String,
    pub before: Lies,
    pub after: Lies,
    #[serde(default)]
    pub modified: Option<(i64, i64)>,
}

/// What was begun in a work tree and has not ended yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkJournal {
    pub schema_version: u32,
    pub work: Work,
    /// Part of every temporary name, and the content of our own `index.lock`.
    pub nonce: String,
    pub commit: String,
    pub record: ParkedRecord,
    /// sha256 of the index file as it was; absent where there was none.
    pub index_before: Option<String>,
    /// All is in its place; only the lock and this file are left to be taken away.
    #[serde(default)]
    pub done: bool,
    pub steps: Vec<Step>,
    pub folders: Vec<ParkedFolder>,
}
