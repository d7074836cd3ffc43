//! The feature board as the flows see it: read in this work tree, with what it was before the session and what is
//! recorded about its acceptance. Must never run a command of the board.

mod proof;
mod set;

use std::collections::BTreeMap;

use crate::board::{self, Lookup, Place};
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::session::CurrentSession;
use crate::model::board::{Board, BoardReading, Feature, Proof, Status as FeatureStatus};
use crate::model::session::BoardBaseline;

pub use proof::{AcceptanceRun, Seen, Wanted, acceptance_runs, proofs};
pub use set::{SetDone, set};

/// What the check of the board looks at.
#[derive(Clone, Debug, Default)]
pub struct BoardInputs {
    pub reading: BoardReading,
    /// The board before the session; absent without a baseline.
    pub before: Option<BoardBaseline>,
    pub proofs: BTreeMap<String, Proof>,
}

impl BoardInputs {
    /// Reads the board and looks up what is recorded. `base` is the commit since which work counts as new.
    pub fn gather(bench: &Workbench, seen: &Seen<'_>, current: &CurrentSession, base: Option<&str>) -> Self {
        let reading = read(bench);
        let before = before(bench, &reading, current, base);
        let since = current.baseline.as_ref().map(|baseline| baseline.taken_at.as_str());
        let proofs = reading
            .board()
            .map(|board| proofs(bench, seen, board, &Wanted { before: before.as_ref(), since }));
        Self { reading, before, proofs: proofs.unwrap_or_default() }
    }
}

impl BoardInputs {
    /// The entries that were set to done in this session, in file order.
    pub fn newly_done(&self) -> Vec<&Feature> {
        let wanted = Wanted { before: self.before.as_ref(), since: None };
        let features = self.reading.board().map_or(&[][..], |board| &board.features);
        features.iter().filter(|feature| wanted.newly_done(feature)).collect()
    }
}

/// The board of this work tree.
pub fn read(bench: &Workbench) -> BoardReading {
    board::find_and_read(&bench.repo.top, &bench.config)
}

/// The entries that are done for a recorded reason, each with it. Reasons from before `since` (RFC 3339) don't count.
pub fn excused(bench: &Workbench, board: &Board, since: Option<&str>) -> Vec<(String, String)> {
    set::excuses(bench, &board.path, since)
}

/// What a baseline remembers of the board.
pub fn baseline(bench: &Workbench) -> Option<BoardBaseline> {
    board::baseline(&read(bench))
}

/// The board, or why there is none to work with.
pub fn needed(bench: &Workbench) -> Result<Board> {
    match read(bench) {
        BoardReading::Board(board) => Ok(*board),
        BoardReading::None => Err(Failure::broken("there is no feature board here").hint(
            "Begin one as `feature_list.json`, or name it in `endwell.toml`: `[paths] board = \"…\"`.",
        )),
        other => {
            let finding = other.findings().into_iter().next();
            let message = finding.as_ref().map(|issue| lower_first(&issue.message)).unwrap_or_default();
            Err(Failure::broken(message).hint(finding.map(|issue| issue.hint).unwrap_or_default()))
        }
    }
}

/// The first concrete step by the board, with what is recorded about this content.
pub fn next_action(bench: &Workbench, board: &Board, proofs: &BTreeMap<String, Proof>) -> Option<String> {
    board::next_action(board, proofs, &Lookup::new(&bench.env, &bench.repo.top))
}

/// The board before the session. A person has no session of his own: what the base holds as done counts as before.
pub fn before(
    bench: &Workbench,
    reading: &BoardReading,
    current: &CurrentSession,
    base: Option<&str>,
) -> Option<BoardBaseline> {
    let baseline = current.baseline.as_ref()?;
    let mut before = baseline.board.clone().unwrap_or_else(|| BoardBaseline {
        path: reading.path().unwrap_or_default().to_owned(),
        sha256: None,
        statuses: Some(BTreeMap::new()),
        findings: Vec::new(),
    });
    let path = reading.path().unwrap_or(&before.path);
    if path != before.path && crate::fs::exists(&bench.repo.top.join(&before.path)) {
        // another file is the board now: there is nothing to compare it with
        before.statuses = None;
    }
    if let (false, Some(base), Some(statuses)) = (current.is_agents(), base, before.statuses.as_mut()) {
        for (key, status) in statuses_at(bench, base, path).unwrap_or_default() {
            if status == FeatureStatus::Done {
                statuses.insert(key, status);
            }
        }
    }
    Some(before)
}

fn statuses_at(bench: &Workbench, commit: &str, path: &str) -> Option<BTreeMap<String, FeatureStatus>> {
    let entry = bench.objects.entry_at(commit, path.as_bytes()).ok()??;
    let bytes = bench.objects.blob(&entry.id).ok()?;
    let place = Place { path, run_fields: &[], tag: None, exists: &|_| true };
    board::baseline(&board::read(&bytes, &place))?.statuses
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
