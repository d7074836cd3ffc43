//! Codex as it really speaks: recorded payloads.

use super::*;
use crate::agent::common::tests::{payload, reply};

#[test]
fn recorded_events_are_read() {
    let env = Env::default();
    let stop = read_event(Moment::Stop, &payload("codex", "Stop.active"), &env);
    assert!(stop.stop_hook_active && !stop.headless);
    assert_eq!(stop.session_id.as_deref(), Some("00000000-0000-4000-8000-000000000001"));
    let call = read_event(Moment::Tool, &payload("codex", "PostToolUse.failed"), &env).tool.unwrap();
    assert_eq!((call.exit_code, call.error.as_deref()), (None, Some("exit-unknown")), "it is not told");
    assert_eq!(
        (call.command.as_str(), call.id.as_deref()),
        ("echo out; echo err >&2; exit 3", Some("call_0003"))
    );
}

#[test]
fn one_prompt_runs_are_known_by_the_rollout() {
    let dir = tempfile::tempdir().unwrap();
    let rollout = dir.path().join("rollout.jsonl");
    let mut value = payload("codex", "Stop");
    value["transcript_path"] = json!(rollout);
    for (source, headless) in [("exec", true), ("cli", false)] {
        let line = format!("{{\"type\":\"session_meta\",\"payload\":{{\"source\":\"{source}\"}}}}\n");
        fs::write_atomic(&rollout, line.as_bytes()).unwrap();
        assert_eq!(read_event(Moment::Stop, &value, &Env::default()).headless, headless);
    }
    value["transcript_path"] = json!(null);
    assert!(!read_event(Moment::Stop, &value, &Env::default()).headless);
}

#[test]
fn answers_hold_no_key_that_the_client_rejects() {
    assert_eq!(
        reply(answer, Moment::Start, "hi"),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"hi"}}"#
    );
    assert_eq!(
        answer(Moment::Stop, &Answer::Block("no".to_owned())).stdout,
        r#"{"decision":"block","reason":"no"}"#
    );
    assert_eq!(reply(answer, Moment::Compact, "hi"), "");
}

#[test]
fn hooks_that_are_switched_off_are_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let told = |text: &str| {
        fs::write_atomic(&dir.path().join(".codex/config.toml"), text.as_bytes()).unwrap();
        obstacle::look(dir.path())
    };
    assert_eq!(told("[features]\nhooks = true\n"), Ok(None));
    assert!(told("[features]\nhooks = false\n").unwrap().is_some());
    assert!(told("[features\n").is_err());
}
