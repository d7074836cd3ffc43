//! Gemini CLI: one JSON file in early 2026, one message a line since. A message is written again under the same id once
//! its calls are there.

use serde_json::Value;

use super::{Call, Calls, Format, frame, items, text};

pub(super) static FORMAT: Format = Format { wanted: &["\"toolCalls\"", "\"sessionId\""], read };

fn read(value: &Value, calls: &mut Calls) {
    calls.about.session_id = text(value, "sessionId").or(calls.about.session_id.take());
    for message in items(&value["messages"]).iter().chain([value]) {
        for tool in items(&message["toolCalls"]).iter().filter(|tool| tool["name"] == "run_shell_command") {
            command(message, tool, calls);
        }
    }
}

fn command(message: &Value, tool: &Value, calls: &mut Calls) {
    let Some(id) = text(tool, "id") else { return };
    calls.begin(Call {
        started_at: text(message, "timestamp"),
        session: calls.about.session_id.clone(),
        ..Call::begun(&id, &text(&tool["args"], "command").unwrap_or_default())
    });
    let status = tool["status"].as_str().unwrap_or_default();
    if status == "cancelled" {
        return calls.never_ran(&id);
    }
    let Some(call) = calls.open(&id) else { return };
    let response = &tool["result"][0]["functionResponse"]["response"];
    let Some(output) = text(response, "output").or_else(|| text(response, "error")) else { return };
    if tool["args"]["is_background"] == true {
        return call.ended("background");
    }
    // since 0.61 a code of 0 is left out
    let silent_zero = status == "success" && output.starts_with("<untrusted_context>");
    frame::end(call, &output, silent_zero);
}
