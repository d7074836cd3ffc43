//! Pushes that no gate judged: skipped by `ENDWELL_SKIP`, or found afterwards in the reflogs without a record of the
//! gate. They are told, never forbidden.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::flow::Workbench;
use crate::git::push::PushedRef;
use crate::model::Severity;
use crate::model::packet::OpenRisk;
use crate::ui::plain;

/// At most this many are spelled out.
const SHOWN: usize = 10;

fn path(bench: &Workbench) -> std::path::PathBuf {
    bench.repo.shared_dir().join("gate.jsonl")
}

/// The gate's own record of a push. Losing a line only makes a later question.
pub(super) fn record(bench: &Workbench, remote: &str, updates: &[PushedRef], verdict: &str) {
    let refs: Vec<_> =
        updates.iter().map(|pushed| json!({"ref": pushed.remote_ref, "commit": pushed.local_id})).collect();
    let line = json!({"at": crate::clock::now_text(), "remote": remote, "verdict": verdict, "refs": refs});
    crate::fs::append(&path(bench), format!("{line}\n").as_bytes()).ok();
}

/// What went past the gate since a time (RFC 3339), as risks of a packet.
pub(super) fn risks(bench: &Workbench, since: &str) -> Vec<OpenRisk> {
    let Ok(since) = since.parse::<Timestamp>() else { return Vec::new() };
    let bytes = crate::fs::read_optional(&path(bench)).ok().flatten().unwrap_or_default();
    let lines: Vec<Value> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let mut found = Vec::new();
    let mut judged = BTreeSet::new();
    for line in &lines {
        let refs = line["refs"].as_array().map(Vec::as_slice).unwrap_or_default();
        judged.extend(refs.iter().filter_map(|pushed| pushed["commit"].as_str()));
        let at = line["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        if line["verdict"] == "skipped" && at.is_some_and(|at| at >= since) {
            let text = |pushed: &Value| {
                let commit = pushed["commit"].as_str().unwrap_or_default();
                format!("`{}` at {}", plain(pushed["ref"].as_str().unwrap_or_default()), short(commit))
            };
            let names: Vec<String> = refs.iter().take(SHOWN).map(text).collect();
            found.push(format!("A push was not judged (`ENDWELL_SKIP`): {}", names.join(", ")));
        }
    }
    let unseen = bench.repo.pushes_since(since.as_second());
    let unseen = unseen.iter().filter(|push| !judged.contains(push.commit.as_str()));
    found.extend(unseen.take(SHOWN).map(|push| {
        format!("A push went past the gate: `{}` at {}", plain(&push.tracking), short(&push.commit))
    }));
    found
        .into_iter()
        .map(|detail| OpenRisk { severity: Severity::Warn, detail, source: "gate".to_owned() })
        .collect()
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
