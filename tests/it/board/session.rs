//! The board against a session: what an agent marks done is proven, or blocks.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

const SESSION: &str = "00000000-0000-4000-8000-0000000000b0";

fn board(first: &str, second: &str) -> String {
    let features = json!([
        {"id": "T-1", "status": first, "goal": "Print one sailing per line", "done_when": "sh checks/print.sh"},
        {"id": "T-2", "status": second, "goal": "Mark cancelled sailings"},
    ]);
    format!(
        "{}\n",
        serde_json::to_string_pretty(&json!({"project": "tidemark", "features": features})).unwrap()
    )
}

/// A repository with a board and a failing acceptance command, and an agent's session that has just begun.
fn in_session(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("feature_list.json", text);
    sandbox.write("checks/print.sh", "echo 'printed 0 of 3 sailings' >&2\nexit 1\n");
    sandbox.commit("a board");
    let installed = sandbox.endwell(&["install", "--agent", "claude"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let event = json!({"session_id": SESSION, "cwd": sandbox.repo(), "hook_event_name": "SessionStart", "source": "startup"});
    let mut hook = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    hook.args(["hook", "start", "--client", "claude"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = hook.spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    sandbox
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    Ran::of(command.args(args).env("CLAUDE_CODE_SESSION_ID", SESSION))
}

fn check(sandbox: &Sandbox) -> (Option<i32>, Vec<Value>) {
    let ran = run(sandbox, &["check", "--only", "feature-board", "--json"]);
    (ran.code, ran.json()["issues"].as_array().unwrap().clone())
}

fn codes(issues: &[Value]) -> Vec<(&str, &str, &str)> {
    let text =
        |issue: &'static str, value: &'_ Value| value[issue].as_str().unwrap().to_owned().leak() as &str;
    issues.iter().map(|issue| (text("code", issue), text("severity", issue), text("owner", issue))).collect()
}

#[test]
fn done_with_a_failing_command_blocks_until_it_is_mended() {
    let sandbox = in_session(&board("in_progress", "todo"));
    sandbox.write("feature_list.json", &board("done", "todo"));
    sandbox.commit("T-1 is done, I say");
    let verified = run(&sandbox, &["verify"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified.stdout.starts_with("Verified: red, acceptance of `T-1`: `sh checks/print.sh`"),
        "{verified:?}"
    );
    let (code, issues) = check(&sandbox);
    assert_eq!(code, Some(1));
    assert_eq!(codes(&issues), [("board-done-unproven", "block", "session")]);
    assert_eq!(
        issues[0]["message"],
        "`T-1` was set to done without proof: its command fails: `sh checks/print.sh`: printed 0 of 3 sailings"
    );
    let refused = run(&sandbox, &["handoff"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("printed 0 of 3 sailings"), "{refused:?}");

    sandbox.write("checks/print.sh", "exit 0\n");
    sandbox.commit("print every sailing");
    // what was recorded belongs to other content
    assert_eq!(codes(&check(&sandbox).1), [("board-done-unproven", "block", "session")]);
    let verified = run(&sandbox, &["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert_eq!(check(&sandbox), (Some(0), Vec::new()));
    let handed = run(&sandbox, &["handoff"]);
    assert_eq!(handed.code, Some(0), "{handed:?}");
    let packet: Value =
        serde_json::from_str(&sandbox.read(&format!("outputs/handoff/{SESSION}/handoff.json"))).unwrap();
    assert!(packet["summary"].as_str().unwrap().starts_with("main, T-1 (done): 2 commits"), "{packet}");
    assert_eq!(
        packet["next_action"],
        json!({"text": "Start `T-2` (Mark cancelled sailings)", "derived": true})
    );
}

#[test]
fn a_proven_feature_is_set_done_by_the_command_that_the_board_names_next() {
    let sandbox = in_session(&board("in_progress", "todo"));
    sandbox.write("checks/print.sh", "exit 0\n");
    sandbox.commit("print every sailing");
    assert_eq!(run(&sandbox, &["verify"]).code, Some(0));
    let next = run(&sandbox, &["board", "next"]);
    assert_eq!(next.stdout, "Set `T-1` done, its acceptance passes: `endwell board set T-1 done`\n");
    let set = run(&sandbox, &["board", "set", "T-1", "done"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(sandbox.read("feature_list.json"), board("done", "todo"));
}

#[test]
fn done_without_command_or_evidence_blocks_unless_a_reason_is_recorded() {
    let sandbox = in_session(&board("todo", "in_progress"));
    sandbox.write("feature_list.json", &board("todo", "done"));
    assert_eq!(codes(&check(&sandbox).1), [("board-done-unproven", "block", "session")]);
    sandbox.write("feature_list.json", &board("todo", "in_progress"));
    let set = run(&sandbox, &["board", "set", "T-2", "done", "--reason", "a drawing, looked at by the crew"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let (code, issues) = check(&sandbox);
    assert_eq!((code, codes(&issues)), (Some(0), vec![("board-done-unproven", "warn", "session")]));
}

#[test]
fn a_recorded_reason_counts_in_verify_as_it_does_in_check() {
    let sandbox = in_session(&board("in_progress", "todo"));
    let set = run(&sandbox, &["board", "set", "T-1", "done", "--reason", "the printer is broken"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(check(&sandbox).0, Some(0));
    let verified = run(&sandbox, &["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stderr.contains("warn board-done-unproven: "), "{verified:?}");
    assert!(verified.stderr.contains("the recorded reason: the printer is broken"), "{verified:?}");
}

#[test]
fn what_stood_before_only_warns_and_what_came_new_blocks() {
    let twice = board("in_progress", "in_progress");
    let sandbox = in_session(&twice);
    assert_eq!(codes(&check(&sandbox).1), [("board-many-in-progress", "warn", "before")]);
    sandbox.write("feature_list.json", &twice.replace("\"T-2\"", "\"T-1\""));
    let (code, issues) = check(&sandbox);
    assert_eq!(code, Some(1));
    assert!(codes(&issues).contains(&("board-duplicate-id", "block", "session")), "{issues:?}");
    assert!(codes(&issues).contains(&("board-feature-removed", "warn", "session")), "{issues:?}");
}

#[test]
fn work_for_what_was_done_before_and_reopening_are_said() {
    let sandbox = in_session(&board("todo", "done"));
    sandbox.write("more.txt", "more\n");
    sandbox.commit("T-2: one more thing");
    assert_eq!(codes(&check(&sandbox).1), [("board-work-after-done", "warn", "session")]);
    sandbox.write("agent_state.json", r#"{"schema_version": 1, "active_task_id": "T-2"}"#);
    assert_eq!(codes(&check(&sandbox).1), [("board-work-after-done", "block", "session")]);
    sandbox.write("feature_list.json", &board("todo", "in_progress"));
    assert_eq!(codes(&check(&sandbox).1), [("board-reopened", "info", "session")]);
    std::fs::remove_file(sandbox.repo().join("feature_list.json")).unwrap();
    assert_eq!(codes(&check(&sandbox).1), [("board-feature-removed", "warn", "session")]);
}
