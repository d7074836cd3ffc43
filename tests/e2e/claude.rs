//! Claude Code, headless: one prompt, then it exits, so its session is wrapping up from the start.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::kit::Turn;

/// A small project with tests that pass, endwell installed, and a remote.
fn project() -> Sandbox {
    let sandbox = Sandbox::with_repo().with_remote();
    sandbox.write(
        "package.json",
        "{\n  \"name\": \"calc\",\n  \"private\": true,\n  \"scripts\": { \"test\": \"node --test\" }\n}\n",
    );
    sandbox.write("calc.js", "exports.sum = (a, b) => a + b;\n");
    sandbox.write(
        "calc.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('./calc.js');\n\n\
         test('sums', () => assert.equal(calc.sum(1, 2), 3));\n",
    );
    sandbox.commit("Add a sum");
    let installed = sandbox.endwell(&["install", "--agent", "claude"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "the installation leaves the tree clean");
    sandbox
}

/// Reads a file with the client's own tool, which it wants before an edit, and edits it.
fn edit(sandbox: &Sandbox, file: &str, old: &str, new: &str) -> [Value; 2] {
    let path = sandbox.repo().join(file);
    [
        json!({"tool": "Read", "input": {"file_path": path}}),
        json!({"tool": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}),
    ]
}

/// The packets in the repository, by session.
fn packets(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let folder = sandbox.repo().join("outputs/handoff");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<(String, Value)> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("handoff.json").is_file())
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path().join("handoff.json")).unwrap();
            (entry.file_name().to_string_lossy().into_owned(), serde_json::from_str(&text).unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn a_dirty_turn_end_is_blocked_and_the_next_session_gets_the_packet() {
    let sandbox = project();
    let [read, change] =
        edit(&sandbox, "calc.js", "a + b;\n", "a + b;\nexports.product = (a, b) => a * b;\n");
    let first = Turn::headless(
        &sandbox,
        "claude",
        "first",
        &json!([
            read,
            change,
            {"text": "The product is there."},
            {"shell": "git add -A && git commit -qm 'Add a product'"},
            {"shell": "endwell verify"},
            {"shell": "endwell note next 'Write a test for the product of two numbers'"},
            {"text": "Committed, verified and noted."},
        ]),
    );
    assert_eq!(first.ran.code, Some(0), "{:?}", first.ran);
    // the block's reasons reach the model: what is dirty, and what else would refuse the packet
    first.assert_told(3, &["calc.js", "git commit", "endwell verify", "endwell note next"]);
    assert_eq!(first.requests.len(), 7, "blocked once, then let go: {:?}", first.ran);
    assert_eq!(
        sandbox.git("repo", &["status", "--porcelain"]),
        "",
        "nothing of endwell's own makes the tree dirty"
    );

    let written = packets(&sandbox);
    let [(session, packet)] = written.as_slice() else {
        panic!("one packet, not {written:?}: {:?}", first.ran)
    };
    assert_eq!(packet["session_id"], session.as_str());
    assert_eq!(packet["agent"], "claude");
    assert_eq!(packet["next_action"]["text"], "Write a test for the product of two numbers");
    assert_eq!(packet["changed_files"][0]["path"], "calc.js");
    assert_eq!(packet["head_commit"], sandbox.git("repo", &["rev-parse", "HEAD"]));
    for field in ["summary", "commands_run", "failed_attempts", "open_risks", "verdict_pointer"] {
        assert!(!packet[field].is_null(), "`{field}` is missing: {packet}");
    }
    assert!(
        sandbox
            .read(&format!("outputs/handoff/{session}/handoff.md"))
            .contains("Write a test for the product")
    );
    assert_eq!(sandbox.read("outputs/clean_state.json").trim(), "[]");

    let second = Turn::headless(&sandbox, "claude", "second", &json!([{"text": "I have read the packet."}]));
    assert_eq!(second.ran.code, Some(0), "{:?}", second.ran);
    second.assert_told(0, &["Write a test for the product of two numbers", session]);
    assert_eq!(second.requests.len(), 1, "a session that did nothing is not held back: {:?}", second.ran);
}

#[test]
fn a_session_that_ends_dirty_is_refused_and_the_next_one_is_told() {
    let sandbox = project();
    let [read, change] = edit(&sandbox, "calc.js", "a + b;\n", "a + b; // half done\n");
    let first = Turn::headless(
        &sandbox,
        "claude",
        "first",
        &json!([read, change, {"text": "I stop here."}, {"text": "I still stop here."}, {"text": "Really."}, {"text": "Enough."}]),
    );
    assert_eq!(first.ran.code, Some(0), "{:?}", first.ran);
    first.assert_told(3, &["calc.js"]);
    assert_eq!(first.requests.len(), 4, "the same reasons block once: {:?}", first.ran);
    assert!(packets(&sandbox).is_empty(), "no packet from a dirty workbench");

    let second = Turn::headless(&sandbox, "claude", "second", &json!([{"text": "I see what was left."}]));
    second.assert_told(0, &["calc.js"]);
}

#[test]
fn a_push_by_the_agent_from_a_dirty_workbench_is_blocked() {
    let sandbox = project();
    let before = sandbox.git("up.git", &["rev-parse", "main"]);
    let [read, change] = edit(&sandbox, "calc.js", "a + b;\n", "a + b;\nexports.zero = 0;\n");
    let turn = Turn::headless(
        &sandbox,
        "claude",
        "push",
        &json!([
            read,
            change,
            {"shell": "git push -q origin main"},
            {"shell": "git add -A && git commit -qm 'Add a zero' && endwell verify && endwell note next 'Use the zero'"},
            {"shell": "git push -q origin main"},
            {"text": "Pushed."},
        ]),
    );
    assert_eq!(turn.ran.code, Some(0), "{:?}", turn.ran);
    turn.assert_told(3, &["calc.js"]);
    assert_eq!(
        sandbox.git("up.git", &["rev-parse", "main"]),
        sandbox.git("repo", &["rev-parse", "HEAD"]),
        "the clean push lands"
    );
    assert_ne!(sandbox.git("up.git", &["rev-parse", "main"]), before);
    let subjects = sandbox.git("up.git", &["log", "--format=%s", "main"]);
    assert!(subjects.starts_with("Add a zero\n"), "{subjects}");
}
