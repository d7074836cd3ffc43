//! Qwen Code: calls and results are lines of their own, and the time that a call took is a third.

use serde_json::Value;

use super::{Call, Calls, Format, frame, items, text};

pub(super) static FORMAT: Format =
    Format { wanted: &["\"functionCall\"", "\"tool_result\"", "ui_telemetry"], read };

fn read(line: &Value, calls: &mut Calls) {
    let about = &mut calls.about;
    for (field, key) in [
        (&mut about.session_id, "sessionId"),
        (&mut about.version, "version"),
        (&mut about.branch, "gitBranch"),
        (&mut about.cwd, "cwd"),
    ] {
        *field = text(line, key).or(field.take());
    }
    match line["type"].as_str() {
        Some("assistant") => {
            for part in items(&line["message"]["parts"]) {
                begin(line, &part["functionCall"], calls);
            }
        }
        Some("system") => {
            let told = &line["systemPayload"]["uiEvent"];
            let id = text(told, "call_id").unwrap_or_default();
            if let Some(call) = calls.open(&id) {
                call.duration_ms = told["duration_ms"].as_u64();
            }
        }
        Some("tool_result") => end(line, calls),
        _ => {}
    }
}

fn begin(line: &Value, call: &Value, calls: &mut Calls) {
    if call["name"] != "run_shell_command" {
        return;
    }
    let (Some(id), Some(command)) = (text(call, "id"), text(&call["args"], "command")) else { return };
    calls.begin(Call {
        cwd: text(line, "cwd"),
        started_at: text(line, "timestamp"),
        session: text(line, "sessionId"),
        ..Call::begun(&id, &command)
    });
}

fn end(line: &Value, calls: &mut Calls) {
    let result = &line["toolCallResult"];
    let Some(id) = text(result, "callId") else { return };
    if result["status"] == "cancelled" {
        return calls.never_ran(&id);
    }
    let Some(call) = calls.open(&id) else { return };
    let shown = &result["resultDisplay"];
    if shown["type"] == "shell_result" {
        call.cwd = text(shown, "directory").or(call.cwd.take());
        call.add_output(shown["output"].as_str().unwrap_or_default());
        match (shown["exitCode"].as_i64(), &shown["signal"]) {
            (_, Value::String(signal)) => call.ended(&format!("signal {signal}")),
            (_, Value::Number(signal)) if signal.as_i64() != Some(0) => {
                call.ended(&format!("signal {signal}"));
            }
            (Some(code), _) => call.exited(code),
            (None, _) => call.ended("exit-unknown"),
        }
        return;
    }
    let response = &line["message"]["parts"][0]["functionResponse"]["response"];
    let said = text(response, "output").or_else(|| text(response, "error")).unwrap_or_default();
    frame::end(call, &said, false);
}
