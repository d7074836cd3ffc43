//! A command that an agent ran, as its client told a hook: into the feedback log, redacted, once. endwell's own commands
//! are not recorded.

use std::path::Path;

use crate::failure::Result;
use crate::feedback::{self, LogPlace};
use crate::flow::{Workbench, handoff};
use crate::model::SessionId;
use crate::model::event::ToolCall;
use crate::model::feedback::FeedbackRecord;

/// Records a call.
pub fn record_call(bench: &Workbench, id: &SessionId, call: &ToolCall, cwd: Option<&Path>) -> Result<()> {
    if is_own(&call.command) {
        return Ok(());
    }
    let record = FeedbackRecord {
        command: vec![call.command.clone()],
        cwd: cwd.map(|cwd| cwd.strip_prefix(&bench.repo.top).unwrap_or(cwd).display().to_string()),
        exit_code: call.exit_code,
        stdout_tail: call.stdout.clone(),
        stderr_tail: call.stderr.clone(),
        duration_ms: call.duration_ms,
        started_at: Some(crate::clock::now_text()),
        agent_note: call.note.clone(),
        command_id: call.id.clone(),
        session_id: Some(id.to_string()),
        error: call.error.clone(),
        benign: call.benign.then_some(true),
        ..FeedbackRecord::default()
    };
    let place = LogPlace {
        root: bench.repo.top.clone(),
        log: bench.feedback_path(),
        lock: crate::flow::state::lock_path(bench, "feedback"),
    };
    feedback::append(&place, &handoff::redactor(bench)?, record).map_err(|error| {
        crate::failure::Failure::broken("can't record a command")
            .because(error)
            .hint("Make the feedback log writable, or free some space.")
    })
}

/// Whether a command line is a call of endwell alone.
fn is_own(line: &str) -> bool {
    let joined = line.contains(['|', ';', '\n']) || line.contains("&&");
    let first = line.split_whitespace().next().unwrap_or_default();
    !joined && (first == "endwell" || first.ends_with("/endwell"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_endwell_alone_is_left_out() {
        assert!(is_own("endwell verify"));
        assert!(is_own("/usr/local/bin/endwell note next 'x'"));
        assert!(!is_own("endwell verify && git push"));
        assert!(!is_own("cargo test"));
    }
}
