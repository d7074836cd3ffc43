//! What a turn's end says, how often it says it, and how sessions beside each other are kept apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::hook::{SESSION, at, event, installed, journal, payload, reason};

#[test]
fn five_hundred_issues_and_what_the_packet_lacks_fit_into_one_text() {
    let sandbox = installed();
    at(&sandbox, "start", true);
    let deep = "d/".repeat(100);
    for n in 0..250 {
        sandbox.write(&format!("{deep}a-file-with-a-long-name-{n}.txt"), "x\n");
        sandbox.write(&format!("kind-{n}.py"), "<<<<<<< ours\n=======\n>>>>>>> theirs\n");
    }
    sandbox.write("README.md", "changed\n");
    let text = reason(&at(&sandbox, "stop", true)).unwrap();
    assert!(text.chars().count() < 2_000, "{}", text.chars().count());
    for needed in [
        "not tracked",
        "git add",
        "more of that kind",
        "endwell verify",
        "endwell note next",
        "endwell check",
    ] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
}

#[test]
fn a_long_text_is_cut_at_a_line_and_never_what_the_packet_lacks() {
    let sandbox = installed();
    at(&sandbox, "start", false);
    let transcript = sandbox.root().join("home/transcript.jsonl");
    let usage = json!({"type": "assistant", "message": {"usage": {"input_tokens": 190_000}}});
    std::fs::write(&transcript, format!("{usage}\n")).unwrap();
    for n in 0..40 {
        sandbox.write(
            &format!("{}/{n}.py", "long-folder-name".repeat(12)),
            "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
        );
    }
    sandbox.git("repo", &["rm", "-q", "--cached", "README.md"]);
    let told = payload(&sandbox, SESSION, &json!({"transcript_path": transcript}));
    let text = reason(&event(&sandbox, "stop", &told, false)).unwrap();
    assert!(text.chars().count() < 2_000, "{}", text.chars().count());
    assert!(text.starts_with("The context is 95 % full"), "{text}");
    assert!(
        text.contains("endwell note next") && text.ends_with("`endwell check` lists everything."),
        "{text}"
    );
    assert_eq!(event(&sandbox, "prompt", &told, false).stdout, "", "the hint is given once");
}

#[test]
fn a_bench_that_never_becomes_clean_costs_three_blocks_whatever_the_setting_and_the_client_say() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[gate]\nturn_end = \"always\"\n");
    sandbox.commit("Settings");
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    at(&sandbox, "start", false);
    let mut blocks = 0;
    for n in 0..12 {
        sandbox.write(&format!("dirt-{n}.txt"), "x\n");
        let active = payload(&sandbox, SESSION, &json!({"stop_hook_active": n % 2 == 0}));
        blocks += usize::from(reason(&event(&sandbox, "stop", &active, n % 3 == 0)).is_some());
        if n == 6 {
            // neither an end nor a resumption gives it more
            at(&sandbox, "end", false);
            event(&sandbox, "start", &payload(&sandbox, SESSION, &json!({"source": "resume"})), false);
        }
    }
    assert_eq!(blocks, 3);
}

/// A client that lives until it is dropped, and fires what it is told to.
struct Live {
    child: Child,
    answers: BufReader<ChildStdout>,
    input: String,
}

impl Live {
    fn new(sandbox: &Sandbox, dir: &str, session: &str) -> Self {
        let script = "import subprocess, sys\nfor line in sys.stdin:\n    moment = line.strip()\n    ran = subprocess.run(\
            [sys.argv[1], 'hook', moment, '--client', 'claude'], input=sys.argv[2].encode(), stdout=subprocess.PIPE)\n    \
            print(ran.stdout.decode().replace(chr(10), ' '), flush=True)\n";
        let input = json!({"session_id": session, "cwd": sandbox.root().join(dir)}).to_string();
        let mut command = sandbox.prepare("python3", dir);
        command.args(["-c", script, env!("CARGO_BIN_EXE_endwell"), &input]);
        command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers, input }
    }

    fn fire(&mut self, moment: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{moment}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim().to_owned()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        assert!(self.input.contains("session_id"));
    }
}

#[test]
fn two_sessions_in_one_work_tree_have_their_own_baselines_and_hear_of_each_other() {
    let sandbox = installed();
    let mut one = Live::new(&sandbox, "repo", "one");
    one.fire("start");
    one.fire("prompt");
    sandbox.write("ones.txt", "x\n");
    let mut two = Live::new(&sandbox, "repo", "two");
    let told = two.fire("start");
    assert!(told.contains("Another session is open in this work tree: one (claude)"), "{told}");
    assert_eq!(journal(&sandbox, "one")["phase"], "busy", "it is alive, so nobody finishes it");
    let told = two.fire("stop");
    assert!(!told.contains("ones.txt"), "what lay there before is not its own: {told}");
    let told = one.fire("stop");
    assert!(told.contains("`ones.txt` is not tracked"), "{told}");
    one.fire("stop");
    sandbox.commit("Another session's commit");
    let told = one.fire("prompt");
    assert!(told.contains("HEAD moved while this session was at rest"), "{told}");
    assert_eq!(one.fire("prompt"), "", "once");
    drop(one);
    two.fire("prompt");
    let mut three = Live::new(&sandbox, "repo", "three");
    three.fire("start");
    assert_eq!(journal(&sandbox, "one")["ending"], "recovered-mid-turn");
    assert_eq!(journal(&sandbox, "two")["ending"], Value::Null, "the other one lives");
}

#[test]
fn sessions_in_two_work_trees_never_finish_each_other() {
    let sandbox = installed();
    sandbox.git("repo", &["worktree", "add", "-q", "-b", "side", "../side"]);
    let mut main = Live::new(&sandbox, "repo", "main-session");
    main.fire("start");
    main.fire("prompt");
    main.fire("stop");
    let mut side = Live::new(&sandbox, "side", "side-session");
    assert!(!side.fire("start").contains("main-session"), "another work tree's session is nobody's business");
    side.fire("stop");
    drop(side);
    drop(main);
    let pins = sandbox.git("repo", &["for-each-ref", "--format=%(refname)", "refs/endwell/sessions/"]);
    assert_eq!(pins.lines().count(), 2, "{pins}");
    at(&sandbox, "start", true);
    assert_eq!(journal(&sandbox, "main-session")["phase"], "ended");
    let pins = sandbox.git("repo", &["for-each-ref", "--format=%(refname)", "refs/endwell/sessions/"]);
    assert_eq!(pins, "refs/endwell/sessions/side/side-session");
    let side: Value =
        serde_json::from_str(&sandbox.read(".git/worktrees/side/endwell/sessions/side-session.json"))
            .unwrap();
    assert_eq!(side["phase"], "busy", "only its own work tree finishes it");
}
