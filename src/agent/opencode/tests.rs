//! What the plugin sends and what it looks for in an answer.

use super::*;

#[test]
fn what_the_plugin_tells_is_read() {
    let told = json!({
        "session_id": "ses_1", "cwd": "/repo", "headless": true,
        "tool": {"id": "call_1", "command": "exit 3", "output": "out\n", "exit": 3, "truncated": false}
    });
    let event = read_event(Moment::Tool, &told, &Env::default());
    assert!(event.headless && event.session_id.as_deref() == Some("ses_1"));
    let call = event.tool.unwrap();
    assert_eq!((call.exit_code, call.error, call.stdout.as_str()), (Some(3), None, "out\n"));
    let open = json!({"tool": {"command": "exit 3"}});
    let call = read_event(Moment::Tool, &open, &Env::default()).tool.unwrap();
    assert_eq!((call.exit_code, call.error.as_deref()), (None, Some("exit-unknown")));
}

#[test]
fn the_plugin_knows_every_key_of_an_answer() {
    let reply = |words: Answer| answer(Moment::Stop, &words).stdout;
    assert_eq!(reply(Answer::Block("no".to_owned())), r#"{"block":"no"}"#);
    assert_eq!(reply(Answer::Inject("hi".to_owned())), r#"{"inject":"hi"}"#);
    assert_eq!(reply(Answer::Nothing), "");
    for moment in Moment::ALL {
        assert!(PLUGIN.contains(&format!("call(\"{}\"", moment.word())), "{moment:?} is never told");
    }
}
