//! Gemini as it really speaks: recorded payloads.

use super::*;
use crate::agent::common::tests::{payload, reply};

fn call(value: &Value) -> ToolCall {
    read_event(Moment::Tool, value, &Env::default()).tool.unwrap()
}

#[test]
fn recorded_events_are_read() {
    let stop = read_event(Moment::Stop, &payload("gemini", "AfterAgent.active"), &Env::default());
    assert!(stop.stop_hook_active);
    assert_eq!(stop.last_message.as_deref(), Some("All done.\nDone again."));
    let bad = call(&payload("gemini", "AfterTool.failed"));
    assert_eq!((bad.exit_code, bad.stdout.as_str()), (Some(3), "out\nerr"));
    let good = call(&payload("gemini", "AfterTool"));
    assert_eq!((good.exit_code, good.stdout.as_str()), (Some(0), "3"));
    assert_eq!(read_event(Moment::Tool, &payload("gemini", "AfterTool.write"), &Env::default()).tool, None);
}

#[test]
fn output_that_looks_like_the_frame_is_not_the_frame() {
    let mut value = payload("gemini", "AfterTool");
    let mut said = |text: &str| {
        value["tool_response"]["llmContent"] = json!(text);
        let call = call(&value);
        (call.exit_code, call.error)
    };
    assert_eq!(said("Output: Exit Code: 5\nmore\nProcess Group PGID: 1"), (Some(0), None));
    assert_eq!(said("Output: x\nSignal: 9\nProcess Group PGID: 1"), (None, Some("signal 9".to_owned())));
    assert_eq!(said("Command was cancelled."), (None, Some("exit-unknown".to_owned())));
}

#[test]
fn answers_name_the_clients_own_event() {
    assert!(reply(answer, Moment::Prompt, "hi").contains(r#""hookEventName":"BeforeAgent""#));
    assert_eq!(
        answer(Moment::Stop, &Answer::Block("no".to_owned())).stdout,
        r#"{"decision":"block","reason":"no"}"#
    );
}
