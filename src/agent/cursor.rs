//! Cursor, from its documentation: its hooks file, its events, its answers. Its events name folders instead of one
//! folder, and what a command printed, but not how it ended.

use serde_json::{Value, json};

use super::common;
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, HookEntry, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "cursor",
    name: "Cursor",
    folder: ".cursor",
    home: Home { variable: "CURSOR_CONFIG_DIR", below: "", folder: ".cursor", settings: "hooks.json" },
    program: "cursor-agent",
    own_settings: Some(".cursor/hooks.json"),
    shared_settings: Some(".cursor/hooks.json"),
    inject_limit: 9_500,
    is_tried: false,
    one_prompt: &["-p", "--print"],
    needs: "",
    obstacle: None,
    change: hooks,
    context_in: None,
    read_event,
    answer,
};

const EVENTS: [(&str, Moment); 6] = [
    ("sessionStart", Moment::Start),
    ("beforeSubmitPrompt", Moment::Prompt),
    ("afterShellExecution", Moment::Tool),
    ("stop", Moment::Stop),
    ("preCompact", Moment::Compact),
    ("sessionEnd", Moment::End),
];

fn hooks(is_guarded: bool) -> Change {
    let entry = |(event, moment): &(&'static str, Moment)| {
        let commands = common::commands("cursor", *moment, is_guarded);
        // seconds
        let group = json!({"command": commands[0], "timeout": 30});
        HookEntry { event, commands, group }
    };
    Change::Hooks(HookEntries {
        client: "cursor",
        syntax: Syntax::StrictJson,
        top_keys: &[],
        preamble: vec![("version", json!(1))],
        entries: EVENTS.iter().map(entry).collect(),
    })
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    let folder = value["workspace_roots"][0].as_str().filter(|folder| !folder.is_empty());
    let event = common::event(moment, value);
    Event {
        session_id: text(value, "conversation_id").or_else(|| event.session_id.clone()),
        cwd: folder.map(Into::into).or_else(|| event.cwd.clone()),
        stop_hook_active: value["loop_count"].as_u64().is_some_and(|count| count > 0),
        tool: if moment == Moment::Tool { tool(value) } else { None },
        context_tokens: value["context_tokens"].as_u64(),
        context_window: value["context_window_size"].as_u64(),
        ..event
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    Some(ToolCall {
        command: text(value, "command")?,
        error: Some("exit-unknown".to_owned()),
        stdout: text(value, "output").unwrap_or_default(),
        duration_ms: value["duration"].as_u64(),
        ..ToolCall::default()
    })
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    let stdout = match (answer, moment) {
        (Answer::Inject(text), Moment::Start) => json!({"additional_context": text}).to_string(),
        (Answer::Block(reason), Moment::Stop) => json!({"followup_message": reason}).to_string(),
        _ => String::new(),
    };
    Reply { stdout }
}

#[cfg(test)]
mod tests;
