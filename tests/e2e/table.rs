//! What every client has to show, as scenarios: each runs a real client a few times and looks at several cells of the
//! table (a client each row, a promise each column). What a client can't do stands in its [`Client`], nowhere else.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::kit::{How, Turn, killed_after};

/// One client, and what is known of it.
pub struct Client {
    pub name: &'static str,
    /// Its settings file, from the repository's top, or from the home folder where it starts with `~/`.
    pub settings: &'static str,
    /// What stands in the settings before the installation; `None`: nothing is there.
    pub before: Option<&'static str>,
    /// A headless turn's end can be blocked.
    pub blocks_headless: bool,
    /// It tells its end in a headless run; else the next start has to make up for it.
    pub tells_end: bool,
    /// Commands' exit codes are known.
    pub tells_exit: bool,
}

/// The words that run the scenarios for a client.
macro_rules! scenarios {
    ($client:expr) => {
        #[test]
        fn a_dirty_turn_end_is_blocked_once_and_the_next_session_gets_the_packet() {
            crate::table::from_start_to_packet(&$client);
        }

        #[test]
        fn a_session_killed_in_mid_turn_is_accounted_for_and_blockers_never_trap_the_agent() {
            crate::table::killed_in_mid_turn(&$client);
        }

        #[test]
        fn a_session_killed_at_rest_keeps_its_packet() {
            crate::table::killed_at_rest(&$client);
        }
    };
}
pub(crate) use scenarios;

const NEXT: &str = "Write a test for the product of two numbers";
const LAST_WORDS: &str = "That is all.";

/// A small project with tests that pass, a remote, and settings of the client that were there before endwell.
pub fn project(client: &Client) -> Sandbox {
    let sandbox = bare_project();
    if let Some(before) = client.before {
        let path = settings(&sandbox, client);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, before).unwrap();
        if !client.settings.starts_with("~/") {
            let exclude = sandbox.repo().join(".git/info/exclude");
            let lines = std::fs::read_to_string(&exclude).unwrap_or_default();
            std::fs::write(&exclude, format!("{lines}/{}\n", client.settings)).unwrap();
        }
    }
    install(&sandbox, client);
    sandbox
}

/// The project alone.
pub fn bare_project() -> Sandbox {
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
    // some clients' tools start a login shell, which begins with a PATH of its own
    let path = sandbox.command("sh", ".", &["-c", "printf %s \"$PATH\""]).stdout;
    std::fs::write(sandbox.root().join("home/.profile"), format!("PATH='{path}'\n")).unwrap();
    sandbox
}

/// Installs the hooks of one client; the tree stays clean.
pub fn install(sandbox: &Sandbox, client: &Client) {
    let mut words = vec!["install", "--agent", client.name];
    if client.settings.starts_with("~/") {
        words.push("--user");
    }
    let installed = sandbox.endwell(&words);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "the installation leaves the tree clean");
}

fn settings(sandbox: &Sandbox, client: &Client) -> std::path::PathBuf {
    match client.settings.strip_prefix("~/") {
        Some(below) => sandbox.root().join("home").join(below),
        None => sandbox.repo().join(client.settings),
    }
}

/// A packet by its session's id.
pub fn packet(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("outputs/handoff/{session}/handoff.json"))).unwrap()
}

/// The journals of the agents' sessions, by start.
pub fn journals(sandbox: &Sandbox) -> Vec<Value> {
    let folder = sandbox.repo().join(".git/endwell/sessions");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut journals: Vec<Value> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
        .collect();
    journals.sort_by_key(|journal: &Value| journal["started_at"].as_str().unwrap().to_owned());
    journals
}

fn id(journal: &Value) -> &str {
    journal["id"].as_str().unwrap()
}

fn has_packet(sandbox: &Sandbox, journal: &Value) -> bool {
    sandbox.repo().join("outputs/handoff").join(id(journal)).join("handoff.json").is_file()
}

/// Every session has a packet or a refusal, and none but the last may still be open.
#[track_caller]
fn assert_accounted_for(sandbox: &Sandbox) {
    let journals = journals(sandbox);
    let [ended @ .., _] = journals.as_slice() else { panic!("no session at all") };
    for journal in ended {
        assert_eq!(journal["phase"], "ended", "{journal}");
        assert!(has_packet(sandbox, journal) || !journal["refusal"].is_null(), "{journal}");
    }
}

/// Cells: dirty turn end blocks once and the reason reaches the model; clean turn end leaves a packet; the end fires or
/// recovery makes up for it; commands with exit codes in the log; start injects; uninstall restores bytes.
pub fn from_start_to_packet(client: &Client) {
    let sandbox = project(client);
    let how = if client.blocks_headless { How::Headless } else { How::Quit };
    // a client that runs one prompt is known to be wrapping up
    let first = if how == How::Headless { "true" } else { "endwell wrap-up" };
    let before = [
        json!({"shell": first}),
        json!({"shell": "echo looking; exit 3"}),
        json!({"write": {"path": "product.js", "content": "exports.product = (a, b) => a * b;\n"}}),
        json!({"text": "The product is there."}),
    ];
    let after = [
        json!({"shell": "git add -A && git commit -qm 'Add a product'"}),
        json!({"shell": "endwell verify"}),
        json!({"shell": format!("endwell note next '{NEXT}'")}),
        json!({"text": LAST_WORDS}),
    ];
    let first = Turn::of(&sandbox, client.name, "first", how, &json!([&before[..], &after[..]].concat()));
    assert_eq!(first.ran.code, Some(0), "{:?}", first.ran);
    // the reasons reach the model: what is dirty, and what else would refuse the packet
    first.assert_told(4, &["product.js", "git add", "endwell verify", "endwell note next"]);
    first.assert_requests(8, "blocked once, then let go");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "nothing of ours makes the tree dirty");

    let sessions = journals(&sandbox);
    let [session] = sessions.as_slice() else { panic!("one session, not {sessions:?}") };
    assert_packet(&sandbox, client, session);
    assert_commands(&sandbox, client, session);
    let told = |journal: &Value| journal["phase"] == "ended" && journal["ending"] == "told";
    assert_eq!(told(session), client.tells_end || how == How::Quit, "{session}");

    let bytes = sandbox.read(&format!("outputs/handoff/{}/handoff.json", id(session)));
    let second = Turn::headless(&sandbox, client.name, "second", &json!([{"text": LAST_WORDS}]));
    assert_eq!(second.ran.code, Some(0), "{:?}", second.ran);
    second.assert_told(0, &[NEXT, id(session)]);
    second.assert_requests(1, "a session that did nothing is not held back");
    assert_accounted_for(&sandbox);
    let active = sandbox.read(&format!("outputs/handoff/{}/handoff.json", id(session)));
    assert_eq!(active.replace("superseded", "active"), bytes, "the packet's bytes stay");

    uninstalls(&sandbox, client);
}

fn assert_packet(sandbox: &Sandbox, client: &Client, session: &Value) {
    let packet = packet(sandbox, id(session));
    assert_eq!(packet["session_id"], session["id"]);
    assert_eq!(packet["agent"], client.name);
    assert_eq!(packet["next_action"]["text"], NEXT);
    assert_eq!(packet["changed_files"][0]["path"], "product.js");
    assert_eq!(packet["head_commit"], sandbox.git("repo", &["rev-parse", "HEAD"]));
    for field in ["summary", "commands_run", "failed_attempts", "open_risks", "verdict_pointer"] {
        assert!(!packet[field].is_null(), "`{field}` is missing: {packet}");
    }
    assert_eq!(sandbox.read("outputs/clean_state.json").trim(), "[]");
}

/// The commands that the agent ran, endwell's own left out, each once.
fn assert_commands(sandbox: &Sandbox, client: &Client, session: &Value) {
    let log = sandbox.read("feedback_record.jsonl");
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (part, code) in [("echo looking", 3), ("git add -A", 0)] {
        let found: Vec<&Value> =
            records.iter().filter(|record| record["command"].to_string().contains(part)).collect();
        let [record] = found.as_slice() else { panic!("`{part}` stands {} times in {log}", found.len()) };
        assert_eq!(record["session_id"], session["id"], "{record}");
        if client.tells_exit {
            assert_eq!(record["exit_code"], code, "{record}");
        } else {
            assert!([json!(code), Value::Null].contains(&record["exit_code"]), "never a wrong one: {record}");
        }
    }
}

/// The settings get back the bytes that they had, or go.
fn uninstalls(sandbox: &Sandbox, client: &Client) {
    let path = settings(sandbox, client);
    // the kit's own additions for the client's first run are no part of what endwell wrote
    let ours = std::fs::read_to_string(&path).unwrap();
    assert!(ours.contains("endwell"), "{ours}");
    let mut words = vec!["uninstall"];
    if client.settings.starts_with("~/") {
        words.push("--user");
    }
    let gone = sandbox.endwell(&words);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), client.before);
}

/// Cells: SIGKILL in mid-turn leaves a refusal of the bench as it is; endless blockers cost at most three blocks.
pub fn killed_in_mid_turn(client: &Client) {
    let sandbox = project(client);
    let killed = killed_after(&sandbox, "echo half >half.js", "killed");
    let first = Turn::headless(&sandbox, client.name, "killed", &json!([killed, {"text": LAST_WORDS}]));
    assert_ne!(first.ran.code, Some(0), "{:?}", first.ran);
    first.assert_requests(1, "it died in its first tool call");
    let before = journals(&sandbox);
    assert_eq!((before.len(), &before[0]["phase"]), (1, &json!("busy")), "{before:?}");

    let mut steps = vec![json!({"shell": "endwell wrap-up"})];
    for turn in 1..=5 {
        let file = format!("again{turn}.js");
        steps.push(json!({"write": {"path": file, "content": "exports.more = 1;\n"}}));
        steps.push(json!({"text": "I leave it like that."}));
    }
    let how = if client.blocks_headless { How::Headless } else { How::Quit };
    let second = Turn::of(&sandbox, client.name, "second", how, &json!(steps));
    assert_eq!(second.ran.code, Some(0), "{:?}", second.ran);
    second.assert_told(0, &["half.js"]);
    second.assert_requests(9, "three blocks, then it is let go");
    second.assert_told(7, &["again3.js"]);
    let after = journals(&sandbox);
    let found = after.iter().find(|journal| journal["id"] == before[0]["id"]).unwrap();
    assert_eq!(found["ending"], "recovered-mid-turn", "{found}");
    assert!(found["refusal"].to_string().contains("half.js"), "{found}");
    assert_accounted_for(&sandbox);
}

/// Cell: SIGKILL at rest, and the next start recovers the same bytes.
pub fn killed_at_rest(client: &Client) {
    let sandbox = project(client);
    let note = format!("endwell verify && endwell note next '{NEXT}'");
    let steps = json!([{"shell": note}, {"text": LAST_WORDS}]);
    let first = Turn::of(&sandbox, client.name, "killed", How::KilledAtRest, &steps);
    first.assert_requests(2, "one turn");
    let sessions = journals(&sandbox);
    let [session] = sessions.as_slice() else { panic!("one session, not {sessions:?}: {:?}", first.ran) };
    assert_eq!(session["phase"], "idle", "its end was never told: {session}");
    let place = format!("outputs/handoff/{}/handoff.json", id(session));
    assert!(has_packet(&sandbox, session), "{session}: {:?}", first.ran);
    let bytes = sandbox.read(&place);
    sandbox.write("later.js", "exports.later = 1;\n");

    let second = Turn::headless(&sandbox, client.name, "second", &json!([{"text": LAST_WORDS}]));
    second.assert_told(0, &[NEXT, id(session)]);
    let after = journals(&sandbox);
    let found = after.iter().find(|journal| journal["id"] == session["id"]).unwrap();
    assert_eq!(found["ending"], "recovered-at-rest", "{found}");
    assert_eq!(sandbox.read(&place), bytes, "the same bytes");
    assert_accounted_for(&sandbox);
}
