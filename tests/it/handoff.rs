//! `endwell handoff`: refused with every reason, written once, the same bytes again, one active packet.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

/// A repository with endwell's outputs excluded, as after an installation.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".git/info/exclude", "/outputs/\n/agent_state.json\n/feedback_record.jsonl*\n");
    sandbox
}

/// A green verdict on HEAD's tree, as `endwell verify` leaves it.
fn verdict(sandbox: &Sandbox, task: &str) {
    let report = json!({
        "schema_version": 1, "task_id": task, "passed": true, "strict": false, "findings": [],
        "head_commit": sandbox.git("repo", &["rev-parse", "HEAD"]),
        "tree": sandbox.git("repo", &["rev-parse", "HEAD^{tree}"]),
        "tests": {"command": ["make", "test"], "exit_code": 0, "duration_ms": 12, "passed": 3, "failing": []},
    });
    sandbox.write(&format!("outputs/verification/{task}.json"), &report.to_string());
}

pub fn ready(sandbox: &Sandbox) {
    verdict(sandbox, &sandbox.git("repo", &["branch", "--show-current"]));
    assert_eq!(sandbox.endwell(&["note", "next", "Run `make test`"]).code, Some(0));
}

fn handoff(sandbox: &Sandbox, session: &str) -> Ran {
    let ran = sandbox.endwell(&["handoff", "--session", session, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn kept(sandbox: &Sandbox, session: &str) -> PathBuf {
    sandbox.repo().join(".git/endwell/packets").join(session)
}

fn packet(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_slice(&std::fs::read(kept(sandbox, session).join("handoff.json")).unwrap()).unwrap()
}

#[test]
fn every_reason_is_told_at_once() {
    let sandbox = sandbox();
    sandbox.write("loose.txt", "x\n");
    let ran = sandbox.endwell(&["handoff"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("3 reasons stand against it"), "{}", ran.stderr);
    for part in ["loose.txt", "a handoff without a verdict is a wish", "endwell verify", "endwell note next"]
    {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(!sandbox.repo().join("outputs/handoff").exists());
    assert_ne!(sandbox.read("outputs/clean_state.json").trim(), "[]");
}

#[test]
fn an_old_verdict_is_no_verdict() {
    let sandbox = sandbox();
    ready(&sandbox);
    sandbox.write("new.txt", "x\n");
    sandbox.commit("more");
    let ran = sandbox.endwell(&["handoff"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("is of another tree"), "{}", ran.stderr);
    let report = json!({"passed": true, "head_commit": sandbox.git("repo", &["rev-parse", "HEAD"])});
    sandbox.git("repo", &["config", "core.excludesFile", "../ignore"]);
    std::fs::write(sandbox.root().join("ignore"), "/verification_report.json\n").unwrap();
    sandbox.write("verification_report.json", &report.to_string());
    let ran = sandbox.endwell(&["handoff"]);
    assert_eq!(ran.code, Some(0), "another gate's report at the top works: {ran:?}");
}

#[test]
fn a_packet_is_written_once_and_carries_all_fields() {
    let sandbox = sandbox();
    ready(&sandbox);
    let log = [
        json!({"command": ["pytest", "-q"], "exit_code": 1, "stdout_tail": "E   assert 3 == 4", "command_id": "c1"}),
        json!({"command": ["pytest", "-q"], "exit_code": 0, "command_id": "c2"}),
        json!({"command": "curl -H 'Authorization: Bearer abcdefghijklmnop1234'", "exit_code": 0}),
    ];
    sandbox.write("feedback_record.jsonl", &(log.map(|line| line.to_string()).join("\n") + "\n"));
    let ran = handoff(&sandbox, "one");
    let value = ran.json();
    for field in [
        "summary",
        "changed_files",
        "commands_run",
        "failed_attempts",
        "open_risks",
        "next_action",
        "verdict_pointer",
    ] {
        assert!(!value[field].is_null(), "{field}");
    }
    assert_eq!(value["failed_attempts"][0]["resolved_by"], "c2");
    assert_eq!(value["failed_attempts"][0]["why"], "E   assert 3 == 4");
    assert!(!ran.stdout.contains("abcdefghijklmnop1234"), "{}", ran.stdout);
    let times = |sandbox: &Sandbox| {
        let mut all = Vec::new();
        for folder in [kept(sandbox, "one"), sandbox.repo().join("outputs/handoff/one")] {
            for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
                all.push((file.path(), file.metadata().unwrap().modified().unwrap()));
            }
        }
        all.sort();
        all
    };
    let before = times(&sandbox);
    assert_eq!(before.len(), 5);
    let again = handoff(&sandbox, "one");
    assert_eq!(again.stdout, ran.stdout);
    assert!(again.stderr.contains("Unchanged"), "{}", again.stderr);
    assert_eq!(times(&sandbox), before, "no file is written twice");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "");
}

#[test]
fn the_newer_packet_supersedes_and_the_pointer_is_the_truth() {
    let sandbox = sandbox();
    ready(&sandbox);
    handoff(&sandbox, "one");
    let two = handoff(&sandbox, "two").json();
    assert_eq!(two["supersedes"], json!(["one"]));
    assert_eq!(
        (packet(&sandbox, "one")["status"].as_str(), two["status"].as_str()),
        (Some("superseded"), Some("active"))
    );
    let page = std::fs::read_to_string(kept(&sandbox, "one").join("handoff.md")).unwrap();
    assert!(page.contains("Superseded"), "{page}");
    // a writer that died before it marked the older one
    let path = kept(&sandbox, "one").join("receipt.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("superseded", "active");
    std::fs::write(&path, text).unwrap();
    handoff(&sandbox, "two");
    assert_eq!(packet(&sandbox, "one")["status"], "superseded");
    // the superseded session hands over again without news: nothing changes
    assert_eq!(handoff(&sandbox, "one").json()["status"], "superseded");
    assert_eq!(packet(&sandbox, "two")["status"], "active");
}

#[test]
fn many_processes_leave_one_active_packet() {
    let sandbox = sandbox();
    ready(&sandbox);
    let count = std::env::var("WRITERS").ok().and_then(|count| count.parse().ok()).unwrap_or(16);
    std::thread::scope(|scope| {
        for n in 0..count {
            let sandbox = &sandbox;
            scope.spawn(move || handoff(sandbox, &format!("s{n}")));
        }
    });
    let statuses: Vec<Value> =
        (0..count).map(|n| packet(&sandbox, &format!("s{n}"))["status"].clone()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == "active").count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == "superseded").count(), count - 1);
}

#[test]
fn outputs_behind_a_link_are_refused() {
    let sandbox = sandbox();
    ready(&sandbox);
    let outside = sandbox.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.repo().join("outputs/handoff")).unwrap();
    let ran = sandbox.endwell(&["handoff", "--session", "one"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// Every file of a packet that is there can be read as a whole.
fn is_whole(folder: &std::path::Path) -> bool {
    let whole = |name: &str| match std::fs::read(folder.join(name)) {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes).is_ok(),
        Err(_) => true,
    };
    let page = std::fs::read_to_string(folder.join("handoff.md")).ok();
    whole("handoff.json") && whole("receipt.json") && page.is_none_or(|page| page.contains("## Receipts"))
}

#[test]
fn killed_at_any_point_it_leaves_the_former_packet_or_the_new_one() {
    let sandbox = sandbox();
    ready(&sandbox);
    handoff(&sandbox, "one");
    let tries = std::env::var("KILL_TRIES").ok().and_then(|tries| tries.parse().ok()).unwrap_or(40);
    let mut killed = 0;
    for n in 0..tries {
        let state = json!({"schema_version": 1, "assumptions": [], "next_action": format!("Step {n}")});
        sandbox.write("agent_state.json", &state.to_string());
        let session = if n % 2 == 0 { "one" } else { "two" };
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
        command.args(["handoff", "--session", session]).stdout(std::process::Stdio::null());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(1_500 * u64::try_from(n % 40).unwrap()));
        child.kill().ok();
        killed += usize::from(child.wait().unwrap().code().is_none());
        for session in ["one", "two"] {
            assert!(is_whole(&kept(&sandbox, session)), "try {n}, {session}");
            assert!(is_whole(&sandbox.repo().join("outputs/handoff").join(session)), "try {n}, {session}");
        }
    }
    assert!(killed > 0, "no try was killed");
    handoff(&sandbox, "two");
    handoff(&sandbox, "one");
    let active = ["one", "two"].iter().filter(|id| packet(&sandbox, id)["status"] == "active").count();
    assert_eq!(active, 1);
    assert_eq!(sandbox.endwell(&["resume"]).code, Some(0));
}
