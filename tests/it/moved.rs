//! An installation whose repository was renamed, copied, or lost its record: what was there comes back all the same.

use crate::common::{Ran, Sandbox};
use crate::install::{same, snapshot};

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn within(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Ran {
    sandbox.command(env!("CARGO_BIN_EXE_endwell"), dir, args)
}

/// A repository with a hook of its own, endwell not in it yet.
fn harbour() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n");
    sandbox
}

fn is_clean(sandbox: &Sandbox, dir: &str) -> bool {
    sandbox.git(dir, &["status", "--porcelain"]).is_empty()
}

#[test]
fn a_renamed_repository_is_the_same_one() {
    for again in [false, true] {
        let sandbox = harbour();
        let before = snapshot(&sandbox.repo());
        ok(sandbox.endwell(&["install", "--agent", "claude"]));
        std::fs::rename(sandbox.repo(), sandbox.root().join("moved")).unwrap();
        if again {
            let ran = ok(within(&sandbox, "moved", &["install", "--agent", "claude"]));
            assert!(ran.stderr.starts_with("endwell is already installed here"), "{ran:?}");
            let records =
                std::fs::read_dir(sandbox.root().join("home/.local/state/endwell/installs")).unwrap();
            let texts: Vec<String> =
                records.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
            assert!(texts.len() == 1 && texts[0].contains("/moved/.git\""), "{texts:?}");
        }
        assert!(is_clean(&sandbox, "moved"));
        let status = within(&sandbox, "moved", &["uninstall"]);
        assert!(ok(status).stderr.contains("Restored `.git/hooks/pre-push`"));
        same(&before, &snapshot(&sandbox.root().join("moved")));
    }
}

#[test]
fn a_copy_is_installed_on_its_own_and_taken_back_on_its_own() {
    for install in [false, true] {
        let sandbox = harbour();
        let before = snapshot(&sandbox.repo());
        ok(sandbox.endwell(&["install", "--agent", "claude"]));
        let installed = snapshot(&sandbox.repo());
        ok(sandbox.command("cp", ".", &["-a", "repo", "copy"]));
        if install {
            ok(within(&sandbox, "copy", &["install", "--agent", "claude"]));
        }
        assert!(is_clean(&sandbox, "copy"));
        ok(within(&sandbox, "copy", &["uninstall"]));
        same(&before, &snapshot(&sandbox.root().join("copy")));
        same(&installed, &snapshot(&sandbox.repo()));
        ok(sandbox.endwell(&["uninstall"]));
        same(&before, &snapshot(&sandbox.repo()));
    }
}

#[test]
fn a_lost_record_leaves_nothing_behind() {
    for install in [false, true] {
        let sandbox = harbour();
        let before = snapshot(&sandbox.repo());
        ok(sandbox.endwell(&["install", "--agent", "claude"]));
        std::fs::remove_dir_all(sandbox.root().join("home/.local/state")).unwrap();
        if install {
            ok(sandbox.endwell(&["install", "--agent", "claude"]));
            assert!(is_clean(&sandbox, "repo"), "{}", sandbox.read(".git/info/exclude"));
        }
        ok(sandbox.endwell(&["uninstall"]));
        let mut after = snapshot(&sandbox.repo());
        // nobody knows any more who made the folder
        after.remove(std::path::Path::new(".claude"));
        same(&before, &after);
    }
}

#[test]
fn every_work_trees_baseline_goes() {
    let sandbox = Sandbox::with_repo();
    sandbox.git("repo", &["worktree", "add", "-q", "../linked"]);
    ok(sandbox.endwell(&["install"]));
    ok(within(&sandbox, "linked", &["install"]));
    let kept = [".git/endwell", ".git/worktrees/linked/endwell"].map(|dir| sandbox.repo().join(dir));
    assert!(kept.iter().all(|dir| dir.join("baseline.json").exists()));
    ok(sandbox.endwell(&["uninstall"]));
    assert!(!kept.iter().any(|dir| dir.exists()));
}

#[test]
fn an_agent_that_is_named_twice_is_told_of_once() {
    let sandbox = Sandbox::with_repo();
    let ran = ok(sandbox.endwell(&["install", "--agent", "claude", "--agent", "claude"]));
    assert_eq!(ran.stderr.matches("settings.local.json").count(), 1, "{ran:?}");
}

/// The last line is what the push then says.
#[test]
fn what_a_push_would_say_is_right_after_a_shared_installation() {
    let sandbox = Sandbox::with_repo().with_remote();
    let ran = ok(sandbox.endwell(&["install", "--shared", "--agent", "claude"]));
    let pushed = sandbox.try_git("repo", &["push", "origin", "HEAD:refs/heads/new"]);
    let says_yes = ran.stderr.contains("A push now would go through");
    assert_eq!(says_yes, pushed.code == Some(0), "{ran:?} {pushed:?}");
    assert_ne!(says_yes, ran.stderr.contains("A push now would be refused"), "{ran:?}");
}
