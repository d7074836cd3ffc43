//! `endwell check`: its forms, its exit codes, whose dirt it is, and what it must never do.

use serde_json::Value;

use crate::common::{Ran, Sandbox};

/// Dirt of several kinds, with names that need care in every form.
fn dirty() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("README.md", "Changed.\n");
    sandbox.write("a, b: 100%\nnext.txt", "x\n");
    sandbox.write("src/lib.rs", "fn f() {\n    dbg!(1);\n}\n");
    sandbox
}

#[test]
fn human_form_names_each_kind_with_one_next_step() {
    let ran = dirty().endwell(&["check"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.stdout, @r#"
    ✗ working-tree
      block `README.md` is modified in the work tree. (uncommitted)
        hint: Commit it, or put it aside: `endwell park "what and why"`.
      block `a, b: 100%\nnext.txt` is not tracked. (untracked)
      block `src/lib.rs` is not tracked. (untracked)
        hint: Commit it (`git add -- $'a, b: 100%\nnext.txt'`), put it aside (`endwell park "what and why"`), delete it, or ignore it in `.gitignore`.
    ✗ temp-artifacts
      block src/lib.rs:2: A call that exists only for debugging. (debug-call)
        hint: Delete the line, or write `endwell:allow(debug-call) REASON` on it or above it.
    ! tests
      warn No test command is configured, and none was found in the project's files. (no-tests)
        hint: Name one in `endwell.toml`: `[tests]`, `command = "…"`.
    ✓ feature-board
    ✓ branch
    4 blocking issues, 1 warning
    "#);
}

#[test]
fn every_hint_to_add_a_file_can_be_pasted() {
    use std::os::unix::ffi::OsStrExt as _;
    let names: [&[u8]; 7] = [b"a\nb", b":colon", b"st*r", b"sp ace", b"quo'te", b"tab\t`tick", b"raw\xff"];
    for name in names {
        let sandbox = Sandbox::with_repo();
        std::fs::write(sandbox.repo().join(std::ffi::OsStr::from_bytes(name)), "x\n").unwrap();
        let report = sandbox.endwell(&["check", "--only", "working-tree", "--format", "json"]).json();
        let hint = report["issues"][0]["hint"].as_str().unwrap();
        let (_, rest) = hint.split_once("(`").unwrap();
        let (command, _) = rest.split_once("`)").unwrap();
        let ran = sandbox.command("bash", "repo", &["-c", command]);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
        assert_eq!(sandbox.git("repo", &["diff", "--cached", "--name-only"]).lines().count(), 1, "{command}");
    }
}

#[test]
fn sarif_is_valid_by_the_published_schema() {
    let ran = dirty().endwell(&["check", "--format", "sarif"]);
    assert_eq!(ran.code, Some(1));
    let mut schema: Value =
        serde_json::from_str(include_str!("../fixtures/sarif/sarif-schema-2.1.0.json")).unwrap();
    // the published file has a pattern for languages, which endwell never writes, that is no regular expression
    for owner in ["run", "toolComponent"] {
        schema["definitions"][owner]["properties"]["language"].as_object_mut().unwrap().remove("pattern");
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let log = ran.json();
    let faults: Vec<String> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let results = log["runs"][0]["results"].as_array().unwrap();
    let uris: Vec<&str> = results
        .iter()
        .filter_map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str())
        .collect();
    assert!(uris.contains(&"a%2C%20b%3A%20100%25%0Anext.txt"), "{uris:?}");
    assert!(results.iter().any(|result| result["ruleId"] == "temp-artifacts/debug-call"
        && result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2));
}

#[test]
fn github_annotations_are_one_line_each() {
    let ran = dirty().endwell(&["check", "--only", "working-tree,temp-artifacts", "--format", "github"]);
    insta::assert_snapshot!(ran.stdout, @r#"
    ::error file=README.md,title=working-tree%3A uncommitted::`README.md` is modified in the work tree. Commit it, or put it aside: `endwell park "what and why"`.
    ::error file=a%2C b%3A 100%25%0Anext.txt,title=working-tree%3A untracked::`a, b: 100%25\nnext.txt` is not tracked. Commit it (`git add -- $'a, b: 100%25\nnext.txt'`), put it aside (`endwell park "what and why"`), delete it, or ignore it in `.gitignore`.
    ::error file=src/lib.rs,title=working-tree%3A untracked::`src/lib.rs` is not tracked. Commit it (`git add -- src/lib.rs`), put it aside (`endwell park "what and why"`), delete it, or ignore it in `.gitignore`.
    ::error file=src/lib.rs,line=2,title=temp-artifacts%3A debug-call::A call that exists only for debugging. Delete the line, or write `endwell:allow(debug-call) REASON` on it or above it.
    "#);
}

#[test]
fn clean_state_is_exactly_the_blocking_issues() {
    let sandbox = dirty();
    let report = sandbox.endwell(&["check", "--json"]).json();
    let state: Value = serde_json::from_str(&sandbox.read("outputs/clean_state.json")).unwrap();
    let blocking: Vec<&Value> =
        report["issues"].as_array().unwrap().iter().filter(|issue| issue["severity"] == "block").collect();
    assert_eq!(state.as_array().unwrap().iter().collect::<Vec<_>>(), blocking);
    assert!(!blocking.is_empty());
    sandbox.git("repo", &["checkout", "-q", "README.md"]);
    sandbox.git("repo", &["clean", "-fdq", "-e", "outputs"]);
    assert_eq!(sandbox.endwell(&["check"]).code, Some(0));
    assert_eq!(sandbox.read("outputs/clean_state.json"), "[]\n");
}

#[test]
fn a_partial_run_writes_no_report() {
    let sandbox = dirty();
    sandbox.endwell(&["check", "--only", "branch"]);
    assert!(!sandbox.repo().join("outputs").exists());
}

#[test]
fn dirt_from_before_the_session_warns_until_it_is_touched() {
    let sandbox = dirty();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    let severity = |sandbox: &Sandbox, path: &str| {
        let report = sandbox.endwell(&["check", "--json"]).json();
        let issues = report["issues"].as_array().unwrap().clone();
        let found =
            issues.iter().find(|issue| issue["path"] == path && issue["check"] == "working-tree").cloned();
        found.map(|issue| {
            format!("{} {}", issue["severity"].as_str().unwrap(), issue["owner"].as_str().unwrap())
        })
    };
    assert_eq!(severity(&sandbox, "README.md").as_deref(), Some("warn before"));
    sandbox.write("README.md", "Changed again.\n");
    assert_eq!(severity(&sandbox, "README.md").as_deref(), Some("block session"));
    sandbox.write("new.txt", "x\n");
    assert_eq!(severity(&sandbox, "new.txt").as_deref(), Some("block session"));
    assert_eq!(severity(&sandbox, "src/lib.rs").as_deref(), Some("warn before"));
}

#[test]
fn where_nothing_can_be_judged_it_says_what_to_do() {
    let sandbox = Sandbox::new();
    let outside = sandbox.command(env!("CARGO_BIN_EXE_endwell"), ".", &["check"]);
    assert_eq!(outside.code, Some(3));
    let root = sandbox.root().display().to_string();
    insta::assert_snapshot!(outside.stderr.replace(&root, "ROOT"), @r#"
    error: `ROOT` is in no git repository
    hint: Go to a repository (`cd`, or `endwell -C DIR …`), or make one with `git init`.
    "#);
    sandbox.git(".", &["init", "-q", "--bare", "bare.git"]);
    let bare = sandbox.command(env!("CARGO_BIN_EXE_endwell"), "bare.git", &["check"]);
    assert_eq!(bare.code, Some(3));
    insta::assert_snapshot!(bare.stderr.replace(&root, "ROOT"), @r#"
    error: `ROOT/bare.git` is a bare repository, without a work tree
    hint: Go to a clone or a linked work tree of it (`git worktree list`).
    "#);
    let sandbox = Sandbox::with_repo();
    let without_git = Ran::of(
        sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo").env("PATH", "/nonexistent").arg("check"),
    );
    assert_eq!(without_git.code, Some(3));
    insta::assert_snapshot!(without_git.stderr, @r#"
    error: git is not on PATH
    hint: Install git 2.31 or newer, or put its folder on PATH.
    "#);
    sandbox.write("endwell.toml", "[tests]\ncommand =\n");
    let broken = sandbox.endwell(&["check"]);
    assert_eq!(broken.code, Some(3));
    insta::assert_snapshot!(broken.stderr, @r#"
    error: `endwell.toml` can't be read: TOML parse error at line 2, column 10
      |
    2 | command =
      |          ^
    string values must be quoted, expected literal string
    hint: Mend the line that is named, or move `endwell.toml` away: everything has a default.
    "#);
}

#[test]
fn usage_errors_exit_with_two() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["check", "--only", "nonsense"]).code, Some(2));
    assert_eq!(sandbox.endwell(&["check", "--base", "no-such-revision"]).code, Some(2));
    assert_eq!(sandbox.endwell(&["-C", "nowhere", "check"]).code, Some(2));
}

/// A git that writes down what it is called with, in front of the real one.
fn counting_git(sandbox: &Sandbox) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = sandbox.root().join("counting");
    std::fs::create_dir_all(&dir).unwrap();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|dir| dir.join("git"))
        .find(|git| git.exists());
    let script = format!(
        "#!/bin/sh\necho \"$*\" >>'{}'\nexec '{}' \"$@\"\n",
        sandbox.root().join("calls").display(),
        real.unwrap().display()
    );
    let path = dir.join("git");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn one_status_walk_a_run_and_the_index_keeps_its_bytes() {
    let sandbox = dirty();
    let dir = counting_git(&sandbox);
    let index = std::fs::read(sandbox.repo().join(".git/index")).unwrap();
    let paths = std::env::join_paths(
        std::iter::once(dir).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let ran = Ran::of(sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo").env("PATH", paths).arg("check"));
    assert_eq!(ran.code, Some(1));
    let calls = std::fs::read_to_string(sandbox.root().join("calls")).unwrap();
    let walks = calls.lines().filter(|call| call.split(' ').any(|word| word == "status")).count();
    assert_eq!(walks, 1, "{calls}");
    assert_eq!(std::fs::read(sandbox.repo().join(".git/index")).unwrap(), index);
}

#[test]
fn no_command_but_park_and_unpark_writes_the_index() {
    let sandbox = Sandbox::with_repo().with_remote();
    // an entry whose time stamp is stale is what a careless status would refresh
    std::thread::sleep(std::time::Duration::from_millis(20));
    sandbox.write("README.md", "A repository.\n");
    let index = || std::fs::read(sandbox.repo().join(".git/index")).unwrap();
    let before = index();
    let commands: &[&[&str]] = &[
        &["install", "--agent", "claude"],
        &["check"],
        &["verify"],
        &["note", "next", "Go on with the parser"],
        &["handoff"],
        &["resume"],
        &["show"],
        &["log"],
        &["board"],
        &["run", "--", "true"],
        &["park", "--list"],
        &["uninstall"],
    ];
    for args in commands {
        let ran = sandbox.endwell(args);
        assert!(ran.code.is_some_and(|code| code < 3), "{args:?}: {ran:?}");
        assert_eq!(index(), before, "{args:?}");
    }
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.try_git("repo", &["push", "-q", "origin", "main"]);
    assert_eq!(index(), before, "the push gate");
}

/// The issues of one check, as `severity code owner path`.
fn told(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let issues = report["issues"].as_array().unwrap();
    let word = |issue: &Value, key: &str| issue[key].as_str().unwrap_or("-").to_owned();
    issues
        .iter()
        .map(|issue| ["severity", "code", "owner", "path"].map(|key| word(issue, key)).join(" "))
        .collect()
}

#[test]
fn two_work_trees_with_sessions_at_once_see_nothing_of_each_other() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    sandbox.git("repo", &["worktree", "add", "-q", "../other", "-b", "other"]);
    let in_session = |dir: &str, id: &str, args: &[&str]| {
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), dir);
        Ran::of(command.env("CLAUDE_CODE_SESSION_ID", id).args(args))
    };
    for (dir, id) in [("repo", "one"), ("other", "two")] {
        let started = format!(r#"{{"session_id":"{id}","cwd":"{}"}}"#, sandbox.root().join(dir).display());
        let input = sandbox.root().join(format!("{id}.json"));
        std::fs::write(&input, started).unwrap();
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), dir);
        command.args(["hook", "start", "--client", "claude"]).stdin(std::fs::File::open(&input).unwrap());
        assert_eq!(Ran::of(&mut command).code, Some(0));
    }
    // the session in the other work tree leaves dirt, a stash without a note, and parked work
    let other = sandbox.root().join("other");
    std::fs::write(other.join("README.md"), "stashed\n").unwrap();
    sandbox.git("other", &["stash", "-q"]);
    std::fs::write(other.join("README.md"), "parked\n").unwrap();
    assert_eq!(in_session("other", "two", &["park", "half of the parser"]).code, Some(0));
    std::fs::write(other.join("dirt.txt"), "x\n").unwrap();
    let checks = ["check", "--only", "working-tree,branch", "--json"];
    let theirs = told(&in_session("other", "two", &checks));
    assert!(theirs.contains(&"block untracked session dirt.txt".to_owned()), "{theirs:?}");
    assert!(theirs.iter().any(|issue| issue.starts_with("block stash-without-note session")), "{theirs:?}");
    let ours = told(&in_session("repo", "one", &checks));
    assert!(!ours.iter().any(|issue| issue.starts_with("block")), "{ours:?}");
    let listed = in_session("repo", "one", &["park", "--list"]);
    assert!(!listed.stdout.contains("half of the parser"), "{listed:?}");
    let back = in_session("other", "two", &["park", "--list"]);
    assert!(back.stdout.contains("half of the parser"), "{back:?}");
}

#[test]
fn another_work_trees_branch_is_not_this_sessions_stray() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    sandbox.git("repo", &["worktree", "add", "-q", "../other", "-b", "other"]);
    begin_session(&sandbox);
    for (dir, name) in [("other", "theirs"), ("repo", "ours")] {
        let back = sandbox.git(dir, &["branch", "--show-current"]);
        sandbox.git(dir, &["switch", "-q", "-c", name]);
        sandbox.git(dir, &["commit", "-q", "--allow-empty", "-m", name]);
        sandbox.git(dir, &["switch", "-q", &back]);
    }
    let mut check = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    check.env("CLAUDE_CODE_SESSION_ID", "one").args(["check", "--only", "branch", "--json"]);
    let report = Ran::of(&mut check).json();
    let strays: Vec<&str> = report["issues"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|issue| issue["code"] == "stray-branch")
        .map(|issue| issue["message"].as_str().unwrap())
        .collect();
    assert_eq!(strays.len(), 1, "{strays:?}");
    assert!(strays[0].contains("`ours`"), "{strays:?}");
}

#[test]
fn another_tools_file_under_our_name_is_never_overwritten() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("outputs/clean_report.json", "PRECIOUS\n");
    let ran = sandbox.endwell(&["check"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("working-tree"), "what was judged is shown all the same: {ran:?}");
    assert!(ran.stderr.contains("is not endwell's"), "{ran:?}");
    assert_eq!(sandbox.read("outputs/clean_report.json"), "PRECIOUS\n");
}

#[test]
fn pipes_and_devices_under_the_names_of_inputs_never_hang() {
    for name in ["endwell.toml", "agent_state.json", "feature_list.json", "prd.json", "package.json"] {
        let sandbox = Sandbox::with_repo();
        assert_eq!(sandbox.command("mkfifo", "repo", &[name]).code, Some(0));
        let ran = sandbox.command("timeout", "repo", &["10", env!("CARGO_BIN_EXE_endwell"), "check"]);
        assert_ne!(ran.code, Some(124), "{name}: {ran:?}");
    }
}

/// An agent's session `one` in the repository, begun now.
fn begin_session(sandbox: &Sandbox) {
    let started = format!(r#"{{"session_id":"one","cwd":"{}"}}"#, sandbox.repo().display());
    std::fs::write(sandbox.root().join("start.json"), started).unwrap();
    let mut start = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    start.args(["hook", "start", "--client", "claude"]);
    start.stdin(std::fs::File::open(sandbox.root().join("start.json")).unwrap());
    assert_eq!(Ran::of(&mut start).code, Some(0));
}

#[test]
fn a_head_that_another_process_moved_is_told() {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    sandbox.git("repo", &["worktree", "add", "-q", "../other", "-b", "other"]);
    begin_session(&sandbox);
    let branch = || {
        let mut check = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
        check.env("CLAUDE_CODE_SESSION_ID", "one").args(["check", "--only", "branch", "--json"]);
        told(&Ran::of(&mut check))
    };
    sandbox.git("repo", &["commit", "-q", "--allow-empty", "-m", "mine"]);
    sandbox.git("repo", &["commit", "-q", "--amend", "--allow-empty", "-m", "mine, in better words"]);
    assert_eq!(branch(), Vec::<String>::new(), "one's own commits and amends are no news");
    let foreign = sandbox.git("repo", &["commit-tree", "-p", "HEAD~1", "-m", "foreign", "HEAD^{tree}"]);
    sandbox.git("other", &["update-ref", "refs/heads/main", &foreign]);
    assert_eq!(branch(), ["block head-moved session -"]);
}
