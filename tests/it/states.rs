//! Every state that a work tree and its branch can be in, built by `tests/fixtures/states/make.sh` with real git, and
//! judged as its line in `expected.tsv` says: from the top, from a folder below, and under a hook's hostile variables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, Sandbox};

const CHECKS: &str = "working-tree,branch,temp-artifacts";

struct State {
    name: String,
    verdict: String,
    codes: Vec<String>,
    paths: Vec<String>,
    target: PathBuf,
    variables: Vec<(String, String)>,
}

/// Builds all states; the slow part, done once for all variants.
fn build(sandbox: &Sandbox) -> Vec<State> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/states");
    let built = sandbox.root().join("states");
    let make = fixtures.join("make.sh");
    let mut command = Command::new("bash");
    command.arg(make).arg(&built).env_remove("GIT_DIR").env("HOME", sandbox.root().join("home"));
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let table = std::fs::read_to_string(fixtures.join("expected.tsv")).unwrap();
    table.lines().skip(1).filter_map(|line| state(&built, line)).collect()
}

/// `None` for a state that needs root and was not built.
fn state(built: &Path, line: &str) -> Option<State> {
    let fields: Vec<&str> = line.split('\t').collect();
    let case = built.join(fields[0]);
    let Ok(target) = std::fs::read_to_string(case.join("TARGET")) else {
        assert_eq!(fields[0], "other_owner", "not built");
        return None;
    };
    let list = |text: &str| -> Vec<String> {
        text.split(',').filter(|part| *part != "-").map(str::to_owned).collect()
    };
    let variables = std::fs::read_to_string(case.join("ENV")).unwrap_or_default();
    Some(State {
        name: fields[0].to_owned(),
        verdict: fields[1].to_owned(),
        codes: list(fields[2]),
        paths: list(fields[3]).iter().map(|path| unquote(path)).collect(),
        target: PathBuf::from(target.trim_end_matches('\n')),
        variables: variables
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
    })
}

/// Octal escapes of the table back to bytes, shown as text.
fn unquote(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        match (first, tail) {
            (b'\\', [a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = &tail[3..];
            }
            (b'\\', [b'n', ..]) => {
                out.push(b'\n');
                rest = &tail[1..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is wrong with the verdict on a state, or `None`.
fn wrong(sandbox: &Sandbox, state: &State, dir: &Path, extra: &[(&str, &str)]) -> Option<String> {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), ".");
    command.current_dir(dir).args(["check", "--only", CHECKS, "--format", "json"]);
    command.env_remove("GIT_CONFIG_GLOBAL").envs(extra.iter().copied());
    command.envs(state.variables.iter().map(|(key, value)| (key, value)));
    let ran = Ran::of(&mut command);
    let issues = match serde_json::from_str::<Value>(&ran.stdout) {
        Ok(report) => report["issues"].as_array().unwrap().clone(),
        Err(_) if ran.code == Some(3) => {
            vec![serde_json::json!({"code": "could-not-check", "severity": "block"})]
        }
        Err(error) => return Some(format!("{}: no report ({error}): {ran:?}", state.name)),
    };
    let of = |severity: &str| issues.iter().any(|issue| issue["severity"] == severity);
    let verdict = if of("block") {
        "block"
    } else if of("warn") {
        "warn"
    } else {
        "clean"
    };
    let codes: BTreeSet<&str> = issues
        .iter()
        .filter(|issue| issue["severity"] != "info")
        .filter_map(|issue| issue["code"].as_str())
        .collect();
    let named: BTreeSet<&str> = issues.iter().filter_map(|issue| issue["path"].as_str()).collect();
    let lacks_code = state.codes.iter().any(|code| !code.split('|').any(|code| codes.contains(code)));
    let lacks_path = state
        .paths
        .iter()
        .any(|path| !named.iter().any(|name| name.trim_end_matches('/') == path.trim_end_matches('/')));
    (verdict != state.verdict || lacks_code || lacks_path).then(|| {
        format!(
            "{}: expected {} {:?} {:?}, got {verdict} {codes:?} {named:?}",
            state.name, state.verdict, state.codes, state.paths
        )
    })
}

/// Everything that is wrong with the verdicts on a state, from wherever and however it is judged.
fn faults(sandbox: &Sandbox, state: &State) -> Vec<String> {
    let hostile = [
        ("GIT_DIR", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere/index"),
        ("GIT_WORK_TREE", "/"),
        ("LANG", "C"),
    ];
    let below = state.target.join("src");
    let mut ways = vec![("at the top", state.target.as_path(), &[][..])];
    if below.is_dir() {
        ways.push(("in a folder below", below.as_path(), &[]));
    }
    if state.variables.is_empty() {
        ways.push(("under hostile variables", state.target.as_path(), &hostile));
    }
    let judged = ways.into_iter().filter_map(|(how, dir, extra)| {
        wrong(sandbox, state, dir, extra).map(|fault| format!("{how}: {fault}"))
    });
    judged.collect()
}

#[test]
fn every_state_is_judged_as_the_table_says() {
    let sandbox = Sandbox::new();
    let states = build(&sandbox);
    assert!(states.len() >= 114, "{}", states.len());
    let shares: Vec<&[State]> = states.chunks(states.len().div_ceil(4)).collect();
    let found: Vec<String> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let workers: Vec<_> = shares
            .into_iter()
            .map(|share| {
                scope.spawn(move || share.iter().flat_map(|state| faults(sandbox, state)).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}
