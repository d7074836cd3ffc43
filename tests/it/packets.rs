//! Packets from inputs: golden files byte for byte, and what holds for every input: the same bytes again, a valid
//! schema, a page that fits, and no panic on noise.

use std::path::{Path, PathBuf};

use endwell::packet::{Inputs, build, markdown, pull_request_body};
use proptest::prelude::*;
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/packets")
}

fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn inputs(folder: &Path) -> Inputs {
    let text = std::fs::read_to_string(folder.join("inputs.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

fn rendered(inputs: &Inputs) -> (String, String) {
    let packet = build(inputs).unwrap();
    let json = serde_json::to_string_pretty(&packet).unwrap() + "\n";
    (json, markdown(&packet, inputs.limits.max_chars, None).unwrap())
}

pub fn validator() -> jsonschema::Validator {
    let schema = serde_json::to_value(schemars::schema_for!(endwell::model::packet::Packet)).unwrap();
    jsonschema::draft202012::options().build(&schema).unwrap()
}

#[test]
fn golden_packets_come_out_byte_for_byte() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let folders = folders();
    assert!(folders.len() >= 12, "{}", folders.len());
    for folder in folders {
        let (json, page) = rendered(&inputs(&folder));
        for (name, text) in [("handoff.json", json), ("handoff.md", page)] {
            let path = folder.join(name);
            if update {
                std::fs::write(&path, &text).unwrap();
            }
            let golden = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(golden == text, "{} is not what came out:\n{text}", path.display());
        }
    }
}

#[test]
fn golden_packets_fit_and_are_valid() {
    let validator = validator();
    for folder in folders() {
        let inputs = inputs(&folder);
        let (json, page) = rendered(&inputs);
        let value: Value = serde_json::from_str(&json).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", folder.display());
        assert!(page.chars().count() <= inputs.limits.max_chars, "{}", folder.display());
        assert!(value["feedback_tail"].as_array().unwrap().len() <= 30, "{}", folder.display());
        let body = pull_request_body(&build(&inputs).unwrap(), 8_000).unwrap();
        assert!(!body.contains("sha256") && !body.contains("## Receipts"), "{body}");
    }
}

#[test]
fn the_summarys_grammar_beside_the_fixtures_is_the_one_in_the_code() {
    let source = std::fs::read_to_string(fixtures().join("../../../src/packet/summary.rs")).unwrap();
    let readme = std::fs::read_to_string(fixtures().join("README.md")).unwrap();
    let block = |text: &str, strip: &str| -> Vec<String> {
        let inside = text.split("```text").nth(1).unwrap().split("```").next().unwrap();
        let lines = inside.lines().map(|line| line.strip_prefix(strip).unwrap_or(line).trim_end().to_owned());
        lines.filter(|line| !line.is_empty() && line != "//!").collect()
    };
    let grammar = block(&source, "//! ");
    assert!(grammar.len() > 5);
    assert_eq!(block(&readme, ""), grammar);
}

#[test]
fn what_projects_are_told_names_every_field() {
    let about = std::fs::read_to_string(fixtures().join("../../../templates/packet/about.md")).unwrap();
    let schema = serde_json::to_value(schemars::schema_for!(endwell::model::packet::Packet)).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        assert!(about.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn a_packet_needs_a_next_action() {
    let mut inputs = inputs(&fixtures().join("one-of-each"));
    inputs.next_action = None;
    assert!(build(&inputs).is_err());
}

#[test]
fn the_time_that_the_checks_took_changes_nothing() {
    let mut inputs = inputs(&fixtures().join("one-of-each"));
    let before = rendered(&inputs);
    for check in &mut inputs.clean.checks {
        check.duration_ms += 17;
    }
    assert_eq!(rendered(&inputs), before);
}

/// Any JSON.
pub fn noise() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let keys = prop_oneof![
        prop::sample::select(vec![
            "command",
            "exit_code",
            "error",
            "stdout_tail",
            "stderr_tail",
            "open_risks",
            "assumptions",
            "questions",
            "text",
            "detail",
            "severity",
            "next_action",
            "active_task_id",
            "schema_version",
            "test",
            "answer",
            "benign",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_in_state_and_log_gives_a_valid_packet_or_none(state in noise(), records in prop::collection::vec(noise(), 0..12)) {
        use endwell::model::{feedback::FeedbackRecord, state::{AgentState, StateReading}};
        use endwell::{feedback::keep_safe, redact::Redactor};
        let mut inputs = inputs(&fixtures().join("no-board-no-review"));
        if let StateReading::Ours { state, .. } = AgentState::read(&state) {
            inputs.state = state;
        }
        let redactor = Redactor::new(Some("/home/ada"));
        inputs.log.records =
            records.iter().filter_map(FeedbackRecord::read).map(|record| keep_safe(&redactor, record)).collect();
        let (json, page) = rendered(&inputs);
        prop_assert_eq!(rendered(&inputs), (json.clone(), page.clone()));
        prop_assert!(page.chars().count() <= 8_000);
        let value: Value = serde_json::from_str(&json).unwrap();
        prop_assert!(validator().is_valid(&value), "{}", json);
    }

    #[test]
    fn pages_fit_whatever_is_asked(text in any::<String>(), count in 0_usize..60, max in 600_usize..3_000) {
        let mut inputs = inputs(&fixtures().join("one-of-each"));
        inputs.limits.max_chars = max;
        inputs.state.assumptions = (0..count)
            .map(|n| endwell::model::state::Assumption { text: format!("{n} {text}"), review_score: None })
            .collect();
        let page = rendered(&inputs).1;
        prop_assert!(page.chars().count() <= max, "{}", page);
    }
}
