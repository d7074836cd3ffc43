//! The check for temporary artifacts: the cases of `tests/fixtures/detect`, judged in process.

use std::collections::BTreeMap;
use std::collections::HashSet;

use endwell::check::temp_artifacts::judge;
use endwell::config::Config;
use endwell::git::changes::{Changes, FileChange, Place};
use endwell::model::{Issue, Severity};
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/fixtures/detect/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// The content after the change.
fn changed(case: &Value) -> Vec<String> {
    let added = lines(&case["added_lines"]);
    if case["base_lines"].is_null() {
        return added;
    }
    let base = lines(&case["base_lines"]);
    let edge = |index: usize| case["remove"][index].as_u64().map(|line| usize::try_from(line).unwrap());
    let removed = edge(0).unwrap_or(1)..=edge(1).unwrap_or(0);
    let at = usize::try_from(case["at"].as_u64().unwrap()).unwrap();
    let mut out = Vec::new();
    for number in 0..=base.len() {
        if number > 0 && !removed.contains(&number) {
            out.push(base[number - 1].clone());
        }
        if number == at {
            out.extend(added.iter().cloned());
        }
    }
    out
}

fn run(case: &Value) -> Vec<Issue> {
    let place = case["where"].as_str().unwrap_or("committed");
    if place == "ignored" {
        return Vec::new();
    }
    let path = case["path"].as_str().unwrap();
    let base = (!case["base_lines"].is_null()).then(|| joined(&lines(&case["base_lines"])));
    let place = if place == "untracked" { Place::Untracked } else { Place::Tracked };
    let mut changes = Changes::default();
    changes.push(FileChange::text(path.as_bytes(), base.as_deref(), &joined(&changed(case)), place));
    let there: HashSet<&str> =
        case["files"].as_object().into_iter().flatten().map(|(path, _)| path.as_str()).collect();
    judge(
        &changes,
        &|path| std::str::from_utf8(path).is_ok_and(|path| there.contains(path)),
        &Config::default(),
    )
    .unwrap()
}

fn matches(want: &Value, got: &Issue) -> bool {
    let number = |key: &str| want[key].as_u64().map(|line| u32::try_from(line).unwrap());
    let in_range = number("line").is_none_or(|first| {
        got.line.is_some_and(|line| (first..=number("end_line").unwrap_or(first)).contains(&line))
    });
    want["code"] == got.code.as_str() && in_range
}

#[derive(Default)]
struct Score {
    found: BTreeMap<(String, String), (usize, usize)>,
    notes: Vec<String>,
}

fn score(files: &[&str]) -> Score {
    let mut score = Score::default();
    for case in files.iter().flat_map(|file| cases(file)) {
        let id = case["id"].as_str().unwrap();
        let issues = run(&case);
        let mut used = HashSet::new();
        for want in case["expect"].as_array().unwrap() {
            let severity = want["severity"].as_str().unwrap();
            let hits: Vec<usize> = (0..issues.len()).filter(|index| matches(want, &issues[*index])).collect();
            let right =
                hits.iter().any(|hit| format!("{:?}", issues[*hit].severity).to_lowercase() == severity);
            let key = (case["lang"].as_str().unwrap().to_owned(), severity.to_owned());
            let (found, all) = score.found.entry(key).or_default();
            *found += usize::from(right);
            *all += 1;
            if !right {
                let shown: Vec<String> = lines(&case["added_lines"]).into_iter().take(4).collect();
                score.notes.push(format!("missed {id}: {want} {shown:#?}, got {hits:?}"));
            }
            used.extend(hits);
        }
        for (index, got) in issues.iter().enumerate() {
            let warned = got.severity == Severity::Warn && case["may_warn"] != true;
            if !used.contains(&index) && (got.severity == Severity::Block || warned) {
                let line = got.line.map_or(0, |line| line as usize);
                let text = changed(&case).get(line.saturating_sub(1)).cloned().unwrap_or_default();
                score.notes.push(format!("false {:?} {id}: {} line {line}: {text}", got.severity, got.code));
            }
        }
    }
    score
}

fn total(score: &Score, severity: &str) -> (usize, usize) {
    let counts = score.found.iter().filter(|((_, kind), _)| kind == severity).map(|(_, count)| *count);
    counts.fold((0, 0), |(found, all), (more, of)| (found + more, all + of))
}

#[test]
fn the_shared_cases_are_all_judged_rightly() {
    let score = score(&["planted", "benign"]);
    assert!(score.notes.is_empty(), "{}", score.notes.join("\n"));
    assert_eq!(total(&score, "block"), (176, 176));
    assert_eq!(total(&score, "warn"), (33, 33));
}
