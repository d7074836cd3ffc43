//! Around the round trip: refusals that touch nothing, another HEAD, several parks, several work trees, packets.

use serde_json::json;

use super::{NOTE, assert_clean, at, done, link, parked, picture, put, sandbox};
use crate::common::Sandbox;
use crate::handoff;

/// Parks in vain: nothing may have changed.
fn refused(sandbox: &Sandbox, code: i32, parts: &[&str]) {
    let before = picture(sandbox);
    let ran = sandbox.endwell(&["park", NOTE]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for part in parts {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert_eq!(picture(sandbox), before);
    assert_eq!(sandbox.git("repo", &["for-each-ref", "refs/endwell"]), "");
    assert!(!sandbox.repo().join(".git/index.lock").exists());
}

#[test]
fn an_operation_under_way_is_refused() {
    let sandbox = sandbox();
    sandbox.git("repo", &["bisect", "start", "-q"]);
    sandbox.write("a.txt", "changed\n");
    refused(&sandbox, 1, &["a bisect is under way", "git bisect reset"]);
}

#[test]
fn a_dirty_submodule_is_refused() {
    let sandbox = sandbox();
    sandbox.git(".", &["init", "-q", "-b", "main", "inner"]);
    sandbox.git("inner", &["commit", "-q", "--allow-empty", "-m", "inner"]);
    sandbox.git("repo", &["submodule", "add", "-q", "../inner", "sub"]);
    refused(&sandbox, 1, &["the submodule `sub`"]);
    sandbox.commit("sub");
    sandbox.write("sub/new", "x\n");
    sandbox.write("a.txt", "changed\n");
    refused(&sandbox, 1, &["the submodule `sub`"]);
}

#[test]
fn a_nested_repository_is_refused() {
    let sandbox = sandbox();
    sandbox.git("repo", &["init", "-q", "nested"]);
    sandbox.write("a.txt", "changed\n");
    refused(&sandbox, 1, &["`nested/` is a repository of its own"]);
}

#[test]
fn a_repository_without_a_commit_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.git(".", &["init", "-q", "-b", "main", "repo"]);
    sandbox.write("a.txt", "x\n");
    sandbox.git("repo", &["add", "a.txt"]);
    refused(&sandbox, 1, &["there is no commit to park on"]);
}

#[test]
fn a_filter_that_fails_is_refused() {
    let sandbox = sandbox();
    sandbox.git("repo", &["config", "filter.x.clean", "false"]);
    sandbox.git("repo", &["config", "filter.x.required", "true"]);
    sandbox.write(".gitattributes", "*.x filter=x\n");
    sandbox.write("new.x", "x\n");
    refused(&sandbox, 3, &["nothing was taken away"]);
}

#[test]
fn a_note_that_says_nothing_is_refused() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "changed\n");
    for note in ["wip", "tmp", "", "a b c d", "WIP on main, again"] {
        let ran = sandbox.endwell(&["park", note]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("hint: Say what it is"), "{}", ran.stderr);
    }
    assert_eq!(sandbox.read("a.txt"), "changed\n");
    assert!(parked(&sandbox).is_empty());
}

#[test]
fn a_lock_of_another_git_is_respected() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "changed\n");
    let lock = sandbox.repo().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let ran = sandbox.endwell(&["park", NOTE]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("another git process holds"), "{}", ran.stderr);
    assert_eq!(std::fs::read(&lock).unwrap(), b"");
    assert_eq!(sandbox.read("a.txt"), "changed\n");
    assert!(!sandbox.repo().join(".git/endwell/park.json").exists());
}

#[test]
fn ignored_files_in_the_way_are_named_before_anything_moves() {
    let sandbox = sandbox();
    std::fs::remove_file(at(&sandbox, b"a.txt")).unwrap();
    put(&sandbox, b"a.txt/kept.log", b"precious\n");
    put(&sandbox, b"a.txt/new", b"x\n");
    refused(&sandbox, 1, &["`a.txt/kept.log` is in the way of `a.txt`"]);
    // and on the way back
    std::fs::remove_dir_all(at(&sandbox, b"a.txt")).unwrap();
    sandbox.git("repo", &["restore", "a.txt"]);
    sandbox.write("new/x", "x\n");
    done(sandbox.endwell(&["park", NOTE]));
    sandbox.write(".git/info/exclude", "/new\n");
    sandbox.write("new", "precious\n");
    let ran = sandbox.endwell(&["unpark"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("`new` is in the way of `new/x`"), "{}", ran.stderr);
    assert_eq!(sandbox.read("new"), "precious\n");
    std::fs::remove_file(at(&sandbox, b"new")).unwrap();
    sandbox.write("new/x", "precious\n");
    let ran = sandbox.endwell(&["unpark"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("`new/x` is there again"), "{ran:?}");
    assert_eq!(sandbox.read("new/x"), "precious\n");
    assert_eq!(parked(&sandbox).len(), 1);
}

#[test]
fn a_clean_tree_has_nothing_to_park_and_a_dirty_one_takes_nothing_back() {
    let sandbox = sandbox();
    let ran = done(sandbox.endwell(&["park", NOTE]));
    insta::assert_snapshot!(ran.stderr, @"There is nothing to park: the work tree is clean.");
    assert_eq!(sandbox.endwell(&["unpark"]).code, Some(1));
    sandbox.write("a.txt", "changed\n");
    done(sandbox.endwell(&["park", NOTE]));
    sandbox.write("src/m.rs", "other\n");
    let ran = sandbox.endwell(&["unpark"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    insta::assert_snapshot!(ran.stderr, @r"
    error: can't bring the parked work back; it is still parked: the work tree is not clean: `src/m.rs`
    hint: Commit that, or put it aside with `endwell park NOTE`, then try again.
    ");
}

#[test]
fn work_comes_back_onto_another_commit() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "zero\none\ntwo\nthree\n");
    sandbox.git("repo", &["add", "a.txt"]);
    sandbox.write("a.txt", "zero\none\ntwo\nthree\nfour\n");
    sandbox.write("new", "n\n");
    done(sandbox.endwell(&["park", NOTE]));
    sandbox.write("docs/d.md", "moved on\n");
    sandbox.commit("moved on");
    let ran = done(sandbox.endwell(&["unpark"]));
    assert!(ran.stderr.contains("merged into another commit"), "{}", ran.stderr);
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "MM a.txt\n?? new");
    assert_eq!(sandbox.read("a.txt"), "zero\none\ntwo\nthree\nfour\n");
    assert!(parked(&sandbox).is_empty());
}

#[test]
fn conflicts_leave_the_work_parked_and_say_how_to_go_on() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "one\nmine\nthree\n");
    sandbox.write("new", "n\n");
    let id = done(sandbox.endwell(&["park", NOTE])).stdout.trim().to_owned();
    sandbox.write("a.txt", "one\ntheirs\nthree\n");
    sandbox.commit("theirs");
    let ran = sandbox.endwell(&["unpark"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("came back with conflicts: `a.txt`"), "{}", ran.stderr);
    assert_eq!(parked(&sandbox), [id]);
    assert!(sandbox.read("a.txt").contains("<<<<<<<"));
    sandbox.write("a.txt", "one\nboth\nthree\n");
    sandbox.commit("both");
    let command =
        ran.stderr.split('`').find(|part| part.starts_with("git update-ref -d")).unwrap().to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    sandbox.git("repo", &words);
    assert!(parked(&sandbox).is_empty());
}

#[test]
fn several_parks_of_one_session_have_a_ref_each() {
    let sandbox = sandbox();
    let run = |args: &[&str]| {
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
        done(crate::common::Ran::of(command.env("ENDWELL_SESSION_ID", "ses..one").args(args)))
    };
    for text in ["first\n", "second\n", "third\n"] {
        sandbox.write("a.txt", text);
        run(&["park", &format!("the {} try of it", text.trim())]);
    }
    let ids = parked(&sandbox);
    assert_eq!(ids.len(), 3);
    assert!(ids[1].ends_with("-2") && ids[2].ends_with("-3"), "{ids:?}");
    let list = run(&["park", "--list"]).stdout;
    assert!(list.lines().count() == 3 && list.contains("the second try of it"), "{list}");
    run(&["unpark", &ids[0]]);
    assert_eq!(sandbox.read("a.txt"), "first\n");
    sandbox.git("repo", &["restore", "."]);
    let another = sandbox.endwell(&["unpark"]);
    assert!(another.code == Some(2) && another.stderr.contains("Name one"), "{another:?}");
    run(&["unpark"]);
    assert_eq!(sandbox.read("a.txt"), "third\n", "the session's newest");
    assert_eq!(parked(&sandbox), [ids[1].clone()]);
    let unknown = sandbox.endwell(&["unpark", "nothing-of-that-name"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("park --list"), "{unknown:?}");
}

#[test]
fn work_trees_do_not_see_each_others_parked_work_as_their_own() {
    let sandbox = sandbox();
    sandbox.git("repo", &["worktree", "add", "-q", "../wt", "-b", "feat"]);
    let there = |args: &[&str]| sandbox.command(env!("CARGO_BIN_EXE_endwell"), "wt", args);
    sandbox.write("a.txt", "main's\n");
    std::fs::write(sandbox.root().join("wt/a.txt"), "feat's\n").unwrap();
    std::fs::write(sandbox.root().join("wt/new"), "n\n").unwrap();
    let here_id = done(sandbox.endwell(&["park", "the main work tree's half"])).stdout.trim().to_owned();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("wt/a.txt")).unwrap(), "feat's\n");
    assert!(done(there(&["park", "--list"])).stdout.is_empty());
    assert_eq!(there(&["unpark"]).code, Some(1));
    let full = format!("main-worktree/{here_id}");
    let ran = there(&["unpark", &full]);
    assert!(ran.code == Some(1) && ran.stderr.contains("parked work of the work tree"), "{ran:?}");
    done(there(&["park", "the feature's other half"]));
    let all = done(sandbox.endwell(&["park", "--list", "--all", "--json"])).json();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(parked(&sandbox).len(), 1);
    sandbox.git("repo", &["gc", "-q", "--prune=now"]);
    done(there(&["unpark"]));
    assert_eq!(std::fs::read_to_string(sandbox.root().join("wt/a.txt")).unwrap(), "feat's\n");
    done(sandbox.endwell(&["unpark"]));
    assert_eq!(sandbox.read("a.txt"), "main's\n");
}

#[test]
fn a_removed_work_trees_parked_work_can_be_had_elsewhere() {
    let sandbox = sandbox();
    sandbox.git("repo", &["worktree", "add", "-q", "../wt", "-b", "feat"]);
    std::fs::write(sandbox.root().join("wt/new"), "n\n").unwrap();
    let ran = done(sandbox.command(env!("CARGO_BIN_EXE_endwell"), "wt", &["park", NOTE]));
    sandbox.git("repo", &["worktree", "remove", "../wt"]);
    assert!(parked(&sandbox).is_empty());
    done(sandbox.endwell(&["unpark", &format!("wt/{}", ran.stdout.trim())]));
    assert_eq!(sandbox.read("new"), "n\n");
}

#[test]
fn own_artifacts_are_neither_parked_nor_touched() {
    let sandbox = sandbox();
    sandbox.write("agent_state.json", "{\"schema_version\": 1}\n");
    sandbox.commit("tracked state");
    sandbox.write("agent_state.json", "{\"schema_version\": 1, \"next_action\": \"staged\"}\n");
    sandbox.git("repo", &["add", "agent_state.json"]);
    sandbox.write("outputs/review/x.json", "{}\n");
    sandbox.write("a.txt", "changed\n");
    done(sandbox.endwell(&["park", NOTE]));
    assert_eq!(
        sandbox.git("repo", &["status", "--porcelain", "-uall"]),
        "M  agent_state.json\n?? outputs/review/x.json"
    );
    sandbox.write("agent_state.json", "{\"schema_version\": 1, \"next_action\": \"later\"}\n");
    sandbox.git("repo", &["add", "agent_state.json"]);
    let now = sandbox.git("repo", &["ls-files", "-s", "agent_state.json"]);
    done(sandbox.endwell(&["unpark"]));
    assert_eq!(sandbox.git("repo", &["ls-files", "-s", "agent_state.json"]), now);
    assert!(sandbox.read("agent_state.json").contains("later"));
    assert_eq!(sandbox.read("a.txt"), "changed\n");
}

#[test]
fn locks_that_a_killed_git_left_are_removed_and_older_ones_are_not() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "changed\n");
    let id = done(sandbox.endwell(&["park", NOTE])).stdout.trim().to_owned();
    let own = sandbox.repo().join(".git/endwell");
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(own.join(format!("parked/main-worktree/{id}.json"))).unwrap())
            .unwrap();
    let commit = sandbox.git("repo", &["rev-parse", record["ref"].as_str().unwrap()]);
    // as a kill inside of `git update-ref -d` leaves it: all is back, the ref is not gone yet
    sandbox.write("a.txt", "changed\n");
    let journal = json!({"schema_version": 1, "work": "unpark", "nonce": "x", "commit": commit, "record": record,
        "index_before": null, "steps": [], "folders": []});
    let lock = sandbox.repo().join(".git").join(format!("{}.lock", record["ref"].as_str().unwrap()));
    let packed = sandbox.repo().join(".git/packed-refs.lock");
    std::fs::write(&packed, "").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(own.join("park.json"), journal.to_string()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let ran = sandbox.endwell(&["park", "--list"]);
    assert!(
        ran.code == Some(3) && ran.stderr.contains("packed-refs.lock"),
        "another's lock is respected: {ran:?}"
    );
    assert!(!lock.exists() && packed.exists());
    std::fs::remove_file(&packed).unwrap();
    let ran = done(sandbox.endwell(&["check", "--only", "branch"]));
    assert!(ran.stderr.contains("was finished"), "{ran:?}");
    assert!(parked(&sandbox).is_empty());
}

#[test]
fn hooks_of_the_repository_do_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = sandbox();
    for name in ["post-index-change", "reference-transaction", "post-checkout"] {
        let hook = sandbox.repo().join(".git/hooks").join(name);
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, "#!/bin/sh\necho ran >>\"$HOME/hooks\"\n").unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    sandbox.write("a.txt", "changed\n");
    done(sandbox.endwell(&["park", NOTE]));
    done(sandbox.endwell(&["unpark"]));
    assert!(!sandbox.root().join("home/hooks").exists());
}

#[test]
fn the_folder_under_the_shell_stays() {
    let sandbox = sandbox();
    sandbox.write("new/deep/x", "x\n");
    done(sandbox.command(env!("CARGO_BIN_EXE_endwell"), "repo/new/deep", &["park", NOTE]));
    assert_clean(&sandbox);
    assert!(sandbox.repo().join("new/deep").is_dir());
    done(sandbox.command(env!("CARGO_BIN_EXE_endwell"), "repo/new/deep", &["unpark"]));
    assert_eq!(sandbox.read("new/deep/x"), "x\n");
}

#[test]
fn parked_work_is_a_prerequisite_of_the_packet() {
    let sandbox = handoff::sandbox();
    link(&sandbox, "new", "nowhere");
    let hint = sandbox.endwell(&["check"]);
    assert!(hint.stdout.contains("endwell park") || hint.stderr.contains("endwell park"), "{hint:?}");
    let id = done(sandbox.endwell(&["park", NOTE])).stdout.trim().to_owned();
    handoff::ready(&sandbox);
    let packet = done(sandbox.endwell(&["handoff", "--session", "one", "--json"])).json();
    let parked =
        packet["prerequisites"].as_array().unwrap().iter().find(|need| need["kind"] == "parked").unwrap();
    assert_eq!(parked["what"], json!(format!("main-worktree/{id}")));
    assert!(parked["why"].as_str().unwrap().contains(NOTE));
    let claims = |sandbox: &Sandbox| sandbox.endwell(&["resume", "--json"]).stdout;
    assert!(!claims(&sandbox).contains("it is not parked any more"), "{}", claims(&sandbox));
    done(sandbox.endwell(&["unpark", parked["what"].as_str().unwrap()]));
    assert!(claims(&sandbox).contains("it is not parked any more"), "{}", claims(&sandbox));
}
