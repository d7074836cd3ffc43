//! `OpenCode` has no hook commands, so a plugin of ours calls endwell. Both ends of that talk are our own.

use serde_json::{Value, json};

use super::{Agent, Home, common, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, Whole};

pub(super) static AGENT: Agent = Agent {
    id: "opencode",
    name: "OpenCode",
    folder: ".opencode",
    home: Home {
        variable: "OPENCODE_CONFIG_DIR",
        below: "",
        folder: ".config/opencode",
        settings: "plugins/endwell.js",
    },
    program: "opencode",
    own_settings: Some(".opencode/plugins/endwell.js"),
    shared_settings: Some(".opencode/plugins/endwell.js"),
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &[],
    needs: "",
    obstacle: None,
    change,
    context_in: None,
    read_event,
    answer,
};

const PLUGIN: &str = include_str!("../../templates/agents/opencode/endwell.js");

/// The plugin is quiet on a machine without endwell, so the team's is the same.
fn change(_guarded: bool) -> Change {
    Change::Whole(Whole {
        bytes: PLUGIN.as_bytes().to_vec(),
        mode: 0o644,
        mark: Some("// endwell plugin for OpenCode, version"),
        variable: None,
        aside: Vec::new(),
    })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    Event {
        tool: if moment == Moment::Tool { tool(&value["tool"]) } else { None },
        headless: value["headless"] == true,
        is_deaf: value["deaf"] == true,
        context_tokens: value["context_tokens"].as_u64(),
        context_window: value["context_window"].as_u64(),
        ..common::event(moment, value)
    }
}

fn tool(told: &Value) -> Option<ToolCall> {
    let exit_code = told["exit"].as_i64();
    Some(ToolCall {
        id: text(told, "id"),
        command: text(told, "command")?,
        exit_code,
        error: exit_code.is_none().then(|| "exit-unknown".to_owned()),
        stdout: text(told, "output").unwrap_or_default(),
        truncated: told["truncated"] == true,
        ..ToolCall::default()
    })
}

fn answer(_moment: Moment, answer: &Answer) -> Reply {
    let stdout = match answer {
        Answer::Nothing => String::new(),
        Answer::Inject(text) => json!({"inject": text}).to_string(),
        Answer::Block(reason) => json!({"block": reason}).to_string(),
    };
    Reply { stdout }
}

#[cfg(test)]
mod tests;
