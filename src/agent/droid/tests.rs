//! Factory Droid by its documentation: no payload of the real program was seen.

use super::*;
use crate::agent::common::tests::reply;

#[test]
fn documented_events_are_read() {
    let env = Env::default();
    let told =
        json!({"session_id": "d1", "cwd": "/repo", "hook_event_name": "Stop", "stop_hook_active": true});
    let stop = read_event(Moment::Stop, &told, &env);
    assert_eq!((stop.session_id.as_deref(), stop.stop_hook_active), (Some("d1"), true));
    let told = json!({"sessionId": "d1", "tool_name": "Execute", "tool_input": {"command": "npm test"}, "tool_response": "ok"});
    let event = read_event(Moment::Tool, &told, &env);
    let call = event.tool.unwrap();
    assert_eq!(event.session_id.as_deref(), Some("d1"));
    assert_eq!((call.command.as_str(), call.exit_code, call.stdout.as_str()), ("npm test", None, "ok"));
    let told = json!({"session_id": "d1", "tool_name": "Read", "tool_input": {"command": "x"}});
    assert_eq!(read_event(Moment::Tool, &told, &env).tool, None);
}

#[test]
fn answers_have_the_documented_form() {
    assert_eq!(
        reply(answer, Moment::Start, "hi"),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"hi"}}"#
    );
    assert_eq!(
        answer(Moment::Stop, &Answer::Block("no".to_owned())).stdout,
        r#"{"decision":"block","reason":"no"}"#
    );
}
