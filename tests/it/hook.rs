//! `endwell hook EVENT --client claude`: what an agent's client gets to hear at each moment, and that it is never
//! disturbed, whatever it sends.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// One event, as the client sends it; `headless` is the client's own marker.
pub(crate) fn event(sandbox: &Sandbox, moment: &str, input: &str, headless: bool) -> Ran {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    command.args(["hook", moment, "--client", "claude"]);
    if headless {
        command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // an event that nobody knows is answered before its input is read
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let ran = Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert_eq!(ran.code, Some(0), "{moment}: {ran:?}");
    ran
}

pub(crate) fn payload(sandbox: &Sandbox, session: &str, more: &Value) -> String {
    let mut value = json!({"session_id": session, "cwd": sandbox.repo()});
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value.to_string()
}

pub(crate) fn at(sandbox: &Sandbox, moment: &str, headless: bool) -> Ran {
    event(sandbox, moment, &payload(sandbox, SESSION, &json!({"stop_hook_active": false})), headless)
}

/// The reason of a block, or `None` where the turn may end.
pub(crate) fn reason(ran: &Ran) -> Option<String> {
    if ran.stdout.is_empty() {
        return None;
    }
    let answer = ran.json();
    assert_eq!(answer["decision"], "block");
    assert_eq!(answer.as_object().unwrap().len(), 2, "no other keys: some clients drop the answer for one");
    Some(answer["reason"].as_str().unwrap().to_owned())
}

pub(crate) fn installed() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    sandbox
}

#[test]
fn a_dirty_turn_end_blocks_once_for_each_set_of_reasons_and_three_times_at_most() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.write("a.txt", "x\n");
    let first = reason(&at(&sandbox, "stop", true)).unwrap();
    assert!(first.contains("`a.txt` is not tracked"), "{first}");
    assert!(first.contains("endwell verify"), "{first}");
    assert!(first.contains("endwell note next"), "{first}");
    assert!(first.chars().count() < 2_000);
    assert_eq!(reason(&at(&sandbox, "stop", true)), None, "the same set of reasons blocks once");
    sandbox.write("b.txt", "x\n");
    assert!(reason(&at(&sandbox, "stop", true)).is_some(), "another set blocks again");
    sandbox.write("c.txt", "x\n");
    assert!(reason(&at(&sandbox, "stop", true)).is_some());
    sandbox.write("d.txt", "x\n");
    assert_eq!(reason(&at(&sandbox, "stop", true)), None, "three blocks a session are the most");
}

#[test]
fn a_session_that_is_not_wrapping_up_is_left_alone_until_it_is() {
    let sandbox = installed();
    at(&sandbox, "start", false);
    sandbox.write("a.txt", "x\n");
    assert_eq!(reason(&at(&sandbox, "stop", false)), None);
    let ran = Ran::of(
        sandbox
            .prepare(env!("CARGO_BIN_EXE_endwell"), "repo")
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .arg("wrap-up"),
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(reason(&at(&sandbox, "stop", false)).is_some());
}

#[test]
fn a_context_that_fills_makes_the_session_wrap_up_and_is_told_once() {
    let sandbox = installed();
    at(&sandbox, "start", false);
    let transcript = sandbox.root().join("transcript.jsonl");
    let line =
        r#"{"type":"assistant","message":{"usage":{"input_tokens":130000,"cache_read_input_tokens":0}}}"#;
    std::fs::write(&transcript, format!("{line}\n")).unwrap();
    let told = payload(&sandbox, SESSION, &json!({"transcript_path": transcript}));
    sandbox.write("a.txt", "x\n");
    let hint = event(&sandbox, "prompt", &told, false);
    let text = hint.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(text.contains("65 % full (130000 of 200000 tokens, which is assumed)"), "{text}");
    let text = reason(&event(&sandbox, "stop", &told, false)).unwrap();
    assert!(!text.contains("65 % full"), "once: {text}");
}

#[test]
fn a_clean_turn_end_leaves_a_packet_and_the_next_session_starts_with_it() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.write("a.txt", "x\n");
    sandbox.commit("Add a");
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(0));
    assert_eq!(sandbox.endwell(&["note", "next", "Write b.txt"]).code, Some(0));
    assert_eq!(reason(&at(&sandbox, "stop", true)), None);
    let packet: Value =
        serde_json::from_str(&sandbox.read(&format!("outputs/handoff/{SESSION}/handoff.json"))).unwrap();
    assert_eq!(packet["next_action"]["text"], "Write b.txt");
    assert_eq!(packet["agent"], "claude");
    assert_eq!(packet["changed_files"][0]["path"], "a.txt");
    at(&sandbox, "end", true);
    let next = event(&sandbox, "start", &payload(&sandbox, "next", &json!({"source": "startup"})), true);
    let context = next.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(context.contains("Write b.txt"), "{context}");
    assert!(context.chars().count() < 10_000);
}

#[test]
fn a_session_that_ends_dirty_is_refused_and_the_next_one_is_told() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.write("a.txt", "x\n");
    assert_eq!(at(&sandbox, "end", true).stdout, "", "no client lets an end be blocked");
    assert!(!sandbox.repo().join("outputs/handoff").join(SESSION).exists());
    let next = event(&sandbox, "start", &payload(&sandbox, "next", &json!({})), true);
    assert!(next.stdout.contains("`a.txt` is not tracked"), "{next:?}");
}

#[test]
fn dirt_that_was_there_before_the_session_is_not_its_own() {
    let sandbox = installed();
    sandbox.write("before.txt", "x\n");
    at(&sandbox, "start", true);
    let text = reason(&at(&sandbox, "stop", true)).unwrap();
    assert!(!text.contains("before.txt"), "{text}");
    sandbox.write("before.txt", "touched\n");
    let text = reason(&at(&sandbox, "stop", true)).unwrap();
    assert!(text.contains("before.txt"), "{text}");
}

#[test]
fn commands_are_recorded_once_with_their_exit_codes_and_without_secrets() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    let ok = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "echo hello"},
        "tool_response": {"stdout": "hello", "stderr": "", "interrupted": false}});
    let failed = json!({"tool_name": "Bash", "tool_use_id": "t2",
        "tool_input": {"command": "curl -H 'Authorization: Bearer abcdefghijklmnop1234567890'"},
        "error": "Exit code 3\nout\nerr"});
    for call in [&ok, &failed, &ok] {
        event(&sandbox, "tool", &payload(&sandbox, SESSION, call), true);
    }
    let log = sandbox.read("feedback_record.jsonl");
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2, "{log}");
    assert_eq!((&records[0]["exit_code"], &records[1]["exit_code"]), (&json!(0), &json!(3)));
    assert_eq!(records[1]["session_id"], SESSION);
    assert!(!log.contains("abcdefghijklmnop1234567890"), "{log}");
}

#[test]
fn a_change_of_folder_does_not_move_the_session() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.git("repo", &["init", "-q", "inner"]);
    let inside = json!({"session_id": SESSION, "cwd": sandbox.repo().join("inner")}).to_string();
    let text = reason(&event(&sandbox, "stop", &inside, true)).unwrap();
    assert!(text.contains("`inner/` is not tracked"), "{text}");
}

#[test]
fn where_this_person_installed_nothing_a_hook_does_nothing() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("a.txt", "x\n");
    for moment in ["start", "prompt", "stop", "compact", "end"] {
        let ran = at(&sandbox, moment, true);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{moment}");
    }
    assert!(!sandbox.repo().join(".git/endwell").exists());
    assert!(!sandbox.repo().join("outputs").exists());
}

#[test]
fn bad_events_never_disturb_the_client_and_leave_their_folder_alone() {
    let sandbox = installed();
    let long = "x".repeat(10_000);
    let bad = [
        "",
        "{",
        "[]",
        "null",
        r#"{"session_id": 3}"#,
        r#"{"session_id": "../../escaped"}"#,
        "{\"session_id\": \"a\\u0000b\"}",
        &format!("{{\"session_id\": \"{long}\"}}"),
        r#"{"session_id": "s", "cwd": "/nowhere/at/all"}"#,
    ];
    for input in bad {
        for moment in ["start", "prompt", "tool", "stop", "compact", "end", "nonsense"] {
            event(&sandbox, moment, input, true);
        }
    }
    assert!(!sandbox.root().join("escaped.json").exists());
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "");
    let unknown = sandbox.command(
        env!("CARGO_BIN_EXE_endwell"),
        "repo",
        &["hook", "stop", "--client", "claude", "--no-such-option"],
    );
    assert_eq!(unknown.code, Some(0), "a client may read 2 as a block: {unknown:?}");
    let none = sandbox.command(env!("CARGO_BIN_EXE_endwell"), "repo", &["hook", "stop", "--client"]);
    assert_eq!(none.code, Some(0), "{none:?}");
}

/// A client of its own that fires these moments and is then gone without a word; returns when it is.
pub(crate) fn client_that_dies(sandbox: &Sandbox, session: &str, moments: &[&str]) {
    let script = "import subprocess, sys\nfor moment in sys.argv[3:]:\n    subprocess.run([sys.argv[1], 'hook', moment, \
                  '--client', 'claude'], input=sys.argv[2].encode(), check=True)\n";
    let mut command = sandbox.prepare("python3", "repo");
    command.args(["-c", script, env!("CARGO_BIN_EXE_endwell")]);
    command.arg(payload(sandbox, session, &json!({}))).args(moments);
    let ran = Ran::of(command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

pub(crate) fn journal(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!(".git/endwell/sessions/{session}.json"))).unwrap()
}

#[test]
fn a_session_that_died_between_turns_keeps_what_its_last_turn_end_left() {
    let sandbox = installed();
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Write b.txt"]);
    client_that_dies(&sandbox, "dead", &["start", "prompt", "stop"]);
    let packet = || sandbox.read("outputs/handoff/dead/handoff.json");
    let before = packet();
    sandbox.write("later.txt", "somebody else's\n");
    at(&sandbox, "start", true);
    assert_eq!(journal(&sandbox, "dead")["ending"], "recovered-at-rest");
    assert_eq!(journal(&sandbox, "dead")["refusal"], Value::Null);
    assert_eq!(packet(), before, "the same bytes");
}

#[test]
fn a_session_that_died_in_the_middle_of_a_turn_is_judged_when_it_is_found() {
    let sandbox = installed();
    client_that_dies(&sandbox, "dead", &["start", "prompt"]);
    sandbox.write("half.txt", "x\n");
    let next = at(&sandbox, "start", true);
    assert_eq!(journal(&sandbox, "dead")["ending"], "recovered-mid-turn");
    assert!(next.stdout.contains("`half.txt` is not tracked"), "{next:?}");
    client_that_dies(&sandbox, "dead", &["prompt"]);
    assert_eq!(journal(&sandbox, "dead")["phase"], "busy", "a session that speaks again is reopened");
}
