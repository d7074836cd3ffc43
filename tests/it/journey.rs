//! From one agent's session to the next, with a real small project: what the packet says is typed, and it works.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Ran, Sandbox};

const FIRST: &str = "00000000-0000-4000-8000-0000000000a1";
const SECOND: &str = "00000000-0000-4000-8000-0000000000a2";

const TESTS: &str = "\
. ./lib.sh
echo TAP version 14
[ \"$(sum 2 3)\" = 5 ] && echo 'ok 1 - sum' || echo 'not ok 1 - sum'
[ \"$(product 2 3)\" = 6 ] && echo 'ok 2 - product' || { echo 'not ok 2 - product'; red=1; }
echo 1..2
exit ${red-0}
";

fn hook(sandbox: &Sandbox, moment: &str, session: &str) -> Ran {
    let event =
        json!({"session_id": session, "cwd": sandbox.repo(), "source": "startup", "stop_hook_active": false});
    let mut hook = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    hook.args(["hook", moment, "--client", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = hook.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn agent(sandbox: &Sandbox, session: &str, args: &[&str]) -> Ran {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    Ran::of(command.args(args).env("CLAUDE_CODE_SESSION_ID", session))
}

/// What the next session hears at its start.
fn injected(sandbox: &Sandbox, session: &str) -> String {
    let answer = hook(sandbox, "start", session).json();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

/// The first line to type, as somebody new to the repository finds it: the first code below "Next action".
fn first_line(page: &str) -> String {
    let action = page.split("## Next action").nth(1).unwrap().trim().lines().next().unwrap();
    action.split('`').nth(1).unwrap_or_else(|| panic!("nothing to type in: {action}")).to_owned()
}

#[test]
fn the_next_session_types_what_the_packet_says_and_it_works() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("lib.sh", "sum() { echo $(($1 + $2)); }\n");
    sandbox.write("test.sh", TESTS);
    sandbox.write("accept.sh", ". ./lib.sh\ntest \"$(power 2 3)\" = 8\n");
    sandbox.write("endwell.toml", "[tests]\ncommand = \"sh test.sh\"\n");
    let feature = |id: &str, status: &str, goal: &str, done_when: &str| json!({"id": id, "status": status, "goal": goal, "done_when": done_when});
    let board = |one: &str| {
        let features = [
            feature("T-1", one, "Multiply", "sh test.sh"),
            feature("T-2", "todo", "Raise to a power", "sh accept.sh"),
        ];
        json!({"project": "sums", "features": features}).to_string()
    };
    sandbox.write("feature_list.json", &board("in_progress"));
    sandbox.commit("a project");
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));

    // the first session: tried, failed, left with a red test that has a name
    hook(&sandbox, "start", FIRST);
    assert_eq!(agent(&sandbox, FIRST, &["run", "--", "sh", "test.sh"]).code, Some(1));
    sandbox.write("lib.sh", "sum() { echo $(($1 + $2)); }\nproduct() { echo $(($1 + $2)); }\n");
    sandbox.commit("a first try at product");
    assert_eq!(agent(&sandbox, FIRST, &["verify"]).code, Some(1));
    let red = ["note", "risk", "--test", "product", "product adds instead of multiplying"];
    assert_eq!(agent(&sandbox, FIRST, &red).code, Some(0));
    let next = ["note", "next", "Run `sh test.sh` and make `product` multiply in `lib.sh`"];
    assert_eq!(agent(&sandbox, FIRST, &next).code, Some(0));
    hook(&sandbox, "stop", FIRST);
    hook(&sandbox, "end", FIRST);

    // the second one: types the first line, sees what the packet spoke of, mends it
    let page = injected(&sandbox, SECOND);
    assert!(page.contains("product adds instead of multiplying"), "{page}");
    let line = first_line(&page);
    assert_eq!(line, "sh test.sh");
    let typed = sandbox.command("sh", "repo", &["-c", &line]);
    assert!(typed.code == Some(1) && typed.stdout.contains("not ok 2 - product"), "{typed:?}");
    sandbox.write("lib.sh", "sum() { echo $(($1 + $2)); }\nproduct() { echo $(($1 * $2)); }\n");
    assert_eq!(sandbox.command("sh", "repo", &["-c", &line]).code, Some(0));
    sandbox.write("feature_list.json", &board("done"));
    sandbox.commit("product multiplies; T-1 is done");
    assert_eq!(agent(&sandbox, SECOND, &["verify"]).code, Some(0));
    // nothing is said about what comes next: the board says it
    sandbox.write("agent_state.json", r#"{"schema_version": 1, "open_risks": [], "assumptions": []}"#);
    hook(&sandbox, "stop", SECOND);
    hook(&sandbox, "end", SECOND);

    let resumed = sandbox.endwell(&["resume", "--json"]).json();
    assert_eq!(
        (&resumed["session_id"], &resumed["packet"]["next_action"]["derived"]),
        (&json!(SECOND), &json!(true))
    );
    let text = resumed["packet"]["next_action"]["text"].as_str().unwrap();
    insta::assert_snapshot!(text, @"Start `T-2` (Raise to a power): make `sh accept.sh` pass");
    let line = text.split('`').nth(3).unwrap();
    let typed = sandbox.command("sh", "repo", &["-c", line]);
    assert_eq!(typed.code, Some(1), "it can be typed, and is yet to be made to pass: {typed:?}");
    assert!(typed.stderr.contains("power"), "{typed:?}");
}

#[test]
fn packets_come_to_rest_and_old_ones_go() {
    let sandbox = crate::handoff::sandbox();
    sandbox.write("endwell.toml", "[packet]\nkeep = 1\nkeep_days = 0\n");
    sandbox.commit("settings");
    let hand_over = |session: &str| {
        crate::handoff::ready(&sandbox);
        assert_eq!(sandbox.endwell(&["handoff", "--session", session]).code, Some(0));
    };
    sandbox.git("repo", &["switch", "-qc", "gone"]);
    hand_over("on-gone");
    sandbox.git("repo", &["switch", "-q", "main"]);
    sandbox.git("repo", &["branch", "-qD", "gone"]);
    let state = |id: &str| {
        let lines = sandbox.endwell(&["log", "--json"]).json();
        let line = lines.as_array().unwrap().iter().find(|line| line["session_id"] == id).cloned();
        line.map(|line| line["state"].as_str().unwrap().to_owned())
    };
    assert_eq!(state("on-gone").as_deref(), Some("archived"), "its branch is gone");
    hand_over("first");
    hand_over("second");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    hand_over("third");
    assert_eq!(state("third").as_deref(), Some("active"));
    assert_eq!(
        (state("on-gone"), state("first"), state("second")),
        (None, None, None),
        "old, and not active"
    );
    assert!(!sandbox.repo().join("outputs/handoff/first").exists());
    // the older of two that are active stays, however old it is
    sandbox.git("repo", &["switch", "-qc", "side"]);
    sandbox.write("side.txt", "x\n");
    sandbox.commit("side");
    hand_over("on-side");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!((state("third").as_deref(), state("on-side").as_deref()), (Some("active"), Some("active")));
}
