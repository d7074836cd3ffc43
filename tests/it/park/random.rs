//! Random dirty trees go aside and come back; random kills lose nothing. `ENDWELL_SLOW=1` tries many more.

use std::os::unix::process::CommandExt as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::{NOTE, at, chmod, done, parked, picture, put, sandbox, status};
use crate::common::Sandbox;

const PATHS: [&[u8]; 14] = [
    b"a.txt",
    b"docs/d.md",
    b"docs",
    b"docs/d.md/below",
    b"src/m.rs",
    b"src/new.rs",
    b"src",
    b"link",
    b"run.sh",
    b"n\nl",
    b"caf\xe9",
    b"-x",
    b"deep/er/file",
    b"x.log",
];

/// What may be done to a work tree.
#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Link(usize, u8),
    Delete(usize),
    Mode(usize, bool),
    Add(usize),
    Intent(usize),
    Uncache(usize),
    Conflict(usize, u8),
    Commit,
    Attributes(u8),
    Touch(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let path = 0..PATHS.len();
    prop_oneof![
        6 => (path.clone(), any::<u8>()).prop_map(|(path, what)| Act::Write(path, what)),
        2 => (path.clone(), any::<u8>()).prop_map(|(path, what)| Act::Link(path, what)),
        3 => path.clone().prop_map(Act::Delete),
        2 => (path.clone(), any::<bool>()).prop_map(|(path, on)| Act::Mode(path, on)),
        4 => path.clone().prop_map(Act::Add),
        2 => path.clone().prop_map(Act::Intent),
        1 => path.clone().prop_map(Act::Uncache),
        1 => (path.clone(), any::<u8>()).prop_map(|(path, what)| Act::Conflict(path, what)),
        1 => Just(Act::Commit),
        1 => any::<u8>().prop_map(Act::Attributes),
        1 => path.prop_map(Act::Touch),
    ]
}

fn settings() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    prop_oneof![
        4 => Just(Vec::new()),
        1 => Just(vec![("core.autocrlf", "true")]),
        1 => Just(vec![("core.autocrlf", "input"), ("core.safecrlf", "true")]),
        1 => Just(vec![("core.fileMode", "false")]),
        1 => Just(vec![("index.version", "4"), ("index.skipHash", "true")]),
        1 => Just(vec![("core.untrackedCache", "true"), ("core.trustctime", "false")]),
        1 => Just(vec![("core.checkStat", "minimal")]),
    ]
}

fn bytes(what: u8) -> Vec<u8> {
    match what % 6 {
        0 => Vec::new(),
        1 => format!("line {what}\r\nand\nmixed\r\n").into_bytes(),
        2 => vec![what, 0, 255, b'\n', 13],
        3 => b"one\ntwo\nthree\n".to_vec(),
        _ => format!("line {what}\nanother\n").into_bytes(),
    }
}

/// Removes what lies there, and whatever stands in the way of a file there.
fn make_room(sandbox: &Sandbox, path: &[u8]) {
    let full = at(sandbox, path);
    for above in full.ancestors().skip(1).take_while(|above| *above != sandbox.repo()) {
        if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            std::fs::remove_file(above).unwrap();
        }
    }
    match full.symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&full).unwrap(),
        Ok(_) => std::fs::remove_file(&full).unwrap(),
        Err(_) => {}
    }
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
}

fn git_on(sandbox: &Sandbox, args: &[&str], path: &[u8]) {
    use std::os::unix::ffi::OsStrExt as _;
    // many of these make no sense where they hit; git then refuses, and the tree stays as it is
    sandbox
        .prepare("git", "repo")
        .args(args)
        .arg("--")
        .arg(std::ffi::OsStr::from_bytes(path))
        .output()
        .unwrap();
}

fn apply(sandbox: &Sandbox, act: &Act) {
    match act {
        Act::Write(path, what) => {
            make_room(sandbox, PATHS[*path]);
            put(sandbox, PATHS[*path], &bytes(*what));
        }
        Act::Link(path, what) => {
            make_room(sandbox, PATHS[*path]);
            let target = ["a.txt", "docs", "no where", "../home"][usize::from(*what) % 4];
            std::os::unix::fs::symlink(target, at(sandbox, PATHS[*path])).unwrap();
        }
        Act::Delete(path) => {
            let full = at(sandbox, PATHS[*path]);
            std::fs::remove_file(&full).or_else(|_| std::fs::remove_dir_all(&full)).ok();
        }
        Act::Mode(path, on) => {
            if at(sandbox, PATHS[*path]).symlink_metadata().is_ok_and(|meta| meta.is_file())
                && let Ok(name) = std::str::from_utf8(PATHS[*path])
            {
                chmod(sandbox, name, if *on { 0o755 } else { 0o640 });
            }
        }
        Act::Add(path) => git_on(sandbox, &["add", "-A"], PATHS[*path]),
        Act::Intent(path) => git_on(sandbox, &["add", "-N"], PATHS[*path]),
        Act::Uncache(path) => git_on(sandbox, &["rm", "-rq", "--cached"], PATHS[*path]),
        Act::Conflict(path, what) => conflict(sandbox, PATHS[*path], *what),
        Act::Commit => {
            sandbox.try_git("repo", &["commit", "-qm", "between"]);
        }
        Act::Attributes(what) => {
            let text = ["* text=auto\n", "*.txt text eol=crlf\n", "* -text\n", "*.md text\n"]
                [usize::from(*what) % 4];
            sandbox.write(".gitattributes", text);
        }
        Act::Touch(path) => {
            if let Ok(file) = std::fs::File::options().append(true).open(at(sandbox, PATHS[*path])) {
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
        }
    }
}

/// Puts conflict stages of a path into the index.
fn conflict(sandbox: &Sandbox, path: &[u8], what: u8) {
    use std::io::Write as _;
    git_on(sandbox, &["rm", "-rq", "--cached"], path);
    std::fs::write(sandbox.root().join("blob"), format!("side {what}\n")).unwrap();
    let blob = sandbox.git("repo", &["hash-object", "-w", "../blob"]);
    let base = sandbox.git("repo", &["rev-parse", "HEAD:README.md"]);
    let mut input = Vec::new();
    for (stage, id) in [(1, &base), (2, &blob), (3, &base)] {
        if what % 4 != stage {
            input.extend(format!("100644 {id} {stage}\t").into_bytes());
            input.extend_from_slice(path);
            input.push(0);
        }
    }
    let mut command = sandbox.prepare("git", "repo");
    command.args(["update-index", "-z", "--index-info"]).stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    child.wait().unwrap();
}

fn prepared(settings: &[(&str, &str)], acts: &[Act]) -> Sandbox {
    let sandbox = sandbox();
    for (key, value) in settings {
        sandbox.git("repo", &["config", key, value]);
    }
    for act in acts {
        apply(&sandbox, act);
    }
    sandbox
}

fn runner(normal: u32, slow: u32) -> TestRunner {
    let cases = if std::env::var_os("ENDWELL_SLOW").is_some() { slow } else { normal };
    TestRunner::new(Config { cases, failure_persistence: None, max_shrink_iters: 150, ..Config::default() })
}

fn same<T: PartialEq + std::fmt::Debug>(now: &T, before: &T, what: &str) -> Result<(), TestCaseError> {
    prop_assert!(now == before, "{what}\n--- now\n{now:?}\n--- before\n{before:?}");
    Ok(())
}

#[test]
fn random_trees_go_aside_and_come_back() {
    let strategy = (settings(), prop::collection::vec(act(), 1..14));
    let trips = std::cell::Cell::new(0);
    let outcome = runner(40, 500).run(&strategy, |(settings, acts)| {
        let sandbox = prepared(&settings, &acts);
        let before = picture(&sandbox);
        let ran = sandbox.endwell(&["park", NOTE]);
        if ran.stderr.contains("is in the way of") {
            // an ignored file in a place that is needed: refused, and nothing may have moved
            return same(&picture(&sandbox), &before, "a refusal touched something");
        }
        prop_assert_eq!(ran.code, Some(0), "{:?}", ran);
        prop_assert!(status(&sandbox).is_empty(), "{}", String::from_utf8_lossy(&status(&sandbox)));
        if before.status.is_empty() {
            return Ok(());
        }
        let ran = sandbox.endwell(&["unpark"]);
        prop_assert_eq!(ran.code, Some(0), "{:?}", ran);
        prop_assert!(ran.stderr.contains("as it was"), "{:?}", ran);
        trips.set(trips.get() + 1);
        same(&picture(&sandbox), &before, "it came back changed")
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(trips.get() > 20, "only {} trips", trips.get());
}

/// Runs endwell and kills it with all its children after some time; says whether it was still running.
fn killed(sandbox: &Sandbox, args: &[&str], after: Duration) -> bool {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    command
        .args(args)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .process_group(0);
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    child.wait().unwrap().code().is_none()
}

/// Whatever was parked comes back, then all is as it was.
fn nothing_is_lost(sandbox: &Sandbox, before: &super::Picture) -> Result<(), TestCaseError> {
    // any command that touches the bench goes forward
    let ran = sandbox.endwell(&["check", "--only", "working-tree"]);
    prop_assert!(ran.code != Some(3), "{:?}", ran);
    prop_assert!(!sandbox.repo().join(".git/index.lock").exists(), "{:?}", ran);
    prop_assert!(!sandbox.repo().join(".git/endwell/park.json").exists(), "{:?}", ran);
    if !parked(sandbox).is_empty() {
        prop_assert!(status(sandbox).is_empty(), "{:?}{}", ran, String::from_utf8_lossy(&status(sandbox)));
        let ran = done(sandbox.endwell(&["unpark"]));
        prop_assert!(ran.stderr.contains("as it was"), "{:?}", ran);
    }
    same(&picture(sandbox), before, "something was lost")
}

#[test]
fn random_kills_lose_nothing() {
    let strategy = (prop::collection::vec(act(), 6..14), 0_f64..1.1, 0_f64..1.1);
    let (kills, parts) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let outcome = runner(15, 200).run(&strategy, |(acts, first, second)| {
        let sandbox = prepared(&[], &acts);
        let before = picture(&sandbox);
        let clock = Instant::now();
        let ran = sandbox.endwell(&["park", NOTE]);
        let park_takes = clock.elapsed();
        if ran.code != Some(0) || before.status.is_empty() {
            return Ok(());
        }
        let clock = Instant::now();
        done(sandbox.endwell(&["unpark"]));
        let unpark_takes = clock.elapsed();
        kills.set(kills.get() + u32::from(killed(&sandbox, &["park", NOTE], park_takes.mul_f64(first))));
        parts.set(parts.get() + u32::from(sandbox.repo().join(".git/endwell/park.json").exists()));
        nothing_is_lost(&sandbox, &before)?;
        done(sandbox.endwell(&["park", NOTE]));
        kills.set(kills.get() + u32::from(killed(&sandbox, &["unpark"], unpark_takes.mul_f64(second))));
        parts.set(parts.get() + u32::from(sandbox.repo().join(".git/endwell/park.json").exists()));
        nothing_is_lost(&sandbox, &before)
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let (kills, parts) = (kills.get(), parts.get());
    assert!(kills > 5 && parts > kills / 20, "{kills} kills hit, {parts} of them left a journal");
}
