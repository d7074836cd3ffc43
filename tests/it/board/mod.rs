//! The feature board: every fixture against its right answers, edits byte for byte, and whatever bytes there are.

mod command;
mod session;

use std::collections::BTreeMap;
use std::path::Path;

use endwell::board::edit::{set_status, target};
use endwell::board::{Lookup, Place, commands::acceptance, read};
use endwell::env::Env;
use endwell::model::board::{Board, BoardReading};
use endwell::model::issue::sha256_hex;
use serde_json::{Value, json};

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/boards")
}

/// Evidence is not looked up: the findings are those of the file alone.
fn reading(path: &str, bytes: &[u8]) -> BoardReading {
    read(bytes, &Place { path, run_fields: &[], tag: None, exists: &|_| true })
}

/// The words that the table uses for a reading.
fn told(reading: &BoardReading, lookup: &Lookup<'_>) -> Value {
    let mut issues: BTreeMap<String, &str> = BTreeMap::new();
    for issue in reading.findings() {
        let severity = match issue.severity {
            endwell::model::Severity::Block => "block",
            endwell::model::Severity::Warn => "warn",
            endwell::model::Severity::Info => "info",
        };
        issues.insert(issue.code, severity);
    }
    let issues: Vec<Value> =
        issues.iter().map(|(code, severity)| json!({"code": code, "severity": severity})).collect();
    let format = match reading {
        BoardReading::Board(board) => board.format.name(),
        BoardReading::Foreign(_) => "foreign",
        _ => "unknown",
    };
    let features = reading.board().map_or(&[][..], |board| &board.features);
    let mut by_status: BTreeMap<&str, usize> = BTreeMap::new();
    let mut runnable: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for feature in features {
        *by_status.entry(feature.status.name()).or_default() += 1;
        let lines: Vec<String> =
            acceptance(feature, lookup).commands.into_iter().map(|command| command.line).collect();
        if !lines.is_empty() {
            runnable.insert(feature.id.clone(), lines);
        }
    }
    json!({
        "readable": reading.board().is_some(), "format": format, "features": features.len(), "by_status": by_status,
        "active": reading.board().and_then(Board::active_id), "issues": issues, "runnable": runnable,
    })
}

#[test]
fn every_fixture_is_read_as_the_table_says() {
    let sandbox = crate::common::Sandbox::new();
    let bin = sandbox.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["sh", "curl", "python3", "make", "npm"] {
        std::os::unix::fs::symlink("/bin/sh", bin.join(program)).unwrap();
    }
    let env = Env::made_of(sandbox.root(), [("PATH", &bin)]);
    let lookup = Lookup::new(&env, sandbox.root());
    let table: Vec<Value> =
        serde_json::from_slice(&std::fs::read(fixtures().join("expected.json")).unwrap()).unwrap();
    assert!(table.len() > 50);
    for case in table {
        let file = case["file"].as_str().unwrap();
        let bytes = std::fs::read(fixtures().join(file)).unwrap();
        let reading = reading(file, &bytes);
        let told = told(&reading, &lookup);
        for key in ["readable", "format", "features", "by_status", "active", "issues"] {
            assert_eq!(told[key], case[key], "{key} of {file}");
        }
        assert_eq!(
            told["runnable"],
            case.get("runnable").cloned().unwrap_or(json!({})),
            "runnable of {file}"
        );
        if let Some(edit) = case.get("edit") {
            check_edit(file, &bytes, reading.board().unwrap(), edit);
        }
    }
}

fn check_edit(file: &str, bytes: &[u8], board: &Board, edit: &Value) {
    let id = edit["id"].as_str().unwrap();
    let target = target(board, edit["to"].as_str().unwrap()).unwrap();
    let edited = set_status(bytes, board, id, &target).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(
        sha256_hex(&edited.bytes),
        edit["sha256"].as_str().unwrap(),
        "{file}: {} to {}",
        edited.old,
        edited.new
    );
    // the table's offset is that of the value, or of its key
    let offset = usize::try_from(edit["offset"].as_u64().unwrap()).unwrap();
    assert!((offset..offset + 20).contains(&edited.offset), "{file}: {} and not {offset}", edited.offset);
    let back = target_of(board, id);
    let BoardReading::Board(after) = reading(file, &edited.bytes) else {
        panic!("{file}: the result is no board")
    };
    let restored = set_status(&edited.bytes, &after, id, &back).unwrap();
    assert_eq!(restored.bytes, bytes, "{file}: back again");
}

fn target_of(board: &Board, id: &str) -> endwell::board::edit::Target {
    target(board, &board.feature(id).unwrap().word).unwrap_or_else(|| {
        // a switch
        let done = board.feature(id).unwrap().word == "true";
        target(board, if done { "done" } else { "todo" }).unwrap()
    })
}

/// A fixture with a few bytes changed, cut short or doubled.
fn damaged() -> impl proptest::strategy::Strategy<Value = (String, Vec<u8>)> {
    use proptest::prelude::*;
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "expected.json")
        .collect();
    names.sort();
    let change =
        (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b'"'), Just(b'{'), Just(b'['), Just(0)]);
    (
        prop::sample::select(names),
        prop::collection::vec(change, 0..6),
        any::<prop::sample::Index>(),
        0..3_usize,
    )
        .prop_map(|(name, changes, cut, how)| {
            let mut bytes = std::fs::read(fixtures().join(&name)).unwrap();
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            match how {
                1 => bytes.truncate(cut.index(bytes.len() + 1)),
                2 => bytes.extend_from_within(cut.index(bytes.len() + 1)..),
                _ => {}
            }
            (name, bytes)
        })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_end_the_process_and_every_edit_changes_one_status_only((name, bytes) in damaged()) {
        let reading = reading(&name, &bytes);
        let BoardReading::Board(board) = reading else { return Ok(()) };
        board.active_id();
        endwell::board::next_feature(&board);
        for feature in &board.features {
            let Ok(edited) = set_status(&bytes, &board, &feature.id, &target(&board, "done").unwrap()) else { continue };
            let after = self::reading(&name, &edited.bytes);
            let after = after.board().expect("still a board");
            proptest::prop_assert_eq!(after.features.len(), board.features.len());
            for (one, two) in board.features.iter().zip(&after.features) {
                let expected = if one.id == feature.id { endwell::model::board::Status::Done } else { one.status };
                proptest::prop_assert_eq!(two.status, expected);
                proptest::prop_assert_eq!((&one.id, &one.goal, &one.evidence), (&two.id, &two.goal, &two.evidence));
            }
        }
    }
}

#[test]
fn shapes_that_were_never_seen_cost_nothing_to_read() {
    let format = |text: &str| told_format(&reading("feature_list.json", text.as_bytes()));
    assert_eq!(
        format(r#"{"features": {"a": {"status": "done"}, "b": {"status": "todo"}}}"#),
        ("features", 2)
    );
    assert_eq!(
        format(
            r#"{"phases": [{"items": [{"id": 1, "status": "done"}]}, {"items": [{"id": 2, "status": "wip"}]}]}"#
        ),
        ("groups", 2)
    );
    assert_eq!(
        format(r#"{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}}]}"#),
        ("foreign", 0)
    );
    assert_eq!(format(r#"[{"name": "Texas", "state": "TX"}]"#), ("foreign", 0));
    assert_eq!(format("[]"), ("array", 0));
    assert_eq!(format("42"), ("foreign", 0));
}

fn told_format(reading: &BoardReading) -> (&'static str, usize) {
    match reading {
        BoardReading::Board(board) => (board.format.name(), board.features.len()),
        BoardReading::Foreign(_) => ("foreign", 0),
        _ => ("unknown", 0),
    }
}

#[test]
fn a_status_and_its_switch_change_together() {
    let text = br#"[{"id": "a", "status": "planned", "passes": false}, {"id": "b", "status": "done", "passes": true}]"#;
    let reading = reading("feature_list.json", text);
    let board = reading.board().unwrap();
    let edited = set_status(text, board, "a", &target(board, "done").unwrap()).unwrap();
    let wanted =
        r#"[{"id": "a", "status": "done", "passes": true}, {"id": "b", "status": "done", "passes": true}]"#;
    assert_eq!(String::from_utf8(edited.bytes).unwrap(), wanted);
}

#[test]
fn the_template_is_a_clean_native_board() {
    let bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/board/feature_list.json"))
            .unwrap();
    let reading = reading("feature_list.json", &bytes);
    assert_eq!(told_format(&reading), ("native", 2));
    assert!(reading.findings().is_empty(), "{:?}", reading.findings());
}

#[test]
fn a_huge_board_is_read_in_one_pass() {
    // a chain of dependencies, unknown words, evidence everywhere: what would be slow or deep if anything were
    let rows: Vec<String> = (0..50_000)
        .map(|n| {
            let word = ["done", "todo", "locked"][n % 3];
            let before = if n > 0 { format!("\"F-{}\"", n - 1) } else { String::new() };
            format!(
                r#"{{"id": "F-{n}", "status": "{word}", "goal": "Feature number {n} of a long board", "depends_on": [{before}], "evidence": "src/f{n}.rs", "notes": "{}"}}"#,
                "x".repeat(80)
            )
        })
        .collect();
    let text = format!("{{\"features\": [\n{}\n]}}\n", rows.join(",\n"));
    assert!(text.len() > 9_000_000);
    let reading = reading("feature_list.json", text.as_bytes());
    let board = reading.board().unwrap();
    assert_eq!((board.features.len(), board.features[49_999].line), (50_000, 50_001));
    assert!(board.findings.len() < 200, "long lists of warnings are folded: {}", board.findings.len());
    let edited = set_status(text.as_bytes(), board, "F-49999", &target(board, "blocked").unwrap()).unwrap();
    assert_eq!(edited.bytes.len(), text.len() + "blocked".len() - board.features[49_999].word.len());
}
