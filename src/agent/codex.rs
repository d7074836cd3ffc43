//! Codex CLI: its hooks file, its events, its answers. Its trust is bound to a hook's place and text: ours are only
//! ever appended.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::context::Used;
use super::{Agent, Home, text};
use crate::env::Env;
use crate::fs;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "codex",
    name: "Codex CLI",
    folder: ".codex",
    home: Home { variable: "CODEX_HOME", below: "", folder: ".codex", settings: "hooks.json" },
    program: "codex",
    own_settings: Some(".codex/hooks.json"),
    shared_settings: Some(".codex/hooks.json"),
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &[],
    needs: "Codex runs a hook only after you trust it: start `codex` here, type `/hooks`, and trust endwell's.",
    obstacle: Some(obstacle),
    change: hooks,
    context_in: Some(context_in),
    read_event,
    answer,
};

const EVENTS: [EventName; 6] = [
    ("SessionStart", Moment::Start, None),
    ("UserPromptSubmit", Moment::Prompt, None),
    ("PostToolUse", Moment::Tool, None),
    ("Stop", Moment::Stop, None),
    ("PreCompact", Moment::Compact, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> Change {
    let entries = common::entries("codex", &EVENTS, is_guarded, |moment, handler| match moment {
        // tokens; by default only 2,500 of an injected text arrive
        Moment::Start => handler["additionalContextLimit"] = json!(10_000),
        // seconds; the client allows no more
        Moment::End => handler["timeout"] = json!(3),
        _ => {}
    });
    let top_keys = &["description", "hooks"];
    Change::Hooks(HookEntries {
        client: "codex",
        syntax: Syntax::StrictJson,
        top_keys,
        preamble: Vec::new(),
        entries,
    })
}

fn obstacle(top: &Path) -> Result<Option<String>, String> {
    let place = ".codex/config.toml";
    let Some(text) = fs::read_text_optional(&top.join(place)).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let config: toml::Table =
        toml::from_str(&text).map_err(|error| format!("it is not TOML: {}", error.message()))?;
    let features = config.get("features").and_then(toml::Value::as_table);
    let is_off = features.is_some_and(|table| {
        ["hooks", "codex_hooks"]
            .iter()
            .any(|key| table.get(*key).and_then(toml::Value::as_bool) == Some(false))
    });
    Ok(is_off.then(|| {
        format!("`{place}` switches hooks off (`[features] hooks = false`): none of Codex's will run")
    }))
}

fn context_in(line: &Value) -> Option<Used> {
    let info = line.get("payload").filter(|payload| payload["type"] == "token_count")?.get("info")?;
    let tokens = info["last_token_usage"]["total_tokens"].as_u64()?;
    Some(Used { tokens, window: info["model_context_window"].as_u64() })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    let event = common::event(moment, value);
    Event {
        tool: if moment == Moment::Tool { tool(value) } else { None },
        headless: event.transcript_path.as_deref().is_some_and(runs_one_prompt),
        can_commit: match moment {
            Moment::Stop | Moment::End => can_commit(value, event.transcript_path.as_deref()),
            _ => None,
        },
        ..event
    }
}

/// The client writes no exit code here, only the output; its rollout file has it.
fn tool(value: &Value) -> Option<ToolCall> {
    if value["tool_name"] != "Bash" {
        return None;
    }
    Some(ToolCall {
        id: text(value, "tool_use_id"),
        command: text(&value["tool_input"], "command")?,
        error: Some("exit-unknown".to_owned()),
        stdout: text(value, "tool_response").unwrap_or_default(),
        ..ToolCall::default()
    })
}

/// `codex exec` says so in the first line of its rollout file. That line carries the client's instructions, so it is
/// not read as a whole.
fn runs_one_prompt(rollout: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::open(rollout).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.is_ok() && memchr::memmem::find(&head, b"\"source\":\"exec\"").is_some()
}

/// Bytes at the end of a rollout file among which the turn's own settings stand.
const TURN: u64 = 4 * 1024 * 1024;

/// In its sandbox git's folder is read-only for the agent, though not for hooks. The newest turn's settings say which one
/// it is; a folder of git's that was opened on purpose is no obstacle.
fn can_commit(value: &Value, rollout: Option<&Path>) -> Option<bool> {
    if value["permission_mode"] == "bypassPermissions" {
        return Some(true);
    }
    let bytes = fs::tail(rollout?, TURN).ok()??;
    let at = memchr::memmem::rfind(&bytes, b"\"type\":\"turn_context\"")?;
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
    let line: Value = serde_json::from_slice(&bytes[start..end]).ok()?;
    let policy = &line["payload"]["sandbox_policy"];
    match policy["type"].as_str()? {
        "danger-full-access" => Some(true),
        "read-only" => Some(false),
        "workspace-write" => {
            let opened = policy["writable_roots"].as_array().is_some_and(|roots| {
                roots
                    .iter()
                    .filter_map(Value::as_str)
                    .any(|root| root.trim_end_matches('/').ends_with("/.git"))
            });
            Some(opened)
        }
        _ => None,
    }
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    common::answer(&EVENTS, moment, answer)
}

#[cfg(test)]
mod tests;
