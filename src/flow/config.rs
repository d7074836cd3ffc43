//! Which settings hold in this work tree, and where each comes from. It reads and looks; nothing is run or written.

use serde::Serialize;
use serde_json::Value;

use crate::check::branch::default_branch;
use crate::config::{self, Config};
use crate::failure::{Failure, Result};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, board, evidence};
use crate::git::Refs;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    Default,
    /// The settings file.
    File,
    /// The project's own files, or git.
    Detected,
}

/// One setting.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// With a dot, for example `tests.command`.
    pub key: String,
    /// Null: not set, and nothing was found.
    pub value: Value,
    pub source: Source,
    /// The file, or what speaks for what was detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// All settings, in the order of the schema.
pub fn settings(bench: &Workbench) -> Result<Vec<Setting>> {
    let loaded = config::load(&bench.env, &bench.repo.top)?;
    let file = loaded.file.map(|file| file.display().to_string());
    let mut settings = Vec::new();
    for (section, keys) in object(&loaded.config)? {
        let Value::Object(keys) = keys else { continue };
        for (name, value) in keys {
            let key = format!("{section}.{name}");
            let setting = if loaded.given.contains(&key) {
                Setting { key, value, source: Source::File, from: file.clone() }
            } else {
                let found = if value.is_null() { detected(bench, &key)? } else { None };
                match found {
                    Some((value, from)) => {
                        Setting { key, value: Value::from(value), source: Source::Detected, from: Some(from) }
                    }
                    None => Setting { key, value, source: Source::Default, from: None },
                }
            };
            settings.push(setting);
        }
    }
    Ok(settings)
}

fn object(config: &Config) -> Result<serde_json::Map<String, Value>> {
    match serde_json::to_value(config) {
        Ok(Value::Object(sections)) => Ok(sections),
        Ok(_) => Ok(serde_json::Map::new()),
        Err(error) => Err(Failure::broken("can't show the settings")
            .because(error)
            .hint("`endwell schema config` has every key with its default.")),
    }
}

/// What is found out where nothing is set: the value, and what speaks for it.
fn detected(bench: &Workbench, key: &str) -> Result<Option<(String, String)>> {
    Ok(match key {
        "tests.command" => evidence::commands(bench)
            .ok()
            .and_then(|found| found.into_iter().find(|command| command.suite.is_none()))
            .map(|command| (shell_words::join(&command.argv), command.because)),
        "paths.board" => {
            board::read(bench).board().map(|board| (board.path.clone(), "its name and its shape".to_owned()))
        }
        "branch.default" => {
            let failed = |error| git_failed("can't read the refs", error);
            let refs = Refs::read(&bench.repo, &bench.objects).map_err(failed)?;
            let found = default_branch(&bench.repo, &refs, &bench.config).map_err(failed)?;
            found.map(|(name, _)| (name, "the remote and git".to_owned()))
        }
        _ => None,
    })
}
