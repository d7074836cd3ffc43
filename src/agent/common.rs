//! What several clients share: the snake-case fields of an event, the entries of a hooks map, the answer's form. A
//! client's own words stay in its own file.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{guarded, text};
use crate::model::event::{Answer, Event, Moment, Reply, ToolCall};
use crate::model::plan::{Change, HookEntries, HookEntry, Syntax};

/// A client's event, the moment that it is, and the tool that it is wanted for.
pub(super) type EventName = (&'static str, Moment, Option<&'static str>);

/// One entry an event, each with a group of one handler. `dress` adds what the client wants in a handler.
pub(super) fn entries(
    client: &str,
    events: &[EventName],
    is_guarded: bool,
    dress: impl Fn(Moment, &mut Value),
) -> Vec<HookEntry> {
    let entry = |(event, moment, matcher): &EventName| {
        let commands = commands(client, *moment, is_guarded);
        let mut handler = json!({"type": "command", "command": commands[0]});
        dress(*moment, &mut handler);
        let group = match matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
            None => json!({"hooks": [handler]}),
        };
        HookEntry { event, commands, group }
    };
    events.iter().map(entry).collect()
}

/// A plan of entries alone.
pub(super) fn plan(client: &'static str, syntax: Syntax, entries: Vec<HookEntry>) -> Change {
    Change::Hooks(HookEntries { client, syntax, top_keys: &[], preamble: Vec::new(), entries })
}

/// The texts of our command; the first is the one to write.
pub(super) fn commands(client: &str, moment: Moment, is_guarded: bool) -> Vec<String> {
    let plain = format!("endwell hook {} --client {client}", moment.word());
    let other = guarded(&plain);
    if is_guarded { vec![other, plain] } else { vec![plain, other] }
}

/// The fields that Claude Code, Codex, Gemini and Qwen name alike.
pub(super) fn event(moment: Moment, value: &Value) -> Event {
    let path = |key| text(value, key).map(PathBuf::from);
    Event {
        session_id: text(value, "session_id"),
        cwd: path("cwd"),
        transcript_path: path("transcript_path"),
        cause: ["source", "reason", "trigger"].iter().find_map(|key| text(value, key)),
        stop_hook_active: value["stop_hook_active"].as_bool().unwrap_or(false),
        last_message: text(value, "last_assistant_message"),
        ..Event::bare(moment)
    }
}

/// The answer as these four take it: no other keys, since Codex drops an answer with one.
pub(super) fn answer(events: &[EventName], moment: Moment, answer: &Answer) -> Reply {
    let stdout = match (answer, moment) {
        (Answer::Inject(text), Moment::Start | Moment::Prompt) => {
            let name = events.iter().find(|(_, known, _)| *known == moment).map(|(name, ..)| *name);
            json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}).to_string()
        }
        (Answer::Block(reason), Moment::Stop) => json!({"decision": "block", "reason": reason}).to_string(),
        // anything else would go on with the turn, or be ignored
        _ => String::new(),
    };
    Reply { stdout }
}

/// Reads the frame that Gemini and Qwen put around a command's output: the lines behind it. Whatever the output
/// itself holds is not read. `silent_zero`: a frame without an exit code stands for 0.
pub(super) fn framed(call: ToolCall, frame: &str, silent_zero: bool) -> ToolCall {
    let lines: Vec<&str> = frame.lines().filter(|line| !line.ends_with("untrusted_context>")).collect();
    let keys = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
    let is_frame = |line: &&&str| keys.iter().any(|key| line.starts_with(key));
    let behind = lines.iter().rev().take_while(is_frame).count();
    let (output, tail) = lines.split_at(lines.len() - behind);
    let value = |key: &str| {
        let found = tail.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
        found.filter(|text| *text != "(none)")
    };
    let code = value("Exit Code: ").and_then(|digits| digits.parse().ok());
    let (exit_code, error) = match (code, value("Signal: "), value("Error: ")) {
        (_, Some(signal), _) if signal != "0" => (None, Some(format!("signal {signal}"))),
        (Some(code), ..) => (Some(code), None),
        (None, _, None) if silent_zero => (Some(0), None),
        _ => (None, Some("exit-unknown".to_owned())),
    };
    let text = output.join("\n");
    let stdout = text.split_once("Output: ").map_or(text.as_str(), |(_, output)| output);
    let stdout = if stdout == "(empty)" { "" } else { stdout };
    ToolCall { exit_code, error, stdout: stdout.to_owned(), ..call }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A payload that the real client sent.
    pub(in crate::agent) fn payload(client: &str, name: &str) -> Value {
        let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/payloads");
        let path = fixtures.join(client).join(format!("{name}.json"));
        serde_json::from_slice(&crate::fs::read(&path).unwrap()).unwrap()
    }

    /// What a client is told so that a text gets into its context.
    pub(in crate::agent) fn reply(
        answer: fn(Moment, &Answer) -> Reply,
        moment: Moment,
        text: &str,
    ) -> String {
        answer(moment, &Answer::Inject(text.to_owned())).stdout
    }
}
