//! An agent whose sandbox may not write git's folder: it is never asked to commit, and what the end does with its work is
//! the project's choice.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};
use crate::transcripts::{append, hook};

const SESSION: &str = "00000000-0000-4000-8000-00000000000c";

/// A repository with Codex's hooks, and the rollout file of a session that runs one prompt under a sandbox policy.
fn installed(settings: &str, policy: &Value) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::with_repo();
    if !settings.is_empty() {
        sandbox.write("endwell.toml", settings);
        sandbox.commit("Settings");
    }
    assert_eq!(sandbox.endwell(&["install", "--agent", "codex"]).code, Some(0));
    let rollout = sandbox.root().join("home/rollout.jsonl");
    append(
        &rollout,
        &[
            json!({"type": "session_meta", "payload": {"id": SESSION, "source": "exec"}}),
            json!({"type": "turn_context", "payload": {"cwd": sandbox.repo(), "sandbox_policy": policy}}),
        ],
    );
    (sandbox, rollout)
}

fn at(sandbox: &Sandbox, rollout: &Path, moment: &str) -> Ran {
    let told = json!({"session_id": SESSION, "cwd": sandbox.repo(), "transcript_path": rollout,
        "permission_mode": "default", "stop_hook_active": false});
    hook(sandbox, "codex", moment, &told)
}

fn reason(ran: &Ran) -> Option<String> {
    (!ran.stdout.is_empty()).then(|| ran.json()["reason"].as_str().unwrap().to_owned())
}

fn journal(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(&format!(".git/endwell/sessions/{SESSION}.json"))).unwrap()
}

#[test]
fn in_the_sandbox_the_gate_asks_for_what_the_agent_can_do_and_for_no_commit() {
    let (sandbox, rollout) = installed("", &json!({"type": "workspace-write", "writable_roots": []}));
    at(&sandbox, &rollout, "start");
    sandbox.write("a.py", "<<<<<<< ours\nx = 1\n=======\n>>>>>>> theirs\n");
    let asked = reason(&at(&sandbox, &rollout, "stop")).unwrap();
    assert!(asked.contains("conflict"), "{asked}");
    assert!(asked.contains("endwell note next"), "{asked}");
    for beyond in ["git add", "git commit", "not tracked", "endwell park"] {
        assert!(!asked.contains(beyond), "{beyond}: {asked}");
    }
    sandbox.write("a.py", "x = 1\n");
    sandbox.endwell(&["note", "next", "Commit a.py"]);
    assert_eq!(reason(&at(&sandbox, &rollout, "stop")), None, "nothing is left that it could mend");
    at(&sandbox, &rollout, "end");
    let session = journal(&sandbox);
    assert!(session["refusal"].to_string().contains("`a.py` is not tracked"), "{session}");
    assert!(sandbox.repo().join("a.py").exists());
}

#[test]
fn out_of_the_sandbox_it_is_asked_to_commit() {
    for policy in [
        json!({"type": "danger-full-access"}),
        json!({"type": "workspace-write", "writable_roots": ["/somewhere/.git"]}),
        json!({"type": "a policy of tomorrow"}),
    ] {
        let (sandbox, rollout) = installed("", &policy);
        at(&sandbox, &rollout, "start");
        sandbox.write("a.py", "x = 1\n");
        let asked = reason(&at(&sandbox, &rollout, "stop")).unwrap();
        assert!(asked.contains("git add -- a.py"), "{policy}: {asked}");
    }
}

#[test]
fn where_no_client_tells_the_setting_does() {
    let (sandbox, rollout) =
        installed("[gate]\ncan_commit = false\n", &json!({"type": "a policy of tomorrow"}));
    at(&sandbox, &rollout, "start");
    sandbox.write("a.py", "x = 1\n");
    let asked = reason(&at(&sandbox, &rollout, "stop")).unwrap();
    assert!(!asked.contains("git add"), "{asked}");
}

#[test]
fn with_park_the_end_puts_the_work_aside_and_the_packet_says_where_it_is() {
    let (sandbox, rollout) =
        installed("[gate]\ncannot_commit = \"park\"\n", &json!({"type": "workspace-write"}));
    sandbox.endwell(&["verify"]);
    at(&sandbox, &rollout, "start");
    sandbox.endwell(&["note", "next", "Commit a.py"]);
    sandbox.write("a.py", "x = 1\n");
    at(&sandbox, &rollout, "stop");
    assert!(sandbox.repo().join("a.py").exists(), "a turn's end puts nothing aside");
    at(&sandbox, &rollout, "end");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "");
    let packet: Value =
        serde_json::from_str(&sandbox.read(&format!("outputs/handoff/{SESSION}/handoff.json"))).unwrap();
    assert_eq!(packet["prerequisites"][0]["kind"], "parked", "{packet}");
    assert_eq!(journal(&sandbox)["refusal"], Value::Null);
    assert_eq!(sandbox.endwell(&["unpark"]).code, Some(0));
    assert_eq!(sandbox.read("a.py"), "x = 1\n");
}

#[test]
fn what_a_person_left_before_the_session_is_not_put_aside() {
    let (sandbox, rollout) =
        installed("[gate]\ncannot_commit = \"park\"\n", &json!({"type": "workspace-write"}));
    sandbox.write("mine.txt", "a person's\n");
    at(&sandbox, &rollout, "start");
    sandbox.write("mine.txt", "a person's, and the agent's\n");
    sandbox.write("a.py", "x = 1\n");
    at(&sandbox, &rollout, "end");
    assert!(sandbox.repo().join("mine.txt").exists() && sandbox.repo().join("a.py").exists());
    assert!(journal(&sandbox)["refusal"].to_string().contains("`a.py` is not tracked"));
}
