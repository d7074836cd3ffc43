//! Go: `go test`, with `-v` or without, and `go test -json`. Names are `package.Test/subtest`; a test that failed
//! only because its subtest did is left out.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Told;

pub(super) fn plain(text: &str) -> Option<Told> {
    let mut seen = false;
    let (mut failing, mut pending) = (Vec::new(), Vec::new());
    let (mut passed, mut skipped, mut verbose) = (0, 0, false);
    for line in text.lines() {
        let test = line.trim_start();
        if let Some(rest) = test.strip_prefix("--- FAIL: ") {
            pending.push(without_time(rest));
        } else if test.starts_with("--- PASS: ") {
            (passed, verbose) = (passed + 1, true);
        } else if test.starts_with("--- SKIP: ") {
            skipped += 1;
        } else if let Some(package) = package_of(line) {
            seen = true;
            if line.starts_with("FAIL\t") {
                failing.extend(in_package(package, &mut pending, line));
            }
            pending.clear();
        }
    }
    if !seen {
        return None;
    }
    let failed = failing.len() as u64;
    Some(Told {
        passed: verbose.then_some(passed),
        failed: Some(failed),
        skipped: verbose.then_some(skipped),
        failing,
    })
}

fn without_time(rest: &str) -> String {
    rest.rsplit_once(" (").map_or(rest, |(name, _)| name).to_owned()
}

/// The package of a result line: `ok`, `FAIL` and `FAIL … [build failed]`, with tabs between.
fn package_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("ok  \t").or_else(|| line.strip_prefix("FAIL\t"))?;
    let end = rest.find(['\t', ' ']).unwrap_or(rest.len());
    let looks_right = rest[end..].contains('s') || rest[end..].contains('[');
    (looks_right && end > 0).then(|| &rest[..end])
}

/// Names of a package's failing tests; the package itself where none is named (it was not built, or it panicked).
fn in_package(package: &str, tests: &mut Vec<String>, line: &str) -> Vec<String> {
    let names: BTreeSet<String> = tests.drain(..).collect();
    let reason = line.find('[').map(|start| format!("{package} {}", &line[start..]));
    if names.is_empty() {
        return vec![reason.unwrap_or_else(|| package.to_owned())];
    }
    leaves(&names).map(|name| format!("{package}.{name}")).collect()
}

/// Without the tests of which a subtest is there too.
fn leaves(names: &BTreeSet<String>) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| {
        let below = format!("{name}/");
        !names.iter().any(|other| other.starts_with(&below))
    })
}

pub(super) fn json(text: &str) -> Option<Told> {
    let mut tests: BTreeSet<(String, String)> = BTreeSet::new();
    let mut packages: BTreeSet<String> = BTreeSet::new();
    let (mut passed, mut skipped, mut seen) = (0, 0, false);
    for line in text.lines().filter(|line| line.starts_with('{') && line.contains("\"Action\"")) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let field = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(action), Some(package)) = (field("Action"), field("Package")) else { continue };
        seen = true;
        match (action.as_str(), field("Test")) {
            ("fail", Some(test)) => drop(tests.insert((package, test))),
            ("fail", None) => drop(packages.insert(package)),
            ("pass", Some(_)) => passed += 1,
            ("skip", Some(_)) => skipped += 1,
            _ => {}
        }
    }
    if !seen {
        return None;
    }
    let mut failing = Vec::new();
    for package in &packages {
        let names: BTreeSet<String> =
            tests.iter().filter(|(of, _)| of == package).map(|(_, test)| test.clone()).collect();
        if names.is_empty() {
            failing.push(package.clone());
        } else {
            failing.extend(leaves(&names).map(|name| format!("{package}.{name}")));
        }
    }
    Some(Told::counted(passed, failing.len() as u64, skipped, failing))
}
