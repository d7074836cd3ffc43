//! `endwell run`: the command's own output and exit code, and a record of both.

use serde_json::Value;

use crate::common::{Ran, Sandbox};

fn records(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.read("feedback_record.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(sandbox: &Sandbox, script: &str) -> Ran {
    sandbox.endwell(&["run", "--", "sh", "-c", script])
}

#[test]
fn output_and_exit_code_pass_through_and_are_recorded() {
    let sandbox = Sandbox::with_repo();
    let ran = run(&sandbox, "echo out; echo err >&2; exit 7");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(7), "out\n", "err\n"));
    let record = &records(&sandbox)[0];
    assert_eq!(record["exit_code"], 7);
    assert_eq!((record["stdout_tail"].as_str(), record["stderr_tail"].as_str()), (Some("out"), Some("err")));
    assert_eq!(record["command"], serde_json::json!(["sh", "-c", "echo out; echo err >&2; exit 7"]));
    assert_eq!(record["cwd"], ".");
    assert!(
        record["command_id"].is_string()
            && record["started_at"].is_string()
            && record["duration_ms"].is_u64()
    );
}

#[test]
fn a_failure_keeps_twenty_lines_and_a_success_three() {
    let sandbox = Sandbox::with_repo();
    run(&sandbox, "seq 100");
    run(&sandbox, "seq 100; exit 1");
    let lines: Vec<usize> = records(&sandbox)
        .iter()
        .map(|record| record["stdout_tail"].as_str().unwrap().lines().count())
        .collect();
    assert_eq!(lines, [3, 20]);
    assert!(records(&sandbox)[0]["truncations"]["stdout"].as_u64().unwrap() > 0);
}

#[test]
fn what_can_not_be_started_is_told_and_recorded() {
    let sandbox = Sandbox::with_repo();
    let ran = sandbox.endwell(&["run", "--", "no-such-program"]);
    assert_eq!(ran.code, Some(127));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `no-such-program` was not found
    hint: Check its spelling and PATH; shell syntax needs a shell: `endwell run -- sh -c '…'`.
    ");
    let ran = sandbox.endwell(&["run", "--", "./README.md"]);
    assert_eq!(ran.code, Some(126), "{ran:?}");
    let errors: Vec<Value> = records(&sandbox).iter().map(|record| record["error"].clone()).collect();
    assert_eq!(errors, ["not-found", "not-executable"]);
}

#[test]
fn a_signal_and_git_variables() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(run(&sandbox, "kill -9 $$").code, Some(137));
    assert_eq!(records(&sandbox)[0]["error"], "signal");
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    let ran =
        Ran::of(command.args(["run", "--", "sh", "-c", "echo ${GIT_DIR-none}"]).env("GIT_DIR", "/nowhere"));
    assert_eq!(ran.stdout, "none\n", "{ran:?}");
}

#[test]
fn secrets_are_redacted_in_command_and_output() {
    let sandbox = Sandbox::with_repo();
    let ran = run(&sandbox, "echo token=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    assert!(ran.stdout.contains("ghp_a1B2"), "the person sees the command's own output");
    let log = sandbox.read("feedback_record.jsonl");
    assert!(!log.contains("ghp_a1B2") && log.contains("[redacted:github]"), "{log}");
}

#[test]
fn endwells_own_commands_are_not_recorded_and_parents_are() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["run", "--", "endwell", "--version"]).code, Some(0));
    assert!(!sandbox.repo().join("feedback_record.jsonl").exists());
    sandbox.endwell(&["run", "--note", "again", "--parent", "c1", "--", "true"]);
    let record = &records(&sandbox)[0];
    assert_eq!(
        (record["agent_note"].as_str(), record["parent_command_id"].as_str()),
        (Some("again"), Some("c1"))
    );
}

#[test]
fn outside_of_a_repository_the_command_runs_all_the_same() {
    let sandbox = Sandbox::new();
    let ran = sandbox.command(env!("CARGO_BIN_EXE_endwell"), ".", &["run", "--", "echo", "hello"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"));
    assert!(ran.stderr.contains("the command was not recorded"), "{}", ran.stderr);
}

#[test]
fn an_endless_command_ends_when_nobody_reads_it_any_more() {
    let sandbox = Sandbox::with_repo();
    let line = format!("'{}' run -- yes | head -n 1", env!("CARGO_BIN_EXE_endwell"));
    let mut command = sandbox.prepare("timeout", "repo");
    let ran = Ran::of(command.args(["20", "sh", "-c", &line]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout, "y\n");
}

#[test]
fn another_tools_file_under_the_logs_name_is_left_alone() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("feedback_record.jsonl", "not ours\n");
    let ran = sandbox.endwell(&["run", "--", "true"]);
    assert_eq!(ran.code, Some(0), "the command's own code: {ran:?}");
    assert!(ran.stderr.contains("another tool's file"), "{ran:?}");
    assert_eq!(sandbox.read("feedback_record.jsonl"), "not ours\n");
}
