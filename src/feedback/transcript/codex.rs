//! Codex: up to 0.142 a call of a function whose result has a header with the code; 0.144 a script whose result is what
//! it printed, seldom with a code; 0.171 an item of its own with the code. The best source wins, whatever comes first.

use serde_json::Value;

use super::{Call, Calls, Format, items, script, text};

pub(super) static FORMAT: Format = Format {
    wanted: &["session_meta", "turn_context", "function_call", "custom_tool_call", "CommandExecution"],
    read,
};

fn read(line: &Value, calls: &mut Calls) {
    let payload = &line["payload"];
    let id = text(payload, "call_id").unwrap_or_default();
    match (line["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => meta(payload, calls),
        (Some("turn_context"), _) => calls.about.cwd = text(payload, "cwd").or(calls.about.cwd.take()),
        (Some("response_item"), Some("function_call")) => function(line, payload, &id, calls),
        (Some("response_item"), Some("custom_tool_call")) if payload["name"] == "exec" => {
            scripted(line, payload["input"].as_str().unwrap_or_default(), &id, calls);
        }
        (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
            result(&payload["output"], &id, calls);
        }
        (Some("event_msg"), Some("item_completed")) if payload["item"]["type"] == "CommandExecution" => {
            item(line, &payload["item"], calls);
        }
        _ => {}
    }
}

/// Stands again after each resume and fork; no branch is a detached HEAD.
fn meta(payload: &Value, calls: &mut Calls) {
    let about = &mut calls.about;
    about.session_id =
        text(payload, "id").or_else(|| text(payload, "session_id")).or(about.session_id.take());
    about.version = text(payload, "cli_version").or(about.version.take());
    about.cwd = text(payload, "cwd").or(about.cwd.take());
    about.branch = text(&payload["git"], "branch");
}

fn function(line: &Value, payload: &Value, id: &str, calls: &mut Calls) {
    let arguments = payload["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
    let number = |key: &str| match &arguments[key] {
        Value::Number(number) => number.to_string(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    match payload["name"].as_str() {
        Some("exec_command" | "shell" | "shell_command") => {
            let given = ["cmd", "command"].iter().map(|key| &arguments[*key]).find(|value| !value.is_null());
            let command = given.map(command_of).unwrap_or_default();
            calls.begin(begun(line, id, &command, text(&arguments, "workdir"), calls));
        }
        Some("write_stdin") => calls.ask(id, format!("session {}", number("session_id"))),
        Some("wait") => calls.ask(id, format!("cell {}", number("cell_id"))),
        _ => {}
    }
}

fn begun(line: &Value, id: &str, command: &str, workdir: Option<String>, calls: &Calls) -> Call {
    Call {
        cwd: workdir.or_else(|| calls.about.cwd.clone()),
        started_at: text(line, "timestamp"),
        ..Call::begun(id, command)
    }
}

/// A line, or the words of `bash -lc LINE`.
fn command_of(value: &Value) -> String {
    let Value::Array(words) = value else { return value.as_str().unwrap_or_default().to_owned() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, flag, line] if flag.starts_with('-') && flag.ends_with('c') && shell.ends_with("sh") => {
            (*line).to_owned()
        }
        words => shell_words::join(words),
    }
}

/// The commands of a script: its literal ones as they are, a computed one as its source text.
fn scripted(line: &Value, source: &str, id: &str, calls: &mut Calls) {
    let found = script::commands(source);
    let alone = found.len() == 1;
    for (index, command) in found.into_iter().enumerate() {
        let name = if alone { id.to_owned() } else { format!("{id}#{}", index + 1) };
        calls.begin(Call {
            computed: command.computed,
            note: command.computed.then(|| "computed command: source text".to_owned()),
            parent: (!alone).then(|| id.to_owned()),
            ..begun(line, &name, &command.text, command.workdir, calls)
        });
    }
}

fn result(output: &Value, id: &str, calls: &mut Calls) {
    let parts: Vec<&str> = match output {
        Value::String(text) => vec![text.as_str()],
        other => items(other).iter().filter_map(|part| part["text"].as_str()).collect(),
    };
    let Some((first, printed)) = parts.split_first() else { return };
    let asked = calls.asked(id);
    let (head, behind) = first.split_once("Output:\n").unwrap_or((first, ""));
    let mut open: Vec<&mut Call> = match &asked {
        Some(handle) => {
            calls.by_handle(handle).into_iter().filter(|call: &&mut Call| !call.settled).collect()
        }
        None => calls.open_of(id),
    };
    if head.starts_with("Script ") {
        script_result(head, behind, printed, &mut open);
    } else if let [call] = open.as_mut_slice() {
        function_result(head, behind, call);
    }
}

/// The header's lines; what stands behind `Output:` may say anything.
fn function_result(head: &str, output: &str, call: &mut Call) {
    let value = |key: &str| head.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    if let Some(seconds) = value("Wall time: ").and_then(|text| text.strip_suffix(" seconds")) {
        let before = call.duration_ms.unwrap_or(0);
        call.duration_ms = millis(seconds.parse().ok()).map(|more| before + more);
    }
    call.add_output(output);
    let code = value("Process exited with code ").or_else(|| value("Exit code: "));
    match (code.and_then(|digits| digits.parse().ok()), value("Process running with session ID ")) {
        (Some(code), _) => call.exited(code),
        (None, Some(session)) => call.goes_on("running", format!("session {session}")),
        (None, None) => call.ended("exit-unknown"),
    }
}

/// What the script printed belongs to its command; of several, each has its own part where there are as many.
fn script_result(head: &str, behind: &str, printed: &[&str], open: &mut [&mut Call]) {
    let each = printed.len() == open.len();
    let joined = format!("{behind}{}", printed.concat());
    let running = head.lines().next().and_then(|line| line.strip_prefix("Script running with cell ID "));
    for (index, call) in open.iter_mut().enumerate() {
        let part = if each { printed.get(index).copied().unwrap_or_default() } else { joined.as_str() };
        if let Some(cell) = running {
            call.add_output(part);
            call.goes_on("running", format!("cell {}", cell.trim()));
            continue;
        }
        // only where the script printed the whole result there is a code
        let whole: Option<Value> = serde_json::from_str(part.trim()).ok();
        if let Some(whole) = &whole
            && let Some(code) = whole["exit_code"].as_i64()
        {
            call.duration_ms = millis(whole["wall_time_seconds"].as_f64());
            call.add_output(whole["output"].as_str().unwrap_or_default());
            call.exited(code);
        } else {
            call.add_output(part);
            call.ended("exit-unknown");
        }
    }
}

fn item(line: &Value, item: &Value, calls: &mut Calls) {
    let Some(id) = text(item, "id") else { return };
    if calls.open(&id).is_none() {
        calls.begin(begun(line, &id, &command_of(&item["command"]), None, calls));
    }
    let Some(call) = calls.open(&id) else { return };
    let cwd = text(item, "cwd").map(|cwd| cwd.strip_prefix("file://").map_or(cwd.clone(), decoded));
    call.cwd = cwd.or(call.cwd.take());
    let part = |key: &str| item["duration"][key].as_u64();
    call.duration_ms =
        part("secs").zip(part("nanos")).map(|(seconds, nanos)| seconds * 1_000 + nanos / 1_000_000);
    call.add_output(item["aggregated_output"].as_str().unwrap_or_default());
    match item["exit_code"].as_i64() {
        Some(code) => call.exited(code),
        None if item["status"] == "in_progress" => call.goes_on("running", String::new()),
        None if item["status"] == "declined" => calls.never_ran(&id),
        None => call.ended("exit-unknown"),
    }
}

/// A URL's path, with its `%20` and the like turned back.
fn decoded(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(b'%'));
        rest = &rest[at + if code.is_some() { 3 } else { 1 }..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just before")]
fn millis(seconds: Option<f64>) -> Option<u64> {
    let milliseconds = (seconds? * 1_000.0).round();
    (0.0..1e15).contains(&milliseconds).then_some(milliseconds as u64)
}
