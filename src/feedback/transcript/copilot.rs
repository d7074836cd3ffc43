//! GitHub Copilot CLI: `success` says nothing about the exit; the code stands apart since 1.0.102, and before that only in
//! a tag behind the output.

use serde_json::Value;

use super::{Call, Calls, Format, text};

pub(super) static FORMAT: Format =
    Format { wanted: &["tool.execution_", "shell_completed", "session.", "permission.completed"], read };

fn read(line: &Value, calls: &mut Calls) {
    let data = &line["data"];
    match line["type"].as_str() {
        Some("session.start" | "session.resume" | "session.context_changed") => {
            let context = if data["context"].is_object() { &data["context"] } else { data };
            let about = &mut calls.about;
            about.session_id = text(data, "sessionId").or(about.session_id.take());
            about.version = text(data, "copilotVersion").or(about.version.take());
            about.branch = text(context, "branch").or(about.branch.take());
            about.cwd = text(context, "cwd").or(about.cwd.take());
        }
        Some("tool.execution_start") => begin(line, data, calls),
        Some("tool.execution_complete") => end(data, calls),
        Some("system.notification") if data["kind"]["type"] == "shell_completed" => {
            let shell = text(&data["kind"], "shellId").unwrap_or_default();
            if let Some(code) = data["kind"]["exitCode"].as_i64() {
                calls.by_handle(&shell).into_iter().for_each(|call| call.exited(code));
            }
        }
        Some("permission.completed") => {
            let kind = data["result"]["kind"].as_str().unwrap_or_default();
            if kind.starts_with("denied") {
                calls.never_ran(&text(data, "toolCallId").unwrap_or_default());
            }
        }
        _ => {}
    }
}

fn begin(line: &Value, data: &Value, calls: &mut Calls) {
    let Some(id) = text(data, "toolCallId") else { return };
    match data["toolName"].as_str() {
        Some("bash") => calls.begin(Call {
            cwd: calls.about.cwd.clone(),
            started_at: text(line, "timestamp"),
            session: calls.about.session_id.clone(),
            ..Call::begun(&id, &text(&data["arguments"], "command").unwrap_or_default())
        }),
        Some("read_bash") => {
            if let Some(shell) = text(&data["arguments"], "shellId") {
                calls.ask(&id, shell);
            }
        }
        _ => {}
    }
}

fn end(data: &Value, calls: &mut Calls) {
    let Some(id) = text(data, "toolCallId") else { return };
    let said = data["result"]["content"].as_str().unwrap_or_default();
    let (output, tag) = cut_tag(said);
    if let Some(shell) = calls.asked(&id) {
        for call in calls.by_handle(&shell) {
            call.add_output(output);
            if let (Some(code), false) = (tag.and_then(code_of), call.settled) {
                call.exited(code);
            }
        }
        return;
    }
    if data["success"] == false {
        if matches!(data["error"]["code"].as_str(), Some("rejected" | "denied")) {
            return calls.never_ran(&id);
        }
        if let Some(call) = calls.open(&id) {
            call.add_output(data["error"]["message"].as_str().unwrap_or_default());
            call.ended("exit-unknown");
        }
        return;
    }
    let Some(call) = calls.open(&id) else { return };
    call.add_output(output);
    let shell = tag.and_then(|tag| tag.strip_prefix("<command started in background with shellId: "));
    match (data["shellExecution"]["exitCode"].as_i64().or_else(|| tag.and_then(code_of)), shell) {
        (Some(code), _) => call.exited(code),
        (None, Some(shell)) => call.goes_on("background", shell.trim_end_matches('>').to_owned()),
        (None, None) => call.ended("exit-unknown"),
    }
}

/// The output, and the client's own tag behind it.
fn cut_tag(said: &str) -> (&str, Option<&str>) {
    let said = said.trim_end();
    let (output, last) = said.rsplit_once('\n').unwrap_or(("", said));
    let is_tag = ["<shellId: ", "<command started in background"].iter().any(|start| last.starts_with(start));
    if is_tag && last.ends_with('>') { (output, Some(last)) } else { (said, None) }
}

/// `<shellId: 0 completed with exit code 3>`.
fn code_of(tag: &str) -> Option<i64> {
    tag.split_once(" completed with exit code ")?.1.strip_suffix('>')?.parse().ok()
}
