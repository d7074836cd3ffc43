//! What the push gate decides beyond clean and dirty: a person's exception, short tests that are run on the way, parked
//! work by any name, tags that bring nothing, and input that makes no sense.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

/// A repository with a remote and a test command that is green where `ok` is committed.
fn tested(command: &str) -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", &format!("[tests]\ncommand = \"{command}\"\n"));
    sandbox.write("ok", "1\n");
    sandbox.commit("tests");
    let sandbox = sandbox.with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox
}

fn push(sandbox: &Sandbox, args: &[&str]) -> Ran {
    sandbox.try_git("repo", &[&["push", "-q"], args].concat())
}

/// Runs endwell at a terminal: `script` makes one.
fn at_a_terminal(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = sandbox.prepare("script", "repo");
    command.args(["-qefc", &format!("endwell {line}"), "/dev/null"]);
    Ran::of(command.envs(variables.iter().copied()))
}

fn exceptions(sandbox: &Sandbox) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.repo().join("outputs/verification/overrides.jsonl"));
    text.unwrap_or_default().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn remote_head(sandbox: &Sandbox, name: &str) -> String {
    sandbox.git("up.git", &["rev-parse", name])
}

#[test]
fn a_person_lets_one_push_through_and_it_is_on_record() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    let none = at_a_terminal(&sandbox, "allow --reason x", &[]);
    assert!(none.code == Some(1) && none.stdout.contains("no push was refused here"), "{none:?}");
    sandbox.write("a.txt", "a\n");
    sandbox.commit("One");
    sandbox.write("left.txt", "not committed\n");
    let refused = push(&sandbox, &["origin", "main"]);
    assert!(refused.code == Some(1) && refused.stderr.trim_end().ends_with(
        "Or let this one push through, on record: `endwell allow --reason \"why\"`.\nerror: failed to push some refs to '../up.git'"
    ), "{refused:?}");
    // not without a terminal, and not without a reason
    let piped = sandbox.endwell(&["allow", "--reason", "x"]);
    assert!(piped.code == Some(1) && piped.stderr.contains("given at a terminal"), "{piped:?}");
    assert_eq!(at_a_terminal(&sandbox, "allow --reason ' '", &[]).code, Some(2));
    assert!(exceptions(&sandbox).is_empty());
    let allowed = at_a_terminal(&sandbox, "allow --reason 'the file is for tomorrow'", &[]);
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    assert!(allowed.stdout.contains("`left.txt` is not tracked. (untracked)"), "{allowed:?}");
    let entry = &exceptions(&sandbox)[0];
    assert_eq!((&entry["by"], &entry["reason"]), (&json!("Test"), &json!("the file is for tomorrow")));
    assert_eq!(entry["refs"][0]["commit"], sandbox.git("repo", &["rev-parse", "HEAD"]).as_str());
    assert_eq!(entry["issues"][0]["code"], "untracked");
    let through = push(&sandbox, &["origin", "main"]);
    assert_eq!(through.code, Some(0), "{through:?}");
    assert!(through.stderr.contains("by an exception of Test: the file is for tomorrow"), "{through:?}");
    // used up
    let again = push(&sandbox, &["origin", "main:other"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    // never for a packet, which lists it once the bench is clean
    sandbox.endwell(&["verify"]);
    sandbox.endwell(&["note", "next", "Go on"]);
    assert_eq!(sandbox.endwell(&["handoff"]).code, Some(1));
    std::fs::remove_file(sandbox.repo().join("left.txt")).unwrap();
    sandbox.endwell(&["verify"]);
    let packet = sandbox.endwell(&["handoff", "--json"]);
    let risks = packet.json()["open_risks"].to_string();
    assert!(risks.contains("Test let a push through although the gate refused it (untracked)"), "{risks}");
    assert_eq!(risks.matches("the file is for tomorrow").count(), 1, "{risks}");
}

#[test]
fn an_exception_holds_for_what_was_shown_and_for_nothing_else() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.commit("One");
    sandbox.write("left.txt", "x\n");
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(1));
    assert_eq!(at_a_terminal(&sandbox, "allow --reason x", &[]).code, Some(0));
    sandbox.write("more.txt", "x\n");
    let more = push(&sandbox, &["origin", "main"]);
    assert_eq!(more.code, Some(1), "a finding came to it: {more:?}");
    std::fs::remove_file(sandbox.repo().join("more.txt")).unwrap();
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "Two"]);
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(1), "another commit");
    // what lies in the work tree is for readers: the gate does not believe it
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(1));
    let mut forged = exceptions(&sandbox)[0].clone();
    forged["refs"][0]["commit"] = json!(sandbox.git("repo", &["rev-parse", "HEAD"]));
    sandbox.write("outputs/verification/overrides.jsonl", &format!("{forged}\n"));
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(1), "a forged record");
}

#[test]
fn an_agent_grants_no_exception_unless_the_settings_let_it() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.write("left.txt", "x\n");
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "One"]);
    let mut git = sandbox.prepare("git", "repo");
    let refused = Ran::of(git.env("CLAUDECODE", "1").args(["push", "-q", "origin", "main"]));
    assert!(refused.code == Some(1) && !refused.stderr.contains("endwell allow"), "{refused:?}");
    let by_name = at_a_terminal(&sandbox, "allow --reason x", &[("CODEX_THREAD_ID", "t1")]);
    assert!(by_name.code == Some(1) && by_name.stdout.contains("a session of `codex`"), "{by_name:?}");
    // a session whose client is among the ancestors: here, this test
    let id = "6f1c2e50-0000-4000-8000-000000000001";
    let started = Ran::of(
        sandbox.prepare("sh", "repo").args(["-c", &format!(
            "printf '{{\"session_id\":\"{id}\",\"cwd\":\"%s\",\"source\":\"startup\"}}' \"$PWD\" | endwell hook start --client claude"
        )]),
    );
    assert_eq!(started.code, Some(0), "{started:?}");
    // `script` is no shell and no wrapper, but its parent is the owner
    let by_owner = at_a_terminal(&sandbox, "allow --reason x", &[]);
    assert!(by_owner.code == Some(1) && by_owner.stdout.contains("a session of `claude`"), "{by_owner:?}");
    // a setting that the agent has just made does not count
    sandbox.write("endwell.toml", "[allow]\nagents = true\n");
    assert_eq!(sandbox.endwell(&["allow", "--reason", "x"]).code, Some(1));
    sandbox.git("repo", &["add", "endwell.toml"]);
    sandbox.git("repo", &["commit", "-q", "-m", "Agents may"]);
    assert_eq!(sandbox.endwell(&["allow", "--reason", "x"]).code, Some(1));
    assert!(exceptions(&sandbox).is_empty());
}

#[test]
fn agents_may_where_it_was_committed_before_their_session() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[allow]\nagents = true\n");
    sandbox.commit("Agents may");
    let sandbox = sandbox.with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.write("left.txt", "x\n");
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "One"]);
    let ran = |program: &str, args: &[&str]| {
        Ran::of(sandbox.prepare(program, "repo").env("CLAUDECODE", "1").args(args))
    };
    let refused = ran("git", &["push", "-q", "origin", "main"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("endwell allow"), "{refused:?}");
    let allowed = ran(env!("CARGO_BIN_EXE_endwell"), &["allow", "--reason", "x"]);
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    assert_eq!(exceptions(&sandbox)[0]["agent"], "claude");
    assert_eq!(ran("git", &["push", "-q", "origin", "main"]).code, Some(0));
}

#[test]
fn tests_that_are_known_to_be_short_are_run_on_the_way() {
    let sandbox = tested("test -e ok");
    // how long they take is not known yet: never in the middle of a push
    sandbox.commit("One");
    let unknown = push(&sandbox, &["origin", "main"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("Run `endwell verify`."), "{unknown:?}");
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(0));
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(0));
    sandbox.write("more.txt", "x\n");
    sandbox.commit("Two");
    let ran = push(&sandbox, &["origin", "main"]);
    assert!(
        ran.code == Some(0) && ran.stderr.contains("they are short: running them (at most 60 s)"),
        "{ran:?}"
    );
    assert_eq!(remote_head(&sandbox, "main"), sandbox.git("repo", &["rev-parse", "HEAD"]));
    // red on the way is red
    sandbox.git("repo", &["rm", "-q", "ok"]);
    sandbox.commit("Break it");
    let red = push(&sandbox, &["origin", "main"]);
    assert!(red.code == Some(1) && red.stderr.contains("(tests-unnamed)"), "{red:?}");
    // not where something else is missing, and not where HEAD is not pushed
    sandbox.write("ok", "2\n");
    sandbox.commit("Mend it");
    sandbox.write("left.txt", "x\n");
    let dirty = push(&sandbox, &["origin", "main"]);
    assert!(dirty.code == Some(1) && !dirty.stderr.contains("running them"), "{dirty:?}");
    std::fs::remove_file(sandbox.repo().join("left.txt")).unwrap();
    sandbox.write("endwell.toml", "[tests]\ncommand = \"test -e ok\"\n[push]\ntest_seconds = 0\n");
    sandbox.commit("Never in a push");
    let never = push(&sandbox, &["origin", "main"]);
    assert!(never.code == Some(1) && !never.stderr.contains("running them"), "{never:?}");
}

#[test]
fn tests_that_turn_out_long_are_stopped_and_the_push_is_refused() {
    let sandbox = tested("test -e fast || sleep 30");
    sandbox
        .write("endwell.toml", "[tests]\ncommand = \"test -e fast || sleep 30\"\n[push]\ntest_seconds = 1\n");
    sandbox.write("fast", "x\n");
    sandbox.commit("Fast");
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(0));
    sandbox.git("repo", &["rm", "-q", "fast"]);
    sandbox.commit("Slow");
    let began = std::time::Instant::now();
    let ran = push(&sandbox, &["origin", "main"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("(tests-timeout)"), "{ran:?}");
    assert!(began.elapsed().as_secs() < 20);
}

#[test]
fn own_dirt_may_only_warn_and_the_pushed_commit_s_own_record_counts() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[tests]\ncommand = \"test -e README.md\"\n[push]\nown_dirt = \"warn\"\n");
    sandbox.commit("settings");
    let sandbox = sandbox.with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.write("a.txt", "x\n");
    sandbox.commit("One");
    sandbox.write("left.txt", "x\n");
    let missing = push(&sandbox, &["origin", "main"]);
    assert!(
        missing.code == Some(1) && missing.stderr.contains("`endwell verify --clean-room`"),
        "{missing:?}"
    );
    assert_eq!(sandbox.endwell(&["verify", "--clean-room"]).code, Some(0));
    let ran = push(&sandbox, &["origin", "main"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("warning: `left.txt` is not tracked"), "{ran:?}");
}

#[test]
fn parked_work_is_not_pushed_by_any_name() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.write("secret.txt", "x\n");
    sandbox.write("README.md", "half\n");
    assert_eq!(sandbox.endwell(&["park", "half a thought for later"]).code, Some(0));
    let parked = sandbox.git("repo", &["for-each-ref", "--format=%(objectname)", "refs/endwell/parked"]);
    let before = sandbox.git("up.git", &["for-each-ref"]);
    sandbox.git("repo", &["tag", "-a", "-m", "t", "wrapped", &parked]);
    let refused = |what: &str| {
        let ran = push(&sandbox, &["origin", what]);
        assert!(ran.code == Some(1) && ran.stderr.contains("(parked-ref)"), "{what}: {ran:?}");
        assert!(!ran.stderr.contains("endwell allow"), "{what}: {ran:?}");
        assert_eq!(sandbox.git("up.git", &["for-each-ref"]), before, "{what}");
    };
    for what in ["", "^2", "^3", "^4"] {
        refused(&format!("{parked}{what}:refs/heads/x"));
    }
    refused("wrapped");
    let allowed = at_a_terminal(&sandbox, "allow --reason x", &[]);
    assert!(allowed.code == Some(1) && allowed.stdout.contains("never pushed"), "{allowed:?}");
    // its ref is gone, its shape is not
    assert_eq!(sandbox.endwell(&["unpark"]).code, Some(0));
    refused(&format!("{parked}:refs/heads/x"));
    assert_eq!(push(&sandbox, &["origin", "main:refs/heads/fine"]).code, Some(1), "the bench is dirty");
}

#[test]
fn a_tag_on_what_the_remote_has_already_does_not_judge_the_bench() {
    let sandbox = tested("test -e ok");
    sandbox.git("repo", &["tag", "light"]);
    sandbox.git("repo", &["tag", "-a", "-m", "t", "heavy"]);
    sandbox.write("left.txt", "x\n");
    for tag in ["light", "heavy"] {
        let ran = push(&sandbox, &["origin", tag]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{tag}: {ran:?}");
    }
    // a new commit behind a tag does, and so does a branch
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "New"]);
    sandbox.git("repo", &["tag", "new"]);
    assert_eq!(push(&sandbox, &["origin", "new"]).code, Some(1));
    assert_eq!(push(&sandbox, &["origin", "HEAD~1:refs/heads/old"]).code, Some(0));
}

#[test]
fn a_made_up_tracking_branch_hides_no_red_record() {
    let sandbox = tested("test -e ok");
    sandbox.git("repo", &["switch", "-q", "-c", "side"]);
    sandbox.git("repo", &["rm", "-q", "ok"]);
    sandbox.commit("Break it");
    assert_eq!(sandbox.endwell(&["verify"]).code, Some(1));
    sandbox.git("repo", &["switch", "-q", "main"]);
    sandbox.git("repo", &["update-ref", "refs/remotes/origin/made-up", "side"]);
    let ran = push(&sandbox, &["origin", "side"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("(tests-red)"), "{ran:?}");
}

#[test]
fn a_refused_push_that_went_past_the_gate_is_told_at_check_and_at_the_start() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.write("left.txt", "x\n");
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "One"]);
    assert_eq!(push(&sandbox, &["origin", "main"]).code, Some(1));
    // the date of a reflog entry is the committer's: one from before the installation is made up
    let mut git = sandbox.prepare("git", "repo");
    git.args(["push", "-q", "--no-verify", "origin", "main"])
        .env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
    assert_eq!(Ran::of(&mut git).code, Some(0));
    let head = sandbox.git("repo", &["rev-parse", "HEAD"]);
    let told = format!("A push went past the gate: `origin/main` at {}", &head[..12]);
    let check = sandbox.endwell(&["check"]);
    assert!(check.stderr.contains(&told), "{check:?}");
    let line = "printf '{\"session_id\":\"s1\",\"cwd\":\"%s\",\"source\":\"startup\"}' \"$PWD\" | endwell hook start --client claude";
    let start = Ran::of(sandbox.prepare("sh", "repo").args(["-c", line]));
    assert!(start.stdout.contains(&told), "{start:?}");
}

/// Two hundred inputs, recorded and mangled: each is answered with a verdict or a reason, and none with a panic.
#[test]
fn no_input_of_the_hook_panics() {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.git("repo", &["tag", "-a", "-m", "t", "heavy"]);
    let ids = [("HEAD", "HEAD"), ("TREE", "HEAD^{tree}"), ("BLOB", "HEAD:README.md"), ("TAG", "heavy")]
        .map(|(name, revision)| (name, sandbox.git("repo", &["rev-parse", revision])));
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/prepush/stdin.jsonl");
    let text = std::fs::read_to_string(table).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= 200, "{}", cases.len());
    let one = |case: &Value| {
        use std::io::Write as _;
        use std::process::Stdio;
        // one char a byte, so that any byte can stand in the table
        let mut input: Vec<u8> =
            case["input"].as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        for (name, id) in &ids {
            let (from, mut at) = (format!("@{name}@"), 0);
            while let Some(found) =
                input[at..].windows(from.len()).position(|window| window == from.as_bytes())
            {
                at += found;
                input.splice(at..at + from.len(), id.bytes());
            }
        }
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
        command
            .args(["hook", "pre-push", "origin", "../up.git"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&input).ok();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        let wanted: Vec<i64> =
            case["exit"].as_array().unwrap().iter().map(|code| code.as_i64().unwrap()).collect();
        let code = done.status.code().map(i64::from);
        assert!(code.is_some_and(|code| wanted.contains(&code)), "{case}: {code:?} {stderr}");
        assert!(!stderr.contains("panicked"), "{case}: {stderr}");
        assert!(code == Some(0) || stderr.contains("hint:"), "{case}: no next step: {stderr}");
    };
    std::thread::scope(|scope| {
        for part in cases.chunks(cases.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(one));
        }
    });
}
