//! The feature board as it was read, whatever its shape: entries, words, rules, and what was odd about the file. Plain
//! data; reading and editing files is `board`'s work, judging against a session is the check's.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{CheckId, Issue, Severity};

/// What was found where a board may stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BoardReading {
    /// No board: the check is clean.
    #[default]
    None,
    Board(Box<Board>),
    /// A file that should be a board and can't be read: nothing about it is known.
    Unreadable(Unreadable),
    /// Files of a board's name that are none, and no board beside them.
    Foreign(Foreign),
}

impl BoardReading {
    /// The board, where there is one.
    pub fn board(&self) -> Option<&Board> {
        match self {
            Self::Board(board) => Some(board),
            _ => None,
        }
    }

    /// Path from the top of the work tree of what was read.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Board(board) => Some(&board.path),
            Self::Unreadable(unreadable) => Some(&unreadable.path),
            Self::Foreign(foreign) => foreign.paths.first().map(String::as_str),
        }
    }

    /// What is false about the file alone: no session, no git, nothing run. Owner and session are the check's to say.
    pub fn findings(&self) -> Vec<Issue> {
        match self {
            Self::None => Vec::new(),
            Self::Board(board) => board.findings.clone(),
            Self::Unreadable(unreadable) => vec![unreadable.finding()],
            Self::Foreign(foreign) => vec![foreign.finding()],
        }
    }
}

/// A board that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub path: String,
    /// 1-based; absent where the file could not be opened.
    pub line: Option<u32>,
    /// 1-based, in characters.
    pub column: Option<u32>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// It stands where another tool keeps a tracker for many hands: a warning, never an obstacle.
    pub tracker: bool,
}

impl Unreadable {
    fn finding(&self) -> Issue {
        let severity = if self.tracker { Severity::Warn } else { Severity::Block };
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!(" at line {line}, column {column}"),
            _ => String::new(),
        };
        let message = format!("`{}` can't be read{place}: {}", self.path, self.message);
        let issue = Issue::new(CheckId::FeatureBoard, "board-unreadable", severity, message)
            .at(self.path.as_bytes())
            .text(&self.message)
            .hint(format!(
                "Mend `{}` by hand at that place; endwell never writes a file that it can't read.",
                self.path
            ));
        match self.line {
            Some(line) => issue.line(line),
            None => issue,
        }
    }
}

/// Files of a board's name that hold something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub paths: Vec<String>,
    /// The path comes from `[paths] board`: then it should have been a board.
    pub configured: bool,
}

impl Foreign {
    fn finding(&self) -> Issue {
        let severity = if self.configured { Severity::Block } else { Severity::Info };
        let names: Vec<String> = self.paths.iter().map(|path| format!("`{path}`")).collect();
        let message = format!("{} is no feature board and is left alone", names.join(", "));
        let hint = if self.configured {
            "Set `[paths] board` in `endwell.toml` to the board, or take the setting out."
        } else {
            "Nothing to do; `[paths] board` in `endwell.toml` names a board that stands elsewhere."
        };
        let first = self.paths.first().map_or("", String::as_str);
        Issue::new(CheckId::FeatureBoard, "board-foreign", severity, message)
            .at(first.as_bytes())
            .text(&self.paths.join("\n"))
            .hint(hint)
    }
}

/// A board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// From the top of the work tree, with `/`.
    pub path: String,
    pub format: Format,
    pub project: Option<String>,
    /// In file order.
    pub features: Vec<Feature>,
    pub pointer: Pointer,
    /// The status words that the board itself lists, as it spells them.
    pub legend: Vec<String>,
    pub rules: Rules,
    /// The branch that the board expects work on (`branchName` of a ralph loop).
    pub branch: Option<String>,
    /// Numbers that the board states about itself.
    pub counts: Vec<StatedCount>,
    /// What was odd about the bytes.
    pub remarks: Vec<Remark>,
    /// Other files that could have been the board.
    pub others: Vec<OtherFile>,
    /// Why endwell never writes this file; absent: it may.
    pub read_only: Option<&'static str>,
    /// sha256 of the file's bytes.
    pub sha256: String,
    /// What is false about the file alone.
    pub findings: Vec<Issue>,
}

impl Board {
    /// The entry with this id. Ids are compared as text.
    pub fn feature(&self, id: &str) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.id == id)
    }

    /// Entries at work: words such as `in_progress`, not those that wait for somebody.
    pub fn at_work(&self) -> impl Iterator<Item = &Feature> {
        self.features.iter().filter(|feature| feature.status == Status::InProgress)
    }

    /// The active feature: a pointer that names an open entry, else the only entry at work, else none.
    pub fn active(&self) -> Option<&Feature> {
        let wanted: HashSet<&str> = self.pointer.ids.iter().map(String::as_str).collect();
        let mut named: HashMap<&str, &Feature> = HashMap::new();
        if !wanted.is_empty() {
            for feature in self.features.iter().filter(|feature| wanted.contains(feature.id.as_str())) {
                named.entry(&feature.id).or_insert(feature);
            }
        }
        let pointed = self.pointer.ids.iter().filter_map(|id| named.get(id.as_str()).copied());
        if let Some(feature) = pointed.into_iter().find(|feature| feature.status.is_open()) {
            return Some(feature);
        }
        let mut at_work = self.at_work();
        at_work.next().filter(|_| at_work.next().is_none())
    }

    /// The active feature's id.
    pub fn active_id(&self) -> Option<&str> {
        self.active().map(|feature| feature.id.as_str())
    }
}

/// Which shape a board has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Native,
    Features,
    Array,
    Tasks,
    NumericKeys,
    Groups,
    #[serde(rename = "taskmaster")]
    TaskMaster,
    Prd,
    Beads,
    SpecKit,
}

impl Format {
    /// A tracker that serves many hands at once: what is false about it warns, and never blocks.
    pub const fn is_tracker(self) -> bool {
        matches!(self, Self::TaskMaster | Self::Prd | Self::Beads | Self::SpecKit)
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Features => "features",
            Self::Array => "array",
            Self::Tasks => "tasks",
            Self::NumericKeys => "numeric-keys",
            Self::Groups => "groups",
            Self::TaskMaster => "taskmaster",
            Self::Prd => "prd",
            Self::Beads => "beads",
            Self::SpecKit => "spec-kit",
        }
    }
}

/// What a status word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Todo,
    /// At work.
    InProgress,
    /// Under way, but waiting for somebody: review, test, release.
    Waiting,
    Done,
    Blocked,
    /// Given up: neither open nor done.
    Closed,
    /// A word that nobody knows: kept, counted as open, never chosen.
    Unknown,
}

impl Status {
    /// Neither done nor given up.
    pub const fn is_open(self) -> bool {
        !matches!(self, Self::Done | Self::Closed)
    }

    /// The word of the native form; waiting counts as in progress.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress | Self::Waiting => "in_progress",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
            Self::Unknown => "unknown",
        }
    }
}

/// One entry.
#[expect(clippy::struct_excessive_bools, reason = "what was found in a file, each apart from the others")]
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// As text; `#` and the position from 1 where the board has no ids.
    pub id: String,
    /// The id is only a position, which moves when entries do.
    pub positional: bool,
    pub status: Status,
    /// The status as it stands; empty where there is none.
    pub word: String,
    /// The status is a word and not a switch.
    pub worded: bool,
    /// A second status key disagrees about done.
    pub conflict: bool,
    pub goal: String,
    pub acceptance: Vec<Criterion>,
    /// What the board itself records as proof.
    pub evidence: Vec<String>,
    /// The entry has a field for evidence, filled or not.
    pub keeps_evidence: bool,
    pub dependencies: Vec<String>,
    /// Only where it is an integer.
    pub priority: Option<i64>,
    /// Ids and states of what belongs below it (`1.2`); details, never entries.
    pub subtasks: Vec<(String, Status)>,
    /// 1-based.
    pub line: u32,
    /// Where the status stands in the file's bytes, one for each status key.
    pub spots: Vec<Spot>,
}

impl Feature {
    /// What tells it from others when two versions of a board are compared: positions move, so its words stand in.
    pub fn key(&self) -> &str {
        if self.positional && !self.goal.is_empty() { &self.goal } else { &self.id }
    }
}

/// The bytes of one status value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub range: Range<usize>,
    /// A `true` or `false`, not a word.
    pub switch: bool,
}

/// One line of acceptance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// From a field that holds command lines; whether it really is one is asked when somebody wants to run it.
    Line(String),
    /// From such a field, in words already.
    Words(Vec<String>),
    /// For people, never run.
    Prose(String),
}

/// What the board says is active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    /// The first key that is a pointer.
    pub key: Option<String>,
    pub ids: Vec<String>,
    /// The key `active` is there and null.
    pub active_is_null: bool,
}

/// The board's own rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Entries that may be at work at once; absent: any number.
    pub limit: Option<usize>,
    pub evidence_required: bool,
    /// Sentences: shown, not obeyed.
    pub sentences: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { limit: Some(1), evidence_required: false, sentences: Vec::new() }
    }
}

/// A number that the board states about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedCount {
    pub key: String,
    pub stated: i64,
    /// Of done entries; else of all.
    pub of_done: bool,
}

/// Something odd about the bytes, which did not keep them from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `board-syntax` or `board-encoding`.
    pub code: &'static str,
    pub message: String,
    pub line: Option<u32>,
}

/// Another file that could have been the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFile {
    pub path: String,
    /// It is a board too; else a file of the same name.
    pub is_board: bool,
}

/// What is known about the acceptance commands of an entry, for the content that lies in the work tree now.
/// An entry without runnable commands has none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Every command is recorded green.
    Passed {
        /// Nothing is left for a person to judge.
        whole: bool,
    },
    /// A command is recorded red.
    Failed { command: String, last_line: String },
    /// At least this command has no record for this content.
    NotRun { command: String },
    /// Somebody recorded a reason to do without proof.
    Excused { reason: String },
}
