//! Gemini CLI: its settings file, its events, its answers. Its compaction event fires before every request to the
//! model, so endwell stays out of it.

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::context::Used;
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "gemini",
    name: "Gemini CLI",
    folder: ".gemini",
    home: Home {
        variable: "GEMINI_CLI_HOME",
        below: ".gemini",
        folder: ".gemini",
        settings: "settings.json",
    },
    program: "gemini",
    own_settings: Some(".gemini/settings.json"),
    shared_settings: Some(".gemini/settings.json"),
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &["-p", "--prompt"],
    needs: "Gemini runs a project's hooks only in a folder that you trust.",
    obstacle: None,
    change: hooks,
    context_in: Some(context_in),
    read_event,
    answer,
};

const EVENTS: [EventName; 5] = [
    ("SessionStart", Moment::Start, None),
    ("BeforeAgent", Moment::Prompt, None),
    ("AfterTool", Moment::Tool, Some("run_shell_command")),
    ("AfterAgent", Moment::Stop, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> Change {
    let entries = common::entries("gemini", &EVENTS, is_guarded, |moment, handler| {
        handler["name"] = json!(format!("endwell-{}", moment.word()));
        // milliseconds
        handler["timeout"] = json!(30_000);
    });
    Change::Hooks(HookEntries {
        client: "gemini",
        syntax: Syntax::Json,
        top_keys: &[],
        preamble: Vec::new(),
        entries,
    })
}

fn context_in(line: &Value) -> Option<Used> {
    let tokens = line.get("tokens").filter(|_| line["type"] == "gemini")?["total"].as_u64()?;
    Some(Used { tokens, window: None })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    Event {
        last_message: text(value, "prompt_response"),
        tool: if moment == Moment::Tool { tool(value) } else { None },
        ..common::event(moment, value)
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    if value["tool_name"] != "run_shell_command" {
        return None;
    }
    let call = ToolCall { command: text(&value["tool_input"], "command")?, ..ToolCall::default() };
    if value["tool_input"]["is_background"] == true {
        return Some(ToolCall { error: Some("background".to_owned()), ..call });
    }
    let frame = text(&value["tool_response"], "llmContent");
    let known = frame.filter(|_| value["tool_response"].get("error").is_none());
    let Some(frame) = known else {
        return Some(ToolCall { error: Some("exit-unknown".to_owned()), ..call });
    };
    // the exit code stands there only if it is not 0
    Some(common::framed(call, &frame, frame.contains("Process Group PGID: ")))
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    common::answer(&EVENTS, moment, answer)
}

#[cfg(test)]
mod tests;
