//! Claude Code: its settings file, its events, its answers.

use serde_json::{Value, json};

use super::common::{self, EventName};
use super::context::Used;
use super::{Agent, Home, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, Syntax};

pub(super) static AGENT: Agent = Agent {
    id: "claude",
    name: "Claude Code",
    folder: ".claude",
    home: Home { variable: "CLAUDE_CONFIG_DIR", below: "", folder: ".claude", settings: "settings.json" },
    program: "claude",
    own_settings: Some(".claude/settings.local.json"),
    shared_settings: Some(".claude/settings.json"),
    // longer text is cut to a preview at about 10,000 characters
    inject_limit: 9_500,
    is_tried: true,
    one_prompt: &[],
    needs: "",
    obstacle: None,
    change: hooks,
    context_in: Some(context_in),
    read_event,
    answer,
};

const EVENTS: [EventName; 7] = [
    ("SessionStart", Moment::Start, None),
    ("UserPromptSubmit", Moment::Prompt, None),
    ("PostToolUse", Moment::Tool, Some("Bash")),
    ("PostToolUseFailure", Moment::Tool, Some("Bash")),
    ("Stop", Moment::Stop, None),
    ("PreCompact", Moment::Compact, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> Change {
    let entries = common::entries("claude", &EVENTS, is_guarded, |moment, handler| {
        if moment == Moment::End {
            // seconds; without it the whole chain of session-end hooks gets 1.5
            handler["timeout"] = json!(30);
        }
    });
    Change::Hooks(HookEntries {
        client: "claude",
        syntax: Syntax::StrictJson,
        top_keys: &[],
        preamble: Vec::new(),
        entries,
    })
}

/// The main chain's last answer; the window stands nowhere in the transcript.
fn context_in(line: &Value) -> Option<Used> {
    let usage = line.get("message")?.get("usage")?;
    if line["type"] != "assistant" || line["isSidechain"] == true {
        return None;
    }
    let part = |key: &str| usage[key].as_u64().unwrap_or(0);
    let tokens = part("input_tokens") + part("cache_creation_input_tokens") + part("cache_read_input_tokens");
    Some(Used { tokens, window: None })
}

fn read_event(moment: Moment, value: &Value, env: &Env) -> Event {
    Event {
        tool: if moment == Moment::Tool { tool(value) } else { None },
        context_tokens: value["context_tokens"].as_u64(),
        headless: env.text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk")),
        subagent: value.get("agent_id").is_some(),
        ..common::event(moment, value)
    }
}

fn tool(value: &Value) -> Option<ToolCall> {
    if value["tool_name"] != "Bash" {
        return None;
    }
    let call = ToolCall {
        id: text(value, "tool_use_id"),
        command: text(&value["tool_input"], "command")?,
        duration_ms: value["duration_ms"].as_u64(),
        ..ToolCall::default()
    };
    match (value.get("tool_response"), value.get("error")) {
        (Some(Value::Object(_)), None) => Some(succeeded(call, &value["tool_response"])),
        (_, Some(Value::String(error))) => failed(call, error, value["is_interrupt"] == true),
        _ => Some(ToolCall { error: Some("exit-unknown".to_owned()), ..call }),
    }
}

fn succeeded(call: ToolCall, response: &Value) -> ToolCall {
    let word = text(response, "returnCodeInterpretation");
    let unknown = |why: &str| (None, Some(why.to_owned()), false);
    let (exit_code, error, benign) = match word.as_deref() {
        _ if response["interrupted"] == true => unknown("interrupted"),
        _ if response.get("backgroundTaskId").is_some() => unknown("background"),
        // the client's words for an exit code of 1 that is no error
        Some("No matches found" | "Files differ" | "Condition is false") => (Some(1), None, true),
        Some(_) => unknown("exit-unknown"),
        None => (Some(0), None, false),
    };
    ToolCall {
        exit_code,
        error,
        benign,
        note: word,
        stdout: text(response, "stdout").unwrap_or_default(),
        stderr: text(response, "stderr").unwrap_or_default(),
        truncated: response.get("persistedOutputPath").is_some(),
        ..call
    }
}

/// `Exit code N` and the output of both streams; a call that was refused never ran and is no record.
fn failed(call: ToolCall, error: &str, interrupted: bool) -> Option<ToolCall> {
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let code = first.strip_prefix("Exit code ").and_then(|digits| digits.trim().parse().ok());
    let why = match code {
        _ if interrupted => Some("interrupted"),
        Some(_) => None,
        None if error.contains("Sibling tool call errored") => Some("sibling-failed"),
        None if never_ran(error) => return None,
        None => Some("exit-unknown"),
    };
    let exit_code = if why.is_none() { code } else { None };
    let output = if code.is_some() { rest } else { error };
    Some(ToolCall { exit_code, error: why.map(str::to_owned), stdout: output.to_owned(), ..call })
}

fn never_ran(error: &str) -> bool {
    error.starts_with("The user doesn't want to proceed")
        || error.starts_with("Permission to use")
        || error.starts_with("Blocked:")
        || error.contains("<tool_use_error>")
}

fn answer(moment: Moment, answer: &Answer) -> Reply {
    match answer {
        // plain text is added to the instructions of the summary
        Answer::Inject(text) if moment == Moment::Compact => Reply { stdout: text.clone() },
        _ => common::answer(&EVENTS, moment, answer),
    }
}

#[cfg(test)]
mod tests;
