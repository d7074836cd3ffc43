//! What an installation wants to change, as data: adapters and the git hook say it here, one executor shows it, does it
//! and takes it back. No I/O.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One file that is to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FileEdit {
    /// What it is, for people: "the pre-push hook".
    pub what: String,
    pub path: PathBuf,
    /// The folder that the file may not leave through a link.
    pub root: PathBuf,
    pub change: Change,
}

/// How it is to be changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The whole file is endwell's.
    Whole(Whole),
    /// Lines between two marks in a text file.
    Block { lines: Vec<String>, spot: Spot },
    /// Entries in a client's settings.
    Hooks(HookEntries),
}

/// Where in a text file our lines stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Behind everything.
    End,
    /// In a script, right below its first line; a script that is not there yet is made.
    Top,
}

/// A file that is endwell's as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub bytes: Vec<u8>,
    pub mode: u32,
    /// How one of our lines begins, in every version; absent: a file that is there already is left alone.
    pub mark: Option<&'static str>,
    /// How the line begins in which two of our files of one version may differ.
    pub variable: Option<&'static str>,
    /// Where somebody else's file is moved to, then the places that older versions used; none: it is refused.
    pub aside: Vec<PathBuf>,
}

/// The hooks of one client in one settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEntries {
    /// The client's name in our commands.
    pub client: &'static str,
    pub syntax: Syntax,
    /// Top-level keys outside of which the client rejects the file; empty: any.
    pub top_keys: &'static [&'static str],
    /// Top-level values that a new file needs besides the hooks.
    pub preamble: Vec<(&'static str, Value)>,
    /// None: ours are taken out.
    pub entries: Vec<HookEntry>,
}

/// What a settings file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Plain JSON only: a comment or a trailing comma makes the client drop the file.
    StrictJson,
    /// JSON, with comments.
    Json,
    Yaml,
}

/// One event's entry.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEntry {
    /// The client's name of the event.
    pub event: &'static str,
    /// Texts of our command that are all as good: the first is what is written.
    pub commands: Vec<String>,
    /// What is appended to the event's list.
    pub group: Value,
}

/// What tells our git hook from any other, in every version.
pub const HOOK_MARK: &str = "# endwell pre-push hook, version";

/// What stands in every file of ours that has a mark.
pub const WHOLE_MARK: &str = "Written by `endwell install`";

/// Which kind of edit a file got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditKind {
    Whole,
    Block,
    Hooks,
}

impl Change {
    pub const fn kind(&self) -> EditKind {
        match self {
            Self::Whole(_) => EditKind::Whole,
            Self::Block { .. } => EditKind::Block,
            Self::Hooks(_) => EditKind::Hooks,
        }
    }
}
