//! Commands in a sandbox that may not write the git folder: what they say, what they leave for the next hook, and that
//! nobody believes a test run from there.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Ran, Sandbox};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// Runs endwell with the git folder on a read-only mount; root writes through mode bits.
fn confined(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let script = "mount --bind .git .git && mount -o remount,ro,bind .git && exec \"$0\" \"$@\"";
    let mut command = sandbox.prepare("unshare", "repo");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command.env("CLAUDE_CODE_SESSION_ID", SESSION).arg(env!("CARGO_BIN_EXE_endwell")).args(args);
    Ran::of(&mut command)
}

/// Whether this machine lets us make such a mount; one that does not skips these tests by name.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn can_confine(test: &str) -> bool {
    let sandbox = Sandbox::with_repo();
    let can = confined(&sandbox, &["--version"]).code == Some(0);
    if !can {
        eprintln!("skipped: {test}: no read-only mount can be made here");
    }
    can
}

fn hook(sandbox: &Sandbox, moment: &str) -> Ran {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    command.args(["hook", moment, "--client", "claude"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = serde_json::json!({"session_id": SESSION, "cwd": sandbox.repo(), "stop_hook_active": false});
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// In an agent's session, with a test command that passes.
fn in_session() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[tests]\ncommand = \"true\"\n");
    sandbox.commit("settings");
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    hook(&sandbox, "start");
    sandbox
}

fn queued(sandbox: &Sandbox) -> Vec<String> {
    let folder = sandbox.repo().join("outputs/.endwell-queue");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "json"));
    names.sort();
    names
}

fn missing(sandbox: &Sandbox) -> (String, String) {
    let json = sandbox.endwell(&["check", "--only", "tests", "--json"]).json();
    let issue = &json["issues"][0];
    assert_eq!(issue["code"], "tests-missing", "{json}");
    (issue["message"].as_str().unwrap().to_owned(), issue["hint"].as_str().unwrap().to_owned())
}

#[test]
fn a_test_run_in_a_sandbox_is_told_and_never_believed() {
    if !can_confine("a_test_run_in_a_sandbox_is_told_and_never_believed") {
        return;
    }
    let sandbox = in_session();
    let ran = confined(&sandbox, &["verify"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("Verified: green, `true`, not recorded for tree"), "{ran:?}");
    assert!(ran.stderr.contains("warn not-recorded: The git folder can't be written here"), "{ran:?}");
    assert!(ran.stderr.contains("counts as missing until it is run outside of this sandbox"), "{ran:?}");
    assert_eq!(queued(&sandbox).len(), 1);
    confined(&sandbox, &["verify"]);
    assert_eq!(queued(&sandbox).len(), 1, "the same run waits once");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "the queue is no dirt");
    let (message, hint) = missing(&sandbox);
    assert!(message.contains("says of itself that it was green, which counts as missing"), "{message}");
    assert!(hint.contains("outside of the sandbox"), "{hint}");
    hook(&sandbox, "prompt");
    assert_eq!(queued(&sandbox), Vec::<String>::new());
    assert_eq!(missing(&sandbox), (message, hint), "taken over, and told as before");
    sandbox.write("new.txt", "x\n");
    assert!(!missing(&sandbox).0.contains("sandbox"), "of other content it says nothing");
    std::fs::remove_file(sandbox.repo().join("new.txt")).unwrap();
    let ran = sandbox.endwell(&["verify"]);
    assert!(ran.stderr.contains("running `true`") && ran.stdout.contains("now recorded"), "{ran:?}");
}

#[test]
fn a_forged_run_makes_nothing_green() {
    let sandbox = in_session();
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(0));
    let store = sandbox.repo().join(".git/endwell/evidence");
    let mut records = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let record = records.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let evidence: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    std::fs::remove_file(record).unwrap();
    let queued = serde_json::json!({"schema_version": 1, "kind": "evidence", "session_id": SESSION,
        "queued_at": "2026-01-01T00:00:00Z", "evidence": evidence});
    sandbox.write("outputs/.endwell-queue/evidence-x.json", &queued.to_string());
    hook(&sandbox, "prompt");
    assert!(missing(&sandbox).0.contains("counts as missing"));
    let log = sandbox.endwell(&["verify"]);
    assert!(log.stderr.contains("running `true`"), "{log:?}");
}

#[test]
fn wrapping_up_in_a_sandbox_holds_from_the_next_hook_on() {
    if !can_confine("wrapping_up_in_a_sandbox_holds_from_the_next_hook_on") {
        return;
    }
    let sandbox = in_session();
    sandbox.write("a.txt", "x\n");
    assert_eq!(hook(&sandbox, "stop").stdout, "");
    let ran = confined(&sandbox, &["wrap-up"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    insta::assert_snapshot!(ran.stderr, @r#"
    The git folder can't be written here: the next hook marks session `00000000-0000-4000-8000-000000000001` as wrapping up.
    hint: `endwell check` says what stands against its packet now.
    "#);
    assert!(hook(&sandbox, "stop").stdout.contains("`a.txt` is not tracked"));
    assert_eq!(queued(&sandbox), Vec::<String>::new());
}

#[test]
fn a_handoff_in_a_sandbox_is_judged_there_and_written_by_the_next_hook() {
    if !can_confine("a_handoff_in_a_sandbox_is_judged_there_and_written_by_the_next_hook") {
        return;
    }
    let sandbox = in_session();
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(0));
    let ran = confined(&sandbox, &["handoff"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("there is no next action"), "{ran:?}");
    assert_eq!(queued(&sandbox), Vec::<String>::new());
    assert_eq!(confined(&sandbox, &["note", "next", "Write the parser"]).code, Some(0));
    assert_eq!(confined(&sandbox, &["run", "--", "true"]).code, Some(0));
    let ran = confined(&sandbox, &["handoff"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("the next hook writes it"), "{ran:?}");
    assert_eq!(queued(&sandbox).len(), 1);
    hook(&sandbox, "prompt");
    assert!(sandbox.read(&format!("outputs/handoff/{SESSION}/handoff.md")).contains("Write the parser"));
    let ran = confined(&sandbox, &["resume"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    hook(&sandbox, "prompt");
    let receipt = sandbox.read(&format!(".git/endwell/packets/{SESSION}/receipt.json"));
    assert!(receipt.contains("\"loaded\": [\n"), "{receipt}");
}

#[test]
fn what_is_no_record_is_removed_and_harms_nothing() {
    let sandbox = in_session();
    let outside = sandbox.root().join("outside.json");
    std::fs::write(&outside, "{}").unwrap();
    for (name, text) in [
        ("torn.json", "{\"schema_version\": 1, \"kin"),
        ("newer.json", "{\"schema_version\": 9}"),
        ("odd.json", r#"{"schema_version": 1, "kind": "wrap-up", "session_id": "../../x", "queued_at": ""}"#),
        (
            "gone.json",
            r#"{"schema_version": 1, "kind": "loaded", "session_id": "a", "queued_at": "", "packet": "../x"}"#,
        ),
    ] {
        sandbox.write(&format!("outputs/.endwell-queue/{name}"), text);
    }
    let folder = sandbox.repo().join("outputs/.endwell-queue");
    std::os::unix::fs::symlink(&outside, folder.join("link.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.json")).unwrap();
    hook(&sandbox, "prompt");
    assert_eq!(queued(&sandbox), Vec::<String>::new());
    assert!(outside.exists());
    std::fs::remove_dir_all(&folder).unwrap();
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("theirs.json"), "{}").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    hook(&sandbox, "prompt");
    assert!(elsewhere.join("theirs.json").exists(), "a folder beyond a link is not ours to empty");
}
