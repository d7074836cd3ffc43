//! Qwen Code: its settings file, its events, its answers. Run with one prompt it never tells its end; the next start
//! finishes such a session.

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "qwen",
    name: "Qwen Code",
    folder: ".qwen",
    home: Home { variable: "QWEN_HOME", below: "", folder: ".qwen", settings: "settings.json" },
    program: "qwen",
    own_settings: Some(".qwen/settings.json"),
    shared_settings: Some(".qwen/settings.json"),
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &["-p", "--prompt"],
    needs: "",
    obstacle: None,
    change: hooks,
    context_in: None,
    read_event,
    answer,
};

const EVENTS: [EventName; 7] = [
    ("SessionStart", Moment::Start, None),
    ("UserPromptSubmit", Moment::Prompt, None),
    ("PostToolUse", Moment::Tool, Some("run_shell_command")),
    ("PostToolUseFailure", Moment::Tool, Some("run_shell_command")),
    ("Stop", Moment::Stop, None),
    ("PreCompact", Moment::Compact, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> Change {
    let entries = common::entries("qwen", &EVENTS, is_guarded, |moment, handler| {
        handler["name"] = json!(format!("endwell-{}", moment.word()));
        // milliseconds
        handler["timeout"] = json!(30_000);
    });
    Change::Hooks(HookEntries {
        client: "qwen",
        syntax: Syntax::Json,
        top_keys: &[],
        preamble: Vec::new(),
        entries,
    })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    Event {
        tool: if moment == Moment::Tool { tool(value) } else { None },
        context_tokens: value["input_tokens"].as_u64(),
        context_window: value["context_limit"].as_u64(),
        ..common::event(moment, value)
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    if value["tool_name"] != "run_shell_command" {
        return None;
    }
    let call = ToolCall {
        id: text(value, "tool_call_id"),
        command: text(&value["tool_input"], "command")?,
        duration_ms: value["duration_ms"].as_u64(),
        ..ToolCall::default()
    };
    if value["tool_input"]["is_background"] == true {
        return Some(ToolCall { error: Some("background".to_owned()), ..call });
    }
    if value["is_interrupt"] == true {
        return Some(ToolCall { error: Some("interrupted".to_owned()), ..call });
    }
    let frame =
        text(value, "error").or_else(|| text(&value["tool_response"], "llmContent")).unwrap_or_default();
    Some(common::framed(call, &frame, false))
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    common::answer(&EVENTS, moment, answer)
}

#[cfg(test)]
mod tests;
