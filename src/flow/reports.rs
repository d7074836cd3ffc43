//! Finding the reports that a packet points to: the verdict on this tree, and the review. Other gates write them too, so
//! they are read as far as they go; a verdict on another tree counts as missing.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::flow::Workbench;
use crate::flow::handoff::Reason;
use crate::flow::state::shown;
use crate::flow::topic::Topic;
use crate::fs;
use crate::model::issue::sha256_hex;
use crate::model::packet::FileRef;
use crate::model::report::{ReviewReport, VerificationReport};
use crate::model::{SCHEMA_VERSION, slug};

/// The verification report of this tree.
pub(super) fn verdict(
    bench: &Workbench,
    topic: &Topic,
    key: &str,
    tree: &str,
) -> Result<(VerificationReport, FileRef), Reason> {
    let verify = "Run `endwell verify`.";
    let places = [
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

/// The review report, where there is one that can be read.
pub(super) fn review(bench: &Workbench, topic: &Topic) -> Option<(ReviewReport, FileRef)> {
    let places = [
        bench.review_path(topic.report_key()),
        bench.review_path(&topic.name),
        bench.repo.top.join("review_report.json"),
    ];
    places.into_iter().find_map(|place| {
        let bytes = fs::read_optional(&place).ok()??;
        let report = report::<ReviewReport>(&bytes, topic).ok()?;
        Some((report, FileRef { path: shown(bench, &place), sha256: sha256_hex(&bytes) }))
    })
}

/// A report as far as it goes: other gates leave out the version and the task.
fn report<T: DeserializeOwned>(bytes: &[u8], topic: &Topic) -> Result<T, serde_json::Error> {
    use serde::de::Error as _;
    let mut value: Value = serde_json::from_slice(bytes)?;
    let map = value.as_object_mut().ok_or_else(|| serde_json::Error::custom("it is no JSON object"))?;
    if map
        .get("schema_version")
        .and_then(Value::as_u64)
        .is_some_and(|version| version > u64::from(SCHEMA_VERSION))
    {
        return Err(serde_json::Error::custom("its schema version is not known here"));
    }
    map.entry("schema_version").or_insert_with(|| json!(SCHEMA_VERSION));
    map.entry("task_id").or_insert_with(|| json!(slug(topic.report_key())));
    if let Some(findings) = map.get_mut("findings").and_then(Value::as_array_mut) {
        for finding in findings.iter_mut().filter_map(Value::as_object_mut) {
            finding.entry("severity").or_insert_with(|| json!("warn"));
            finding.entry("code").or_insert_with(|| json!("finding"));
        }
    }
    serde_json::from_value(value)
}
