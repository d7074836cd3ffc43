//! `commands_run` and `feedback_tail`: what ran, in order, repeats folded. Nothing is called a success or a failure
//! here that the record does not say.

use super::inputs::{Limits, LogInput};
use super::trim;
use crate::model::feedback::{FeedbackRecord, Outcome};
use crate::model::packet::{CommandRun, FeedbackOmitted, TailEntry};
use crate::redact::{clip, tail_lines};

/// Lines of output that a failure keeps in the packet, and that anything else keeps.
const FAILURE_LINES: usize = 20;
const OTHER_LINES: usize = 3;
const MAX_TAIL: usize = 2_000;

/// The longest command line in the packet, in characters.
pub(super) const MAX_COMMAND: usize = 400;

/// A command line on one line, at a length that can be read.
pub(super) fn shown(record: &FeedbackRecord) -> String {
    let line = record.command_line();
    let mut lines = line.trim().lines();
    let first = lines.next().unwrap_or_default();
    let one = if lines.next().is_some() { format!("{first} …") } else { first.to_owned() };
    clip(&one, MAX_COMMAND)
}

/// Every command in order; the same one with the same result in a row is one entry with a count.
pub(super) fn run(log: &LogInput) -> Vec<CommandRun> {
    let mut folded: Vec<CommandRun> = Vec::new();
    for record in &log.records {
        let next = CommandRun {
            command: shown(record),
            exit_code: record.exit_code,
            times: 1,
            error: record.error.clone(),
        };
        match folded.last_mut() {
            Some(last)
                if last.command == next.command
                    && last.exit_code == next.exit_code
                    && last.error == next.error =>
            {
                last.times += 1;
            }
            _ => folded.push(next),
        }
    }
    folded
}

/// The last records plus every failure, each once, in log order; at most `limits.entries`, and how many are left out.
pub(super) fn tail(
    log: &LogInput,
    limits: &Limits,
    resolved: &[bool],
) -> (Vec<TailEntry>, Option<FeedbackOmitted>) {
    let last = log.records.len().saturating_sub(limits.tail).max(log.recent_from.min(log.records.len()));
    let kept: Vec<trim::Kept> = log
        .records
        .iter()
        .enumerate()
        .filter(|(index, record)| *index >= last || record.outcome() == Outcome::Failure)
        .map(|(index, record)| trim::Kept {
            index,
            failure: record.outcome() == Outcome::Failure,
            recent: index >= last,
            resolved: resolved.get(index).copied().unwrap_or(false),
            times: 1,
        })
        .collect();
    let same = |one: usize, two: usize| identical(&log.records[one], &log.records[two]);
    let (entries, left_out) = trim::to_limit(kept, limits.entries, same);
    let tail = entries.iter().map(|kept| entry(&log.records[kept.index], kept.times)).collect();
    let failures = left_out + log.dropped;
    let omitted = (failures > 0).then(|| FeedbackOmitted { failures, log: log.path.clone() });
    (tail, omitted)
}

fn identical(one: &FeedbackRecord, two: &FeedbackRecord) -> bool {
    one.command == two.command
        && one.cwd == two.cwd
        && one.exit_code == two.exit_code
        && one.error == two.error
        && one.stdout_tail == two.stdout_tail
        && one.stderr_tail == two.stderr_tail
}

fn entry(record: &FeedbackRecord, times: u64) -> TailEntry {
    let lines = if record.outcome() == Outcome::Failure { FAILURE_LINES } else { OTHER_LINES };
    TailEntry {
        command: shown(record),
        cwd: record.cwd.clone(),
        exit_code: record.exit_code,
        error: record.error.clone(),
        stdout_tail: tail_lines(&record.stdout_tail, lines, MAX_TAIL),
        stderr_tail: tail_lines(&record.stderr_tail, lines, MAX_TAIL),
        agent_note: record.agent_note.as_deref().map(|note| clip(note, MAX_COMMAND)),
        started_at: record.started_at.clone(),
        command_id: record.command_id.clone(),
        times,
    }
}
