//! Inputs of a packet that are missing, empty, torn, foreign, of a newer version, huge, or no UTF-8: each is told, and
//! either worked around with a risk that says so, or refused with what to do.

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};
use crate::handoff::{ready, sandbox};

/// What a packet makes of an input.
enum Expected {
    /// The packet is written; its risks hold this, unless it is empty.
    Written(&'static str),
    /// It is refused with this code, and the words hold this.
    Refused(i32, &'static str),
}
use Expected::{Refused, Written};

const STATE: &str = "agent_state.json";
const LOG: &str = "feedback_record.jsonl";
const VERDICT: &str = "outputs/verification/main.json";
const REVIEW: &str = "outputs/review/main.json";
const BOARD: &str = "feature_list.json";

fn handoff(sandbox: &Sandbox) -> Ran {
    sandbox.endwell(&["handoff", "--json"])
}

/// A sandbox that could hand over but for one file.
fn with(path: &str, bytes: &[u8]) -> Sandbox {
    let sandbox = sandbox();
    if path == BOARD {
        std::fs::write(sandbox.repo().join(path), bytes).unwrap();
        sandbox.commit("a board");
    }
    ready(&sandbox);
    let full = sandbox.repo().join(path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    std::fs::write(full, bytes).unwrap();
    sandbox
}

fn holds(path: &str, bytes: &[u8], expected: &Expected) {
    let sandbox = with(path, bytes);
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
    let ran = handoff(&sandbox);
    match expected {
        Written(risk) => {
            assert_eq!(ran.code, Some(0), "{path} {shown}: {ran:?}");
            let risks = ran.json()["open_risks"].to_string();
            assert!(risks.contains(risk), "{path} {shown}: {risks}");
        }
        Refused(code, words) => {
            assert_eq!(ran.code, Some(*code), "{path} {shown}: {ran:?}");
            assert!(ran.stderr.contains(words), "{path} {shown}: {}", ran.stderr);
            assert!(ran.stderr.contains("hint: "), "{path} {shown}: {}", ran.stderr);
            assert!(!sandbox.repo().join("outputs/handoff").exists(), "{path} {shown}");
        }
    }
    if path != VERDICT {
        assert_eq!(std::fs::read(sandbox.repo().join(path)).unwrap(), bytes, "{path} is left as it is");
    }
}

#[test]
fn every_input_in_every_bad_form_is_told() {
    let newer_state = br#"{"schema_version": 99, "assumptions": [], "next_action": "x"}"#;
    let cases: &[(&str, &[u8], Expected)] = &[
        (STATE, b"", Refused(1, "no next action")),
        (STATE, b"{\"assumptions\": [", Refused(3, "is no JSON")),
        (STATE, newer_state, Refused(3, "schema version 99")),
        (STATE, b"{\"step\": 3}", Refused(1, "no next action")),
        (STATE, b"\xff\xfe{\"assumptions\": []}", Refused(3, "is no JSON")),
        (
            STATE,
            b"{\"assumptions\": [1, {\"x\": 2}], \"next_action\": \"x\"}",
            Written("could not be read and were skipped"),
        ),
        (
            STATE,
            b"{\"assumptions\": [], \"next_action\": \"x\", \"mood\": 2.50}",
            Written("unknown key `mood`"),
        ),
        (LOG, b"", Written("")),
        (LOG, b"{\"command\": \"make\", \"exit_co", Written("could not be read")),
        (LOG, b"not a record\n", Written("could not be read")),
        (LOG, b"\xff\xfe\x00\n{\"command\": \"make\", \"exit_code\": 1}\n", Written("could not be read")),
        (
            LOG,
            b"{\"schema_version\": 99, \"command\": [\"make\"], \"exit_code\": 0, \"new\": {}}\n",
            Written(""),
        ),
        (VERDICT, b"", Refused(1, "can't be read")),
        (VERDICT, b"{\"passed\": tr", Refused(1, "can't be read")),
        (VERDICT, b"[1]", Refused(1, "can't be read")),
        (VERDICT, b"{\"schema_version\": 99, \"passed\": true}", Refused(1, "schema version is not known")),
        (VERDICT, b"\xff\xfe", Refused(1, "can't be read")),
        (REVIEW, b"", Written("is there but can't be read")),
        (REVIEW, b"{\"total\": 8, \"verd", Written("is there but can't be read")),
        (REVIEW, b"{\"score\": \"A\"}", Written("is there but can't be read")),
        (
            REVIEW,
            b"{\"schema_version\": 99, \"total\": 8, \"verdict\": \"pass\"}",
            Written("is there but can't be read"),
        ),
        (REVIEW, b"\xff\xfe", Written("is there but can't be read")),
        (BOARD, b"", Refused(1, BOARD)),
        (BOARD, b"{\"features\": [", Refused(1, BOARD)),
        (BOARD, b"\xff\xfe[1]", Refused(1, BOARD)),
    ];
    for (path, bytes, expected) in cases {
        holds(path, bytes, expected);
    }
}

/// A file of a gigabyte that takes no room: zeros to the end.
fn huge(sandbox: &Sandbox, path: &str) {
    let full = sandbox.repo().join(path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    let file = std::fs::File::options().create(true).append(true).open(full).unwrap();
    file.set_len(1 << 30).unwrap();
}

#[test]
fn a_gigabyte_is_told_and_never_held_in_memory() {
    for (path, expected) in [
        (STATE, Refused(3, "too large")),
        (VERDICT, Refused(1, "can't be read")),
        (REVIEW, Written("is there but can't be read")),
        (LOG, Written("could not be read")),
    ] {
        let sandbox = sandbox();
        ready(&sandbox);
        huge(&sandbox, path);
        // half a gigabyte of address space is not enough to hold it
        let line = format!("ulimit -v 800000; exec '{}' handoff --json", env!("CARGO_BIN_EXE_endwell"));
        let ran = sandbox.command("bash", "repo", &["-c", &line]);
        match expected {
            Written(risk) => {
                assert_eq!(ran.code, Some(0), "{path}: {ran:?}");
                assert!(ran.json()["open_risks"].to_string().contains(risk), "{path}: {ran:?}");
            }
            Refused(code, words) => {
                assert_eq!(ran.code, Some(code), "{path}: {ran:?}");
                assert!(ran.stderr.contains(words), "{path}: {}", ran.stderr);
            }
        }
    }
}

#[test]
fn what_is_missing_is_told() {
    let sandbox = sandbox();
    let ran = handoff(&sandbox);
    assert!(
        ran.stderr.contains("no verification report") && ran.stderr.contains("no next action"),
        "{ran:?}"
    );
    ready(&sandbox);
    let packet = handoff(&sandbox).json();
    // no log, no review, no board: nothing to tell, and nothing is made up
    assert_eq!((&packet["commands_run"], &packet["verdict_pointer"]["review"]), (&json!([]), &Value::Null));
}

#[test]
fn another_tools_report_and_packet_stay_as_they_are() {
    let sandbox = sandbox();
    sandbox.write("endwell.toml", "[tests]\ncommand = \"true\"\n");
    sandbox.commit("settings");
    sandbox.write(VERDICT, "{\"coverage tool\": 3}\n");
    let ran = sandbox.endwell(&["verify"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("`outputs/verification/main.json` belongs to another tool"), "{ran:?}");
    assert_eq!(sandbox.read(VERDICT), "{\"coverage tool\": 3}\n");
    assert_eq!(sandbox.endwell(&["note", "next", "Run `make`"]).code, Some(0));
    sandbox.write("outputs/handoff/one/handoff.json", "{\"theirs\": true}\n");
    sandbox.write("outputs/handoff/two/handoff.md", "their words\n");
    for session in ["one", "two"] {
        let ran = sandbox.endwell(&["handoff", "--session", session]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.starts_with(".git/endwell/packets/"), "where it is instead: {ran:?}");
        assert_eq!(sandbox.endwell(&["resume", "--json"]).json()["session_id"], session);
    }
    assert_eq!(sandbox.read("outputs/handoff/one/handoff.json"), "{\"theirs\": true}\n");
    assert_eq!(sandbox.read("outputs/handoff/two/handoff.md"), "their words\n");
    assert!(!sandbox.repo().join("outputs/handoff/two/handoff.json").exists());
    let packet = sandbox.endwell(&["show", "two", "--json"]).json();
    let path = packet["verdict_pointer"]["verification"]["path"].as_str().unwrap().to_owned();
    assert_eq!(path, "outputs/verification/main.endwell.json");
}

#[test]
fn a_session_that_never_was_is_refused_with_those_that_were() {
    let sandbox = sandbox();
    ready(&sandbox);
    // where no session is known, the id is the caller's
    assert_eq!(sandbox.endwell(&["handoff", "--session", "mine"]).code, Some(0));
    let journal = json!({
        "schema_version": 1, "id": "agents-own", "agent": "claude", "started_at": "2026-01-01T00:00:00Z", "phase": "ended",
        "baseline": {"schema_version": 1, "taken_at": "2026-01-01T00:00:00Z", "branches": {}, "stashes": [], "dirty": {}},
    });
    sandbox.write(".git/endwell/sessions/agents-own.json", &journal.to_string());
    let ran = sandbox.endwell(&["handoff", "--session", "agents-owm"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the latest are `agents-own`"), "{ran:?}");
    for known in ["agents-own", "mine"] {
        assert_eq!(sandbox.endwell(&["handoff", "--session", known]).code, Some(0), "{known}");
    }
}

#[test]
fn a_note_changes_its_own_place_and_no_other_byte() {
    let sandbox = sandbox();
    let text = "{\n    \"next_action\": \"a\",\n  \"cost\": 2.50, \"big\": 123456789012345678901234567890, \"tiny\": 1e5,\n  \
                \"assumptions\": [\"x\",   {\"text\": \"y\", \"weight\": 1.10}]\n}";
    sandbox.write(STATE, text);
    assert_eq!(sandbox.endwell(&["note", "next", "b"]).code, Some(0));
    let edited = sandbox.read(STATE);
    assert_eq!(edited.lines().nth(1), Some("    \"next_action\": \"b\","));
    for kept in text.lines().skip(2).take(1) {
        assert!(edited.contains(kept), "{edited}");
    }
    assert!(edited.contains("[\"x\",   {\"text\": \"y\", \"weight\": 1.10}]"), "{edited}");
}
