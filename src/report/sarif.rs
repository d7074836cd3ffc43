//! SARIF 2.1.0: the form that code scanning services read. One rule a code; lines and fingerprints where they are known.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::clean::CleanReport;
use crate::model::{Issue, Owner, Severity};

/// The log of one run.
pub fn render(report: &CleanReport) -> Value {
    let mut rules: BTreeMap<String, &Issue> = BTreeMap::new();
    for issue in &report.issues {
        rules.entry(rule_id(issue)).or_insert(issue);
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "endwell",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|(id, issue)| rule(id, issue)).collect::<Vec<_>>(),
            }},
            "invocations": [{"executionSuccessful": !report.could_not_judge()}],
            "results": report.issues.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Codes are unique within a check, not over all of them.
fn rule_id(issue: &Issue) -> String {
    format!("{}/{}", issue.check, issue.code)
}

fn rule(id: &str, issue: &Issue) -> Value {
    json!({"id": id, "name": issue.code, "help": {"text": text(&issue.hint)}})
}

fn result(issue: &Issue) -> Value {
    let mut result = json!({
        "ruleId": rule_id(issue),
        "level": level(issue.severity),
        "message": {"text": text(&issue.message)},
        "partialFingerprints": {"endwell/v1": issue.fingerprint},
        "baselineState": if issue.owner == Owner::Before { "unchanged" } else { "new" },
    });
    if let Some(path) = issue.raw_path() {
        let mut place = json!({"artifactLocation": {"uri": uri(&path), "uriBaseId": "%SRCROOT%"}});
        if let Some(line) = issue.line {
            place["region"] = json!({"startLine": line});
        }
        result["locations"] = json!([{"physicalLocation": place}]);
    }
    result
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => "error",
        Severity::Warn => "warning",
        Severity::Info => "note",
    }
}

/// A message is never empty in SARIF.
fn text(text: &str) -> &str {
    if text.is_empty() { "See the message." } else { text }
}

/// A path as a relative URI reference: every byte that is not plain is written as `%XX`.
fn uri(path: &[u8]) -> String {
    use std::fmt::Write as _;
    path.iter().fold(String::with_capacity(path.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(*byte));
        } else {
            // writing to a String can't fail
            write!(out, "%{byte:02X}").ok();
        }
        out
    })
}
