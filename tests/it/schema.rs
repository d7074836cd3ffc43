//! The schemas that are shipped are those that the types say; each is a valid schema and means what it should.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::Sandbox;

const NAMES: [&str; 10] = [
    "agent-state",
    "feedback-record",
    "verification-report",
    "review-report",
    "override",
    "clean-report",
    "issue",
    "handoff",
    "doctor",
    "config",
];

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("templates/schema/{name}.schema.json"))
}

fn printed(name: &str) -> String {
    let ran = Sandbox::with_repo().endwell(&["schema", name]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

#[test]
fn shipped_schemas_are_what_the_types_say() {
    let regenerate = std::env::var_os("ENDWELL_REGENERATE").is_some();
    for name in NAMES {
        let (path, now) = (shipped(name), printed(name));
        if regenerate {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let then = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(then == now, "{} is old: `ENDWELL_REGENERATE=1 cargo test schema` writes it", path.display());
    }
    let files = std::fs::read_dir(shipped("x").parent().unwrap()).unwrap().count();
    assert_eq!(files, NAMES.len(), "templates/schema holds a file that no command prints");
}

#[test]
fn every_name_that_the_command_takes_is_compared() {
    let ran = Sandbox::with_repo().endwell(&["schema", "nonsense"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let offered = ran.stderr.split("possible values: ").nth(1).unwrap().split(']').next().unwrap();
    assert_eq!(offered.split(", ").collect::<Vec<_>>(), NAMES);
}

#[test]
fn schemas_are_valid_and_take_what_the_formats_allow() {
    for name in NAMES {
        let schema: Value = serde_json::from_str(&printed(name)).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        jsonschema::validator_for(&schema).unwrap();
    }
    let takes = |name: &str, value: &Value| {
        let schema: Value = serde_json::from_str(&printed(name)).unwrap();
        jsonschema::validator_for(&schema).unwrap().is_valid(value)
    };
    assert!(takes("feedback-record", &json!({"command": ["make"], "exit_code": null})));
    assert!(!takes("feedback-record", &json!({"exit_code": 0})), "a record without a command");
    assert!(takes("config", &json!({})), "everything has a default");
    assert!(takes("config", &json!({"tests": {"command": "make test"}})));
    assert!(takes("config", &json!({"tests": {"command": ["make", "test"]}})));
    assert!(!takes("config", &json!({"tests": {"command": 3}})));
    assert!(!takes("handoff", &json!({"schema_version": 1})), "a packet without its fields");
    let dimension = json!({"name": "problem fit", "score": 2.0, "note": ""});
    assert!(takes("review-report", &json!({"total": 8, "verdict": "pass", "dimensions": [dimension]})));
    assert!(!takes("review-report", &json!({"total": 8, "verdict": "fine"})));
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    let sandbox = Sandbox::with_repo();
    for (shell, mark) in
        [("bash", "complete -F _endwell"), ("zsh", "#compdef endwell"), ("fish", "complete -c endwell")]
    {
        let ran = sandbox.endwell(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(mark) && ran.stdout.contains("schema"), "{shell}: {ran:?}");
    }
    let page = sandbox.endwell(&["man"]);
    assert!(page.stdout.contains(".TH endwell 1") && page.stdout.contains("schema"), "{page:?}");
    let of_one = sandbox.endwell(&["man", "schema"]);
    assert!(of_one.stdout.contains("JSON Schema"), "{of_one:?}");
    let none = sandbox.endwell(&["man", "nonsense"]);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(none.stderr.contains("hint: Run `endwell help`"), "{none:?}");
}
