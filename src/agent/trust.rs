//! Whether a client runs the hooks that stand in its settings: what it has written down about this person's trust. Read
//! only; to trust is the person's own decision, made in the client.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Agent, json};
use crate::env::Env;
use crate::fs;

/// What a client's own records say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The client asks for none.
    NotNeeded,
    Trusted,
    /// Not trusted: why, and the step by which the person does it.
    Missing {
        why: String,
        fix: &'static str,
        /// The client passes the hooks over without a word; else it asks when it starts.
        silent: bool,
    },
    /// The records can't be read.
    Unknown(String),
}

type Rule = fn(&Place<'_>) -> Result<Trust, String>;

/// The clients that want trust, and how each keeps it.
const RULES: [(&str, Rule); 5] =
    [("claude", claude), ("codex", codex), ("gemini", gemini), ("copilot", copilot), ("hermes", hermes)];

/// Where a client's records are looked for.
struct Place<'a> {
    env: &'a Env,
    /// The client's folder below the home folder, or where its variable leads.
    home: PathBuf,
    /// The top of the work tree as it is, and with links resolved.
    tops: [PathBuf; 2],
    /// The settings file that calls endwell.
    settings: &'a Path,
}

/// What the client's records say about the hooks in `settings`, in a work tree with this top.
pub fn standing(agent: &Agent, env: &Env, top: &Path, settings: &Path) -> Trust {
    let Some((_, rule)) = RULES.iter().find(|(id, _)| *id == agent.id) else { return Trust::NotNeeded };
    let Some(home) = agent.home_dir(env) else {
        return Trust::Unknown("this person's home folder is unknown".to_owned());
    };
    let real = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let place = Place { env, home, tops: [top.to_owned(), real], settings };
    rule(&place).unwrap_or_else(Trust::Unknown)
}

impl Place<'_> {
    fn top_texts(&self) -> impl Iterator<Item = &str> {
        self.tops.iter().filter_map(|top| top.to_str())
    }

    /// Whether one of some folders is the work tree, or above it.
    fn covered_by<'a>(&self, folders: impl IntoIterator<Item = &'a str>) -> bool {
        folders.into_iter().any(|folder| self.tops.iter().any(|top| top.starts_with(folder)))
    }
}

/// A file of the client's as JSON, comments and trailing commas passed over; `Null` where there is none.
fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_text_optional(path).map_err(|error| error.to_string())?;
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(Value::Null) };
    json::loose(&text).map_err(|error| format!("`{}` can't be read: {error}", path.display()))
}

fn claude(place: &Place<'_>) -> Result<Trust, String> {
    let moved = place.env.os("CLAUDE_CONFIG_DIR").map(|dir| PathBuf::from(dir).join(".claude.json"));
    let home = place.env.home().map(|home| home.join(".claude.json"));
    for file in [moved, home].into_iter().flatten() {
        let records = read(&file)?;
        let accepted = |top| records["projects"][top]["hasTrustDialogAccepted"] == true;
        if place.top_texts().any(accepted) {
            return Ok(Trust::Trusted);
        }
    }
    Ok(Trust::Missing {
        why: "Claude Code has not been told yet that this folder is trusted".to_owned(),
        fix: "Start `claude` here and answer its question with yes; `claude -p` asks nothing and runs the hooks.",
        silent: false,
    })
}

/// Two gates, both silent in `codex exec`: the project, and each hook by its place in the file.
fn codex(place: &Place<'_>) -> Result<Trust, String> {
    const FIX: &str = "Start `codex` here, trust the folder, type `/hooks`, and trust endwell's.";
    let path = place.home.join("config.toml");
    let text = fs::read_text_optional(&path).map_err(|error| error.to_string())?.unwrap_or_default();
    let config: toml::Table =
        text.parse().map_err(|error| format!("`{}` can't be read: {error}", path.display()))?;
    let projects = config.get("projects");
    let level = |top| projects.and_then(|projects| projects.get(top)?.get("trust_level")?.as_str());
    if !place.top_texts().any(|top| level(top) == Some("trusted")) {
        let why = "Codex does not trust this project, so it passes its hooks over in silence".to_owned();
        return Ok(Trust::Missing { why, fix: FIX, silent: true });
    }
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let known = |key: &String| {
        let real = place.settings.canonicalize().ok();
        let files = [Some(place.settings), real.as_deref()];
        files.into_iter().flatten().any(|file| {
            let key = format!("{}:{key}", file.display());
            state.and_then(|state| state.get(key)?.get("trusted_hash")).is_some()
        })
    };
    let untrusted = codex_keys(&read(place.settings)?).into_iter().filter(|key| !known(key)).count();
    if untrusted == 0 {
        return Ok(Trust::Trusted);
    }
    let why = format!(
        "Codex has no trust on record for {untrusted} of endwell's hooks, so it passes them over in silence"
    );
    Ok(Trust::Missing { why, fix: FIX, silent: true })
}

/// `event:group:handler` of each of our hooks, as Codex keys its trust.
fn codex_keys(settings: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let snake = event.chars().enumerate().fold(String::new(), |mut out, (at, c)| {
            if c.is_ascii_uppercase() && at > 0 {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
            out
        });
        for (group, entry) in groups.as_array().into_iter().flatten().enumerate() {
            for (handler, hook) in entry["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(|command| json::is_ours(command, Some("codex"))) {
                    keys.push(format!("{snake}:{group}:{handler}"));
                }
            }
        }
    }
    keys
}

fn gemini(place: &Place<'_>) -> Result<Trust, String> {
    if place.env.switch("GEMINI_CLI_TRUST_WORKSPACE") {
        return Ok(Trust::Trusted);
    }
    for file in ["trustedFolders.json", ".gemini/trustedFolders.json"] {
        let records = read(&place.home.join(file))?;
        let trusted = records.as_object().into_iter().flatten().filter_map(|(folder, word)| {
            // the word for a parent speaks of the folder above the one that is named
            match word.as_str()? {
                "TRUST_FOLDER" => Some(folder.as_str()),
                "TRUST_PARENT" => Path::new(folder).parent()?.to_str(),
                _ => None,
            }
        });
        if place.covered_by(trusted) {
            return Ok(Trust::Trusted);
        }
    }
    Ok(Trust::Missing {
        why: "Gemini does not trust this folder yet, so it leaves its hooks out".to_owned(),
        fix: "Start `gemini` here and trust the folder.",
        silent: false,
    })
}

fn copilot(place: &Place<'_>) -> Result<Trust, String> {
    if place.env.switch("COPILOT_ALLOW_ALL") {
        return Ok(Trust::Trusted);
    }
    let records = read(&place.home.join("config.json"))?;
    let folders = records["trustedFolders"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if place.covered_by(folders) {
        return Ok(Trust::Trusted);
    }
    Ok(Trust::Missing {
        why: "Copilot does not trust this folder, so it passes its hooks over in silence".to_owned(),
        fix: "Start `copilot` here and choose to remember that the folder is trusted.",
        silent: true,
    })
}

/// Consent for each event and command.
fn hermes(place: &Place<'_>) -> Result<Trust, String> {
    let records = read(&place.home.join("shell-hooks-allowlist.json"))?;
    let approved = records["approvals"].as_array().into_iter().flatten().any(|approval| {
        approval["command"].as_str().is_some_and(|command| json::is_ours(command, Some("hermes")))
    });
    if approved || place.env.switch("HERMES_ACCEPT_HOOKS") {
        return Ok(Trust::Trusted);
    }
    Ok(Trust::Missing {
        why: "Hermes has no consent on record for endwell's hooks, so it passes them over in silence"
            .to_owned(),
        fix: "Start `hermes --accept-hooks` once.",
        silent: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent;

    /// A home and a project in it; `standing` looks at them.
    fn standing_of(id: &str, files: &[(&str, &str)]) -> Trust {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let top = root.join("repo");
        fs::create_dir_all(&top).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write_plain(&path, text.replace("ROOT", root.to_str().unwrap()).as_bytes()).unwrap();
        }
        let env = Env::made_of(&top, [("HOME", root.join("home"))]);
        let agent = agent::find(id).unwrap();
        standing(agent, &env, &top, &top.join(agent.own_settings.unwrap()))
    }

    fn is_missing(trust: &Trust, is_silent: bool) -> bool {
        matches!(trust, Trust::Missing { silent, .. } if *silent == is_silent)
    }

    #[test]
    fn each_client_s_own_record_is_read() {
        let trusted = [
            (
                "claude",
                "home/.claude.json",
                r#"{"projects": {"ROOT/repo": {"hasTrustDialogAccepted": true}}}"#,
            ),
            ("gemini", "home/.gemini/trustedFolders.json", r#"{"ROOT": "TRUST_FOLDER"}"#),
            ("gemini", "home/.gemini/trustedFolders.json", r#"{"ROOT/repo/sub": "TRUST_PARENT"}"#),
            (
                "copilot",
                "home/.copilot/config.json",
                "// written by the client\n{\"trustedFolders\": [\"ROOT/repo\"],}",
            ),
        ];
        for (id, path, text) in trusted {
            assert_eq!(standing_of(id, &[(path, text)]), Trust::Trusted, "{id} {text}");
            assert!(is_missing(&standing_of(id, &[]), id == "copilot"), "{id}");
            assert!(
                is_missing(&standing_of(id, &[(path, &text.replace("ROOT", "/elsewhere"))]), id == "copilot"),
                "{id}"
            );
            assert!(matches!(standing_of(id, &[(path, "{torn")]), Trust::Unknown(_)), "{id}");
        }
        assert_eq!(standing_of("qwen", &[]), Trust::NotNeeded);
        assert_eq!(standing_of("opencode", &[]), Trust::NotNeeded);
    }

    #[test]
    fn codex_trusts_a_project_and_each_hook_at_its_place() {
        let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]},
            {"hooks": [{"type": "command", "command": "endwell hook stop --client codex"}]}],
            "SessionStart": [{"hooks": [{"type": "command", "command": "endwell hook start --client codex"}]}]}}"#;
        let config = |keys: &[&str]| {
            let mut text = "[projects.\"ROOT/repo\"]\ntrust_level = \"trusted\"\n".to_owned();
            text.extend(keys.iter().map(|key| {
                format!("[hooks.state.\"ROOT/repo/.codex/hooks.json:{key}\"]\ntrusted_hash = \"sha256:x\"\n")
            }));
            text
        };
        let standing = |config: &str| {
            standing_of("codex", &[("repo/.codex/hooks.json", hooks), ("home/.codex/config.toml", config)])
        };
        assert!(is_missing(&standing(""), true));
        assert!(
            is_missing(&standing(&config(&["stop:0:0", "session_start:0:0"])), true),
            "another hook's place"
        );
        assert_eq!(standing(&config(&["stop:1:0", "session_start:0:0"])), Trust::Trusted);
    }
}
