//! Coding agents: what to write into their settings, how to read what they tell a hook, how to answer. An adapter is
//! data and small functions; it writes nothing itself, [`edit`] does that for all.

pub mod claude;
pub mod codex;
mod common;
pub mod context;
pub mod copilot;
pub mod edit;
pub mod gemini;
pub mod json;
pub mod opencode;
pub mod qwen;
pub mod trust;
pub mod undo;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value;

use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply};
use crate::model::plan::Change;

/// One client.
#[derive(Debug)]
pub struct Agent {
    /// The name in `--agent` and `--client`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Its folder in a project, and below the home folder.
    pub folder: &'static str,
    /// The variable that names another folder than the one below the home folder.
    pub home_variable: &'static str,
    /// Its program.
    pub program: &'static str,
    /// This person's settings of a project, from the top of the work tree.
    pub own_settings: &'static str,
    /// The settings that a team commits.
    pub shared_settings: &'static str,
    /// The most characters of injected text that arrive whole.
    pub inject_limit: usize,
    /// What a person has to do before its hooks run; empty: nothing.
    pub needs: &'static str,
    /// What in a project's settings keeps its hooks from running. `Err`: its settings can't be read.
    pub obstacle: Option<Obstacle>,
    /// Our part in its settings; a guarded one does nothing on a machine without endwell.
    pub change: fn(guarded: bool) -> Change,
    /// How full the context is, in a line of its transcript; `None`: the transcript does not tell.
    pub context_in: Option<fn(&Value) -> Option<context::Used>>,
    pub read_event: fn(Moment, &Value, &Env) -> Event,
    pub answer: fn(Moment, &Answer) -> Reply,
}

/// Looks into a project's settings, from the top of its work tree.
pub type Obstacle = fn(top: &Path) -> Result<Option<String>, String>;

/// The clients that work from end to end.
pub static ALL: &[&Agent] =
    &[&claude::AGENT, &codex::AGENT, &opencode::AGENT, &gemini::AGENT, &qwen::AGENT, &copilot::AGENT];

/// Variables that a client sets for the commands that its agent runs. Names that several clients set (such as
/// `CLAUDE_PROJECT_DIR`) are left out: they tell nothing.
const SET_FOR_COMMANDS: [(&str, &str); 9] = [
    ("CLAUDECODE", "claude"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SESSION_ID", "codex"),
    ("CODEX_CI", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("HERMES_SESSION_ID", "hermes"),
    ("COPILOT_CLI", "copilot"),
    ("AI_AGENT", "an agent"),
];

/// The agent that runs this process, as far as the environment tells.
pub fn around(env: &Env) -> Option<&'static str> {
    SET_FOR_COMMANDS.iter().find(|(variable, _)| env.text(variable).is_some()).map(|(_, agent)| *agent)
}

/// A client by its name.
pub fn find(id: &str) -> Option<&'static Agent> {
    ALL.iter().copied().find(|agent| agent.id == id)
}

/// Their names, for a sentence.
pub fn names() -> String {
    ALL.iter().map(|agent| agent.id).collect::<Vec<_>>().join(", ")
}

impl Agent {
    /// Its folder for this person.
    pub fn home(&self, env: &Env) -> Option<PathBuf> {
        match env.os(self.home_variable) {
            Some(dir) => Some(dir.into()),
            None => env.home().map(|home| home.join(self.folder)),
        }
    }

    /// Whether this person seems to use it: its folder here or at home, or its program on PATH.
    pub fn is_used(&self, env: &Env, top: &Path) -> bool {
        top.join(self.folder).is_dir()
            || self.home(env).is_some_and(|dir| dir.is_dir())
            || env.which(self.program).is_some()
    }
}

/// The most bytes of one event that are read.
const MAX_EVENT: u64 = 64 * 1024 * 1024;

/// Reads one JSON value and not a byte more: a client may leave the pipe open. Anything that is no JSON value is
/// `Null`, and the event then tells nothing but its moment.
pub fn read_value(input: impl Read) -> Value {
    let mut reader = serde_json::Deserializer::from_reader(input.take(MAX_EVENT));
    Value::deserialize(&mut reader).unwrap_or(Value::Null)
}

/// A text field that is there and not empty.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A command that a machine without endwell passes over in silence.
pub(crate) fn guarded(command: &str) -> String {
    format!("command -v endwell >/dev/null && {command} || true")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes and then blocks for ever, as a client does that leaves the pipe open.
    struct OpenPipe<'a>(&'a [u8]);

    impl Read for OpenPipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(!self.0.is_empty(), "read on after the value");
            buffer[0] = self.0[0];
            self.0 = &self.0[1..];
            Ok(1)
        }
    }

    #[test]
    fn an_event_is_read_without_waiting_for_the_end() {
        assert_eq!(read_value(OpenPipe(b"{\"a\": [1]}"))["a"][0], 1);
        assert_eq!(read_value(&b""[..]), Value::Null);
        assert_eq!(read_value(&b"{\"torn\": "[..]), Value::Null);
    }
}
