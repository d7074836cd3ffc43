//! Sessions that die, and what the next start makes of them: the bytes that their last turn's end left, or a judgement
//! of the bench as it is. Nothing a person does in between changes a packet.

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::hook::{SESSION, at, client_that_dies, event, installed, journal, payload};

fn packet(sandbox: &Sandbox, session: &str) -> String {
    sandbox.read(&format!("outputs/handoff/{session}/handoff.json"))
}

fn receipt(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!(".git/endwell/packets/{session}/receipt.json"))).unwrap()
}

fn pins(sandbox: &Sandbox) -> String {
    sandbox.git("repo", &["for-each-ref", "--format=%(refname)", "refs/endwell/"])
}

/// A session that worked, is ready to hand over, and whose client is gone without a word after a turn's end.
fn died_at_rest(sandbox: &Sandbox, session: &str) {
    at(sandbox, "start", false);
    sandbox.write("a.txt", "x\n");
    sandbox.commit("Add a");
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Write b.txt"]);
    client_that_dies(sandbox, session, &["start", "prompt", "stop"]);
}

#[test]
fn rewriting_history_after_the_death_changes_no_byte_of_the_packet() {
    let sandbox = installed();
    died_at_rest(&sandbox, "dead");
    let before = packet(&sandbox, "dead");
    assert_eq!(pins(&sandbox), "refs/endwell/sessions/main-worktree/dead");
    let head = sandbox.git("repo", &["rev-parse", "HEAD"]);
    std::fs::remove_dir_all(sandbox.repo().join("outputs/handoff/dead")).unwrap();
    std::fs::remove_dir_all(sandbox.repo().join(".git/endwell/packets")).unwrap();
    std::fs::remove_dir_all(sandbox.repo().join(".git/endwell/active")).unwrap();
    sandbox.write("a.txt", "another\n");
    sandbox.git("repo", &["commit", "-q", "-a", "--amend", "-m", "Another history"]);
    sandbox.git("repo", &["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git("repo", &["gc", "-q", "--prune=now"]);
    sandbox.write("agent_state.json", r#"{"schema_version": 1, "next_action": "Something else"}"#);
    assert_eq!(sandbox.git("repo", &["cat-file", "-t", &head]), "commit", "the ref keeps it");
    at(&sandbox, "start", true);
    assert_eq!(packet(&sandbox, "dead"), before);
    let receipt = receipt(&sandbox, "dead");
    assert_eq!(receipt["ending"], "recovered-at-rest");
    assert_eq!(receipt["changed_since"], json!(["head", "state", "tree"]));
    assert_eq!(pins(&sandbox), "", "a finished session keeps nothing");
    assert_eq!(journal(&sandbox, "dead")["turn_end"], Value::Null);
}

#[test]
fn a_session_that_died_refused_keeps_its_refusal_whatever_happened_since() {
    let sandbox = installed();
    sandbox.write("dirt.txt", "x\n");
    sandbox.commit("base of the session");
    client_that_dies(&sandbox, "dead", &["start", "prompt"]);
    sandbox.write("dirt.txt", "dirty\n");
    // the client wraps up by its own marker: the first turn's end is sent back, the second one stands
    client_that_dies(&sandbox, "dead", &["stop", "stop"]);
    assert_eq!(journal(&sandbox, "dead")["phase"], "idle");
    sandbox.git("repo", &["checkout", "-q", "--", "dirt.txt"]);
    let next = at(&sandbox, "start", true);
    assert_eq!(journal(&sandbox, "dead")["ending"], "recovered-at-rest");
    assert!(next.stdout.contains("`dirt.txt`"), "{next:?}");
}

/// Copilot tells the first prompt before the session's start now and then: the turn is under way all the same.
#[test]
fn a_prompt_that_is_told_before_the_start_is_no_rest() {
    let sandbox = installed();
    client_that_dies(&sandbox, "dead", &["prompt", "start"]);
    assert_eq!(journal(&sandbox, "dead")["phase"], "busy");
    // another process that resumes it has begun no turn yet
    client_that_dies(&sandbox, "dead", &["start"]);
    assert_eq!(journal(&sandbox, "dead")["phase"], "idle");
}

#[test]
fn a_turn_that_was_sent_back_is_no_rest() {
    let sandbox = installed();
    client_that_dies(&sandbox, "dead", &["start", "prompt", "stop"]);
    assert_eq!(journal(&sandbox, "dead")["phase"], "busy");
    at(&sandbox, "start", true);
    assert_eq!(journal(&sandbox, "dead")["ending"], "recovered-mid-turn");
    assert_ne!(journal(&sandbox, "dead")["refusal"], Value::Null);
}

#[test]
fn several_dead_sessions_are_finished_at_once_and_one_packet_is_active() {
    let sandbox = installed();
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Write b.txt"]);
    for session in ["one", "two", "three"] {
        // without a start, which would finish the one before
        client_that_dies(&sandbox, session, &["prompt", "stop"]);
        assert_ne!(journal(&sandbox, session)["turn_end"]["packet"], Value::Null);
    }
    client_that_dies(&sandbox, "busy", &["prompt"]);
    at(&sandbox, "start", true);
    for session in ["one", "two", "three"] {
        assert_eq!(journal(&sandbox, session)["ending"], "recovered-at-rest", "{session}");
        assert_eq!(receipt(&sandbox, session)["ending"], "recovered-at-rest", "{session}");
    }
    assert_eq!(receipt(&sandbox, "busy")["ending"], "recovered-mid-turn");
    let active = ["one", "two", "three", "busy"].map(|session| receipt(&sandbox, session)["status"].clone());
    assert_eq!(active.iter().filter(|status| *status == "active").count(), 1, "{active:?}");
    assert_eq!(receipt(&sandbox, "busy")["status"], "active");
}

#[test]
fn a_clean_end_and_a_session_that_goes_on_are_told_apart_by_the_receipt() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Write b.txt"]);
    at(&sandbox, "stop", true);
    assert_eq!(receipt(&sandbox, SESSION)["ending"], Value::Null);
    let bytes = packet(&sandbox, SESSION);
    at(&sandbox, "end", true);
    at(&sandbox, "end", true);
    assert_eq!(receipt(&sandbox, SESSION)["ending"], "told");
    assert_eq!(packet(&sandbox, SESSION), bytes);
    assert_eq!(pins(&sandbox), "");
    let resumed = payload(&sandbox, SESSION, &json!({"source": "resume"}));
    event(&sandbox, "start", &resumed, true);
    at(&sandbox, "prompt", true);
    let session = journal(&sandbox, SESSION);
    assert_eq!((&session["phase"], &session["ending"]), (&json!("busy"), &Value::Null));
    at(&sandbox, "stop", true);
    assert_eq!(receipt(&sandbox, SESSION)["ending"], Value::Null, "it goes on");
}

#[test]
fn a_packet_that_a_person_wrote_since_is_the_later_word() {
    let sandbox = installed();
    died_at_rest(&sandbox, "dead");
    sandbox.endwell(&["note", "next", "Write c.txt"]);
    assert_eq!(sandbox.endwell(&["handoff", "--session", "dead"]).code, Some(0));
    let by_hand = packet(&sandbox, "dead");
    at(&sandbox, "start", true);
    assert_eq!(packet(&sandbox, "dead"), by_hand);
    assert_eq!(receipt(&sandbox, "dead")["ending"], "recovered-at-rest");
}

#[test]
fn a_session_ref_is_never_pushed() {
    let sandbox = Sandbox::with_repo().with_remote();
    sandbox.endwell(&["install", "--agent", "claude"]);
    at(&sandbox, "start", false);
    at(&sandbox, "stop", false);
    assert_eq!(pins(&sandbox), format!("refs/endwell/sessions/main-worktree/{SESSION}"));
    let pushed = sandbox.try_git("repo", &["push", "--mirror", "origin"]);
    assert_eq!(pushed.code, Some(1), "{pushed:?}");
    assert!(pushed.stderr.contains("keeps a commit of an open session"), "{pushed:?}");
    assert_eq!(sandbox.git("up.git", &["for-each-ref", "refs/endwell/"]), "");
    assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
    assert_eq!(pins(&sandbox), "", "nobody would let them go");
}
