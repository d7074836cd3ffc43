//! The feature board: found, read in every shape that real repositories write, judged by itself, and edited in one
//! place without disturbing a byte of the rest. Must never run anything, and never write what it can't read.

mod beads;
pub mod commands;
pub mod edit;
mod entry;
mod find;
mod findings;
mod json;
pub mod next;
mod prd;
mod speckit;
mod taskmaster;
mod text;
mod tree;
pub mod words;

use std::path::Path;

use crate::config::Config;
use crate::model::board::{Board, BoardReading, Foreign, Format, Pointer, Rules, Unreadable};
use crate::model::issue::sha256_hex;
use crate::model::session::BoardBaseline;

pub use commands::{Acceptance, Lookup, acceptance_of};
pub use edit::{Edited, set_status};
pub use next::{next_action, next_feature};

/// Where a board's bytes come from, and what its reading may ask about the repository around it.
pub struct Place<'p> {
    /// From the top of the work tree, with `/`.
    pub path: &'p str,
    /// Fields besides the usual ones whose texts are command lines (`[board] run_fields`).
    pub run_fields: &'p [String],
    /// Task Master's current tag.
    pub tag: Option<&'p str>,
    /// Whether a path from the top is there: for evidence that cites files.
    pub exists: &'p dyn Fn(&str) -> bool,
}

impl Place<'_> {
    /// Whether another tool keeps its tracker at this path.
    pub(crate) fn is_tracker(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        self.path.ends_with(".taskmaster/tasks/tasks.json")
            || matches!(name, "prd.json" | "issues.jsonl" | "tasks.md")
    }
}

/// Finds the board of a work tree by the settings, else by the usual places, and reads it.
pub fn find_and_read(top: &Path, config: &Config) -> BoardReading {
    find::find_and_read(top, config)
}

/// Reads a board's bytes. Pure, but for what `place` looks up.
pub fn read(bytes: &[u8], place: &Place<'_>) -> BoardReading {
    let decoded = text::decode(bytes);
    let source: &str = &decoded.text;
    let mut board = Board {
        path: place.path.to_owned(),
        format: Format::Features,
        project: None,
        features: Vec::new(),
        pointer: Pointer::default(),
        legend: Vec::new(),
        rules: Rules::default(),
        branch: None,
        counts: Vec::new(),
        remarks: decoded.remark.into_iter().collect(),
        others: Vec::new(),
        read_only: decoded.read_only,
        sha256: sha256_hex(bytes),
        findings: Vec::new(),
    };
    let foreign = || BoardReading::Foreign(Foreign { paths: vec![place.path.to_owned()], configured: false });
    let is_json = !has_ending(place.path, "jsonl") && !has_ending(place.path, "md");
    if is_json {
        let (root, remark) = match tree::parse(source) {
            Ok(parsed) => parsed,
            Err(error) => return unreadable(place, error),
        };
        let Some(content) = json::read(&root, source, decoded.offset, place) else { return foreign() };
        board.remarks.extend(remark);
        fill(&mut board, content, place);
    } else {
        if let Some(line) = text::conflict_line(source) {
            let message = "conflict markers of a merge that is not finished".to_owned();
            return unreadable(place, tree::NoJson { line, column: 1, message });
        }
        board.read_only = Some("endwell only reads files of this kind");
        let read = if has_ending(place.path, "md") {
            board.format = Format::SpecKit;
            speckit::read(source).map(|features| (features, Vec::new()))
        } else {
            board.format = Format::Beads;
            beads::read(source)
        };
        let Some((features, remarks)) = read else { return foreign() };
        board.features = features;
        board.remarks.extend(remarks);
    }
    board.findings = findings::of(&board, place.exists);
    BoardReading::Board(Box::new(board))
}

/// What the baseline remembers of a board.
pub fn baseline(reading: &BoardReading) -> Option<BoardBaseline> {
    let path = reading.path()?.to_owned();
    let board = reading.board();
    Some(BoardBaseline {
        path,
        sha256: board.map(|board| board.sha256.clone()),
        statuses: board.map(|board| {
            board.features.iter().map(|feature| (feature.key().to_owned(), feature.status)).collect()
        }),
        findings: reading.findings().into_iter().map(|issue| issue.fingerprint).collect(),
    })
}

fn fill(board: &mut Board, content: json::Content, place: &Place<'_>) {
    let tool_made = content.format == Format::Tasks && place.is_tracker();
    board.format = if tool_made { Format::TaskMaster } else { content.format };
    board.project = content.project;
    board.features = content.features;
    board.pointer = content.pointer;
    board.legend = content.legend;
    board.rules = content.rules;
    board.branch = content.branch;
    board.counts = content.counts;
}

fn unreadable(place: &Place<'_>, error: tree::NoJson) -> BoardReading {
    BoardReading::Unreadable(Unreadable {
        path: place.path.to_owned(),
        line: Some(error.line),
        column: Some(error.column),
        message: error.message,
        tracker: place.is_tracker(),
    })
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}
