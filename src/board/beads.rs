//! The export of beads, `issues.jsonl`: one object a line. Lines that can't be read are skipped with a remark; never
//! written.

use jsonc_parser::ast::{Object, Value};

use super::entry::{EntryReader, has_status};
use super::text::line_number;
use super::tree::{self, given, text};
use crate::model::board::{Feature, Remark};

/// The issues and the remarks on lines that could not be read. Nothing where no line holds an issue.
pub(super) fn read(source: &str) -> Option<(Vec<Feature>, Vec<Remark>)> {
    let mut remarks = Vec::new();
    let mut values: Vec<(u32, Value<'_>)> = Vec::new();
    let mut bad = 0_usize;
    for (at, line) in source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match tree::parse(line) {
            Ok((value, _)) => values.push((line_number(at), value)),
            Err(error) => {
                bad += 1;
                if bad == 1 {
                    let message = format!("line {} is no JSON and was skipped: {}", at + 1, error.message);
                    remarks.push(Remark { code: "board-syntax", message, line: Some(line_number(at)) });
                }
            }
        }
    }
    if let (true, Some(remark)) = (bad > 1, remarks.first_mut()) {
        remark.message = format!("{} (and {} more lines)", remark.message, bad - 1);
    }
    let issues: Vec<(u32, &Object<'_>)> = values
        .iter()
        .filter_map(|(line, value)| Some((*line, value.as_object()?)))
        .filter(|(_, o)| is_issue(o))
        .collect();
    if issues.is_empty() && !(values.is_empty() && bad == 0) {
        return None;
    }
    let objects: Vec<&Object<'_>> = issues.iter().map(|(_, object)| *object).collect();
    let mut reader = EntryReader::new(&objects, &[], source, 0);
    let features = issues.iter().enumerate().map(|(at, (line, object))| {
        let mut feature = reader.read(object, at + 1, None);
        feature.line = *line;
        feature.spots.clear();
        feature.evidence.extend(given(object, "close_reason").and_then(text));
        feature
    });
    Some((features.collect(), remarks))
}

fn is_issue(object: &Object<'_>) -> bool {
    given(object, "_type").and_then(text).is_none_or(|kind| kind == "issue") && has_status(object)
}
