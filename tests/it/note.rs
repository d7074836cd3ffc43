//! `endwell note`: the agent's own words, in a file that may be somebody else's.

use serde_json::{Value, json};

use crate::common::Sandbox;

fn state(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap()
}

#[test]
fn every_kind_of_note_finds_its_place() {
    let sandbox = Sandbox::with_repo();
    for args in [
        &["note", "next", "Run `pytest -q`"][..],
        &["note", "risk", "--test", "t::x", "--severity", "block", "x is red"],
        &["note", "risk", "slow on Windows"],
        &["note", "assumption", "UTF-8 only"],
        &["note", "question", "--blocking", "Which licence?"],
        &["note", "question", "Which colour?"],
        &["note", "answer", "Blue"],
        &["note", "blocker", "no access"],
        &["note", "blocker", "no access"],
    ] {
        let ran = sandbox.endwell(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    }
    assert_eq!(
        state(&sandbox, "agent_state.json"),
        json!({
            "schema_version": 1,
            "active_task_id": null,
            "touched_files": [],
            "assumptions": ["UTF-8 only"],
            "blockers": ["no access"],
            "open_risks": [
                {"severity": "block", "detail": "x is red", "test": "t::x"},
                {"severity": "warn", "detail": "slow on Windows"},
            ],
            "questions": [
                {"text": "Which licence?", "blocking": true},
                {"text": "Which colour?", "answer": "Blue"},
            ],
            "next_action": "Run `pytest -q`",
        })
    );
}

#[test]
fn another_tools_file_is_left_alone_and_told_once() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("agent_state.json", "{\"step\": 3}\n");
    let first = sandbox.endwell(&["note", "next", "a"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    insta::assert_snapshot!(first.stderr, @r"
    warning: `agent_state.json` belongs to another tool and is left alone; endwell keeps its own in `outputs/agent_state.json` (`[paths] state` sets another place)
    Noted.
    ");
    assert_eq!(sandbox.endwell(&["note", "assumption", "b"]).stderr, "Noted.\n");
    assert_eq!(sandbox.read("agent_state.json"), "{\"step\": 3}\n");
    assert_eq!(state(&sandbox, "outputs/agent_state.json")["assumptions"], json!(["b"]));
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_stays() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("agent_state.json", "{\"open_risks\": [");
    let ran = sandbox.endwell(&["note", "next", "a"]);
    assert_eq!(ran.code, Some(3));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `agent_state.json` is no JSON: EOF while parsing a list at line 1 column 16
    hint: Mend `agent_state.json`, or move it away: endwell then begins a new one.
    ");
    assert_eq!(sandbox.read("agent_state.json"), "{\"open_risks\": [");
    sandbox.write("agent_state.json", "{\"schema_version\": 9, \"open_risks\": []}");
    let ran = sandbox.endwell(&["note", "next", "a"]);
    assert_eq!((ran.code, ran.stderr.contains("schema version 9")), (Some(3), true), "{ran:?}");
}

#[test]
fn unknown_keys_and_their_order_stay() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("agent_state.json", "{\"zeta\": 1, \"open_risks\": [], \"alpha\": [2]}");
    sandbox.endwell(&["note", "next", "a"]);
    let text = sandbox.read("agent_state.json");
    let place = |key: &str| text.find(key).unwrap();
    assert!(place("zeta") < place("open_risks") && place("open_risks") < place("alpha"), "{text}");
}

#[test]
fn an_answer_needs_a_question() {
    let ran = Sandbox::with_repo().endwell(&["note", "answer", "42"]);
    assert_eq!((ran.code, ran.stderr.contains("no open question")), (Some(2), true), "{ran:?}");
}

#[test]
fn a_secret_is_not_noted() {
    let sandbox = Sandbox::with_repo();
    sandbox.endwell(&["note", "next", "Use ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 to push"]);
    assert_eq!(state(&sandbox, "agent_state.json")["next_action"], "Use [redacted:github] to push");
}

#[test]
fn many_writers_lose_no_note() {
    let sandbox = Sandbox::with_repo();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let ran = sandbox.endwell(&["note", "blocker", &format!("b{n}")]);
                assert_eq!(ran.code, Some(0), "{ran:?}");
            });
        }
    });
    assert_eq!(state(&sandbox, "agent_state.json")["blockers"].as_array().unwrap().len(), 16);
}
