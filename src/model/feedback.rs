//! One line of `feedback_record.jsonl`: a command that ran. Other recorders write the same file with missing or
//! foreign fields, so every field but the command may be absent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackRecord {
    pub command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `None`: unknown. Never counted as success, and as failure only with an `error`.
    pub exit_code: Option<i64>,
    #[serde(default)]
    pub stdout_tail: String,
    #[serde(default)]
    pub stderr_tail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_command_id: Option<String>,
    /// Absent: it counts as the session's that is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `timeout`, `signal`, `interrupted`, `not-found`, `no-result` and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Stream name to the number of bytes left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub truncations: BTreeMap<String, u64>,
    /// Kind of secret to the number of places.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
    /// The client itself reads this non-zero exit as no error (grep without a match): never a failed attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benign: Option<bool>,
}

/// What is known about how a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
    Unknown,
}

impl FeedbackRecord {
    /// Reads a line's value as far as it goes; `None` where there is no command in it.
    pub fn read(value: &Value) -> Option<Self> {
        let map = value.as_object()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let command = match map.get("command")? {
            Value::String(line) if !line.trim().is_empty() => vec![line.clone()],
            Value::Array(argv) if !argv.is_empty() => {
                argv.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?
            }
            _ => return None,
        };
        let counts = |key: &str| -> BTreeMap<String, u64> {
            let entries = map.get(key).and_then(Value::as_object);
            entries
                .into_iter()
                .flatten()
                .filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)))
                .collect()
        };
        Some(Self {
            command,
            cwd: text("cwd"),
            exit_code: map.get("exit_code").and_then(Value::as_i64),
            stdout_tail: text("stdout_tail").unwrap_or_default(),
            stderr_tail: text("stderr_tail").unwrap_or_default(),
            duration_ms: map.get("duration_ms").and_then(Value::as_u64),
            started_at: match map.get("started_at") {
                Some(Value::String(time)) => Some(time.clone()),
                Some(Value::Number(seconds)) => Some(seconds.to_string()),
                _ => None,
            },
            agent_note: text("agent_note"),
            command_id: text("command_id"),
            parent_command_id: text("parent_command_id"),
            session_id: text("session_id"),
            error: text("error").filter(|error| !error.is_empty()),
            truncations: counts("truncations"),
            redactions: counts("redactions"),
            benign: map.get("benign").and_then(Value::as_bool),
        })
    }

    /// Whether it worked, as far as that is known.
    pub fn outcome(&self) -> Outcome {
        match (self.exit_code, &self.error) {
            (Some(0), None) => Outcome::Success,
            (Some(_), _) if self.benign == Some(true) => Outcome::Success,
            // a clean exit that something else speaks against is neither
            (Some(0), Some(_)) | (None, None) => Outcome::Unknown,
            (Some(_), _) | (None, Some(_)) => Outcome::Failure,
        }
    }

    /// The command as one line: a single text stands as it is, an argv is quoted as a shell would want it.
    pub fn command_line(&self) -> String {
        match self.command.as_slice() {
            [line] => line.clone(),
            argv => shell_words::join(argv),
        }
    }
}
