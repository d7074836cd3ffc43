//! What is recorded about the acceptance commands of a board's entries, for the content that lies in the work tree now.
//! A record of another content or environment proves nothing. Must never run a command.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::board::commands::acceptance;
use crate::board::{Acceptance, Lookup};
use crate::config::Command;
use crate::evidence::store::Found;
use crate::evidence::{Key, Store};
use crate::flow::Workbench;
use crate::flow::evidence::{self, LazyContent};
use crate::git::Status;
use crate::model::board::{Board, Criterion, Feature, Proof, Status as FeatureStatus};
use crate::model::report::Evidence;
use crate::model::session::BoardBaseline;

/// An acceptance command that a verification should run and record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptanceRun {
    /// The entry's id.
    pub feature: String,
    /// As it stands on the board.
    pub line: String,
    /// What to start, at the top of the work tree.
    pub argv: Vec<String>,
}

/// What lies in the work tree, as one walk found it.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub status: &'a Status,
    pub content: &'a LazyContent<'a>,
}

/// For which entries proof is wanted.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The board before the session: what was not done there needs proof.
    pub before: Option<&'a BoardBaseline>,
    /// Reasons recorded earlier than this (RFC 3339) don't count.
    pub since: Option<&'a str>,
}

impl Wanted<'_> {
    pub(super) fn newly_done(&self, feature: &Feature) -> bool {
        let then = self.before.and_then(|before| before.statuses.as_ref());
        let was_done = then.is_some_and(|then| then.get(feature.key()) == Some(&FeatureStatus::Done));
        feature.status == FeatureStatus::Done && then.is_some() && !was_done
    }
}

/// The acceptance commands of the active feature and of those that were set to done in this session.
pub fn acceptance_runs(
    bench: &Workbench,
    board: &Board,
    before: Option<&BoardBaseline>,
) -> Vec<AcceptanceRun> {
    let wanted = Wanted { before, since: None };
    let lookup = Lookup::new(&bench.env, &bench.repo.top);
    let active = board.active_id();
    let mut runs: Vec<AcceptanceRun> = Vec::new();
    for feature in &board.features {
        if active != Some(feature.id.as_str()) && !wanted.newly_done(feature) {
            continue;
        }
        let commands = acceptance(feature, &lookup).commands.into_iter();
        runs.extend(commands.map(|command| AcceptanceRun {
            feature: feature.id.clone(),
            line: command.line,
            argv: command.argv,
        }));
    }
    runs
}

/// What is known about the acceptance of the entries for which it matters: the active one, those newly done, and open
/// ones whose commands have a record.
pub fn proofs(
    bench: &Workbench,
    seen: &Seen<'_>,
    board: &Board,
    wanted: &Wanted<'_>,
) -> BTreeMap<String, Proof> {
    let mut found = BTreeMap::new();
    let runnable =
        |feature: &&Feature| feature.acceptance.iter().any(|line| !matches!(line, Criterion::Prose(_)));
    if board.features.iter().any(|feature| runnable(&feature)) {
        let records = Records::of(bench, seen);
        let lookup = Lookup::new(&bench.env, &bench.repo.top);
        let active = board.active_id();
        for feature in board.features.iter().filter(runnable) {
            let asked = active == Some(feature.id.as_str()) || wanted.newly_done(feature);
            if asked || (feature.status.is_open() && records.mention(feature)) {
                found.extend(
                    records.proof(&acceptance(feature, &lookup)).map(|proof| (feature.id.clone(), proof)),
                );
            }
        }
    }
    for (feature, reason) in super::set::excuses(bench, &board.path, wanted.since) {
        let passed = matches!(found.get(&feature), Some(Proof::Passed { .. }));
        if !passed && board.feature(&feature).is_some_and(|feature| feature.status == FeatureStatus::Done) {
            found.insert(feature, Proof::Excused { reason });
        }
    }
    found
}

/// The proof of one entry, whatever its status.
pub(super) fn proof_of(bench: &Workbench, seen: &Seen<'_>, feature: &Feature) -> Option<Proof> {
    let lookup = Lookup::new(&bench.env, &bench.repo.top);
    Records::of(bench, seen).proof(&acceptance(feature, &lookup))
}

/// The records of the content that lies in the work tree.
struct Records<'a> {
    bench: &'a Workbench,
    seen: Seen<'a>,
    store: Store,
    /// Absent where the content can't be named: then nothing is recorded about it.
    tree: Option<String>,
    commands: HashSet<Vec<String>>,
}

impl<'a> Records<'a> {
    fn of(bench: &'a Workbench, seen: &Seen<'a>) -> Self {
        let store = evidence::store(bench);
        let tree = seen.content.tree().ok().map(str::to_owned);
        let records = tree.as_deref().and_then(|tree| store.by_tree(tree).ok()).unwrap_or_default();
        let commands = records.into_iter().map(|record| record.run.command).collect();
        Self { bench, seen: *seen, store, tree, commands }
    }

    /// Whether a command of the entry was ever run on this content.
    fn mention(&self, feature: &Feature) -> bool {
        !self.commands.is_empty()
            && feature.acceptance.iter().any(|criterion| match criterion {
                Criterion::Line(line) => self.commands.contains(&Command::Line(line.clone()).argv()),
                Criterion::Words(words) => self.commands.contains(words),
                Criterion::Prose(_) => false,
            })
    }

    /// Nothing where there is no command.
    fn proof(&self, acceptance: &Acceptance) -> Option<Proof> {
        if acceptance.commands.is_empty() {
            return None;
        }
        let mut not_run = None;
        for command in &acceptance.commands {
            match self.record(&command.argv) {
                Some(record) if record.is_green() => {}
                Some(record) => {
                    let command = command.line.clone();
                    return Some(Proof::Failed { command, last_line: last_line(&record) });
                }
                None => not_run = not_run.or(Some(command.line.clone())),
            }
        }
        Some(match not_run {
            Some(command) => Proof::NotRun { command },
            None => Proof::Passed { whole: acceptance.left_to_people.is_empty() },
        })
    }

    fn record(&self, argv: &[String]) -> Option<Evidence> {
        let tree = self.tree.clone()?;
        if !self.commands.contains(argv) {
            return None;
        }
        let parts = evidence::environment(self.bench, self.seen.status, argv, None);
        match self
            .store
            .find(&Key { tree, argv: argv.to_vec(), cwd: String::new(), clean_room: false }, &parts)
        {
            Ok(Found::Same(record)) => Some(*record),
            _ => None,
        }
    }
}

/// What a red run said last.
fn last_line(record: &Evidence) -> String {
    let code = || match record.run.exit_code {
        Some(code) => format!("exit code {code}"),
        None => record.error.clone().unwrap_or_else(|| "it was stopped".to_owned()),
    };
    record.last_line.clone().filter(|line| !line.is_empty()).unwrap_or_else(code)
}

/// Whether a moment (RFC 3339) lies at or after another one. What can't be read does not.
pub(super) fn at_or_after(moment: &str, since: &str) -> bool {
    match (moment.parse::<Timestamp>(), since.parse::<Timestamp>()) {
        (Ok(moment), Ok(since)) => moment >= since,
        _ => false,
    }
}
