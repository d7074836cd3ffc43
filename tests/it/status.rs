//! `endwell status`: one screen, one look.

use insta::assert_snapshot;
use serde_json::json;

use crate::common::Sandbox;
use crate::hook::{at, client_that_dies, event, installed, payload};

/// Ids and times that differ from run to run.
fn steady(text: &str) -> String {
    let ids = regex::Regex::new("[0-9a-f]{12}").unwrap();
    ids.replace_all(text, "[id]").into_owned()
}

fn status(sandbox: &Sandbox) -> String {
    let ran = sandbox.endwell(&["status"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    steady(&ran.stdout)
}

#[test]
fn a_repository_where_nothing_happened_yet_says_what_comes_first() {
    let sandbox = Sandbox::with_repo();
    assert_snapshot!(status(&sandbox), @r"
    Bench     `main` at [id], nothing uncommitted
    Checks    never run here
    Tests     no test command is configured or detected
    Packet    none on this branch
    Next      Run `endwell install`: nothing fires by itself here yet.
    ");
    let empty = Sandbox::new();
    empty.git(".", &["init", "-q", "-b", "main", "repo"]);
    assert_snapshot!(status(&empty), @r"
    Bench     `main` at no commit yet, nothing uncommitted
    Checks    never run here
    Tests     no test command is configured or detected
    Packet    none on this branch
    Next      Run `endwell install`: nothing fires by itself here yet.
    ");
}

#[test]
fn sessions_packets_and_parked_work_stand_on_one_screen() {
    let sandbox = installed();
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Write b.txt"]);
    at(&sandbox, "start", true);
    at(&sandbox, "stop", true);
    sandbox.write("half.txt", "x\n");
    assert_eq!(sandbox.endwell(&["park", "half of the parser"]).code, Some(0));
    client_that_dies(&sandbox, "dead", &["prompt"]);
    assert_snapshot!(status(&sandbox), @r"
    Bench     `main` at [id], nothing uncommitted
    Checks    clean, 1 to look at, when last run
    Tests     no test command is configured or detected
    Packet    session 00000000-0000-4000-8000-[id], [id] of this commit, nobody has loaded it
    Sessions  dead (claude): its client is gone: the next start or push finishes it, wrapping up
              00000000-0000-4000-8000-[id] (claude): at rest, wrapping up
    Parked    00000000-0000-4000-8000-[id]: half of the parser (`endwell unpark 00000000-0000-4000-8000-[id]`)
    Noted     Write b.txt
    Next      Nothing: the next session can begin.
    ");
    let told = payload(&sandbox, "next", &json!({"source": "startup"}));
    event(&sandbox, "start", &told, false);
    let found = sandbox.endwell(&["status", "--json"]).json();
    assert_eq!(found["packet"]["loaded_by"], json!(["next"]));
    assert_eq!(found["tests"]["state"], "none");
    assert_eq!(found["parked"][0]["note"], "half of the parser");
}

#[test]
fn a_session_that_ended_dirty_is_told_with_its_reason() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    sandbox.write("a.txt", "x\n");
    at(&sandbox, "end", true);
    assert_snapshot!(status(&sandbox), @r#"
    Bench     `main` at [id], 1 path not committed
    Checks    1 blocking issue (working-tree), when last run
    Tests     no test command is configured or detected
    Packet    none on this branch
    Sessions  00000000-0000-4000-8000-[id] (claude): ended without a packet; `a.txt` is not tracked. Commit it (`git add -- a.txt`), put it aside (`endwell park "what and why"`), delete it, or… (and 2 more)
    Next      Commit what is not committed, or put it aside (`endwell park "what and why"`).
    "#);
}
