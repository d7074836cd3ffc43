//! Coding agents: what to write into their settings, how to read what they tell a hook, how to answer. An adapter is
//! data and small functions; it writes nothing itself, [`edit`] does that for all.

pub mod claude;
pub mod codex;
mod common;
pub mod context;
pub mod copilot;
pub mod cursor;
pub mod droid;
pub mod edit;
pub mod gemini;
pub mod hermes;
pub mod json;
pub mod opencode;
pub mod qwen;
pub mod settings;
pub mod trust;
pub mod undo;
mod yaml;

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
    /// Its folder in a project; empty: it has none.
    pub folder: &'static str,
    pub home: Home,
    /// Its program.
    pub program: &'static str,
    /// This person's settings of a project, from the top of the work tree; `None`: it runs no hooks of a project.
    pub own_settings: Option<&'static str>,
    /// The settings that a team commits.
    pub shared_settings: Option<&'static str>,
    /// The most characters of injected text that arrive whole.
    pub inject_limit: usize,
    /// Seen with the real program; else written from its documentation.
    pub is_tried: bool,
    /// Words of its command line by which it runs one prompt and exits; none where its events tell, or nothing does.
    pub one_prompt: &'static [&'static str],
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

/// Where a client keeps what is this person's own in every project.
#[derive(Debug)]
pub struct Home {
    /// The variable that names another place.
    pub variable: &'static str,
    /// The folder below the place that the variable names; empty: that very place.
    pub below: &'static str,
    /// The folder below the home folder.
    pub folder: &'static str,
    /// The file for hooks in it.
    pub settings: &'static str,
}

/// Looks into a project's settings, from the top of its work tree.
pub type Obstacle = fn(top: &Path) -> Result<Option<String>, String>;

/// Every client.
pub static ALL: &[&Agent] = &[
    &claude::AGENT,
    &codex::AGENT,
    &opencode::AGENT,
    &gemini::AGENT,
    &qwen::AGENT,
    &copilot::AGENT,
    &hermes::AGENT,
    &cursor::AGENT,
    &droid::AGENT,
];

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
    /// Whether this person seems to use it: its folder here or at home, or its program on PATH.
    pub fn is_used(&self, env: &Env, top: &Path) -> bool {
        (!self.folder.is_empty() && top.join(self.folder).is_dir()) || self.is_at_home(env)
    }

    /// Whether this person seems to use it anywhere.
    pub fn is_at_home(&self, env: &Env) -> bool {
        self.home_dir(env).is_some_and(|dir| dir.is_dir()) || env.which(self.program).is_some()
    }

    /// Whether a command line of its makes it run one prompt and exit.
    pub fn runs_one_prompt(&self, arguments: &[String]) -> bool {
        let is_one = |word: &String| {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            self.one_prompt.contains(&name)
        };
        arguments.iter().skip(1).any(is_one)
    }

    /// Its folder for this person.
    pub fn home_dir(&self, env: &Env) -> Option<PathBuf> {
        if let Some(place) = env.os(self.home.variable) {
            return Some(Path::new(place).join(self.home.below)).filter(|dir| dir.is_absolute());
        }
        match (self.home.folder.strip_prefix(".config/"), env.os("XDG_CONFIG_HOME").map(Path::new)) {
            (Some(below), Some(config)) if config.is_absolute() => Some(config.join(below)),
            _ => Some(env.home()?.join(self.home.folder)),
        }
    }

    /// This person's settings for every project.
    pub fn user_settings(&self, env: &Env) -> Option<PathBuf> {
        Some(self.home_dir(env)?.join(self.home.settings))
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

    /// Every payload that a real client sent, by the moment at which its event calls us; `None`: we don't ask for it.
    fn moment_of(client: &str, event: &str) -> Option<Moment> {
        let Change::Hooks(hooks) = (find(client)?.change)(false) else {
            return Some(Moment::Tool); // the plugin tells in words of our own
        };
        let entry = hooks.entries.iter().find(|entry| entry.event == event)?;
        let word = entry.commands[0].split(' ').nth(2)?;
        Moment::parse(word)
    }

    #[test]
    fn every_recorded_payload_is_read_and_asks_for_its_session() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/payloads");
        let mut read = 0;
        for agent in ALL.iter().filter(|agent| agent.is_tried && agent.id != "opencode") {
            for path in crate::fs::list(&fixtures.join(agent.id)).unwrap() {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                let Some(moment) = moment_of(agent.id, name.split('.').next().unwrap()) else { continue };
                let value = read_value(crate::fs::open(&path).unwrap());
                let event = (agent.read_event)(moment, &value, &Env::default());
                assert!(event.session_id.is_some(), "{}: {name}", agent.id);
                assert_eq!(event.cwd.as_deref(), Some(Path::new("/repo")), "{}: {name}", agent.id);
                // Codex writes its files by shell
                let runs = moment == Moment::Tool && (agent.id == "codex" || !name.contains(".write"));
                assert_eq!(event.tool.is_some(), runs, "{}: {name}", agent.id);
                read += 1;
            }
        }
        assert!(read > 50, "{read} payloads");
    }

    #[test]
    fn every_plan_calls_us_for_each_moment_and_stays_the_same() {
        for agent in ALL {
            let Change::Hooks(hooks) = (agent.change)(false) else { continue };
            for moment in [Moment::Prompt, Moment::Stop, Moment::End] {
                let command = format!("endwell hook {} --client {}", moment.word(), agent.id);
                assert!(hooks.entries.iter().any(|entry| entry.commands[0] == command), "{command}");
            }
            let Change::Hooks(guarded) = (agent.change)(true) else { continue };
            for (plain, guarded) in hooks.entries.iter().zip(&guarded.entries) {
                let (mut one, mut other) = (plain.commands.clone(), guarded.commands.clone());
                one.sort();
                other.sort();
                assert_eq!(one, other, "an entry of either form is known as ours");
            }
        }
    }

    #[test]
    fn a_run_with_one_prompt_is_known_by_its_command_line() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let gemini = find("gemini").unwrap();
        assert!(gemini.runs_one_prompt(&words("node gemini.js -p x --yolo")));
        assert!(gemini.runs_one_prompt(&words("gemini --prompt=x")));
        assert!(!gemini.runs_one_prompt(&words("gemini -i x")));
        assert!(!gemini.runs_one_prompt(&[]));
    }

    #[test]
    fn homes_follow_the_clients_own_variables() {
        let at = |client: &str, vars: &[(&str, &str)]| {
            let env = Env::made_of("/", vars.iter().copied());
            find(client).unwrap().user_settings(&env).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/me");
        assert_eq!(at("codex", &[home]).as_deref(), Some("/home/me/.codex/hooks.json"));
        assert_eq!(at("codex", &[home, ("CODEX_HOME", "/c")]).as_deref(), Some("/c/hooks.json"));
        assert_eq!(
            at("gemini", &[home, ("GEMINI_CLI_HOME", "/g")]).as_deref(),
            Some("/g/.gemini/settings.json")
        );
        assert_eq!(at("opencode", &[home]).as_deref(), Some("/home/me/.config/opencode/plugins/endwell.js"));
        let xdg = [home, ("XDG_CONFIG_HOME", "/x")];
        assert_eq!(at("opencode", &xdg).as_deref(), Some("/x/opencode/plugins/endwell.js"));
        assert_eq!(at("hermes", &[]), None);
    }
}
