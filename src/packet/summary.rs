//! `summary` by a fixed grammar; no model, no adjectives. A part that has no source is left out.
//!
//! ```text
//! summary  = subject ": " work ". " [ tests ". " ] [ review ". " ] counts "."
//! subject  = TOPIC [ [ ", " FEATURE ] " (" STATUS ")" ]                                  the board's word for the active feature
//! work     = commits " on " BRANCH [ " since " ID8 ] "; " files
//! commits  = "no commit" | N " commit(s)"
//! files    = "no file changed" | N " file(s) changed (+" N " −" N ")"
//! tests    = "Tests green at " ID8 [ " (" N " passed" [ ", " N " skipped" ] ")" ]
//!          | "Tests red at " ID8 ": " N " failing, each named in the risks"
//!          | "No tests were run"                                         a verdict without a test run
//! review   = "Review: " ( "pass" | "soft fail" | "hard fail" ) ", " N " of 10"
//! counts   = N " open risk(s)" [ ", " N " failed attempt(s) unresolved" ] [ ", " N " question(s) for a person" ]
//! ```

use super::inputs::Inputs;
use super::risks::number;
use crate::model::packet::Packet;
use crate::model::report::{ReviewVerdict, TestRun};

/// The paragraph, from the inputs, the parts of the packet that are counted, and how many kinds of attempts failed for
/// good (the packet may list fewer).
pub(super) fn summary(inputs: &Inputs, packet: &Packet, unresolved: u64) -> String {
    let mut parts = vec![format!("{}: {}; {}.", subject(inputs), commits(inputs), files(packet))];
    let head = short(&inputs.head_commit);
    parts.push(match &inputs.receipts.verification.tests {
        Some(run) => tests(run, head),
        None => "No tests were run.".to_owned(),
    });
    if let Some(review) = &inputs.receipts.review {
        let word = match review.verdict {
            ReviewVerdict::Pass => "pass",
            ReviewVerdict::SoftFail => "soft fail",
            ReviewVerdict::HardFail => "hard fail",
        };
        parts.push(format!("Review: {word}, {} of 10.", number(review.total)));
    }
    parts.push(counts(packet, unresolved));
    parts.join(" ")
}

fn subject(inputs: &Inputs) -> String {
    match &inputs.board {
        Some(board) if board.feature == inputs.topic => {
            format!("{} ({})", inputs.topic, board.status.replace('_', " "))
        }
        Some(board) => format!("{}, {} ({})", inputs.topic, board.feature, board.status.replace('_', " ")),
        None => inputs.topic.clone(),
    }
}

fn commits(inputs: &Inputs) -> String {
    let commits = match inputs.commits {
        0 => "no commit".to_owned(),
        count => counted(count, "commit"),
    };
    let branch = inputs.branch.as_deref().unwrap_or("a detached HEAD");
    match &inputs.base_commit {
        Some(base) => format!("{commits} on {branch} since {}", short(base)),
        None => format!("{commits} on {branch}"),
    }
}

fn files(packet: &Packet) -> String {
    if packet.changed_files.is_empty() {
        return "no file changed".to_owned();
    }
    let sum = |lines: fn(&crate::model::packet::ChangedFile) -> Option<u64>| -> u64 {
        packet.changed_files.iter().filter_map(lines).sum()
    };
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    format!("{} changed (+{added} −{removed})", counted(packet.changed_files.len() as u64, "file"))
}

fn tests(run: &TestRun, head: &str) -> String {
    if run.exit_code == Some(0) {
        return match (run.passed, run.skipped.filter(|skipped| *skipped > 0)) {
            (Some(passed), Some(skipped)) => {
                format!("Tests green at {head} ({passed} passed, {skipped} skipped).")
            }
            (Some(passed), None) => format!("Tests green at {head} ({passed} passed)."),
            (None, _) => format!("Tests green at {head}."),
        };
    }
    let failing = (run.failing.len() as u64).max(run.failed.unwrap_or(0));
    format!("Tests red at {head}: {failing} failing, each named in the risks.")
}

fn counts(packet: &Packet, unresolved: u64) -> String {
    let questions = packet.questions_for_human.len() as u64;
    let mut text = counted(packet.open_risks.len() as u64, "open risk");
    if unresolved > 0 {
        text.push_str(", ");
        text.push_str(&counted(unresolved, "failed attempt"));
        text.push_str(" unresolved");
    }
    if questions > 0 {
        text.push_str(", ");
        text.push_str(&counted(questions, "question"));
        text.push_str(" for a person");
    }
    text.push('.');
    text
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
