//! Pushes that no gate judged (skipped by `ENDWELL_SKIP`, or found afterwards in the reflogs without a record of the
//! gate) and pushes that a person let through. They are told, never forbidden.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::flow::Workbench;
use crate::git::Repo;
use crate::git::push::PushedRef;
use crate::model::Severity;
use crate::model::overrides::Override;
use crate::model::packet::OpenRisk;
use crate::session::Store;
use crate::ui::plain;

/// At most this many are spelled out.
const SHOWN: usize = 10;

fn path(bench: &Workbench) -> std::path::PathBuf {
    bench.repo.shared_dir().join("gate.jsonl")
}

fn positions_path(repo: &Repo) -> std::path::PathBuf {
    repo.shared_dir().join("reflogs.json")
}

/// The gate's own record of a push. Losing a line only makes a later question.
pub(super) fn record(
    bench: &Workbench,
    remote: &str,
    updates: &[PushedRef],
    verdict: &str,
    exception: Option<&Override>,
) {
    let refs: Vec<_> =
        updates.iter().map(|pushed| json!({"ref": pushed.remote_ref, "commit": pushed.local_id})).collect();
    let mut line =
        json!({"at": crate::clock::now_text(), "remote": remote, "verdict": verdict, "refs": refs});
    if let Some(exception) = exception {
        let codes: BTreeSet<&str> = exception.issues.iter().map(|issue| issue.code.as_str()).collect();
        line["by"] = json!(exception.agent.as_ref().unwrap_or(&exception.by));
        line["reason"] = json!(exception.reason);
        line["codes"] = json!(codes);
    }
    crate::fs::append(&path(bench), format!("{line}\n").as_bytes()).ok();
}

/// Keeps where the reflogs of tracking branches end at the installation: what comes behind that was pushed under the
/// gate's eyes, whatever date it bears.
pub(super) fn mark_reflogs(bench: &Workbench) {
    let path = positions_path(&bench.repo);
    if crate::fs::exists(&path) {
        return;
    }
    if let Ok(bytes) = serde_json::to_vec(&bench.repo.reflog_ends()) {
        crate::fs::write_atomic(&path, &bytes).ok();
    }
}

/// Forgets the installation's end of the reflogs.
pub(super) fn unmark_reflogs(bench: &Workbench) {
    crate::fs::remove(&positions_path(&bench.repo)).ok();
}

/// What went past the gate, or through it by an exception, since a time (RFC 3339), as risks of a packet.
pub(super) fn risks(bench: &Workbench, since: &str) -> Vec<OpenRisk> {
    let risk = |detail| OpenRisk { severity: Severity::Warn, detail, source: "gate".to_owned() };
    told(bench, since).into_iter().map(risk).collect()
}

/// The same as sentences.
pub fn told(bench: &Workbench, since: &str) -> Vec<String> {
    let Ok(since) = since.parse::<Timestamp>() else { return Vec::new() };
    let bytes = crate::fs::read_optional(&path(bench)).ok().flatten().unwrap_or_default();
    let lines: Vec<Value> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let mut found = Vec::new();
    let mut judged = BTreeSet::new();
    for line in &lines {
        // one that was refused and arrived all the same went past it
        if line["verdict"] != "refused" {
            judged.extend(refs(line).iter().filter_map(|pushed| pushed["commit"].as_str()));
        }
        let at = line["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        if at.is_some_and(|at| at >= since) {
            found.extend(on_record(line));
        }
    }
    let unseen = unseen(bench, since.as_second(), &judged);
    found.extend(unseen.iter().take(SHOWN).map(|(tracking, commit)| {
        format!("A push went past the gate: `{}` at {}", plain(tracking), short(commit))
    }));
    found
}

fn refs(line: &Value) -> &[Value] {
    line["refs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// What the gate's own record of a push says of it, where that is worth telling.
fn on_record(line: &Value) -> Option<String> {
    let text = |pushed: &Value| {
        let commit = pushed["commit"].as_str().unwrap_or_default();
        format!("`{}` at {}", plain(pushed["ref"].as_str().unwrap_or_default()), short(commit))
    };
    let names = refs(line).iter().take(SHOWN).map(text).collect::<Vec<_>>().join(", ");
    let word = |key: &str| plain(line[key].as_str().unwrap_or_default());
    match line["verdict"].as_str() {
        Some("skipped") => Some(format!("A push was not judged (`ENDWELL_SKIP`): {names}")),
        Some("allowed") => {
            let codes: Vec<&str> =
                line["codes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            Some(format!(
                "{} let a push through although the gate refused it ({}): {names}. Reason: {}",
                word("by"),
                plain(&codes.join(", ")),
                word("reason")
            ))
        }
        _ => None,
    }
}

/// Pushes that reflogs know and the gate does not: tracking branch and commit.
fn unseen(bench: &Workbench, since: i64, judged: &BTreeSet<&str>) -> Vec<(String, String)> {
    let bytes = crate::fs::read_optional(&positions_path(&bench.repo)).ok().flatten();
    let ends: Option<BTreeMap<String, u64>> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    // behind the installation's end, an entry from before it bears a date that somebody made up
    let installed = Store::of(&bench.repo).install_baseline().filter(|_| ends.is_some());
    let installed = installed.and_then(|baseline| baseline.taken_at.parse::<Timestamp>().ok());
    let installed = installed.map_or(i64::MIN, Timestamp::as_second);
    let mut known = BTreeSet::new();
    let pushes = bench.repo.pushes_behind(&ends.unwrap_or_default());
    pushes
        .into_iter()
        .filter(|push| push.at >= since || push.at < installed)
        .filter(|push| !judged.contains(push.commit.as_str()))
        .filter(|push| known.insert((push.tracking.clone(), push.commit.clone())))
        .map(|push| (push.tracking, push.commit))
        .collect()
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
