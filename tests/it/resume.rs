//! `endwell resume`, `show` and `log`: the active packet, looked at again.

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};
use crate::handoff::{ready, sandbox};

fn handed_over() -> Sandbox {
    let sandbox = sandbox();
    sandbox.git("repo", &["switch", "-qc", "feat"]);
    sandbox.write("a.txt", "a\n");
    sandbox.commit("a");
    ready(&sandbox);
    assert_eq!(sandbox.endwell(&["handoff", "--session", "one"]).code, Some(0));
    sandbox
}

fn claims(ran: &Ran) -> Vec<String> {
    let value = ran.json();
    let claim =
        |claim: &Value| format!("{} {}", claim["state"].as_str().unwrap(), claim["what"].as_str().unwrap());
    value["claims"].as_array().unwrap().iter().map(claim).collect()
}

#[test]
fn a_fresh_packet_holds_and_leaves_a_receipt() {
    let sandbox = handed_over();
    let ran = sandbox.endwell(&["resume"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("Packet of session one, fresh: every claim holds\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("## Next action\n\nRun `make test`\n"), "{}", ran.stdout);
    let log = sandbox.endwell(&["log", "--json"]).json();
    assert_eq!((log[0]["session_id"].as_str(), log[0]["loaded"].as_u64()), (Some("one"), Some(1)));
}

#[test]
fn what_changed_since_is_told() {
    let sandbox = handed_over();
    sandbox.write("a.txt", "b\n");
    sandbox.write("b.txt", "b\n");
    sandbox.commit("b");
    std::fs::remove_file(sandbox.repo().join("outputs/verification/feat.json")).unwrap();
    let ran = sandbox.endwell(&["resume", "--json"]);
    assert_eq!(ran.json()["state"], "stale");
    let claims = claims(&ran);
    assert!(claims[0].starts_with("changed HEAD is"), "{claims:?}");
    assert_eq!(claims[1], "holds branch `feat`");
    assert!(claims[2].starts_with("changed "), "{claims:?}");
    assert_eq!(claims[3], "gone verdict `outputs/verification/feat.json`");
}

#[test]
fn another_branch_has_its_own_and_a_merged_one_is_archived() {
    let sandbox = handed_over();
    sandbox.git("repo", &["switch", "-q", "main"]);
    let ran = sandbox.endwell(&["resume", "--json"]);
    assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "null"));
    assert_eq!(sandbox.endwell(&["log", "--json"]).json()[0]["state"], "active");
    sandbox.git("repo", &["merge", "-q", "--no-ff", "-m", "merge", "feat"]);
    assert_eq!(sandbox.endwell(&["log", "--json"]).json()[0]["state"], "archived");
    let shown = sandbox.endwell(&["show", "on"]);
    assert!(shown.stdout.contains("Archived"), "{shown:?}");
}

#[test]
fn a_packet_that_was_changed_is_not_shown_as_ours() {
    let sandbox = handed_over();
    let path = sandbox.repo().join(".git/endwell/packets/one/handoff.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("Run `make test`", "Run `rm -rf ~`");
    std::fs::write(&path, text).unwrap();
    let ran = sandbox.endwell(&["resume"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.stderr.contains("was changed after endwell kept it"), "{}", ran.stderr);
}

#[test]
fn a_packet_outlives_its_work_tree() {
    let sandbox = handed_over();
    sandbox.git("repo", &["switch", "-q", "main"]);
    sandbox.git("repo", &["worktree", "add", "-q", "../other", "feat"]);
    let endwell = env!("CARGO_BIN_EXE_endwell");
    let ran = sandbox.command(endwell, "other", &["resume"]);
    assert!(ran.stdout.contains("Made in another work tree"), "{ran:?}");
    std::fs::create_dir_all(sandbox.root().join("other/outputs/verification")).unwrap();
    let verdict = sandbox.read("outputs/verification/feat.json");
    std::fs::write(sandbox.root().join("other/outputs/verification/feat.json"), verdict).unwrap();
    sandbox.command(endwell, "other", &["note", "next", "go on"]);
    let ran = sandbox.command(endwell, "other", &["handoff", "--session", "two"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    sandbox.git("repo", &["worktree", "remove", "--force", "../other"]);
    let shown = sandbox.endwell(&["show", "two", "--json"]).json();
    assert_eq!((shown["status"].as_str(), &shown["supersedes"]), (Some("active"), &json!(["one"])));
}

#[test]
fn nothing_to_show_is_told() {
    let sandbox = sandbox();
    assert_eq!(sandbox.endwell(&["log"]).stdout, "");
    let ran = sandbox.endwell(&["show", "nobody"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(sandbox.endwell(&["resume"]).stderr.contains("There is no packet for this branch."));
}

#[test]
fn the_next_action_can_be_typed() {
    let sandbox = sandbox();
    ready(&sandbox);
    sandbox.endwell(&["note", "next", "Run `test -f README.md && touch ../typed` and look at the result"]);
    assert_eq!(sandbox.endwell(&["handoff", "--session", "one"]).code, Some(0));
    let packet = sandbox.endwell(&["resume", "--json"]).json()["packet"].clone();
    let text = packet["next_action"]["text"].as_str().unwrap().to_owned();
    let line = text.split('`').nth(1).unwrap();
    assert_eq!(sandbox.command("sh", "repo", &["-c", line]).code, Some(0), "{line}");
    assert!(sandbox.root().join("typed").exists());
}
