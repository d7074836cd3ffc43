//! Every transcript of the fixtures against its expected records, and how a file is read on.

use serde_json::Value;

use super::*;
use crate::feedback::keep_safe;
use crate::model::feedback::FeedbackRecord;
use crate::redact::Redactor;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// What a fixture calls a client, as our own name of it.
fn format(client: &str) -> &'static Format {
    of_client(client.split('-').next().unwrap()).unwrap()
}

fn read_all(path: &Path, format: &Format) -> (Vec<Call>, Calls) {
    let mut progress = Progress::default();
    read_on(path, format, &mut progress).unwrap();
    (progress.calls.take(true), progress.calls)
}

fn texts(value: &Value) -> Vec<&str> {
    items(value).iter().filter_map(Value::as_str).collect()
}

/// Every field that the expectation names.
fn compare(call: &Call, expected: &Value, place: &str) {
    let same = |key: &str, found: Option<&str>| {
        if let Some(value) = expected.get(key) {
            assert_eq!(found, value.as_str(), "{place}: {key}");
        }
    };
    assert_eq!(call.id, expected["command_id"], "{place}");
    assert_eq!(call.exit_code, expected["exit_code"].as_i64(), "{place}: exit code, {call:?}");
    assert_eq!(call.error.as_deref(), expected["error"].as_str(), "{place}: error");
    assert_eq!(call.computed, expected["computed"] == true, "{place}: computed");
    assert_eq!(call.truncated, expected["truncated"] == true, "{place}: truncated");
    same("cwd", call.cwd.as_deref());
    same("agent_note", call.note.as_deref());
    same("parent_command_id", call.parent.as_deref());
    match &expected["started_at"] {
        Value::Number(seconds) => {
            let at: jiff::Timestamp = call.started_at.as_ref().unwrap().parse().unwrap();
            assert!((at.as_duration().as_secs_f64() - seconds.as_f64().unwrap()).abs() < 0.0005, "{place}");
        }
        Value::String(text) => assert_eq!(call.started_at.as_ref(), Some(text), "{place}"),
        _ => {}
    }
    if let Some(duration) = expected["duration_ms"].as_u64() {
        assert_eq!(call.duration_ms, Some(duration), "{place}");
    }
    // what is kept of it: every line, so that only what was taken out is missing
    let redactor = Redactor::default();
    let (stdout, stderr) = (redactor.text(&call.stdout), redactor.text(&call.stderr));
    let record = FeedbackRecord { command: vec![call.command.clone()], ..FeedbackRecord::default() };
    let command = keep_safe(&redactor, record).command_line();
    let output = format!("{stdout}{stderr}");
    for wanted in texts(&expected["output_has"]) {
        assert!(output.contains(wanted), "{place}: {wanted:?} is not in {output:?}");
    }
    for wanted in texts(&expected["stderr_has"]) {
        assert!(stderr.contains(wanted), "{place}: {wanted:?} is not in {stderr:?}");
    }
    for unwanted in texts(&expected["output_not"]) {
        assert!(!output.contains(unwanted), "{place}: {unwanted:?} is in {output:?}");
    }
    for unwanted in texts(&expected["command_not"]) {
        assert!(!command.contains(unwanted), "{place}: {unwanted:?} is in {command:?}");
    }
    if expected["computed"] != true && expected.get("command_not").is_none() {
        assert_eq!(command, expected["command"].as_str().unwrap(), "{place}");
    }
}

#[test]
fn every_fixture_gives_its_expected_records() {
    let table: Value = serde_json::from_slice(&fs::read(&fixtures().join("expected.json")).unwrap()).unwrap();
    let mut records = 0;
    for expected in items(&table).iter().filter(|expected| expected["client"].is_string()) {
        let file = expected["file"].as_str().unwrap();
        let (found, calls) = read_all(&fixtures().join(file), format(expected["client"].as_str().unwrap()));
        let wanted = items(&expected["records"]);
        let ids: Vec<&str> = found.iter().map(|call| call.id.as_str()).collect();
        let wanted_ids: Vec<&str> =
            wanted.iter().filter_map(|record| record["command_id"].as_str()).collect();
        assert_eq!(ids, wanted_ids, "{file}");
        for (call, expected) in found.iter().zip(wanted) {
            compare(call, expected, &format!("{file} {}", call.id));
            records += 1;
        }
        assert_eq!(calls.never_ran, items(&expected["not_run"]).len() as u64, "{file}: refused calls");
        assert_eq!(calls.about.session_id.as_deref(), expected["session_id"].as_str(), "{file}");
        assert_eq!(calls.about.branch.as_deref(), expected["branch"].as_str(), "{file}");
        if !matches!(expected["version"].as_str(), Some("unknown" | "stream-json")) {
            assert_eq!(calls.about.version.as_deref(), expected["version"].as_str(), "{file}");
        }
    }
    assert!(records > 50, "{records} records were compared");
}

#[test]
fn what_is_no_transcript_gives_no_record() {
    for client in ["claude", "codex", "copilot", "gemini", "opencode", "qwen"] {
        let (found, _) = read_all(&fixtures().join("not-a-transcript.jsonl"), of_client(client).unwrap());
        assert_eq!(found, [], "{client}");
    }
}

/// Reads a file as it grows by pieces of that size; the records must be those of one reading.
fn in_pieces(file: &str, client: &str, size: usize) {
    let bytes = fs::read(&fixtures().join(file)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("transcript");
    let format = of_client(client).unwrap();
    let mut progress = Progress::default();
    let mut found = Vec::new();
    for piece in bytes.chunks(size) {
        fs::append(&path, piece).unwrap();
        read_on(&path, format, &mut progress).unwrap();
        // what is kept between two turns is what was written down
        progress = serde_json::from_str(&serde_json::to_string(&progress).unwrap()).unwrap();
        found.extend(progress.calls.take(false));
    }
    found.extend(progress.calls.take(true));
    let (mut whole, _) = read_all(&fixtures().join(file), format);
    let key = |call: &Call| call.id.clone();
    found.sort_by_key(key);
    whole.sort_by_key(key);
    assert_eq!(found.len(), whole.len(), "{file} in pieces of {size}");
    for (found, whole) in found.iter().zip(&whole) {
        assert_eq!(
            (&found.id, found.exit_code, &found.error),
            (&whole.id, whole.exit_code, &whole.error),
            "{file}"
        );
    }
}

#[test]
fn a_transcript_that_grows_is_read_on_and_no_call_twice() {
    for (file, client) in [
        ("claude-2.1.37.jsonl", "claude"),
        ("claude-stream-json.jsonl", "claude"),
        ("codex-0.142.5.jsonl", "codex"),
        ("codex-0.144.5.jsonl", "codex"),
        ("codex-0.171.0.jsonl", "codex"),
        ("copilot-1.0.102.jsonl", "copilot"),
        ("gemini-0.61.0.jsonl", "gemini"),
        ("qwen-0.24.4.jsonl", "qwen"),
    ] {
        for size in [700, 3_000] {
            in_pieces(file, client, size);
        }
    }
}

#[test]
fn a_transcript_that_was_written_anew_is_read_from_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("transcript");
    let format = of_client("claude").unwrap();
    let line = |id: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\
             \"input\":{{\"command\":\"echo {id}\"}}}}]}}}}\n"
        )
    };
    let mut progress = Progress::default();
    let ids = |progress: &mut Progress| -> Vec<String> {
        progress.calls.take(true).into_iter().map(|call| call.id).collect()
    };
    fs::write_atomic(&path, (line("a") + &line("b")).as_bytes()).unwrap();
    assert!(read_on(&path, format, &mut progress).unwrap());
    assert_eq!(ids(&mut progress), ["a", "b"]);
    assert!(!read_on(&path, format, &mut progress).unwrap(), "nothing new");
    // rotated: another file under the same name, which repeats one call
    fs::write_atomic(&path, (line("b") + &line("c")).as_bytes()).unwrap();
    read_on(&path, format, &mut progress).unwrap();
    assert_eq!(ids(&mut progress), ["c"], "one id, one record");
    fs::write_atomic(&path, line("d").as_bytes()).unwrap();
    read_on(&path, format, &mut progress).unwrap();
    assert_eq!(ids(&mut progress), ["d"], "it became shorter");
}

#[test]
fn long_lines_and_long_outputs_cost_no_memory_and_no_call() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("transcript");
    let long = "line of output\n".repeat(40_000);
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make"}}]}}"#;
    let result = serde_json::json!({"type": "user", "toolUseResult": {"stdout": long, "stderr": "", "interrupted": false},
        "message": {"content": [{"type": "tool_result", "tool_use_id": "a", "is_error": false, "content": ""}]}});
    let image = format!("{{\"type\":\"user\",\"tool_result\":\"{}\"}}", "A".repeat(17 * 1024 * 1024));
    fs::write_atomic(&path, format!("{image}\n{call}\n{image}\n{result}\n{{\"torn").as_bytes()).unwrap();
    let (found, _) = read_all(&path, of_client("claude").unwrap());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].exit_code, Some(0));
    assert!(found[0].truncated && found[0].stdout.len() <= 16 * 1024);
    assert!(found[0].stdout.starts_with("line of output\n"), "cut at a line's end");
}
