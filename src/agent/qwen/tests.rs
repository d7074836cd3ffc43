//! Qwen as it really speaks: recorded payloads.

use super::*;
use crate::agent::common::tests::{payload, reply};

#[test]
fn recorded_events_are_read() {
    let event = |moment, name| read_event(moment, &payload("qwen", name), &Env::default());
    let stop = event(Moment::Stop, "Stop");
    assert_eq!((stop.context_tokens, stop.context_window), (Some(40_000), Some(200_000)));
    let bad = event(Moment::Tool, "PostToolUseFailure").tool.unwrap();
    assert_eq!((bad.exit_code, bad.error, bad.stdout.as_str()), (Some(3), None, "out\nerr"));
    let good = event(Moment::Tool, "PostToolUse").tool.unwrap();
    assert_eq!(
        (good.exit_code, good.id.as_deref(), good.duration_ms),
        (Some(0), Some("call_0004"), Some(115))
    );
}

#[test]
fn answers_are_json_without_other_keys() {
    assert_eq!(
        reply(answer, Moment::Start, "hi"),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"hi"}}"#
    );
    assert_eq!(reply(answer, Moment::Stop, "hi"), "");
}
