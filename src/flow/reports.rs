//! Finding the reports that a packet points to: the verdict on this tree, and the review. Other gates write them too, so
//! they are read as far as they go; a verdict on another tree counts as missing.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::flow::Workbench;
use crate::flow::handoff::Reason;
use crate::flow::state::shown;
use crate::flow::topic::Topic;
use crate::fs;
use crate::model::issue::sha256_hex;
use crate::model::packet::FileRef;
use crate::model::report::{Coverage, ReviewReport, ReviewVerdict, SuiteRun, VerificationReport};
use crate::model::{SCHEMA_VERSION, slug};

/// Where `endwell verify` writes the report of a task: another tool's file under that name stays as it is.
pub(super) fn own_verification(bench: &Workbench, task: &str) -> PathBuf {
    let path = bench.verification_path(task);
    let bytes = fs::read_optional(&path).ok().flatten().unwrap_or_default();
    let ours = match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => {
            ["passed", "findings", "tests", "head_commit"].iter().any(|key| value.get(key).is_some())
        }
        // torn: nothing in it could be lost
        Err(_) => bytes.is_empty() || bytes.trim_ascii_start().starts_with(b"{"),
    };
    if ours { path } else { path.with_extension("endwell.json") }
}

/// The verification report of this tree.
pub(super) fn verdict(
    bench: &Workbench,
    topic: &Topic,
    key: &str,
    tree: &str,
) -> Result<(VerificationReport, FileRef), Reason> {
    let verify = "Run `endwell verify`.";
    let places = [
        own_verification(bench, key),
        bench.verification_path(key),
        bench.verification_path(topic.report_key()),
        bench.verification_path(&topic.name),
        bench.repo.top.join("verification_report.json"),
    ];
    let mut why = "there is no verification report: a handoff without a verdict is a wish".to_owned();
    for place in places {
        let name = shown(bench, &place);
        let bytes = match fs::read_optional(&place) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(error) => {
                why = format!("`{name}` can't be read: {error}");
                continue;
            }
        };
        match report::<VerificationReport>(&bytes, topic) {
            Ok(report) if of_tree(bench, &report, tree) => {
                return Ok((report, FileRef { path: name, sha256: sha256_hex(&bytes) }));
            }
            Ok(_) => {
                why = format!("the verification report `{name}` is of another tree, so it counts as missing");
            }
            Err(error) => why = format!("the verification report `{name}` can't be read: {error}"),
        }
    }
    Err(Reason::new("no-verdict", why, verify))
}

fn of_tree(bench: &Workbench, report: &VerificationReport, tree: &str) -> bool {
    match (&report.tree, &report.head_commit) {
        (Some(found), _) => found == tree,
        // another gate's report names only the commit
        (None, Some(commit)) => bench.objects.tree_of(commit).is_ok_and(|found| found == tree),
        (None, None) => false,
    }
}

/// What was found of a review.
#[derive(Debug, Default)]
pub(super) struct FoundReview {
    pub report: Option<(ReviewReport, FileRef)>,
    /// Reports that are there and can't be read, and why.
    pub unreadable: Vec<String>,
}

impl FoundReview {
    /// Why this is no review that a packet could rest on; `None` where it is one.
    pub(super) fn lacking(&self) -> Option<String> {
        match (&self.report, self.unreadable.first()) {
            (Some((review, file)), _) if review.verdict == ReviewVerdict::HardFail => {
                Some(format!("the review `{}` is a hard fail", file.path))
            }
            (Some(_), _) => None,
            (None, Some(why)) => Some(why.clone()),
            (None, None) => Some("there is no review report".to_owned()),
        }
    }
}

/// The review report. One that is there but can't be read is told of: it may be the one that objects.
pub(super) fn review(bench: &Workbench, topic: &Topic) -> FoundReview {
    let mut places = vec![
        bench.review_path(topic.report_key()),
        bench.review_path(&topic.name),
        bench.repo.top.join("review_report.json"),
    ];
    places.dedup();
    let mut found = FoundReview::default();
    for place in places {
        let name = shown(bench, &place);
        let read = match fs::read_optional(&place) {
            Ok(None) => continue,
            Ok(Some(bytes)) => report::<ReviewReport>(&bytes, topic)
                .and_then(in_range)
                .map(|report| (report, FileRef { path: name.clone(), sha256: sha256_hex(&bytes) }))
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(report) => {
                found.report = Some(report);
                break;
            }
            Err(why) => {
                found
                    .unreadable
                    .push(format!("the review report `{name}` is there but can't be read: {why}"));
            }
        }
    }
    found
}

fn in_range(report: ReviewReport) -> Result<ReviewReport, serde_json::Error> {
    use serde::de::Error as _;
    if (0.0..=10.0).contains(&report.total) {
        return Ok(report);
    }
    Err(serde_json::Error::custom(format!("its total is {}, which is not within 0 to 10", report.total)))
}

/// A report as far as it goes: other gates leave out the version and the task.
fn report<T: DeserializeOwned>(bytes: &[u8], topic: &Topic) -> Result<T, serde_json::Error> {
    use serde::de::Error as _;
    let mut value: Value = serde_json::from_slice(bytes)?;
    let map = value.as_object_mut().ok_or_else(|| serde_json::Error::custom("it is no JSON object"))?;
    let version = map.get("schema_version").and_then(Value::as_u64).unwrap_or(u64::from(SCHEMA_VERSION));
    if version > u64::from(SCHEMA_VERSION) {
        return Err(serde_json::Error::custom("its schema version is not known here"));
    }
    map.insert("schema_version".to_owned(), json!(version));
    if !map.get("task_id").is_some_and(Value::is_string) {
        map.insert("task_id".to_owned(), json!(slug(topic.report_key())));
    }
    let findings = map.get("findings").and_then(Value::as_array).map(|all| all.iter().map(finding).collect());
    keep_or_drop(map, "findings", findings.map(Value::Array));
    let tests = map.get("tests").and_then(Value::as_object).map(|run| Value::Object(test_run(run)));
    keep_or_drop(map, "tests", tests);
    let is_coverage = |value: &Value| serde_json::from_value::<Coverage>(value.clone()).is_ok();
    map.retain(|name, value| match name.as_str() {
        "strict" => value.is_boolean(),
        "head_commit" | "tree" => value.is_string(),
        "coverage" => is_coverage(value),
        "suites" => serde_json::from_value::<Vec<SuiteRun>>(value.clone()).is_ok(),
        _ => true,
    });
    serde_json::from_value(value)
}

fn keep_or_drop(map: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(name.to_owned(), value),
        None => map.remove(name),
    };
}

/// A finding in our words, whatever another gate calls its parts.
fn finding(found: &Value) -> Value {
    let word = |names: &[&str]| {
        let text = |name: &&str| match found.get(*name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        names.iter().find_map(text)
    };
    let severity = match word(&["severity", "level"]).unwrap_or_default().to_ascii_lowercase().as_str() {
        "block" | "blocker" | "blocking" | "error" | "critical" | "fatal" | "high" => "block",
        "info" | "note" | "notice" | "low" | "hint" => "info",
        // what is not known is at least worth a look
        _ => "warn",
    };
    let code = word(&["code", "rule", "id"]).unwrap_or_else(|| "finding".to_owned());
    let detail = word(&["detail", "message", "description", "text"])
        .or_else(|| found.as_str().map(str::to_owned))
        .unwrap_or_else(|| found.to_string());
    json!({"code": code, "severity": severity, "detail": detail})
}

fn test_run(run: &Map<String, Value>) -> Map<String, Value> {
    let mut kept = run.clone();
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let command = match run.get("command") {
        Some(Value::String(line)) => shell_words::split(line).unwrap_or_else(|_| vec![line.clone()]),
        Some(words) => texts(words),
        None => Vec::new(),
    };
    kept.insert("command".to_owned(), json!(command));
    kept.insert("failing".to_owned(), json!(run.get("failing").map(texts).unwrap_or_default()));
    kept.retain(|name, value| match name.as_str() {
        "exit_code" => value.as_i64().is_some_and(|code| i32::try_from(code).is_ok()),
        "passed" | "failed" | "skipped" | "duration_ms" => value.is_u64(),
        _ => true,
    });
    kept
}
