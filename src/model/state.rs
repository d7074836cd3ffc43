//! `agent_state.json`: where the work stands, in the agent's own words. Reading is tolerant; a file without any of
//! our fields belongs to another tool (`reference`: foreign) and is never overwritten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Severity;

/// Where the work stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentState {
    pub schema_version: u32,
    pub active_task_id: Option<String>,
    pub touched_files: Vec<String>,
    pub assumptions: Vec<Assumption>,
    pub blockers: Vec<String>,
    pub open_risks: Vec<StateRisk>,
    pub questions: Vec<Question>,
    pub next_action: Option<String>,
}

/// Something taken for granted, with the reviewer's score (0 to 2) where one was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assumption {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_score: Option<f64>,
}

/// What could bite next. `test` names the failing test that this risk accounts for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateRisk {
    pub severity: Severity,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

/// A question to a person, answered or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    #[serde(default)]
    pub blocking: bool,
}

/// What a state file turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum StateReading {
    /// Ours, with remarks on what had to be skipped.
    Ours { state: AgentState, remarks: Vec<String> },
    /// Another tool's file: never used, never overwritten.
    Foreign,
    /// A version that this endwell does not know.
    NewerVersion(u64),
}

/// The keys of which one makes a state file ours.
const OURS: [&str; 4] = ["active_task_id", "touched_files", "open_risks", "assumptions"];

/// Every key that we know.
const KNOWN: [&str; 8] = [
    "schema_version",
    "active_task_id",
    "touched_files",
    "assumptions",
    "blockers",
    "open_risks",
    "questions",
    "next_action",
];

impl AgentState {
    /// Reads a state as far as it goes: unknown keys and values of the wrong type become remarks.
    pub fn read(value: &Value) -> StateReading {
        let Some(map) = value.as_object() else { return StateReading::Foreign };
        if !OURS.iter().any(|key| map.contains_key(*key)) {
            return StateReading::Foreign;
        }
        if let Some(version) = map.get("schema_version").and_then(Value::as_u64)
            && version > u64::from(super::SCHEMA_VERSION)
        {
            return StateReading::NewerVersion(version);
        }
        let mut remarks: Vec<String> = map
            .keys()
            .filter(|key| !KNOWN.contains(&key.as_str()))
            .map(|key| format!("unknown key `{key}` is kept but not used"))
            .collect();
        if !map.contains_key("schema_version") {
            remarks.push("`schema_version` is missing, read as version 1".to_owned());
        }
        let state = Self {
            schema_version: super::SCHEMA_VERSION,
            active_task_id: text_of(map, "active_task_id", &mut remarks),
            touched_files: list(map, "touched_files", &mut remarks, text),
            assumptions: list(map, "assumptions", &mut remarks, assumption),
            blockers: list(map, "blockers", &mut remarks, text),
            open_risks: list(map, "open_risks", &mut remarks, risk),
            questions: list(map, "questions", &mut remarks, question),
            next_action: text_of(map, "next_action", &mut remarks),
        };
        StateReading::Ours { state, remarks }
    }
}

fn text_of(map: &Map<String, Value>, key: &str, remarks: &mut Vec<String>) -> Option<String> {
    match map.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.trim().is_empty() => None,
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) => {
            remarks.push(format!("`{key}` is not a text and was skipped"));
            None
        }
    }
}

fn list<T>(
    map: &Map<String, Value>,
    key: &str,
    remarks: &mut Vec<String>,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<T> {
    let items = match map.get(key) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items.as_slice(),
        Some(single) => std::slice::from_ref(single),
    };
    let kept: Vec<T> = items.iter().filter_map(read).collect();
    if kept.len() < items.len() {
        remarks.push(format!("{} of `{key}` could not be read and were skipped", items.len() - kept.len()));
    }
    kept
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn assumption(value: &Value) -> Option<Assumption> {
    match value {
        Value::Object(map) => Some(Assumption {
            text: text(map.get("text")?)?,
            review_score: map.get("review_score").and_then(Value::as_f64),
        }),
        _ => Some(Assumption { text: text(value)?, review_score: None }),
    }
}

fn risk(value: &Value) -> Option<StateRisk> {
    match value {
        Value::Object(map) => Some(StateRisk {
            severity: match map.get("severity").and_then(Value::as_str) {
                Some("info") => Severity::Info,
                Some("block") => Severity::Block,
                _ => Severity::Warn,
            },
            detail: map.get("detail").or_else(|| map.get("text")).and_then(text)?,
            test: map.get("test").and_then(text),
        }),
        _ => Some(StateRisk { severity: Severity::Warn, detail: text(value)?, test: None }),
    }
}

fn question(value: &Value) -> Option<Question> {
    match value {
        Value::Object(map) => Some(Question {
            text: text(map.get("text")?)?,
            answer: map.get("answer").and_then(text),
            blocking: map.get("blocking").and_then(Value::as_bool).unwrap_or(false),
        }),
        _ => Some(Question { text: text(value)?, answer: None, blocking: false }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> StateReading {
        AgentState::read(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn another_tools_file_is_foreign() {
        assert_eq!(read(r#"{"step": 3, "next_action": "x"}"#), StateReading::Foreign);
        assert_eq!(read("[1]"), StateReading::Foreign);
    }

    #[test]
    fn mixed_shapes_are_read_as_far_as_they_go() {
        let StateReading::Ours { state, remarks } = read(
            r#"{"active_task_id": 7, "assumptions": ["a", {"text": "b", "review_score": 2}, 3],
                "open_risks": [{"severity": "block", "detail": "d", "test": "t::x"}, "plain"], "extra": 1}"#,
        ) else {
            panic!("ours")
        };
        assert_eq!(state.active_task_id.as_deref(), Some("7"));
        assert_eq!(state.assumptions.len(), 2);
        assert_eq!(state.open_risks[0].test.as_deref(), Some("t::x"));
        assert_eq!(remarks.len(), 3, "{remarks:?}");
    }

    #[test]
    fn a_newer_version_is_refused() {
        assert_eq!(read(r#"{"schema_version": 9, "assumptions": []}"#), StateReading::NewerVersion(9));
    }
}
