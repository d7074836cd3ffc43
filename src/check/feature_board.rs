//! The board reflects reality: what is false about it by itself, and what this session did to it without proof. Must
//! never run anything: proof is recorded evidence that the flow looked up.

use std::collections::BTreeMap;

use super::{Check, Context, Found};
use crate::git::Objects;
use crate::model::board::{Board, BoardReading, Feature, Proof, Status};
use crate::model::session::BoardBaseline;
use crate::model::{CheckId, Issue, Owner, Severity};

/// The check.
pub struct FeatureBoard;

/// So many commits of the session are looked at for the features that they name.
const COMMITS: usize = 200;

impl Check for FeatureBoard {
    fn id(&self) -> CheckId {
        CheckId::FeatureBoard
    }

    fn run(&self, context: &Context<'_>) -> Found {
        let mut found: Vec<Issue> =
            context.board.findings().into_iter().map(|issue| owned(issue, context.board_before)).collect();
        let against = against_before(context)?;
        found.extend(against.into_iter().map(|issue| context.by_session(issue)));
        Ok(found)
    }
}

/// A finding that stood before the session only warns.
fn owned(issue: Issue, before: Option<&BoardBaseline>) -> Issue {
    match before {
        None => issue,
        Some(before) if before.findings.contains(&issue.fingerprint) => {
            let severity = issue.severity.min(Severity::Warn);
            Issue { severity, owner: Owner::Before, ..issue }
        }
        Some(_) => issue.owned_by(Owner::Session),
    }
}

/// The board as it was, next to the board as it is.
struct Compared<'a> {
    board: &'a Board,
    then: &'a BTreeMap<String, Status>,
    proofs: &'a BTreeMap<String, Proof>,
}

fn against_before(context: &Context<'_>) -> Found {
    let Some(then) = context.board_before.and_then(|before| before.statuses.as_ref()) else {
        return Ok(context.board.board().map(|board| proven_ones(board, context.proofs)).unwrap_or_default());
    };
    let board = match context.board {
        BoardReading::Board(board) => board,
        BoardReading::None => return Ok(gone_altogether(context, then)),
        BoardReading::Unreadable(_) | BoardReading::Foreign(_) => return Ok(Vec::new()),
    };
    let compared = Compared { board, then, proofs: context.proofs };
    let mut found = compared.done_unproven();
    found.extend(proven_ones(board, context.proofs));
    found.extend(compared.work_after_done(context)?);
    found.extend(compared.removed());
    found.extend(compared.reopened());
    if board.format.is_tracker() {
        for issue in &mut found {
            issue.severity = issue.severity.min(Severity::Warn);
        }
    }
    Ok(found)
}

fn on(board: &Board, feature: &Feature, code: &str, severity: Severity, message: String) -> Issue {
    Issue::new(CheckId::FeatureBoard, code, severity, message)
        .at(board.path.as_bytes())
        .line(feature.line)
        .text(feature.key())
}

/// Acceptance passes, and the board still says that there is everything to do.
fn proven_ones(board: &Board, proofs: &BTreeMap<String, Proof>) -> Vec<Issue> {
    let active = board.active_id();
    let todo = board.features.iter().filter(|feature| feature.status == Status::Todo);
    let proven =
        todo.filter(|feature| matches!(proofs.get(&feature.id), Some(Proof::Passed { whole: true })));
    proven
        .map(|feature| {
            let is_active = active == Some(&feature.id) && !board.format.is_tracker();
            let severity = if is_active { Severity::Block } else { Severity::Warn };
            let message =
                format!("The acceptance of `{}` passes, but the board says `{}`", feature.id, feature.word);
            on(board, feature, "board-still-todo", severity, message)
                .hint(format!("Set it done: `endwell board set {} done`.", shell_words::quote(&feature.id)))
        })
        .collect()
}

fn gone_altogether(context: &Context<'_>, then: &BTreeMap<String, Status>) -> Vec<Issue> {
    let path = context.board_before.map_or("", |before| before.path.as_str());
    if then.is_empty() {
        return Vec::new();
    }
    let message = format!("The board `{path}` is gone, with {} features", then.len());
    let issue = Issue::warn(CheckId::FeatureBoard, "board-feature-removed", message).at(path.as_bytes());
    vec![issue.hint(format!("Bring it back (`git checkout HEAD -- {path}`), or say in a note why it went."))]
}

impl Compared<'_> {
    /// Set to done in this session, and nothing proves it.
    fn done_unproven(&self) -> Vec<Issue> {
        let set = |feature: &&Feature| {
            feature.status == Status::Done && self.then.get(feature.key()) != Some(&Status::Done)
        };
        let newly_done = self.board.features.iter().filter(set);
        newly_done.filter_map(|feature| self.unproven(feature)).collect()
    }

    fn unproven(&self, feature: &Feature) -> Option<Issue> {
        let id = &feature.id;
        let again = format!(
            "Mend it and run `endwell verify`, or set it back: `endwell board set {} in_progress`.",
            shell_words::quote(id)
        );
        let (severity, why, hint) = match self.proofs.get(id) {
            Some(Proof::Passed { .. }) => return None,
            Some(Proof::Failed { command, last_line }) if last_line.is_empty() => {
                (Severity::Block, format!("its command fails: `{command}`"), again)
            }
            Some(Proof::Failed { command, last_line }) => {
                (Severity::Block, format!("its command fails: `{command}`: {last_line}"), again)
            }
            Some(Proof::NotRun { command }) => {
                let why = format!("its command has no recorded run for this content: `{command}`");
                (
                    Severity::Block,
                    why,
                    "Run `endwell verify`: it runs the command and records the result.".to_owned(),
                )
            }
            Some(Proof::Excused { reason }) => {
                let hint = "The reason is recorded; a person may want to look at it.".to_owned();
                (Severity::Warn, format!("the reason that was given: {reason}"), hint)
            }
            None if !feature.evidence.is_empty() => return None,
            None => {
                let why = "it has neither a command nor evidence".to_owned();
                let hint = format!(
                    "Give it a `verification_command` or evidence on the board, or say why not: \
                     `endwell board set {} done --reason TEXT`.",
                    shell_words::quote(id)
                );
                (Severity::Block, why, hint)
            }
        };
        let message = format!("`{id}` was set to done without proof: {why}");
        Some(on(self.board, feature, "board-done-unproven", severity, message).hint(hint))
    }

    /// Commits of this session for what was done before it.
    fn work_after_done(&self, context: &Context<'_>) -> Found {
        let was_done = |feature: &&Feature| {
            feature.status == Status::Done && self.then.get(feature.key()) == Some(&Status::Done)
        };
        let done: Vec<&Feature> = self.board.features.iter().filter(was_done).collect();
        let start = context.baseline.and_then(|baseline| baseline.head.as_deref());
        let (Some(start), Some(head)) = (start, context.status.head.as_deref()) else {
            return Ok(Vec::new());
        };
        if done.is_empty() || start == head {
            return Ok(Vec::new());
        }
        let named = context.state.active_task_id.as_deref();
        let subjects = subjects(context.objects, start, head)?;
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let words: std::collections::HashSet<&str> =
            subjects.iter().flat_map(|subject| id_words(subject)).collect();
        let mut found = Vec::new();
        for feature in done {
            let active = named == Some(feature.id.as_str());
            if active || (is_telling(&feature.id) && words.contains(feature.id.as_str())) {
                let severity = if active { Severity::Block } else { Severity::Warn };
                let by = if active { "`active_task_id` names it" } else { "a commit names it" };
                let message =
                    format!("`{}` was done before this session, which committed for it ({by})", feature.id);
                let hint = format!(
                    "Reopen it (`endwell board set {} in_progress`), or name the feature that the work is for.",
                    shell_words::quote(&feature.id)
                );
                found.push(on(self.board, feature, "board-work-after-done", severity, message).hint(hint));
            }
        }
        Ok(found)
    }

    fn removed(&self) -> Vec<Issue> {
        let now: std::collections::HashSet<&str> = self.board.features.iter().map(Feature::key).collect();
        let gone: Vec<&str> = self.then.keys().map(String::as_str).filter(|key| !now.contains(key)).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        let shown: Vec<String> = gone.iter().take(5).map(|key| format!("`{key}`")).collect();
        let more = gone.len() - shown.len();
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = if gone.len() == 1 { "A feature was" } else { "Features were" };
        let message = format!("{what} removed from the board in this session: {}{rest}", shown.join(", "));
        let issue = Issue::warn(CheckId::FeatureBoard, "board-feature-removed", message);
        vec![
            issue
                .at(self.board.path.as_bytes())
                .text(&gone.join("\n"))
                .hint("Put it back, or set it to a closed word such as `cancelled` instead of removing it."),
        ]
    }

    fn reopened(&self) -> Vec<Issue> {
        let open = |status: Status| matches!(status, Status::Todo | Status::InProgress | Status::Waiting);
        let again =
            |feature: &&Feature| open(feature.status) && self.then.get(feature.key()) == Some(&Status::Done);
        let reopened = self.board.features.iter().filter(again);
        reopened
            .map(|feature| {
                let message = format!("`{}` was done and is {} again", feature.id, feature.status.name());
                on(self.board, feature, "board-reopened", Severity::Info, message)
                    .hint("Nothing to do: that is honest.")
            })
            .collect()
    }
}

/// First lines of the session's commits.
fn subjects(objects: &Objects, start: &str, head: &str) -> Result<Vec<String>, super::CouldNotCheck> {
    // a start that is gone (a rewritten history in a shallow clone) leaves nothing to compare with
    if !objects.has(start) {
        return Ok(Vec::new());
    }
    let commits = objects.commits_since(Some(start), head, COMMITS)?;
    Ok(commits.iter().map(|commit| objects.subject(commit)).collect::<Result<_, _>>()?)
}

/// The words of a commit's first line that may be ids.
fn id_words(subject: &str) -> impl Iterator<Item = &str> {
    let splits = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    subject.split(splits).map(|word| word.trim_matches(['-', '_', '.'])).filter(|word| !word.is_empty())
}

/// Whether an id can't be mistaken for a plain word or number of a sentence.
fn is_telling(id: &str) -> bool {
    id.len() >= 3
        && id.chars().any(|c| c.is_ascii_digit() || c == '-' || c == '_')
        && id.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_subjects_only_where_they_are_telling() {
        let words: Vec<&str> = id_words("fix(print-002): mend T-2, see #17.").collect();
        assert!(words.contains(&"print-002") && words.contains(&"T-2"));
        assert!(is_telling("T-2") && is_telling("US-001"));
        assert!(!is_telling("17") && !is_telling("login"));
    }
}
