//! `endwell board set`: one status changed in place. Done needs proof, or a reason, which is recorded beside the
//! verification reports; the board's own fields for notes and evidence are not touched.

use serde::{Deserialize, Serialize};

use super::needed;
use super::proof::{Seen, at_or_after, proof_of};
use crate::board::edit::{EditError, entry, target, word_of};
use crate::board::set_status;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::evidence::LazyContent;
use crate::flow::workbench::git_failed;
use crate::model::SCHEMA_VERSION;
use crate::model::board::{Board, Feature, Proof, Status};
use crate::redact::Redactor;

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetDone {
    pub path: String,
    pub old: String,
    pub new: String,
    /// A key of the board that still points at the feature, though it is not open any more.
    pub pointer: Option<String>,
}

/// One line of the file of recorded exceptions.
#[derive(Debug, Serialize, Deserialize)]
struct Excuse {
    schema_version: u32,
    kind: String,
    /// RFC 3339.
    at: String,
    by: String,
    reason: String,
    /// The finding that the reason stands against.
    code: String,
    path: String,
    feature: String,
}

const KIND: &str = "board-done";
const CODE: &str = "board-done-unproven";

/// Sets the status of one entry.
pub fn set(bench: &Workbench, id: &str, word: &str, reason: Option<&str>) -> Result<SetDone> {
    let board = needed(bench)?;
    let feature = entry(&board, id).map_err(|error| refused(&board, id, word, &error))?;
    let Some(target) = target(&board, word) else {
        return Err(Failure::usage(format!("`{word}` is no status")).hint(format!(
            "Use todo, in_progress, done or blocked{}.",
            if board.legend.is_empty() {
                String::new()
            } else {
                format!("; the board's own words are {}", board.legend.join(", "))
            }
        )));
    };
    let reason = reason.map(str::trim);
    if reason == Some("") {
        return Err(
            Failure::usage("the reason is empty").hint("Say in a few words why done needs no proof here.")
        );
    }
    let top = &bench.repo.top;
    let path = top.join(&board.path);
    let unwritten = |error: std::io::Error| {
        Failure::broken(format!("can't write `{}`", board.path))
            .because(error)
            .hint("Make the file writable, and a file of this repository, then try again.")
    };
    let real = path.canonicalize().map_err(unwritten)?;
    let bytes = crate::fs::read(&real).map_err(unwritten)?;
    if crate::model::issue::sha256_hex(&bytes) != board.sha256 {
        return Err(refused(&board, id, word, &EditError::NotTheSame));
    }
    let edited = set_status(&bytes, &board, id, &target)
        .map_err(|error| refused(&board, id, &word_of(&board, id, &target), &error))?;
    if target.status == Status::Done && feature.status != Status::Done {
        proven(bench, &board, feature, reason)?;
    }
    if edited.bytes != bytes {
        let inside = top.canonicalize().map_err(unwritten)?;
        crate::fs::write_inside(&inside, &real, &edited.bytes).map_err(unwritten)?;
    }
    let left = !target.status.is_open() && board.pointer.ids.iter().any(|pointed| pointed == id);
    let pointer = board.pointer.key.clone().filter(|_| left);
    Ok(SetDone { path: board.path.clone(), old: edited.old, new: edited.new, pointer })
}

/// Refuses done without proof, unless a reason is given, which is then recorded.
fn proven(bench: &Workbench, board: &Board, feature: &Feature, reason: Option<&str>) -> Result<()> {
    let status = bench.repo.status().map_err(|error| git_failed("can't look at the work tree", error))?;
    let id = &feature.id;
    let (why, hint) =
        match proof_of(bench, &Seen { status: &status, content: &LazyContent::new(bench, &status) }, feature)
        {
            Some(Proof::Passed { .. }) => return Ok(()),
            None if !feature.evidence.is_empty() => return Ok(()),
            Some(Proof::Failed { command, last_line }) => (
                format!("its command fails: `{command}`: {last_line}"),
                "Mend it and run `endwell verify`".to_owned(),
            ),
            Some(Proof::NotRun { command }) => (
                format!("its command has no recorded run for this content: `{command}`"),
                "Run `endwell verify`, which runs and records it".to_owned(),
            ),
            Some(Proof::Excused { .. }) | None => (
                "it has neither a command nor evidence".to_owned(),
                "Write what proved it into its evidence field".to_owned(),
            ),
        };
    match reason {
        Some(reason) => record(bench, board, id, reason),
        None => Err(Failure::blocked(format!("`{id}` is not proven: {why}"))
            .hint(format!("{hint}, or say why it is done all the same: `--reason TEXT`."))),
    }
}

fn record(bench: &Workbench, board: &Board, id: &str, reason: &str) -> Result<()> {
    let by = bench.repo.config("user.name").ok().flatten().unwrap_or_else(|| "unknown".to_owned());
    let home = bench.env.home();
    let redactor = Redactor::new(home.as_deref().and_then(|home| home.to_str()));
    let excuse = Excuse {
        schema_version: SCHEMA_VERSION,
        kind: KIND.to_owned(),
        at: crate::clock::now_text(),
        by,
        reason: redactor.text(reason),
        code: CODE.to_owned(),
        path: board.path.clone(),
        feature: id.to_owned(),
    };
    let path = bench.output("verification/overrides.jsonl");
    let failed = |error: std::io::Error| {
        Failure::broken("can't record the reason")
            .because(error)
            .hint("Make the outputs folder writable, then try again.")
    };
    crate::fs::stays_inside(&bench.repo.top, &path).map_err(failed)?;
    let mut line = serde_json::to_vec(&excuse).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    crate::fs::append(&path, &line).map_err(failed)
}

/// The reasons that were recorded for entries of a board, the newest of each; those before `since` don't count.
pub(super) fn excuses(bench: &Workbench, board: &str, since: Option<&str>) -> Vec<(String, String)> {
    let path = bench.output("verification/overrides.jsonl");
    let bytes = crate::fs::read_optional(&path).ok().flatten().unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .filter_map(|line| serde_json::from_slice::<Excuse>(line).ok())
        .filter(|excuse| excuse.kind == KIND && excuse.path == board)
        .filter(|excuse| since.is_none_or(|since| at_or_after(&excuse.at, since)))
        .map(|excuse| (excuse.feature, excuse.reason))
        .collect()
}

fn refused(board: &Board, id: &str, word: &str, error: &EditError) -> Failure {
    let path = &board.path;
    let hint = match error {
        EditError::NoSuchId(_) => match nearest(board, id) {
            Some(near) => format!("Did you mean `{near}`? `endwell board` lists the entries."),
            None => "`endwell board` lists the entries.".to_owned(),
        },
        EditError::Ambiguous { .. } => format!("Give each of them an id of its own in `{path}` first."),
        EditError::ReadOnly { line, .. } | EditError::NoStatus { line, .. } => {
            format!("Change it by hand: in `{path}` at line {line}, the status of `{id}` to `{word}`.")
        }
        EditError::OnlySwitch { .. } => {
            format!("Give the entries of `{path}` a `status`, or use todo or done.")
        }
        EditError::NotTheSame => "Nothing was written; run the same command again.".to_owned(),
    };
    let failure = match error {
        EditError::NoSuchId(_) | EditError::OnlySwitch { .. } => Failure::usage(error.to_string()),
        _ => Failure::broken(error.to_string()),
    };
    failure.hint(hint)
}

/// The id that differs least in its letters, where one is close.
fn nearest<'b>(board: &'b Board, id: &str) -> Option<&'b str> {
    let folded = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let wanted = folded(id);
    let close = |other: &&str| {
        let other = folded(other);
        !wanted.is_empty() && (other == wanted || other.ends_with(&wanted) || other.starts_with(&wanted))
    };
    board.features.iter().map(|feature| feature.id.as_str()).find(close)
}
