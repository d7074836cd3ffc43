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

#[test]
fn a_leftover_of_a_killed_writer_is_no_pointer_and_is_swept() {
    let sandbox = sandbox();
    ready(&sandbox);
    handoff(&sandbox, "one");
    let active = sandbox.repo().join(".git/endwell/active");
    let pointer = std::fs::read_dir(&active).unwrap().next().unwrap().unwrap().path();
    let old = std::fs::read(&pointer).unwrap();
    handoff(&sandbox, "two");
    let places = [active, kept(&sandbox, "two"), sandbox.repo().join("outputs/handoff/two")];
    let leftovers: Vec<PathBuf> = places.iter().map(|place| place.join(".endwell-Ab12.tmp")).collect();
    for leftover in &leftovers {
        std::fs::write(leftover, &old).unwrap();
    }
    assert_eq!(sandbox.endwell(&["resume", "--json"]).json()["session_id"], "two");
    assert!(leftovers.iter().all(|path| path.exists()), "one that may have a writer stays");
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for leftover in &leftovers {
        std::fs::File::options().write(true).open(leftover).unwrap().set_modified(hour_ago).unwrap();
    }
    assert_eq!(sandbox.endwell(&["log"]).code, Some(0));
    assert!(leftovers.iter().all(|path| !path.exists()));
}

#[test]
fn a_second_branch_on_the_same_commit_keeps_both_packets() {
    let sandbox = sandbox();
    let write = || {
        ready(&sandbox);
        let ran = sandbox.endwell(&["handoff", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()["session_id"].as_str().unwrap().to_owned()
    };
    let first = write();
    sandbox.git("repo", &["switch", "-qc", "other"]);
    let second = write();
    assert_eq!(second, format!("{first}-2"));
    assert_eq!(write(), second, "the same packet has the same id");
    assert_ne!(packet(&sandbox, &first)["branch"], packet(&sandbox, &second)["branch"]);
    // neither branch has a commit of its own, so neither is over
    assert_eq!(sandbox.endwell(&["resume", "--json"]).json()["session_id"], second.as_str());
    sandbox.git("repo", &["switch", "-q", "-"]);
    assert_eq!(sandbox.endwell(&["resume", "--json"]).json()["session_id"], first.as_str());
    assert_eq!(packet(&sandbox, &second)["status"], "active");
}

#[test]
fn a_branch_that_was_merged_is_over() {
    let sandbox = sandbox();
    let main = sandbox.git("repo", &["branch", "--show-current"]);
    sandbox.git("repo", &["switch", "-qc", "topic"]);
    sandbox.write("new.txt", "x\n");
    sandbox.commit("more");
    ready(&sandbox);
    handoff(&sandbox, "one");
    sandbox.git("repo", &["switch", "-q", &main]);
    assert_eq!(sandbox.endwell(&["log"]).code, Some(0));
    assert_eq!(packet(&sandbox, "one")["status"], "active");
    sandbox.git("repo", &["merge", "-q", "--ff-only", "topic"]);
    assert_eq!(sandbox.endwell(&["log"]).code, Some(0));
    assert_eq!(packet(&sandbox, "one")["status"], "archived");
}

#[test]
fn a_write_that_was_cut_off_is_finished_by_the_next_command() {
    let sandbox = sandbox();
    ready(&sandbox);
    handoff(&sandbox, "one");
    handoff(&sandbox, "two");
    // without a receipt
    std::fs::remove_file(kept(&sandbox, "two").join("receipt.json")).unwrap();
    let listed = sandbox.endwell(&["log", "--json"]).stdout;
    assert!(listed.contains("\"two\""), "{listed}");
    let told = sandbox.endwell(&["resume"]);
    assert!(told.stderr.contains("endwell trust two"), "nobody knows who wrote it: {told:?}");
    handoff(&sandbox, "two");
    // with the packet, and what was meant, but neither receipt nor pointer
    let pointers = sandbox.repo().join(".git/endwell/active");
    let pointer = std::fs::read_dir(&pointers).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&pointer).unwrap();
    std::fs::write(&pointer, text.replace("two", "one")).unwrap();
    let folder = kept(&sandbox, "two");
    std::fs::rename(folder.join("receipt.json"), folder.join("pending.json")).unwrap();
    assert_eq!(sandbox.endwell(&["resume", "--json"]).json()["session_id"], "two");
    assert!(!folder.join("pending.json").exists());
    // two that both say that they are active
    let path = kept(&sandbox, "one").join("receipt.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("superseded", "active");
    std::fs::write(&path, text).unwrap();
    assert_eq!(sandbox.endwell(&["log"]).code, Some(0));
    let statuses = ["one", "two"].map(|id| packet(&sandbox, id)["status"].clone());
    assert_eq!(statuses, [json!("superseded"), json!("active")]);
}

#[test]
fn a_review_that_cannot_be_read_is_told_and_is_no_review() {
    let sandbox = sandbox();
    ready(&sandbox);
    let branch = sandbox.git("repo", &["branch", "--show-current"]);
    let place = format!("outputs/review/{branch}.json");
    let broken = [
        "",
        "{\"total\": 8",
        "[1]",
        "{\"score\": 3}",
        "{\"total\": \"8\", \"verdict\": \"pass\"}",
        "{\"total\": 8, \"verdict\": \"superb\"}",
        "{\"total\": 80, \"verdict\": \"pass\"}",
    ];
    for text in broken {
        sandbox.write(&place, text);
        let risks = handoff(&sandbox, "one").json()["open_risks"].to_string();
        assert!(risks.contains("is there but can't be read: "), "{text}: {risks}");
    }
    sandbox.write(&place, "{\"total\": 9, \"verdict\": \"hard_fail\"}");
    let risks = handoff(&sandbox, "one").json()["open_risks"].to_string();
    assert!(risks.contains("hard fail"), "{risks}");
    sandbox.write("endwell.toml", "[review]\nrequired = true\n");
    sandbox.commit("ask for a review");
    ready(&sandbox);
    for (text, why) in [
        ("{\"total\": 9, \"verdict\": \"hard_fail\"}", "is a hard fail"),
        ("", "is there but can't be read: EOF"),
    ] {
        sandbox.write(&place, text);
        let ran = sandbox.endwell(&["handoff"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    sandbox.write(&place, "{\"total\": 9, \"verdict\": \"pass\"}");
    assert_eq!(sandbox.endwell(&["handoff"]).code, Some(0));
}

#[test]
fn another_gates_verdict_is_read_as_far_as_it_goes() {
    let sandbox = sandbox();
    ready(&sandbox);
    let branch = sandbox.git("repo", &["branch", "--show-current"]);
    let report = json!({
        "passed": false, "strict": "no", "schema_version": "1.0",
        "head_commit": sandbox.git("repo", &["rev-parse", "HEAD"]),
        "findings": [
            {"severity": "error", "message": "lint is red", "code": 7},
            {"severity": "odd", "detail": "something"},
            "only words",
        ],
        "tests": {"command": "make 'all tests'", "passed": "3", "exit_code": 0},
    });
    sandbox.write(&format!("outputs/verification/{branch}.json"), &report.to_string());
    let risks = handoff(&sandbox, "one").json()["open_risks"].clone();
    let severities: Vec<(&str, &str)> = risks
        .as_array()
        .unwrap()
        .iter()
        .map(|risk| (risk["severity"].as_str().unwrap(), risk["detail"].as_str().unwrap()))
        .collect();
    for expected in
        [("block", "7: lint is red"), ("warn", "finding: something"), ("warn", "finding: only words")]
    {
        assert!(severities.contains(&expected), "{expected:?}: {severities:?}");
    }
}

#[test]
fn a_secret_in_a_tests_name_is_nowhere_in_the_packet() {
    let sandbox = sandbox();
    ready(&sandbox);
    let branch = sandbox.git("repo", &["branch", "--show-current"]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let test = format!("test_login[{secret}]");
    let report = json!({
        "passed": false, "head_commit": sandbox.git("repo", &["rev-parse", "HEAD"]),
        "findings": [{"severity": "warn", "code": secret, "detail": secret}],
        "tests": {"command": ["x", secret], "exit_code": 1, "failing": [test]},
    });
    sandbox.write(&format!("outputs/verification/{branch}.json"), &report.to_string());
    let state = json!({
        "schema_version": 1, "assumptions": [], "next_action": format!("Mend {secret}"),
        "open_risks": [{"severity": "warn", "detail": "red", "test": format!("other[{secret}]")}],
    });
    sandbox.write("agent_state.json", &state.to_string());
    handoff(&sandbox, "one");
    for name in ["handoff.json", "handoff.md"] {
        let text = std::fs::read_to_string(kept(&sandbox, "one").join(name)).unwrap();
        assert!(text.contains("[redacted:github]") && !text.contains("a1B2c3"), "{text}");
    }
}
