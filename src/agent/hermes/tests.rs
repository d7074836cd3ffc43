//! Hermes as it really speaks: recorded payloads.

use super::*;
use crate::agent::common::tests::{payload, reply};

fn event(moment: Moment, name: &str) -> Event {
    read_event(moment, &payload("hermes", name), &Env::default())
}

#[test]
fn the_first_question_to_the_model_is_the_start() {
    let start = event(Moment::Prompt, "pre_llm_call");
    assert_eq!((start.moment, start.begins_turn), (Moment::Start, true));
    assert_eq!(start.session_id.as_deref(), Some("20261129_175346_99ec4f"));
    let mut later = payload("hermes", "pre_llm_call");
    later["extra"]["is_first_turn"] = json!(false);
    let later = read_event(Moment::Prompt, &later, &Env::default());
    assert_eq!((later.moment, later.begins_turn), (Moment::Prompt, false));
}

#[test]
fn commands_are_read_with_their_exit_codes() {
    let failed = event(Moment::Tool, "post_tool_call.failed").tool.unwrap();
    assert_eq!((failed.exit_code, failed.stdout.as_str()), (Some(3), "out\nerr"));
    assert_eq!((failed.id.as_deref(), failed.duration_ms), (Some("call_0001"), Some(33)));
    assert_eq!(event(Moment::Tool, "post_tool_call").tool.unwrap().exit_code, Some(0));
    assert_eq!(event(Moment::Tool, "post_tool_call.write").tool, None);
    let mut torn = payload("hermes", "post_tool_call");
    torn["extra"]["result"] = json!("{\"output\": ");
    let call = read_event(Moment::Tool, &torn, &Env::default()).tool.unwrap();
    assert_eq!((call.exit_code, call.error.as_deref()), (None, Some("exit-unknown")));
}

#[test]
fn only_one_of_the_two_turn_ends_can_be_refused() {
    let asked = event(Moment::Stop, "pre_verify");
    assert_eq!((asked.is_deaf, asked.last_message.as_deref()), (false, Some("FAKE-DONE")));
    assert!(event(Moment::Stop, "on_session_end").is_deaf);
    assert_eq!(event(Moment::End, "on_session_finalize").cause.as_deref(), Some("shutdown"));
    let block = answer(Moment::Stop, &Answer::Block("no".to_owned()));
    assert_eq!(block.stdout, r#"{"decision":"block","reason":"no"}"#);
    assert_eq!(reply(answer, Moment::Start, "hi"), r#"{"context":"hi"}"#);
    assert_eq!(reply(answer, Moment::End, "hi"), "");
}
