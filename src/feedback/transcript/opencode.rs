//! `OpenCode`: what `opencode export` prints, one JSON value. A non-zero exit is still called completed; a call that failed
//! was never run.

use serde_json::Value;

use super::{Call, Calls, Format, items, text};

pub(super) static FORMAT: Format = Format { wanted: &["\"messages\""], read };

fn read(export: &Value, calls: &mut Calls) {
    let info = &export["info"];
    calls.about.session_id = text(info, "id").or(calls.about.session_id.take());
    calls.about.version = text(info, "version").or(calls.about.version.take());
    calls.about.cwd = text(info, "directory").or(calls.about.cwd.take());
    for message in items(&export["messages"]) {
        for part in items(&message["parts"]).iter().filter(|part| part["tool"] == "bash") {
            command(message, part, calls);
        }
    }
}

fn command(message: &Value, part: &Value, calls: &mut Calls) {
    let Some(id) = text(part, "callID") else { return };
    let state = &part["state"];
    let start = state["time"]["start"].as_i64();
    let cwd = text(&state["input"], "workdir").or_else(|| text(&message["info"]["path"], "cwd"));
    calls.begin(Call {
        cwd: cwd.or_else(|| calls.about.cwd.clone()),
        started_at: start.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).map(|at| at.to_string()),
        session: text(part, "sessionID"),
        ..Call::begun(&id, &text(&state["input"], "command").unwrap_or_default())
    });
    match state["status"].as_str() {
        Some("error") => calls.never_ran(&id),
        Some("completed") => {
            let Some(call) = calls.open(&id) else { return };
            let time = |key: &str| state["time"][key].as_u64();
            call.duration_ms = time("start").zip(time("end")).map(|(start, end)| end.saturating_sub(start));
            call.truncated |= state["metadata"]["truncated"] == true;
            let told = state["metadata"]["output"].as_str().or(state["output"].as_str()).unwrap_or_default();
            let (output, words) = told.rsplit_once("<bash_metadata>").unwrap_or((told, ""));
            call.add_output(output);
            match state["metadata"]["exit"].as_i64() {
                Some(code) => call.exited(code),
                None if words.contains("exceeding timeout") => call.ended("timeout"),
                None if words.contains("abort") => call.ended("interrupted"),
                None => call.ended("exit-unknown"),
            }
        }
        // it runs still: what it printed so far is all that is known
        _ => {
            if let Some(call) = calls.open(&id) {
                call.stdout.clear();
                call.add_output(state["metadata"]["output"].as_str().unwrap_or_default());
            }
        }
    }
}
