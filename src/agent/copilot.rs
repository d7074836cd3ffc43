//! GitHub Copilot CLI: a file of our own in its hooks folder, its events, its answers. Its events don't carry their
//! name, and a comment in the file makes the client drop it in silence.

use serde_json::{Value, json};

use super::common;
use super::context::Used;
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, HookEntry, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "copilot",
    name: "GitHub Copilot CLI",
    folder: ".copilot",
    home: Home { variable: "COPILOT_HOME", below: "", folder: ".copilot", settings: "hooks/endwell.json" },
    program: "copilot",
    own_settings: Some(".github/hooks/endwell.json"),
    shared_settings: Some(".github/hooks/endwell.json"),
    inject_limit: 12_000,
    is_tried: true,
    one_prompt: &["-p", "--prompt"],
    needs: "Copilot runs a project's hooks only in a folder that you trust.",
    obstacle: None,
    change: hooks,
    context_in: Some(context_in),
    read_event,
    answer,
};

const EVENTS: [(&str, Moment); 6] = [
    ("sessionStart", Moment::Start),
    ("userPromptSubmitted", Moment::Prompt),
    ("postToolUse", Moment::Tool),
    ("agentStop", Moment::Stop),
    ("preCompact", Moment::Compact),
    ("sessionEnd", Moment::End),
];

fn hooks(is_guarded: bool) -> Change {
    let entry = |(event, moment): &(&'static str, Moment)| {
        let commands = common::commands("copilot", *moment, is_guarded);
        let group = json!({"type": "command", "bash": commands[0], "timeoutSec": 30});
        HookEntry { event, commands, group }
    };
    Change::Hooks(HookEntries {
        client: "copilot",
        syntax: Syntax::StrictJson,
        top_keys: &["version", "hooks"],
        preamble: vec![("version", json!(1))],
        entries: EVENTS.iter().map(entry).collect(),
    })
}

/// With each tool's result the client writes how full its context was.
fn context_in(line: &Value) -> Option<Used> {
    let metrics = line.get("data")?.get("toolTelemetry")?.get("metrics")?;
    let whole = |key: &str| metrics[key].as_u64().or_else(|| metrics[key].as_f64().and_then(whole_number));
    Some(Used { tokens: whole("context_current_tokens")?, window: whole("context_token_limit") })
}

/// The client writes counts as `10513.0`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn whole_number(number: f64) -> Option<u64> {
    (0.0..1e15).contains(&number).then_some(number as u64)
}

fn read_event(moment: Moment, value: &Value, _env: &Env) -> Event {
    Event {
        session_id: text(value, "sessionId"),
        cwd: text(value, "cwd").map(Into::into),
        transcript_path: text(value, "transcriptPath").map(Into::into),
        cause: ["source", "reason", "trigger"].iter().find_map(|key| text(value, key)),
        stop_hook_active: value["stop_hook_active"].as_bool().unwrap_or(false),
        tool: if moment == Moment::Tool { tool(value) } else { None },
        ..Event::bare(moment)
    }
}

/// `resultType` says "success" whatever the exit code was; the text's last line has it.
fn tool(value: &Value) -> Option<ToolCall> {
    if value["toolName"] != "bash" {
        return None;
    }
    let call = ToolCall { command: text(&value["toolArgs"], "command")?, ..ToolCall::default() };
    let told = text(&value["toolResult"], "textResultForLlm").unwrap_or_default();
    let (output, last) = told.trim_end().rsplit_once('\n').unwrap_or(("", told.trim_end()));
    let code = last
        .strip_prefix("<shellId: ")
        .and_then(|rest| rest.strip_suffix('>'))
        .and_then(|rest| rest.split_once(" completed with exit code "))
        .and_then(|(_, digits)| digits.parse().ok());
    Some(match code {
        Some(code) => ToolCall { exit_code: Some(code), stdout: output.to_owned(), ..call },
        None => ToolCall { error: Some("exit-unknown".to_owned()), stdout: told.clone(), ..call },
    })
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    let stdout = match (answer, moment) {
        (Answer::Inject(text), Moment::Start) => json!({"additionalContext": text}).to_string(),
        (Answer::Block(reason), Moment::Stop) => json!({"decision": "block", "reason": reason}).to_string(),
        _ => String::new(),
    };
    Reply { stdout }
}

#[cfg(test)]
mod tests;
