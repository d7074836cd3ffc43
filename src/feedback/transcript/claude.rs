//! Claude Code: its transcript file, and what it prints with `--output-format stream-json`. A success is proven by the
//! form of its result; whatever else ends without a code is unknown.

use serde_json::Value;

use super::{Call, Calls, Format, items, text};

pub(super) static FORMAT: Format =
    Format { wanted: &["\"tool_use\"", "\"tool_result\"", "<task-notification>", "\"subtype\""], read };

fn read(line: &Value, calls: &mut Calls) {
    if line["isSidechain"] == true {
        return;
    }
    let about = &mut calls.about;
    for (field, key) in [
        (&mut about.session_id, "sessionId"),
        (&mut about.version, "version"),
        (&mut about.branch, "gitBranch"),
    ] {
        *field = text(line, key).or(field.take());
    }
    about.session_id = text(line, "session_id").or(about.session_id.take());
    about.cwd = text(line, "cwd").or(about.cwd.take());
    let content = items(&line["message"]["content"]);
    match line["type"].as_str() {
        Some("assistant") => content.iter().for_each(|item| begin(line, item, calls)),
        Some("user") => content.iter().for_each(|item| end(line, item, calls)),
        Some("queue-operation") => notified(&line["content"], calls),
        Some("attachment") => strings(&line["attachment"], &mut |part| notified(part, calls)),
        _ => {}
    }
}

fn begin(line: &Value, item: &Value, calls: &mut Calls) {
    let (true, Some(id)) = (item["type"] == "tool_use", text(item, "id")) else { return };
    match item["name"].as_str() {
        Some("Bash") => calls.begin(Call {
            cwd: text(line, "cwd"),
            started_at: text(line, "timestamp"),
            session: text(line, "sessionId").or_else(|| text(line, "session_id")),
            parent: text(line, "parent_tool_use_id"),
            ..Call::begun(&id, &text(&item["input"], "command").unwrap_or_default())
        }),
        Some("TaskOutput" | "BashOutput") => {
            let task = text(&item["input"], "task_id").or_else(|| text(&item["input"], "bash_id"));
            if let Some(task) = task {
                calls.ask(&id, task);
            }
        }
        _ => {}
    }
}

fn end(line: &Value, item: &Value, calls: &mut Calls) {
    let (true, Some(id)) = (item["type"] == "tool_result", text(item, "tool_use_id")) else { return };
    let said = said(&item["content"]);
    if calls.asked(&id).is_some() {
        return notified(&Value::String(said), calls);
    }
    let result = line.get("toolUseResult").or_else(|| line.get("tool_use_result")).unwrap_or(&Value::Null);
    if item["is_error"] == true && never_ran(&said) {
        return calls.never_ran(&id);
    }
    let Some(call) = calls.open(&id) else { return };
    if item["is_error"] == true {
        failed(call, &said);
    } else if result.is_object() {
        succeeded(call, result);
    } else {
        call.add_output(&said);
        call.ended("exit-unknown");
    }
}

fn succeeded(call: &mut Call, result: &Value) {
    call.add_output(result["stdout"].as_str().unwrap_or_default());
    call.stderr = text(result, "stderr").unwrap_or_default();
    call.truncated |= result.get("persistedOutputPath").is_some_and(|path| !path.is_null());
    call.note = text(result, "returnCodeInterpretation");
    if let Some(task) = text(result, "backgroundTaskId") {
        return call.goes_on("background", task);
    }
    if result["interrupted"] == true {
        return call.ended("interrupted");
    }
    match call.note.as_deref() {
        None => call.exited(0),
        Some("No matches found" | "Files differ" | "Condition is false") => {
            call.exited(1);
            call.benign = true;
        }
        Some(_) => call.ended("exit-unknown"),
    }
}

fn failed(call: &mut Call, said: &str) {
    let (first, rest) = said.split_once('\n').unwrap_or((said, ""));
    let code = first.strip_prefix("Exit code ").and_then(|digits| digits.trim().parse().ok());
    call.add_output(if code.is_some() { rest } else { said });
    match code {
        Some(code) => call.exited(code),
        None if said.contains("Sibling tool call errored") => call.ended("sibling-failed"),
        None if said.starts_with("[Request interrupted") => call.ended("interrupted"),
        None => call.ended("exit-unknown"),
    }
}

fn never_ran(said: &str) -> bool {
    let refused = ["The user doesn't want to proceed", "Permission to use", "Blocked:"];
    refused.iter().any(|words| said.starts_with(words))
        || (said.starts_with("<tool_use_error>") && !said.contains("Sibling tool call errored"))
}

/// A result's text: a text, or a list with texts in it.
fn said(content: &Value) -> String {
    match content {
        Value::String(said) => said.clone(),
        other => items(other).iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

/// A background task's end: `<task-id>`, and `(exit code N)` in its summary.
fn notified(part: &Value, calls: &mut Calls) {
    let Some(said) = part.as_str().filter(|said| said.contains("<task-notification>")) else { return };
    let between = |open: &str, close: &str| {
        let rest = said.split_once(open)?.1;
        Some(rest.split_once(close)?.0.trim().to_owned())
    };
    let Some(task) = between("<task-id>", "</task-id>") else { return };
    let summary = between("<summary>", "</summary>").unwrap_or_default();
    let code = summary.rsplit_once("(exit code ").and_then(|(_, rest)| rest.split_once(')'));
    let Some(code) = code.and_then(|(digits, _)| digits.parse().ok()) else { return };
    for call in calls.by_handle(&task) {
        call.exited(code);
    }
}

fn strings(value: &Value, see: &mut impl FnMut(&Value)) {
    match value {
        Value::String(_) => see(value),
        Value::Array(parts) => parts.iter().for_each(|part| strings(part, see)),
        Value::Object(parts) => parts.values().for_each(|part| strings(part, see)),
        _ => {}
    }
}
