//! How full a session's context is: from the event where the client tells, else from the end of its transcript. Never
//! guessed: what nobody wrote down is unknown.

use std::path::Path;

use serde_json::Value;

use super::Agent;
use crate::model::event::Event;

/// Bytes at the end of a transcript that are looked at: first the few among which the newest answer mostly stands, then as
/// many as a turn's last answer is certainly among.
const TAILS: [u64; 2] = [128 * 1024, 4 * 1024 * 1024];

/// Tokens in use, and the size of the window where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub tokens: u64,
    pub window: Option<u64>,
}

/// What the event, or the newest line of the session's transcript that speaks of it, says.
pub fn used(agent: &Agent, event: &Event, transcript: Option<&Path>) -> Option<Used> {
    if let Some(tokens) = event.context_tokens {
        return Some(Used { tokens, window: event.context_window });
    }
    in_transcript(transcript?, agent.context_in?)
}

fn in_transcript(path: &Path, read: fn(&Value) -> Option<Used>) -> Option<Used> {
    TAILS.iter().find_map(|tail| {
        let bytes = crate::fs::tail(path, *tail).ok()??;
        // the first line may be cut, the last one torn: neither parses
        let lines = bytes.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(|line| serde_json::from_slice(line).ok()).find_map(|value: Value| read(&value))
    })
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn of(client: &str, lines: &str) -> Option<Used> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript");
        crate::fs::write_atomic(&path, lines.as_bytes()).unwrap();
        in_transcript(&path, find(client).unwrap().context_in.unwrap())
    }

    #[test]
    fn the_newest_line_of_the_main_chain_counts() {
        let claude = r#"{"type":"assistant","message":{"usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":3}}}
{"type":"assistant","message":{"usage":{"input_tokens":100,"cache_read_input_tokens":20,"cache_creation_input_tokens":3}}}
{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":9000}}}
{"type":"user","message":{"content":"x"}}
{"type":"assis"#;
        assert_eq!(of("claude", claude), Some(Used { tokens: 123, window: None }));
        let codex = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":1020},"model_context_window":258400}}}"#;
        assert_eq!(of("codex", codex), Some(Used { tokens: 1020, window: Some(258_400) }));
        let gemini = r#"{"type":"gemini","tokens":{"input":1000,"total":1020}}"#;
        assert_eq!(of("gemini", gemini), Some(Used { tokens: 1020, window: None }));
        let copilot = r#"{"type":"tool.execution_complete","data":{"toolTelemetry":{"metrics":{"context_token_limit":64000.0,"context_current_tokens":10513.0}}}}"#;
        assert_eq!(of("copilot", copilot), Some(Used { tokens: 10_513, window: Some(64_000) }));
        assert_eq!(of("claude", "nothing of the kind\n"), None);
    }
}
