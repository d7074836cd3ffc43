//! A command that an agent ran, as its client told a hook or wrote down: into the feedback log, redacted, once. endwell's own commands
//! are not recorded.

use std::path::Path;

use crate::clock;
use crate::failure::{Failure, Result};
use crate::feedback::transcript::Call;
use crate::feedback::{self, LogPlace};
use crate::flow::{Workbench, handoff, state};
use crate::model::SessionId;
use crate::model::event::ToolCall;
use crate::model::feedback::FeedbackRecord;

/// Ends of calls that say nothing about the result: unknown, not failed.
const UNKNOWN_ENDS: [&str; 3] = ["exit-unknown", "background", "running"];

/// A command that an agent's client reports.
pub fn record_call(
    bench: &Workbench,
    session: &SessionId,
    call: &ToolCall,
    cwd: Option<&Path>,
) -> Result<()> {
    if call.command.trim().is_empty() || is_own_line(&call.command) {
        return Ok(());
    }
    let (error, note) = end_of(call.error.as_ref(), call.note.as_ref());
    let mut record = FeedbackRecord {
        command: vec![call.command.clone()],
        cwd: cwd.map(|cwd| folder(bench, cwd)),
        exit_code: call.exit_code,
        stdout_tail: call.stdout.clone(),
        stderr_tail: call.stderr.clone(),
        duration_ms: call.duration_ms,
        started_at: Some(clock::now_text()),
        agent_note: note,
        command_id: call.id.clone(),
        session_id: Some(session.to_string()),
        error,
        benign: call.benign.then_some(true),
        ..FeedbackRecord::default()
    };
    if call.truncated {
        // by how much, the client does not tell
        record.truncations.insert("stdout".to_owned(), 1);
    }
    append(bench, record)
}

/// Commands that a session's transcript tells of, in their order.
pub fn append_calls(bench: &Workbench, session: &SessionId, calls: &[Call]) -> Result<()> {
    let theirs = calls.iter().filter(|call| !is_own_line(&call.command));
    append_all(bench, theirs.map(|call| of_transcript(bench, session, call)).collect())
}

fn of_transcript(bench: &Workbench, session: &SessionId, call: &Call) -> FeedbackRecord {
    let (error, note) = end_of(call.error.as_ref(), call.note.as_ref());
    let mut record = FeedbackRecord {
        command: vec![call.command.clone()],
        cwd: call.cwd.as_ref().map(|cwd| folder(bench, Path::new(cwd))),
        exit_code: call.exit_code,
        stdout_tail: call.stdout.clone(),
        stderr_tail: call.stderr.clone(),
        duration_ms: call.duration_ms,
        started_at: call.started_at.clone(),
        agent_note: note,
        command_id: Some(call.id.clone()),
        parent_command_id: call.parent.clone(),
        session_id: Some(session.to_string()),
        error,
        benign: call.benign.then_some(true),
        ..FeedbackRecord::default()
    };
    if call.truncated {
        record.truncations.insert("stdout".to_owned(), 1);
    }
    record
}

/// What stands as the error and what only as a note: an end that nobody knows is no failure.
fn end_of(error: Option<&String>, note: Option<&String>) -> (Option<String>, Option<String>) {
    let unknown = error.filter(|error| UNKNOWN_ENDS.contains(&error.as_str()));
    let known = error.filter(|_| unknown.is_none());
    (known.cloned(), note.or(unknown).cloned())
}

/// Appends a record, redacted, to this work tree's log.
pub fn append(bench: &Workbench, record: FeedbackRecord) -> Result<()> {
    append_all(bench, vec![record])
}

fn append_all(bench: &Workbench, records: Vec<FeedbackRecord>) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let place = LogPlace {
        root: bench.repo.top.clone(),
        log: bench.feedback_path(),
        lock: state::lock_path(bench, "feedback"),
    };
    let redactor = handoff::redactor(bench)?;
    for record in records {
        feedback::append(&place, &redactor, record).map_err(|error| {
            Failure::broken(format!("can't append to `{}`", state::shown(bench, &place.log)))
                .because(error)
                .hint("Make the file and its folder writable, or free some space.")
        })?;
    }
    Ok(())
}

/// A folder from the top of the work tree.
pub fn folder(bench: &Workbench, cwd: &Path) -> String {
    match cwd.strip_prefix(&bench.repo.top) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => cwd.display().to_string(),
    }
}

/// Whether a shell line does nothing but call endwell, with what people put around a call.
fn is_own_line(line: &str) -> bool {
    const AROUND: [&str; 9] = ["cd", "tail", "head", "cat", "echo", "true", "grep", "sed", ":"];
    let mut own = false;
    for part in line.split(['\n', ';', '|', '&']) {
        let word = part
            .split_whitespace()
            .find(|word| !is_assignment(word) && !word.starts_with(['>', '<', '1', '2']));
        let Some(word) = word else { continue };
        if Path::new(word).file_name().is_some_and(|name| name == "endwell") {
            own = true;
        } else if !AROUND.contains(&word) {
            return false;
        }
    }
    own
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_are_all_endwell_are_left_out() {
        for own in [
            "endwell check",
            "cd sub && endwell verify 2>&1 | tail -5",
            "A=1 ./target/debug/endwell note next x",
        ] {
            assert!(is_own_line(own), "{own}");
        }
        for other in
            ["pytest -q", "endwell check && git commit -m x", "echo endwell", "grep endwell README.md"]
        {
            assert!(!is_own_line(other), "{other}");
        }
    }
}
