//! Cursor by its documentation: no payload of the real program was seen.

use super::*;
use crate::agent::common::tests::reply;

#[test]
fn documented_events_are_read() {
    let env = Env::default();
    let told = json!({"conversation_id": "c1", "generation_id": "g1", "hook_event_name": "stop", "workspace_roots": ["/repo"],
        "status": "completed", "loop_count": 1});
    let stop = read_event(Moment::Stop, &told, &env);
    assert_eq!((stop.session_id.as_deref(), stop.stop_hook_active), (Some("c1"), true));
    assert_eq!(stop.cwd.as_deref(), Some(std::path::Path::new("/repo")));
    let told = json!({"conversation_id": "c1", "command": "npm test", "output": "ok", "duration": 12});
    let call = read_event(Moment::Tool, &told, &env).tool.unwrap();
    assert_eq!(
        (call.command.as_str(), call.exit_code, call.error.as_deref()),
        ("npm test", None, Some("exit-unknown"))
    );
    for odd in [json!(null), json!([]), json!({"workspace_roots": "x", "conversation_id": 3})] {
        let read = read_event(Moment::Tool, &odd, &env);
        assert_eq!((read.session_id, read.cwd, read.tool), (None, None, None));
    }
}

#[test]
fn answers_have_the_documented_form() {
    assert_eq!(reply(answer, Moment::Start, "hi"), r#"{"additional_context":"hi"}"#);
    assert_eq!(answer(Moment::Stop, &Answer::Block("no".to_owned())).stdout, r#"{"followup_message":"no"}"#);
    assert_eq!(reply(answer, Moment::Prompt, "hi"), "");
}
