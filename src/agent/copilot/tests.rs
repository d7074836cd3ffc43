//! Copilot as it really speaks: recorded payloads.

use super::*;
use crate::agent::common::tests::{payload, reply};

#[test]
fn recorded_events_are_read() {
    let event = |moment, name| read_event(moment, &payload("copilot", name), &Env::default());
    let stop = event(Moment::Stop, "agentStop.active");
    assert!(stop.stop_hook_active && stop.session_id.is_some() && stop.transcript_path.is_some());
    assert_eq!(event(Moment::End, "sessionEnd.error").cause.as_deref(), Some("error"));
    let bad = event(Moment::Tool, "postToolUse.failed").tool.unwrap();
    assert_eq!((bad.exit_code, bad.stdout.as_str()), (Some(3), "out\nerr"), "`success` says nothing");
    assert_eq!(event(Moment::Tool, "postToolUse").tool.unwrap().exit_code, Some(0));
    assert_eq!(event(Moment::Tool, "postToolUse.write").tool, None);
}

#[test]
fn answers_have_the_clients_form() {
    assert_eq!(reply(answer, Moment::Start, "hi"), r#"{"additionalContext":"hi"}"#);
    assert_eq!(reply(answer, Moment::Prompt, "hi"), "");
    assert_eq!(
        answer(Moment::Stop, &Answer::Block("no".to_owned())).stdout,
        r#"{"decision":"block","reason":"no"}"#
    );
}
