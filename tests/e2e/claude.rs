//! Claude Code, headless: one prompt, then it exits, so its session is wrapping up from the start.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::kit::{How, Turn};
use crate::table::{self, Client, scenarios};

const CLIENT: Client = Client {
    name: "claude",
    settings: ".claude/settings.local.json",
    before: Some("{\n  \"permissions\": {\"allow\": []},\n  \"hooks\": {}\n}\n"),
    blocks_headless: true,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);

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
fn a_session_that_ends_dirty_is_refused_and_the_next_one_is_told() {
    let sandbox = table::project(&CLIENT);
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

/// Most of the random kills go to a scripted client (`tests/it/kills.rs`), which is quicker; these show that the real one
/// is no different.
#[test]
fn sessions_that_are_killed_at_random_moments_are_accounted_for() {
    let sandbox = table::project(&CLIENT);
    let mut number = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for round in 0..20 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let steps = json!([
            {"shell": format!("echo 'exports.n{round} = 1;' >n{round}.js; git add -A && git commit -qm 'Add n{round}'")},
            {"shell": "endwell verify -q; endwell note -q next 'Go on'"},
            {"shell": format!("echo x >left{round}.js")},
            {"text": "That is all."},
            {"shell": format!("rm -f left{round}.js")},
            {"text": "That is really all."},
        ]);
        let killed = How::KilledAfter(500 + (number >> 33) % 4_000);
        Turn::of(&sandbox, "claude", "killed", killed, &steps);
    }
    let last = Turn::headless(&sandbox, "claude", "last", &json!([{"text": "Nothing to do."}]));
    assert_eq!(last.ran.code, Some(0), "{:?}", last.ran);
    assert!(table::journals(&sandbox).len() > 12, "{} sessions began", table::journals(&sandbox).len());
    table::assert_accounted_for(&sandbox);
    let active = packets(&sandbox).iter().filter(|(_, packet)| packet["status"] == "active").count();
    assert!(active <= 1, "{active} active packets");
}

#[test]
fn a_push_by_the_agent_from_a_dirty_workbench_is_blocked() {
    let sandbox = table::project(&CLIENT);
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
