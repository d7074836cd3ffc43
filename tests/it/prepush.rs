//! Installing over every kind of `pre-push` hook that is met in the wild, with real pushes: what was there gets the
//! same arguments and the same input as without endwell, decides as before, and comes back byte for byte.

use std::path::{Path, PathBuf};

use crate::common::{Ran, Sandbox};
use crate::install::{same, snapshot};

/// What an installation does in one set-up.
#[derive(Clone, Copy, PartialEq)]
enum Hook {
    /// Ours is written, and what was there runs behind it.
    Written,
    /// Nothing is written, and a person is told what to do; with this exit code.
    Told(i32),
}

fn build(setup: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/prepush").join(setup);
    let root = sandbox.root().to_str().unwrap().to_owned();
    let ran = sandbox.command("sh", ".", &[script.to_str().unwrap(), &root]);
    assert_eq!(ran.code, Some(0), "{setup}: {ran:?}");
    std::fs::create_dir(sandbox.root().join("bin")).unwrap();
    sandbox
}

/// endwell as it is found on PATH: the hook keeps that path.
fn endwell(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Ran {
    let link = sandbox.root().join("bin/endwell");
    std::fs::remove_file(&link).ok();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_endwell"), &link).unwrap();
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), dir);
    let path = std::env::var_os("PATH").unwrap();
    let paths = std::iter::once(sandbox.root().join("bin")).chain(std::env::split_paths(&path));
    Ran::of(command.env("PATH", std::env::join_paths(paths).unwrap()).args(args))
}

/// In endwell's place: writes down how it was called, and says yes or no.
fn stand_in(sandbox: &Sandbox, code: i32) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.root().join("bin/endwell");
    std::fs::remove_file(&path).ok();
    let trace = sandbox.root().join("ours");
    let text = format!("#!/bin/sh\n{{ echo \"$*\"; cat; }} >>'{}'\nexit {code}\n", trace.display());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Pushes two new branches at once; what the foreign hooks saw, without this sandbox's own path.
fn push_two(sandbox: &Sandbox, dir: &str) -> (Ran, String) {
    for branch in ["pier", "quay-side"] {
        sandbox.git(dir, &["branch", "-q", branch]);
    }
    std::fs::write(sandbox.root().join("trace"), "").unwrap();
    let ran = sandbox.try_git(dir, &["push", "origin", "pier", "quay-side"]);
    let trace = std::fs::read_to_string(sandbox.root().join("trace")).unwrap();
    (ran, nameless(sandbox, dir, &trace))
}

/// Without this sandbox's path, which also makes its commits differ from those of another one.
fn nameless(sandbox: &Sandbox, dir: &str, trace: &str) -> String {
    let tip = sandbox.git(dir, &["rev-parse", "pier"]);
    trace.replace(sandbox.root().to_str().unwrap(), "ROOT").replace(&tip, "TIP")
}

fn arrived(sandbox: &Sandbox, dir: &str) -> bool {
    let heads = sandbox.git(dir, &["ls-remote", "--heads", "origin", "pier", "quay-side"]);
    match heads.lines().count() {
        0 => false,
        2 => true,
        other => panic!("{other} of two branches arrived"),
    }
}

/// What an installation may touch.
fn parts(sandbox: &Sandbox) -> Vec<std::collections::BTreeMap<PathBuf, (u32, Vec<u8>)>> {
    let mut all = snapshot(sandbox.root());
    let ours = ["trace", "ours", "bin", "home/.local", "up.git", "sub.git"];
    all.retain(|path, _| !ours.iter().any(|name| path.starts_with(name)));
    // what a push itself changes
    let moves = |path: &PathBuf| {
        path.components().any(|part| ["refs", "logs", "objects"].iter().any(|m| part.as_os_str() == *m))
    };
    all.retain(|path, _| !moves(path) && !path.ends_with("packed-refs"));
    vec![all]
}

fn check(setup: &str, dir: &str, hook: Hook) {
    let plain = build(setup);
    let (without, expected) = push_two(&plain, dir);
    let lands = arrived(&plain, dir);

    let sandbox = build(setup);
    let before = parts(&sandbox);
    let ran = endwell(&sandbox, dir, &["install"]);
    let code = if let Hook::Told(code) = hook { code } else { 0 };
    assert_eq!(ran.code, Some(code), "{setup}: {ran:?}");
    assert!(hook == Hook::Written || !ran.stderr.contains("pre-push hook)"), "{setup}: {ran:?}");
    let installed = parts(&sandbox);
    assert_eq!(endwell(&sandbox, dir, &["install"]).code, Some(code), "{setup}");
    same(&installed[0], &parts(&sandbox)[0]);

    stand_in(&sandbox, 0);
    let (pushed, trace) = push_two(&sandbox, dir);
    assert_eq!((pushed.code, &trace), (without.code, &expected), "{setup}: {pushed:?}");
    assert_eq!(arrived(&sandbox, dir), lands, "{setup}");
    let ours = std::fs::read_to_string(sandbox.root().join("ours")).unwrap_or_default();
    let first = ours.lines().next().unwrap_or_default();
    let lines: Vec<&str> = ours.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    if hook == Hook::Written {
        assert!(first.starts_with("hook pre-push origin "), "{setup}: {ours}");
        assert_eq!(lines, ["refs/heads/pier", "refs/heads/quay-side"], "{setup}");
    } else {
        assert_eq!(ours, "", "{setup}");
    }
    let out = endwell(&sandbox, dir, &["uninstall"]);
    assert_eq!(out.code, Some(0), "{setup}: {out:?}");
    same(&before[0], &parts(&sandbox)[0]);
}

/// Ours says no: the push stops, and what was there does not even run.
fn refuses(setup: &str, dir: &str) {
    let sandbox = build(setup);
    assert_eq!(endwell(&sandbox, dir, &["install"]).code, Some(0), "{setup}");
    stand_in(&sandbox, 1);
    let (pushed, trace) = push_two(&sandbox, dir);
    assert!(
        pushed.code == Some(1) && trace.is_empty() && !arrived(&sandbox, dir),
        "{setup}: {pushed:?} {trace}"
    );
}

const WRITTEN: [(&str, &str); 14] = [
    ("01-plain.sh", "repo"),
    ("02-hand-written.sh", "repo"),
    ("03-hand-written-fails.sh", "repo"),
    ("04-ends-with-exec.sh", "repo"),
    ("05-not-executable.sh", "repo"),
    ("06-no-shebang.sh", "repo"),
    ("10-lefthook-like.sh", "repo"),
    ("11-pre-commit-like.sh", "repo"),
    ("12-beads-block.sh", "repo"),
    ("13-lfs-like.sh", "repo"),
    ("15-linked-worktree.sh", "wt"),
    ("16-submodule.sh", "repo/harbour"),
    ("17-symlinked-hook.sh", "repo"),
    ("19-sha256.sh", "repo"),
];

#[test]
fn hooks_of_others_run_behind_ours_as_they_did_alone() {
    for (setup, dir) in WRITTEN {
        check(setup, dir, Hook::Written);
    }
}

#[test]
fn our_no_stops_the_push_before_any_other_hook() {
    for (setup, dir) in [WRITTEN[0], WRITTEN[1], WRITTEN[10], WRITTEN[12]] {
        refuses(setup, dir);
    }
}

/// The real gate in front of a hook that was there: a clean push passes both, a dirty one stops at ours.
#[test]
fn the_gate_and_the_hook_that_was_there_both_have_a_say() {
    let sandbox = build("02-hand-written.sh");
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    sandbox.write("left-over.txt", "not committed\n");
    let trace = || std::fs::read_to_string(sandbox.root().join("trace")).unwrap();
    let dirty = sandbox.try_git("repo", &["push", "origin", "HEAD:refs/heads/dirty"]);
    assert!(dirty.code == Some(1) && dirty.stderr.contains("left-over.txt"), "{dirty:?}");
    assert_eq!(trace(), "");
    sandbox.commit("Commit it");
    let clean = sandbox.try_git("repo", &["push", "origin", "HEAD:refs/heads/clean"]);
    assert_eq!(clean.code, Some(0), "{clean:?}");
    assert!(trace().contains("own stdin: HEAD "), "{}", trace());
    assert_eq!(sandbox.git("repo", &["ls-remote", "--heads", "origin", "dirty", "clean"]).lines().count(), 1);
}

#[test]
fn folders_of_others_are_not_written_and_the_person_is_told() {
    for setup in ["07-githooks-tracked.sh", "08-husky-9.sh", "09-husky-8.sh", "18-hooks-off.sh"] {
        check(setup, "repo", Hook::Told(0));
    }
    check("14-global-hookspath.sh", "repo", Hook::Told(3));
}

#[test]
fn a_hook_in_git_s_configuration_is_left_alone() {
    check("20-config-hook.sh", "repo", Hook::Written);
}

#[test]
fn the_lines_to_paste_judge_the_push_and_leave_the_input_to_the_script() {
    for setup in ["07-githooks-tracked.sh", "08-husky-9.sh"] {
        let plain = build(setup);
        let (without, expected) = push_two(&plain, "repo");
        let sandbox = build(setup);
        let told = endwell(&sandbox, "repo", &["install"]).stderr;
        let start = told.find("# begin endwell").unwrap();
        let end = told.find("# end endwell\n").unwrap() + "# end endwell\n".len();
        let script = if setup.starts_with("07") { ".githooks/pre-push" } else { ".husky/pre-push" };
        let text = sandbox.read(script);
        let (first, rest) =
            if text.starts_with("#!") { text.split_once('\n').unwrap() } else { ("", text.as_str()) };
        sandbox.write(script, &format!("{first}\n{}{rest}", &told[start..end]));
        stand_in(&sandbox, 0);
        let path = std::env::join_paths(
            std::iter::once(sandbox.root().join("bin"))
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        for branch in ["pier", "quay-side"] {
            sandbox.git("repo", &["branch", "-q", branch]);
        }
        std::fs::write(sandbox.root().join("trace"), "").unwrap();
        let mut git = sandbox.prepare("git", "repo");
        let ran = Ran::of(git.env("PATH", path.unwrap()).args(["push", "origin", "pier", "quay-side"]));
        let trace = std::fs::read_to_string(sandbox.root().join("trace")).unwrap();
        assert_eq!(ran.code, without.code, "{ran:?}");
        assert_eq!(nameless(&sandbox, "repo", &trace), expected, "{setup}");
        let ours = std::fs::read_to_string(sandbox.root().join("ours")).unwrap();
        assert_eq!(ours.lines().count(), 3, "{setup}: {ours}");
        let again = endwell(&sandbox, "repo", &["install"]).stderr;
        assert!(again.contains("calls endwell already"), "{setup}: {again}");
    }
}

#[test]
fn a_missing_binary_lets_the_push_go_on_and_the_other_hook_run() {
    for (setup, code) in [("02-hand-written.sh", 0), ("03-hand-written-fails.sh", 1), ("01-plain.sh", 0)] {
        let sandbox = build(setup);
        assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
        std::fs::remove_file(sandbox.root().join("bin/endwell")).unwrap();
        for branch in ["pier", "quay-side"] {
            sandbox.git("repo", &["branch", "-q", branch]);
        }
        let mut git = sandbox.prepare("git", "repo");
        let ran = Ran::of(git.env("PATH", "/usr/bin:/bin").args(["push", "origin", "pier", "quay-side"]));
        assert_eq!(ran.code, Some(code), "{setup}: {ran:?}");
        assert_eq!(ran.stderr.matches("endwell is not found").count(), 1, "{setup}: {ran:?}");
        let trace = std::fs::read_to_string(sandbox.root().join("trace")).unwrap();
        assert_eq!(trace.contains("own stdin: refs/heads/pier"), setup != "01-plain.sh", "{setup}: {trace}");
    }
}

#[test]
fn a_manager_that_came_later_is_told_of_and_keeps_its_hook() {
    let sandbox = build("02-hand-written.sh");
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    let hooks = sandbox.repo().join(".git/hooks");
    // as lefthook does: ours is renamed and does not run any more
    std::fs::rename(hooks.join("pre-push"), hooks.join("pre-push.old")).unwrap();
    sandbox.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n");
    let ran = endwell(&sandbox, "repo", &["install"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("still holds the hook from before"), "{ran:?}");
    let out = endwell(&sandbox, "repo", &["uninstall"]);
    assert!(out.code == Some(3) && out.stderr.contains("is not endwell's any more"), "{out:?}");
    assert_eq!(sandbox.read(".git/hooks/pre-push"), "#!/bin/sh\nexit 0\n");
    assert!(sandbox.repo().join(".git/endwell-chained/pre-push").exists());
    // as prek and pre-commit do: ours runs as the former hook
    std::fs::rename(hooks.join("pre-push.old"), hooks.join("pre-push.legacy")).unwrap();
    let ran = endwell(&sandbox, "repo", &["install"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("runs endwell already"), "{ran:?}");
}

#[test]
fn lines_that_somebody_added_to_our_hook_are_not_lost() {
    let sandbox = build("01-plain.sh");
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    let ours = sandbox.read(".git/hooks/pre-push");
    // an update that lies elsewhere is no edit
    sandbox.write(".git/hooks/pre-push", &ours.replace("bin/endwell'", "old/endwell'"));
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    assert_eq!(sandbox.read(".git/hooks/pre-push"), ours);
    let edited = ours.replacen('\n', "\necho mine\n", 1);
    sandbox.write(".git/hooks/pre-push", &edited);
    for command in ["install", "uninstall"] {
        let ran = endwell(&sandbox, "repo", &[command]);
        assert!(ran.code == Some(3) && ran.stderr.contains("was edited since endwell wrote it"), "{ran:?}");
        assert_eq!(sandbox.read(".git/hooks/pre-push"), edited);
    }
    sandbox.write(".git/hooks/pre-push", &ours);
    assert_eq!(endwell(&sandbox, "repo", &["uninstall"]).code, Some(0));
    assert!(!sandbox.repo().join(".git/hooks/pre-push").exists());
}

/// Of two installations at once, the second must not take the first one's hook for somebody else's.
#[test]
fn installations_at_once_keep_the_hook_that_was_there() {
    let sandbox = build("02-hand-written.sh");
    let before = sandbox.read(".git/hooks/pre-push");
    let mut running: Vec<_> = (0..8)
        .map(|_| {
            let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
            command.arg("install").stderr(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    assert!(running.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(sandbox.read(".git/endwell-chained/pre-push"), before);
    assert_eq!(endwell(&sandbox, "repo", &["uninstall"]).code, Some(0));
    assert_eq!(sandbox.read(".git/hooks/pre-push"), before);
}

/// A hook that dispatches on its own name, and looks beside itself and from there into the repository.
#[test]
fn a_hook_keeps_its_name_and_its_neighbours() {
    let sandbox = Sandbox::with_repo().with_remote();
    std::fs::create_dir(sandbox.root().join("bin")).unwrap();
    let hook = "#!/bin/sh\n[ \"${0##*/}\" = pre-push ] || exit 0\nhere=$(cd \"$(dirname \"$0\")\" && pwd) || exit 7\n\
        . \"$(dirname \"$0\")/lib.sh\" || exit 8\n. \"$here/../../tools/more.sh\" || exit 9\n\
        say \"$(cat \"$here/pre-push.d/words\")\"; more\n";
    sandbox.write(".git/hooks/pre-push", hook);
    sandbox.write(".git/hooks/lib.sh", "say() { echo \"said: $1\" >&2; }\n");
    sandbox.write(".git/hooks/pre-push.d/words", "no\n");
    sandbox.write("tools/more.sh", "more() { exit 5; }\n");
    make_executable(&sandbox.repo().join(".git/hooks/pre-push"));
    sandbox.commit("tools");
    let before = snapshot(&sandbox.repo());
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    for _ in 0..2 {
        let ran = sandbox.try_git("repo", &["push", "origin", "main"]);
        assert!(ran.code == Some(1) && ran.stderr.contains("said: no"), "{ran:?}");
    }
    assert_eq!(endwell(&sandbox, "repo", &["uninstall"]).code, Some(0));
    let ours = |path: &Path| [".git/endwell", ".git/logs", "outputs"].iter().any(|dir| path.starts_with(dir));
    let mut after = snapshot(&sandbox.repo());
    after.retain(|path, _| !ours(path) || path.starts_with(".git/endwell-chained"));
    let mut before = before;
    before.retain(|path, _| !ours(path));
    same(&before, &after);
}

/// What an older version left: its hook, and the one from before beside it.
#[test]
fn an_older_installation_is_brought_up_to_date_and_undone() {
    let sandbox = build("02-hand-written.sh");
    let before = sandbox.read(".git/hooks/pre-push");
    let hooks = sandbox.repo().join(".git/hooks");
    std::fs::rename(hooks.join("pre-push"), hooks.join("pre-push.endwell-chained")).unwrap();
    let old = "#!/bin/sh\n# endwell pre-push hook, version 1. Written by `endwell install`, taken out by `endwell uninstall`.\n\
        endwell='/nowhere'\n";
    sandbox.write(".git/hooks/pre-push", old);
    make_executable(&hooks.join("pre-push"));
    assert_eq!(endwell(&sandbox, "repo", &["install"]).code, Some(0));
    stand_in(&sandbox, 0);
    let (pushed, trace) = push_two(&sandbox, "repo");
    assert!(pushed.code == Some(0) && trace.contains("own stdin: refs/heads/pier"), "{pushed:?} {trace}");
    assert_eq!(endwell(&sandbox, "repo", &["uninstall"]).code, Some(0));
    assert_eq!(sandbox.read(".git/hooks/pre-push"), before);
    assert!(!hooks.join("pre-push.endwell-chained").exists());
}

#[test]
fn a_hook_that_was_set_aside_once_is_not_switched_on_again() {
    let sandbox = Sandbox::with_repo();
    for place in [".git/hooks/pre-push.endwell-chained", ".git/endwell-chained/pre-push"] {
        sandbox.write(place, "#!/bin/sh\nexit 1\n");
        let ran = sandbox.endwell(&["install"]);
        assert!(ran.code == Some(3) && ran.stderr.contains("there is no hook, but"), "{ran:?}");
        assert!(ran.stderr.contains(place) && !ran.stderr.contains("replaced"), "{ran:?}");
        assert!(!sandbox.repo().join(".git/hooks/pre-push").exists());
        std::fs::remove_file(sandbox.repo().join(place)).unwrap();
    }
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
}

#[test]
fn an_empty_hooks_path_is_told_of_and_taken_back() {
    let sandbox = Sandbox::with_repo();
    let before = snapshot(&sandbox.repo());
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude", "--agent", "claude"]).code, Some(0));
    sandbox.git("repo", &["config", "core.hooksPath", ""]);
    let ran = sandbox.endwell(&["install"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("`core.hooksPath` is empty"), "{ran:?}");
    assert!(ran.stderr.contains("`git config --unset core.hooksPath`"), "{ran:?}");
    assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
    assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
    sandbox.git("repo", &["config", "--unset", "core.hooksPath"]);
    let mut after = snapshot(&sandbox.repo());
    let mut before = before;
    for files in [&mut before, &mut after] {
        files.remove(Path::new(".git/config"));
    }
    same(&before, &after);
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
