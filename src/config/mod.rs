//! Settings: default, then `endwell.toml` at the top of the work tree (or the file that `ENDWELL_CONFIG` names). Everything has a default; a file that can't be
//! read is an error with its place, and unknown keys are reported, never guessed at.

pub mod artifacts;
pub mod gates;
mod own;
mod packet;
mod paths;
mod push;
mod suites;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::failure::{Failure, Result};

pub use packet::{Packet, Redact};
pub use push::{Allow, Missing, OwnDirt, Push};
pub use suites::Suite;

/// The file's name.
pub const FILE: &str = "endwell.toml";
/// The variable that names another file.
pub const VARIABLE: &str = "ENDWELL_CONFIG";

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    pub paths: Paths,
    pub tests: Tests,
    pub board: Board,
    pub branch: Branch,
    pub review: Review,
    pub gate: Gate,
    pub context: Context,
    pub artifacts: artifacts::Artifacts,
    pub push: Push,
    pub allow: Allow,
    pub packet: Packet,
    pub redact: Redact,
}

/// Where the artifacts lie, from the top of the work tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Paths {
    /// The agent's state.
    pub state: PathBuf,
    /// The commands that ran.
    pub feedback: PathBuf,
    /// Everything that endwell generates.
    pub outputs: PathBuf,
    /// The feature board; absent: looked for.
    pub board: Option<PathBuf>,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            state: "agent_state.json".into(),
            feedback: "feedback_record.jsonl".into(),
            outputs: "outputs".into(),
            board: None,
        }
    }
}

/// How the tests are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tests {
    /// The test command, as a shell line's words or as a list of words; absent: detected.
    pub command: Option<Command>,
    /// Instead of one command: suites, whose evidence is bound to their own paths only.
    pub suite: Vec<Suite>,
    /// Seconds until the run is stopped; 0: never.
    pub timeout: Option<u64>,
    /// Ignored files that matter to the result.
    pub inputs: Vec<String>,
    /// What makes a fresh checkout ready for `endwell verify --clean-room`, for example `npm ci`.
    pub prepare: Option<Command>,
    /// The least line coverage, in percent, where the run reports one.
    pub coverage_floor: Option<u8>,
    /// By how many percent points coverage may fall below the last green run's.
    pub coverage_drop: Option<u8>,
}

/// A command: a line, or its words.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum Command {
    Line(String),
    Words(Vec<String>),
}

impl Command {
    /// The words to start; a line with shell syntax goes to `sh -c`.
    pub fn argv(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.clone(),
            Self::Line(line) => {
                let syntax = line.contains(['|', '&', ';', '<', '>', '$', '`', '(', '*', '?', '~', '\n']);
                let assigns = line.split_whitespace().next().is_some_and(|word| word.contains('='));
                match shell_words::split(line) {
                    Ok(words) if !syntax && !assigns && !words.is_empty() => words,
                    _ => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
                }
            }
        }
    }
}

impl Serialize for Command {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Line(line) => line.serialize(serializer),
            Self::Words(words) => words.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(line) if !line.trim().is_empty() => Ok(Self::Line(line)),
            toml::Value::Array(items) if !items.is_empty() => items
                .into_iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .map(Self::Words)
                .ok_or_else(|| D::Error::custom("a command's words are texts")),
            _ => Err(D::Error::custom("a command is a text, or a list of texts, and not empty")),
        }
    }
}

/// The feature board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Board {
    /// Fields besides the command fields whose texts may be run as acceptance commands.
    pub run_fields: Vec<String>,
}

/// The branch check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Branch {
    /// The branch that work is expected on.
    pub expected: Option<String>,
    /// The default branch; absent: asked of the remote, then of git's configuration.
    pub default: Option<String>,
}

/// The review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Review {
    /// Whether a handoff needs a review report.
    pub required: bool,
}

/// The turn-end gate in agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gate {
    pub turn_end: TurnEnd,
    /// What the end of a session does with work that its agent could not commit.
    pub cannot_commit: CannotCommit,
    /// Whether agents can commit here, where their client does not tell; absent: they can.
    pub can_commit: Option<bool>,
}

/// What becomes of work that an agent may not commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CannotCommit {
    /// It stays where it is, and the packet is refused for it.
    #[default]
    Refuse,
    /// The hook puts it aside.
    Park,
}

/// When a turn's end may be blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// When the session is wrapping up.
    #[default]
    WrappingUp,
    Always,
    Never,
}

/// When a session counts as wrapping up because its context is filling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Context {
    /// Tokens, taken where the client does not tell its window; then said to be assumed.
    pub window: u64,
    /// Percent of the window.
    pub wrap_up_at: u8,
}

impl Default for Context {
    fn default() -> Self {
        Self { window: 200_000, wrap_up_at: 60 }
    }
}

/// Settings and what was odd about them.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub config: Config,
    /// The file that they were read from, as a person would name it; absent where there is none.
    pub file: Option<PathBuf>,
    /// Keys that the file sets, with dots.
    pub given: BTreeSet<String>,
    /// Keys that mean nothing here.
    pub unknown: Vec<String>,
}

/// Reads the settings of a work tree: those of the file that `ENDWELL_CONFIG` names, else `endwell.toml` at its top.
pub fn load(env: &Env, top: &Path) -> Result<Loaded> {
    let named = env.os(VARIABLE).map(PathBuf::from);
    let (file, path) = match &named {
        Some(named) => (named.clone(), env.cwd().join(named)),
        None => (PathBuf::from(FILE), top.join(FILE)),
    };
    let shown = file.display();
    let text = crate::fs::read_text_optional(&path).map_err(|error| {
        Failure::broken(format!("can't read `{shown}`"))
            .because(error)
            .hint(format!("Mend the permissions or the encoding of `{shown}`, or move it away."))
    })?;
    match text {
        Some(text) => parse(&file, &text),
        None if named.is_none() => Ok(Loaded::default()),
        None => Err(Failure::broken(format!("`{shown}`, which `{VARIABLE}` names, is not there"))
            .hint(format!("Give `{VARIABLE}` the path of a file with settings, or unset it."))),
    }
}

/// Reads the text of a settings file, which a person knows as `file`.
pub fn parse(file: &Path, text: &str) -> Result<Loaded> {
    let mut unknown = Vec::new();
    let config: Config = toml::Deserializer::parse(text)
        .and_then(|deserializer| {
            serde_ignored::deserialize(deserializer, |key| unknown.push(key.to_string()))
        })
        .map_err(|error| unreadable(file, &error))?;
    unknown.sort();
    paths::check(&config.paths)?;
    suites::check(&config.tests)?;
    let table = toml::from_str::<toml::Table>(text).map_err(|error| unreadable(file, &error))?;
    let given = table.iter().flat_map(|(section, value)| match value {
        toml::Value::Table(keys) => keys.keys().map(|key| format!("{section}.{key}")).collect(),
        _ => vec![section.clone()],
    });
    Ok(Loaded { config, file: Some(file.to_owned()), given: given.collect(), unknown })
}

fn unreadable(file: &Path, error: &toml::de::Error) -> Failure {
    let (shown, told) = (file.display(), error.to_string());
    Failure::broken(format!("`{shown}` can't be read: {}", told.trim_end()))
        .hint(format!("Mend the line that is named, or move `{shown}` away: everything has a default."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Result<Loaded> {
        let dir = tempfile::tempdir().unwrap();
        crate::fs::write_atomic(&dir.path().join(FILE), text.as_bytes()).unwrap();
        load(&Env::made_of(dir.path(), [("", "")]), dir.path())
    }

    #[test]
    fn unknown_keys_are_reported_and_known_ones_hold() {
        let loaded = load_text("[tests]\ncommand = \"cargo test\"\nspeed = 3\n[nope]\nx = 1\n").unwrap();
        assert_eq!(loaded.config.tests.command.unwrap().argv(), ["cargo", "test"]);
        assert_eq!(loaded.unknown, ["nope", "tests.speed"]);
    }

    #[test]
    fn a_broken_file_names_its_place() {
        let failure = load_text("[tests]\ncommand = \n").unwrap_err();
        assert!(failure.chain().contains("line 2"), "{}", failure.chain());
    }

    #[test]
    fn shell_syntax_goes_to_a_shell() {
        let line = |text: &str| Command::Line(text.to_owned()).argv();
        assert_eq!(line("npm test -- --run 'a b'"), ["npm", "test", "--", "--run", "a b"]);
        assert_eq!(line("make && ./t"), ["sh", "-c", "make && ./t"]);
        assert_eq!(line("CI=1 npm test"), ["sh", "-c", "CI=1 npm test"]);
    }
}
