//! Factory Droid, from its documentation: its hooks file, its events, its answers, which are made after Claude Code's.
//! Its shell tool has another name, and how a command ended is not documented.

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "droid",
    name: "Factory Droid",
    folder: ".factory",
    home: Home { variable: "FACTORY_HOME", below: "", folder: ".factory", settings: "hooks.json" },
    program: "droid",
    own_settings: Some(".factory/hooks.json"),
    shared_settings: Some(".factory/hooks.json"),
    inject_limit: 9_500,
    is_tried: false,
    one_prompt: &["exec"],
    needs: "",
    obstacle: None,
    change: hooks,
    context_in: None,
    read_event,
    answer,
};

const EVENTS: [EventName; 6] = [
    ("SessionStart", Moment::Start, None),
    ("UserPromptSubmit", Moment::Prompt, None),
    ("PostToolUse", Moment::Tool, Some("Execute")),
    ("Stop", Moment::Stop, None),
    ("PreCompact", Moment::Compact, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> Change {
    let entries = common::entries("droid", &EVENTS, is_guarded, |_, handler| {
        // seconds
        handler["timeout"] = json!(30);
    });
    Change::Hooks(HookEntries {
        client: "droid",
        syntax: Syntax::StrictJson,
        top_keys: &[],
        preamble: Vec::new(),
        entries,
    })
}

/// The documentation shows the fields in snake case; some versions are said to write them in camel case.
fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    let event = common::event(moment, value);
    Event {
        session_id: event.session_id.clone().or_else(|| text(value, "sessionId")),
        transcript_path: event
            .transcript_path
            .clone()
            .or_else(|| text(value, "transcriptPath").map(Into::into)),
        stop_hook_active: event.stop_hook_active || value["stopHookActive"] == true,
        tool: if moment == Moment::Tool { tool(value) } else { None },
        ..event
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    let name = text(value, "tool_name").or_else(|| text(value, "toolName"))?;
    if name != "Execute" && name != "Bash" {
        return None;
    }
    let response = &value["tool_response"];
    let exit_code = ["exit_code", "exitCode"].iter().find_map(|key| response[*key].as_i64());
    Some(ToolCall {
        id: text(value, "tool_use_id"),
        command: text(&value["tool_input"], "command")?,
        exit_code,
        error: exit_code.is_none().then(|| "exit-unknown".to_owned()),
        stdout: text(response, "stdout").or_else(|| response.as_str().map(str::to_owned)).unwrap_or_default(),
        stderr: text(response, "stderr").unwrap_or_default(),
        ..ToolCall::default()
    })
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    common::answer(&EVENTS, moment, answer)
}

#[cfg(test)]
mod tests;
