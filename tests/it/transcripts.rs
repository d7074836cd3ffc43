//! Commands that only a transcript tells of: read at each turn's end into the feedback log, once, with their exit codes,
//! and never from a place where a clone could have put one.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

const SESSION: &str = "00000000-0000-4000-8000-000000000009";

pub(crate) fn hook(sandbox: &Sandbox, client: &str, moment: &str, input: &Value) -> Ran {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    command.args(["hook", moment, "--client", client]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran = Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn log(sandbox: &Sandbox) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.repo().join("feedback_record.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn installed(client: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", client]).code, Some(0));
    let transcript = sandbox.root().join("home/transcript.jsonl");
    (sandbox, transcript)
}

pub(crate) fn append(path: &PathBuf, lines: &[Value]) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
}

/// A command as Codex 0.171 writes it down.
fn codex_item(id: &str, command: &str, code: i64, output: &str) -> [Value; 2] {
    let call = json!({"timestamp": "2099-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "function_call",
        "name": "exec_command", "call_id": id, "arguments": json!({"cmd": command}).to_string()}});
    let item = json!({"timestamp": "2099-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "item_completed",
        "item": {"type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", command], "status": "failed",
        "exit_code": code, "aggregated_output": output, "duration": {"secs": 0, "nanos": 5_000_000}}}});
    [call, item]
}

fn event(sandbox: &Sandbox, transcript: &PathBuf) -> Value {
    json!({"session_id": SESSION, "cwd": sandbox.repo(), "transcript_path": transcript})
}

#[test]
fn codex_tells_exit_codes_only_in_its_transcript_and_each_command_stands_once() {
    let (sandbox, transcript) = installed("codex");
    append(
        &transcript,
        &[json!({"type": "session_meta", "payload": {"id": SESSION, "cwd": sandbox.repo()}})],
    );
    let told = event(&sandbox, &transcript);
    hook(&sandbox, "codex", "start", &told);
    let mut tool = told.clone();
    tool["tool_name"] = json!("Bash");
    tool["tool_use_id"] = json!("c1");
    tool["tool_input"] = json!({"command": "make check"});
    tool["tool_response"] = json!("2 failed\n");
    hook(&sandbox, "codex", "tool", &tool);
    assert_eq!(log(&sandbox).len(), 0, "the hook does not know how it ended");
    append(&transcript, &codex_item("c1", "make check", 2, "2 failed\n"));
    append(
        &transcript,
        &codex_item("c2", "curl -H 'Authorization: Bearer abcdefghijklmnop1234567890'", 7, ""),
    );
    append(&transcript, &codex_item("c3", "endwell check", 1, ""));
    hook(&sandbox, "codex", "stop", &told);
    let records = log(&sandbox);
    assert_eq!(records.len(), 2, "{records:?}");
    assert_eq!(records[0]["command"], json!(["make check"]));
    assert_eq!(records[0]["exit_code"], 2);
    assert_eq!(records[0]["duration_ms"], 5);
    assert_eq!(records[0]["session_id"], SESSION);
    assert_eq!(records[1]["exit_code"], 7);
    assert!(!records[1].to_string().contains("abcdefghijklmnop1234567890"), "{records:?}");
    append(&transcript, &codex_item("c4", "make week", 0, "written\n"));
    hook(&sandbox, "codex", "stop", &told);
    hook(&sandbox, "codex", "stop", &told);
    hook(&sandbox, "codex", "end", &told);
    let ids: Vec<Value> = log(&sandbox).iter().map(|record| record["command_id"].clone()).collect();
    assert_eq!(ids, ["c1", "c2", "c4"]);
}

#[test]
fn a_command_without_an_end_is_recorded_as_unknown_when_the_session_ends() {
    let (sandbox, transcript) = installed("codex");
    let told = event(&sandbox, &transcript);
    hook(&sandbox, "codex", "start", &told);
    append(&transcript, &codex_item("c1", "sleep 999", 0, "")[..1]);
    hook(&sandbox, "codex", "stop", &told);
    assert_eq!(log(&sandbox).len(), 0, "its result may still come");
    hook(&sandbox, "codex", "end", &told);
    let records = log(&sandbox);
    assert_eq!((&records[0]["exit_code"], &records[0]["error"]), (&Value::Null, &json!("no-result")));
}

#[test]
fn what_a_hook_saw_wins_over_the_transcript_with_an_id_and_without() {
    let (sandbox, transcript) = installed("claude");
    let told = event(&sandbox, &transcript);
    hook(&sandbox, "claude", "start", &told);
    let mut tool = told.clone();
    tool["tool_name"] = json!("Bash");
    tool["tool_use_id"] = json!("t1");
    tool["tool_input"] = json!({"command": "make"});
    tool["error"] = json!("Exit code 2\nfrom the hook");
    hook(&sandbox, "claude", "tool", &tool);
    let lines = |id: &str, command: &str| {
        [
            json!({"type": "assistant", "sessionId": SESSION, "message": {"content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}}),
            json!({"type": "user", "sessionId": SESSION, "toolUseResult": {"stdout": "fine", "stderr": ""}, "message": {
                "content": [{"type": "tool_result", "tool_use_id": id, "content": "fine"}]}}),
        ]
    };
    append(&transcript, &lines("t1", "make"));
    append(&transcript, &lines("t2", "missed by the hook"));
    hook(&sandbox, "claude", "stop", &told);
    let records = log(&sandbox);
    let seen: Vec<(&Value, &Value)> =
        records.iter().map(|record| (&record["command"][0], &record["exit_code"])).collect();
    assert_eq!(seen, [(&json!("make"), &json!(2)), (&json!("missed by the hook"), &json!(0))]);

    let (sandbox, transcript) = installed("copilot");
    let told = json!({"sessionId": SESSION, "cwd": sandbox.repo(), "transcriptPath": transcript});
    hook(&sandbox, "copilot", "start", &told);
    let mut tool = told.clone();
    tool["toolName"] = json!("bash");
    tool["toolArgs"] = json!({"command": "make"});
    tool["toolResult"] = json!({"textResultForLlm": "x\n<shellId: 0 completed with exit code 3>"});
    hook(&sandbox, "copilot", "tool", &tool);
    for id in ["a", "b"] {
        append(
            &transcript,
            &[
                json!({"type": "tool.execution_start", "data": {"toolCallId": id, "toolName": "bash",
                "arguments": {"command": "make"}}}),
                json!({"type": "tool.execution_complete", "data": {"toolCallId": id, "success": true,
                "result": {"content": "x"}, "shellExecution": {"exitCode": 3}}}),
            ],
        );
    }
    hook(&sandbox, "copilot", "stop", &told);
    assert_eq!(log(&sandbox).len(), 2, "one of the two calls was seen by the hook: {:?}", log(&sandbox));
}

#[test]
fn what_ran_before_endwell_knew_the_session_is_not_its() {
    let (sandbox, transcript) = installed("codex");
    let mut old = codex_item("old", "make old", 1, "");
    for line in &mut old {
        line["timestamp"] = json!("2020-01-01T00:00:00Z");
    }
    append(&transcript, &old);
    let told = event(&sandbox, &transcript);
    hook(&sandbox, "codex", "start", &told);
    append(&transcript, &codex_item("new", "make new", 1, ""));
    hook(&sandbox, "codex", "stop", &told);
    let ids: Vec<Value> = log(&sandbox).iter().map(|record| record["command_id"].clone()).collect();
    assert_eq!(ids, ["new"]);
}

#[test]
fn a_transcript_that_is_missing_torn_foreign_or_in_the_repository_costs_nothing_but_a_line_in_the_log() {
    let (sandbox, transcript) = installed("codex");
    std::os::unix::fs::symlink("/dev/zero", sandbox.root().join("home/endless")).unwrap();
    let inside = sandbox.repo().join("transcript.jsonl");
    append(&inside, &codex_item("c1", "planted", 1, ""));
    for path in
        [sandbox.root().join("home/none"), sandbox.root().join("home/endless"), inside, "relative".into()]
    {
        hook(&sandbox, "codex", "stop", &event(&sandbox, &path));
        assert_eq!(log(&sandbox).len(), 0, "{}", path.display());
    }
    std::fs::write(&transcript, "\u{0}\u{1}{\"torn").unwrap();
    hook(&sandbox, "codex", "stop", &event(&sandbox, &transcript));
    let told = std::fs::read_to_string(sandbox.root().join("home/.local/state/endwell/endwell.log")).unwrap();
    assert!(told.contains("is no place for a transcript"), "{told}");
}

#[test]
fn a_death_in_the_middle_of_a_turn_loses_no_command() {
    let (sandbox, transcript) = installed("codex");
    let told = event(&sandbox, &transcript);
    hook(&sandbox, "codex", "start", &told);
    hook(&sandbox, "codex", "prompt", &told);
    append(&transcript, &codex_item("c1", "make check", 2, "2 failed\n"));
    // the owner is this test; its next session says that the one before is over
    let mut next = told.clone();
    next["session_id"] = json!("next");
    hook(&sandbox, "codex", "start", &next);
    assert_eq!(log(&sandbox)[0]["exit_code"], 2, "{:?}", log(&sandbox));
}
