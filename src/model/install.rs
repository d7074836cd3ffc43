//! That this person installed endwell in a repository: a mark in the repository that counts only where it agrees with
//! a record in the person's own state folder, so that nothing in a cloned or unpacked repository can switch itself on.

use serde::{Deserialize, Serialize};

use super::plan::EditKind;

/// The formats' version.
pub const VERSION: u32 = 1;

/// `<common git dir>/endwell/installed.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub schema_version: u32,
    /// Names the record.
    pub id: String,
}

/// `<state folder>/installs/<id>.json`: what was installed, and what uninstalling has to give back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub schema_version: u32,
    pub id: String,
    /// The common git dir, links resolved, as a path key.
    pub common_dir: String,
    pub files: Vec<FileRecord>,
}

/// One file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub what: String,
    /// Absolute, as a path key.
    pub path: String,
    pub kind: EditKind,
    pub before: Before,
    /// SHA-256 of what was written: while the file is still that, `before` is put back as it was.
    pub after: String,
    /// Where the file that was there before was moved to, as a path key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
    /// Folders that were made for it, outermost first, as path keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_dirs: Vec<String>,
}

/// What was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Before {
    Absent,
    /// Base64 of the file's bytes.
    Bytes(String),
    /// Somebody changed the file after endwell was in it: only our own part is taken out.
    Unknown,
}
