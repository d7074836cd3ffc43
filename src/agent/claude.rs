//! Claude Code: its settings file, its events, its answers.

use serde_json::{Value, json};

use super::{Agent, guarded, text};
use crate::env::Env;
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{HookEntries, HookEntry};

pub(super) static AGENT: Agent = Agent {
    id: "claude",
    name: "Claude Code",
    folder: ".claude",
    home_variable: "CLAUDE_CONFIG_DIR",
    program: "claude",
    own_settings: ".claude/settings.local.json",
    shared_settings: ".claude/settings.json",
    // longer text is cut to a preview at about 10,000 characters
    inject_limit: 9_500,
    hooks,
    read_event,
    answer,
};

const EVENTS: [(&str, Moment, Option<&str>); 7] = [
    ("SessionStart", Moment::Start, None),
    ("UserPromptSubmit", Moment::Prompt, None),
    ("PostToolUse", Moment::Tool, Some("Bash")),
    ("PostToolUseFailure", Moment::Tool, Some("Bash")),
    ("Stop", Moment::Stop, None),
    ("PreCompact", Moment::Compact, None),
    ("SessionEnd", Moment::End, None),
];

fn hooks(is_guarded: bool) -> HookEntries {
    let entry = |(event, moment, matcher): (&'static str, Moment, Option<&str>)| {
        let plain = format!("endwell hook {} --client claude", moment.word());
        let mut commands = vec![plain.clone(), guarded(&plain)];
        if is_guarded {
            commands.reverse();
        }
        let mut handler = json!({"type": "command", "command": commands[0]});
        if moment == Moment::End {
            // without it the whole chain of session-end hooks gets 1.5 seconds
            handler["timeout"] = json!(30);
        }
        let group = match matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
            None => json!({"hooks": [handler]}),
        };
        HookEntry { event, commands, group }
    };
    let entries = EVENTS.into_iter().map(entry).collect();
    HookEntries { client: "claude", strict: true, top_keys: &[], preamble: Vec::new(), entries }
}

fn read_event(moment: Moment, value: &Value, env: &Env) -> Event {
    let cause = ["source", "reason", "trigger"].iter().find_map(|key| text(value, key));
    Event {
        session_id: text(value, "session_id"),
        cwd: text(value, "cwd").map(Into::into),
        transcript_path: text(value, "transcript_path").map(Into::into),
        cause,
        stop_hook_active: value["stop_hook_active"].as_bool().unwrap_or(false),
        last_message: text(value, "last_assistant_message"),
        tool: if moment == Moment::Tool { tool(value) } else { None },
        context_tokens: value["context_tokens"].as_u64(),
        headless: env.text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk")),
        subagent: value.get("agent_id").is_some(),
        ..Event::bare(moment)
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
    let stdout = match (answer, moment) {
        (Answer::Inject(text), Moment::Start | Moment::Prompt) => {
            let event = if moment == Moment::Start { "SessionStart" } else { "UserPromptSubmit" };
            json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).to_string()
        }
        // plain text is added to the instructions of the summary
        (Answer::Inject(text), Moment::Compact) => text.clone(),
        (Answer::Block(reason), Moment::Stop) => json!({"decision": "block", "reason": reason}).to_string(),
        // anything else would go on with the turn, or be ignored
        _ => String::new(),
    };
    Reply { stdout }
}

#[cfg(test)]
mod tests;
