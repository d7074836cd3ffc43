//! How a push comes to call endwell where a file in `.git/hooks` is not the way: git's own configuration (git 2.54 and
//! newer), a block in the project's script, and what a hook does that finds no endwell.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, Sandbox};
use crate::install::{same, snapshot};

fn build(setup: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/prepush").join(setup);
    let root = sandbox.root().to_str().unwrap().to_owned();
    let ran = sandbox.command("sh", ".", &[script.to_str().unwrap(), &root]);
    assert_eq!(ran.code, Some(0), "{setup}: {ran:?}");
    sandbox
}

/// The folder of a git that runs hooks from its configuration: `ENDWELL_NEW_GIT`, else the one on PATH, else none, and
/// the test says that it is skipped.
fn new_git(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("ENDWELL_NEW_GIT").map(PathBuf::from);
    let folder = named.clone().unwrap_or_else(|| which("git").parent().unwrap().to_owned());
    let words = ["-c", "hook.x.event=pre-push", "-c", "hook.x.command=true", "hook", "list", "pre-push"];
    let told = Command::new(folder.join("git")).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let told = told.unwrap();
    if told.status.success() {
        return Some(folder);
    }
    assert!(named.is_none(), "`ENDWELL_NEW_GIT` holds no git with hooks in its configuration: {told:?}");
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so by name")]
    {
        eprintln!("skipped: {test}: no git 2.54 or newer; `tests/kit/new-git.sh` gets one");
    }
    None
}

/// Runs with that git in front of PATH.
fn with(sandbox: &Sandbox, git: &Path, dir: &str, words: &[&str]) -> Ran {
    let mut command = sandbox.prepare(words[0], dir);
    let path = command.get_envs().find(|(key, _)| *key == "PATH").unwrap().1.unwrap().to_owned();
    let paths = std::iter::once(git.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    Ran::of(command.args(&words[1..]))
}

/// What an installation may touch, without what pushes change.
fn parts(sandbox: &Sandbox) -> std::collections::BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = snapshot(&sandbox.repo());
    let moves = ["refs", "logs", "objects", "outputs", "COMMIT_EDITMSG", "packed-refs"];
    all.retain(|path, _| {
        !path.components().any(|part| moves.iter().any(|name| part.as_os_str() == *name))
            && !path.starts_with(".git/endwell")
    });
    all
}

#[test]
fn git_s_configuration_calls_endwell_wherever_hooks_lie() {
    let Some(git) = new_git("git_s_configuration_calls_endwell_wherever_hooks_lie") else { return };
    let git = git.as_path();
    for setup in [
        "01-plain.sh",
        "02-hand-written.sh",
        "07-githooks-tracked.sh",
        "08-husky-9.sh",
        "14-global-hookspath.sh",
    ] {
        let sandbox = build(setup);
        let before = parts(&sandbox);
        let installed = with(&sandbox, git, "repo", &["endwell", "install"]);
        assert_eq!(installed.code, Some(0), "{setup}: {installed:?}");
        assert!(installed.stderr.contains("git's configuration calls endwell"), "{setup}: {installed:?}");
        assert!(
            installed.stderr.contains("A dry push to a scratch repository started the hook"),
            "{setup}: {installed:?}"
        );
        assert_eq!(with(&sandbox, git, "repo", &["endwell", "install"]).code, Some(0), "{setup}");
        let doctor = with(&sandbox, git, "repo", &["endwell", "doctor"]);
        assert_eq!(doctor.code, Some(0), "{setup}: {doctor:?}");
        sandbox.write("left.txt", "x\n");
        let dirty = with(&sandbox, git, "repo", &["git", "push", "origin", "HEAD:refs/heads/dirty"]);
        assert!(dirty.code == Some(1) && dirty.stderr.contains("left.txt"), "{setup}: {dirty:?}");
        std::fs::remove_file(sandbox.repo().join("left.txt")).unwrap();
        std::fs::write(sandbox.root().join("trace"), "").unwrap();
        let clean = with(&sandbox, git, "repo", &["git", "push", "origin", "HEAD:refs/heads/clean"]);
        assert_eq!(clean.code, Some(0), "{setup}: {clean:?}");
        let trace = std::fs::read_to_string(sandbox.root().join("trace")).unwrap();
        assert_eq!(trace.is_empty(), setup == "01-plain.sh", "{setup}: the other hook runs too: {trace}");
        // hooks are switched off for one push: this one runs all the same
        let off = ["git", "-c", "core.hooksPath=/dev/null", "push", "origin", "HEAD:refs/heads/off"];
        sandbox.write("left.txt", "x\n");
        assert_eq!(with(&sandbox, git, "repo", &off).code, Some(1), "{setup}");
        std::fs::remove_file(sandbox.repo().join("left.txt")).unwrap();
        assert_eq!(with(&sandbox, git, "repo", &["endwell", "uninstall"]).code, Some(0), "{setup}");
        same(&before, &parts(&sandbox));
    }
}

#[test]
fn a_repository_that_was_moved_is_told_of_and_not_locked() {
    let Some(git) = new_git("a_repository_that_was_moved_is_told_of_and_not_locked") else { return };
    let git = git.as_path();
    for (missing, code) in [("warn", 0), ("block", 1)] {
        let sandbox = Sandbox::with_repo();
        sandbox.write("endwell.toml", &format!("[push]\nmissing = \"{missing}\"\n"));
        sandbox.commit("settings");
        let sandbox = sandbox.with_remote();
        assert_eq!(with(&sandbox, git, "repo", &["endwell", "install"]).code, Some(0));
        std::fs::rename(sandbox.repo(), sandbox.root().join("moved")).unwrap();
        let ran = with(&sandbox, git, "moved", &["git", "push", "-q", "origin", "main:other"]);
        assert_eq!(ran.code, Some(code), "{missing}: {ran:?}");
        assert!(ran.stderr.contains("run endwell install again"), "{missing}: {ran:?}");
        let again = with(&sandbox, git, "moved", &["endwell", "install"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(with(&sandbox, git, "moved", &["endwell", "uninstall"]).code, Some(0));
        assert!(
            !std::fs::read_to_string(sandbox.root().join("moved/.git/config")).unwrap().contains("endwell")
        );
    }
}

#[test]
fn a_block_in_the_project_s_script_is_put_in_on_consent_and_taken_out() {
    for (setup, via, script) in [
        ("08-husky-9.sh", "husky", ".husky/pre-push"),
        ("07-githooks-tracked.sh", "script", ".githooks/pre-push"),
    ] {
        let sandbox = build(setup);
        let before = parts(&sandbox);
        let text = sandbox.read(script);
        let plain = sandbox.endwell(&["install"]);
        assert!(plain.stderr.contains(&format!("`endwell install --via {via}`")), "{setup}: {plain:?}");
        assert_eq!(sandbox.read(script), text, "not without consent");
        let ran = sandbox.endwell(&["install", "--via", via]);
        assert_eq!(ran.code, Some(0), "{setup}: {ran:?}");
        assert!(ran.stderr.contains("started the hook: the gate is in place"), "{setup}: {ran:?}");
        assert!(ran.stderr.contains("is the project's: commit it"), "{setup}: {ran:?}");
        let edited = sandbox.read(script);
        let first = edited.lines().position(|line| line.starts_with("# begin endwell")).unwrap();
        assert!(first <= 1 && edited.lines().count() > text.lines().count(), "{setup}: {edited}");
        assert_eq!(sandbox.endwell(&["install", "--via", via]).code, Some(0));
        assert_eq!(sandbox.read(script), edited, "once is enough");
        sandbox.commit("Call endwell");
        std::fs::write(sandbox.root().join("trace"), "").unwrap();
        sandbox.write("left.txt", "x\n");
        let dirty = sandbox.try_git("repo", &["push", "origin", "HEAD:refs/heads/dirty"]);
        assert!(dirty.code != Some(0) && dirty.stderr.contains("left.txt"), "{setup}: {dirty:?}");
        assert_eq!(
            std::fs::read_to_string(sandbox.root().join("trace")).unwrap(),
            "",
            "{setup}: ours is first"
        );
        std::fs::remove_file(sandbox.repo().join("left.txt")).unwrap();
        let clean = sandbox.try_git("repo", &["push", "origin", "HEAD:refs/heads/clean"]);
        assert_eq!(clean.code, Some(0), "{setup}: {clean:?}");
        assert!(!std::fs::read_to_string(sandbox.root().join("trace")).unwrap().is_empty(), "{setup}");
        assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
        same(&before, &parts(&sandbox));
    }
}

#[test]
fn a_script_that_is_not_there_yet_is_made() {
    let sandbox = Sandbox::with_repo().with_remote();
    sandbox.write(".hooks/.gitkeep", "");
    sandbox.commit("hooks");
    sandbox.git("repo", &["config", "core.hooksPath", ".hooks"]);
    let ran = sandbox.endwell(&["install", "--via", "script"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("started the hook"), "{ran:?}");
    assert!(sandbox.read(".hooks/pre-push").starts_with("#!/bin/sh\n# begin endwell"));
    assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
    assert!(!sandbox.repo().join(".hooks/pre-push").exists());
}

#[test]
fn a_hook_that_git_does_not_start_is_no_gate() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = build("07-githooks-tracked.sh");
    let script = sandbox.repo().join(".githooks/pre-push");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = sandbox.endwell(&["install", "--via", "script"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("did not start the hook"), "{ran:?}");
}

#[test]
fn a_manager_s_own_file_gets_its_entry_from_the_person() {
    let sandbox = Sandbox::with_repo();
    for (manager, file, words) in [
        ("lefthook", "lefthook.yml", "use_stdin: true"),
        ("simple-git-hooks", "package.json", "\"pre-push\": \"if command -v endwell"),
    ] {
        let ran = sandbox.endwell(&["install", "--via", manager]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains(&format!("into `{file}`")), "{ran:?}");
        assert!(!sandbox.repo().join(file).exists() && !sandbox.repo().join(".git/hooks/pre-push").exists());
    }
    let front = sandbox.endwell(&["install", "--via", "prek"]);
    assert!(front.stderr.contains("endwell runs in front of prek: it hands on one ref"), "{front:?}");
    let unknown = sandbox.endwell(&["install", "--via", "nobody"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("husky, lefthook"), "{unknown:?}");
    let husky = sandbox.endwell(&["install", "--via", "husky"]);
    assert!(
        husky.code == Some(2) && husky.stderr.contains("git runs no script of the project here"),
        "{husky:?}"
    );
}

/// A client that is started from a desktop hands on hardly any PATH: the hook finds its program by its full path, and
/// says so where that is gone.
#[test]
fn a_bare_path_is_enough_and_a_missing_program_does_as_it_is_told() {
    for (missing, code) in [("warn", 0), ("block", 1)] {
        let sandbox = Sandbox::with_repo();
        sandbox.write("endwell.toml", &format!("[push]\nmissing = \"{missing}\"\n"));
        sandbox.commit("settings");
        let sandbox = sandbox.with_remote();
        let program = sandbox.root().join("bin/endwell");
        std::fs::create_dir(sandbox.root().join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_endwell"), &program).unwrap();
        let path = format!("{}:/usr/bin:/bin", sandbox.root().join("bin").display());
        let mut install = sandbox.prepare(&program, "repo");
        assert_eq!(Ran::of(install.env("PATH", &path).arg("install")).code, Some(0));
        let git = which("git");
        let push = |branch: &str| {
            let mut push = sandbox.prepare(&git, "repo");
            Ran::of(push.env("PATH", "/usr/bin:/bin").args([
                "push",
                "-q",
                "origin",
                &format!("main:{branch}"),
            ]))
        };
        sandbox.write("left.txt", "x\n");
        let judged = push("one");
        assert!(judged.code == Some(1) && judged.stderr.contains("left.txt"), "{missing}: {judged:?}");
        std::fs::remove_file(&program).unwrap();
        let ran = push("two");
        assert_eq!(ran.code, Some(code), "{missing}: {ran:?}");
        assert_eq!(ran.stderr.matches("endwell is not found").count(), 1, "{missing}: {ran:?}");
        let there = sandbox.git("up.git", &["branch", "--list", "two"]);
        assert_eq!(there.is_empty(), missing == "block", "{missing}");
    }
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file()).unwrap()
}
