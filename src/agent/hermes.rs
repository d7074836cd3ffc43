//! Hermes: its settings, its events, its answers. It knows hooks for a person only, not for a project. Its start can't be
//! answered, so the first question to the model stands for it; its turns end twice, and only the first can be refused,
//! which comes only after a file was edited.

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, HookEntry, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "hermes",
    name: "Hermes",
    folder: "",
    home: Home { variable: "HERMES_HOME", below: "", folder: ".hermes", settings: "config.yaml" },
    program: "hermes",
    own_settings: None,
    shared_settings: None,
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &["-q", "--query"],
    needs: "Hermes asks you about each new hook when it starts: say yes to endwell's (or start it with `--accept-hooks`).",
    obstacle: None,
    change: hooks,
    context_in: None,
    read_event,
    answer,
};

const EVENTS: [EventName; 5] = [
    ("pre_llm_call", Moment::Prompt, None),
    ("post_tool_call", Moment::Tool, Some("terminal")),
    ("pre_verify", Moment::Stop, None),
    ("on_session_end", Moment::Stop, None),
    ("on_session_finalize", Moment::End, None),
];

/// No shell reads the command, so there is no guarded form.
fn hooks(_is_guarded: bool) -> Change {
    let entry = |(event, moment, matcher): &EventName| {
        let commands = common::commands("hermes", *moment, false);
        let mut group = json!({"command": commands[0], "timeout": 30});
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        HookEntry { event, commands, group }
    };
    Change::Hooks(HookEntries {
        client: "hermes",
        syntax: Syntax::Yaml,
        top_keys: &[],
        preamble: Vec::new(),
        entries: EVENTS.iter().map(entry).collect(),
    })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    let extra = &value["extra"];
    let is_start = moment == Moment::Prompt && extra["is_first_turn"] == true;
    Event {
        moment: if is_start { Moment::Start } else { moment },
        begins_turn: is_start,
        cause: text(extra, "reason"),
        stop_hook_active: extra["attempt"].as_u64().is_some_and(|attempt| attempt > 0),
        is_deaf: value["hook_event_name"] == "on_session_end",
        last_message: text(extra, "final_response"),
        tool: if moment == Moment::Tool { tool(value) } else { None },
        ..common::event(moment, value)
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    if value["tool_name"] != "terminal" {
        return None;
    }
    let extra = &value["extra"];
    let call = ToolCall {
        id: text(extra, "tool_call_id"),
        command: text(&value["tool_input"], "command")?,
        duration_ms: extra["duration_ms"].as_u64(),
        ..ToolCall::default()
    };
    let told: Value =
        text(extra, "result").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let stdout = text(&told, "output").unwrap_or_default();
    if value["tool_input"]["background"] == true {
        return Some(ToolCall { error: Some("background".to_owned()), stdout, ..call });
    }
    let exit_code = told["exit_code"].as_i64();
    let error = exit_code.is_none().then(|| "exit-unknown".to_owned());
    Some(ToolCall { exit_code, error, stdout, ..call })
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    let stdout = match (answer, moment) {
        (Answer::Inject(text), Moment::Start | Moment::Prompt) => json!({"context": text}).to_string(),
        (Answer::Block(reason), Moment::Stop) => json!({"decision": "block", "reason": reason}).to_string(),
        _ => String::new(),
    };
    Reply { stdout }
}

#[cfg(test)]
mod tests;
