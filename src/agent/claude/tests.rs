//! Claude Code as it really speaks: recorded payloads, and the exact bytes of each answer.

use super::*;

fn payload(name: &str) -> Value {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/payloads/claude").join(name);
    serde_json::from_slice(&crate::fs::read(&path).unwrap()).unwrap()
}

fn event(moment: Moment, value: &Value) -> Event {
    let env = Env::made_of("/repo", [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]);
    read_event(moment, value, &env)
}

#[test]
fn recorded_events_are_read() {
    let start = event(Moment::Start, &payload("SessionStart.resume.json"));
    assert_eq!(start.session_id.as_deref(), Some("00000000-0000-4000-8000-000000000001"));
    assert_eq!(start.cwd.as_deref(), Some(std::path::Path::new("/repo")));
    assert_eq!((start.cause.as_deref(), start.context_tokens), (Some("resume"), Some(41020)));
    assert!(start.headless && !start.subagent);
    let stop = event(Moment::Stop, &payload("Stop.active.json"));
    assert!(stop.stop_hook_active);
    assert_eq!(stop.last_message.as_deref(), Some("Done again."));
    assert_eq!(event(Moment::End, &payload("SessionEnd.clear.json")).cause.as_deref(), Some("clear"));
    assert_eq!(event(Moment::Compact, &payload("PreCompact.manual.json")).cause.as_deref(), Some("manual"));
    assert!(event(Moment::Stop, &payload("SubagentStop.json")).subagent);
}

#[test]
fn commands_keep_their_exit_code_and_unknown_ones_stay_unknown() {
    let tool = |value: &Value| event(Moment::Tool, value).tool;
    let good = tool(&payload("PostToolUse.json")).unwrap();
    assert_eq!((good.exit_code, good.error, good.stdout.as_str()), (Some(0), None, "3"));
    assert_eq!((good.id.as_deref(), good.duration_ms), (Some("toolu_0005"), Some(147)));
    let bad = tool(&payload("PostToolUseFailure.json")).unwrap();
    assert_eq!((bad.exit_code, bad.error, bad.stdout.as_str()), (Some(3), None, "out\nerr"));
    assert_eq!(tool(&payload("PostToolUse.write.json")), None, "only the shell runs commands");

    let answered = |response: Value| {
        let mut value = payload("PostToolUse.json");
        value["tool_response"] = response;
        let call = tool(&value).unwrap();
        (call.exit_code, call.error, call.benign)
    };
    let text = |word: &str| Some(word.to_owned());
    assert_eq!(
        answered(json!({"stdout": "", "returnCodeInterpretation": "No matches found"})),
        (Some(1), None, true)
    );
    assert_eq!(
        answered(json!({"stdout": "", "returnCodeInterpretation": "?"})),
        (None, text("exit-unknown"), false)
    );
    assert_eq!(answered(json!({"stdout": "", "interrupted": true})), (None, text("interrupted"), false));
    assert_eq!(answered(json!({"stdout": "", "backgroundTaskId": "b1"})), (None, text("background"), false));

    let refused = |error: &str| {
        let mut value = payload("PostToolUseFailure.json");
        value["error"] = json!(error);
        tool(&value).map(|call| (call.exit_code, call.error))
    };
    assert_eq!(refused("Permission to use Bash with command ls has been denied."), None);
    assert_eq!(
        refused("<tool_use_error>Sibling tool call errored</tool_use_error>"),
        Some((None, text("sibling-failed")))
    );
    assert_eq!(
        refused("out of luck\nExit code 5"),
        Some((None, text("exit-unknown"))),
        "output is not the frame"
    );
}

#[test]
fn odd_events_tell_nothing_and_break_nothing() {
    for value in [json!(null), json!([]), json!({"session_id": 7, "tool_name": "Bash", "tool_input": []})] {
        let read = event(Moment::Tool, &value);
        assert_eq!((read.session_id, read.tool), (None, None));
    }
}

#[test]
fn answers_hold_what_the_client_takes_and_nothing_else() {
    let reply = |moment, words: Answer| answer(moment, &words).stdout;
    let inject = || Answer::Inject("Read \"this\"".to_owned());
    assert_eq!(
        reply(Moment::Start, inject()),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Read \"this\""}}"#
    );
    assert_eq!(reply(Moment::Compact, inject()), "Read \"this\"");
    assert_eq!(
        reply(Moment::Stop, Answer::Block("dirty".to_owned())),
        r#"{"decision":"block","reason":"dirty"}"#
    );
    for moment in [Moment::Stop, Moment::Tool, Moment::End] {
        assert_eq!(reply(moment, inject()), "", "{moment:?}");
    }
    for moment in [Moment::Start, Moment::Prompt, Moment::Tool, Moment::Compact, Moment::End] {
        assert_eq!(reply(moment, Answer::Block("dirty".to_owned())), "", "{moment:?}");
    }
}
