//! One entry of a JSON board: its id, status, goal, acceptance, evidence and dependencies, under whatever names boards
//! give them. Must never decide what is runnable, and never fail: what can't be read is left out or unknown.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};

use super::text::Lines;
use super::tree::{given, integer, items, range, text};
use super::words::{normal, status_of};
use crate::model::board::{Criterion, Feature, Spot, Status};

/// The keys that hold a status, in the order in which they are believed.
const STATUS_KEYS: [&str; 3] = ["status", "passes", "state"];
/// Fields that hold command lines.
const COMMAND_FIELDS: [&str; 3] = ["verification_command", "verify_cmd", "done_when"];
/// Fields that hold acceptance for people.
const PROSE_FIELDS: [&str; 11] = [
    "acceptance",
    "acceptance_criteria",
    "acceptanceCriteria",
    "done_criteria",
    "doneCriteria",
    "verification",
    "verify",
    "tests",
    "testStrategy",
    "criteria",
    "steps",
];
const GOALS: [&str; 10] = [
    "goal",
    "title",
    "name",
    "task_title",
    "description",
    "behavior",
    "user_visible_behavior",
    "feature",
    "summary",
    "text",
];
const DEPENDENCIES: [&str; 4] = ["dependencies", "depends_on", "depends", "blocked_by"];

/// How the entries of one board are read.
pub(super) struct EntryReader<'r> {
    id_key: Option<&'static str>,
    run_fields: &'r [String],
    /// Bytes before the text.
    offset: usize,
    lines: Lines<'r>,
}

impl<'r> EntryReader<'r> {
    /// A reader for these entries of a text that begins at `offset` of the file.
    pub(super) fn new(
        entries: &[&Object<'_>],
        run_fields: &'r [String],
        source: &'r str,
        offset: usize,
    ) -> Self {
        let has = |key: &&str| entries.iter().any(|entry| given(entry, key).and_then(text).is_some());
        Self {
            id_key: ["id", "task_id", "name"].into_iter().find(has),
            run_fields,
            offset,
            lines: Lines::new(source),
        }
    }

    /// Reads one entry; `position` counts from 1.
    pub(super) fn read(&mut self, entry: &Object<'_>, position: usize, key: Option<&str>) -> Feature {
        let named =
            self.id_key.and_then(|name| given(entry, name)).and_then(text).or_else(|| key.map(str::to_owned));
        let status = StatusField::read(entry);
        let spots = status.spots.into_iter().map(|spot| Spot {
            range: spot.range.start + self.offset..spot.range.end + self.offset,
            switch: spot.switch,
        });
        let (evidence, keeps_evidence) = evidence(entry);
        Feature {
            positional: named.is_none(),
            id: named.unwrap_or_else(|| format!("#{position}")),
            status: status.status,
            word: status.word,
            worded: status.worded,
            conflict: status.conflict,
            goal: GOALS.iter().find_map(|name| given(entry, name).and_then(text)).unwrap_or_default(),
            acceptance: self.acceptance(entry),
            evidence,
            keeps_evidence,
            dependencies: dependencies(entry),
            priority: given(entry, "priority").and_then(integer),
            subtasks: subtasks(entry),
            line: self.lines.line_of(entry.range.start),
            spots: spots.collect(),
        }
    }

    fn acceptance(&self, entry: &Object<'_>) -> Vec<Criterion> {
        let mut found = Vec::new();
        let is_command =
            |name: &str| COMMAND_FIELDS.contains(&name) || self.run_fields.iter().any(|field| field == name);
        for property in &entry.properties {
            let name = property.name.as_str();
            if is_command(name) {
                commands(&property.value, &mut found);
            } else if PROSE_FIELDS.contains(&name) {
                prose(&property.value, &mut found);
            }
        }
        found
    }
}

/// Whether an object carries a status at all.
pub(super) fn has_status(entry: &Object<'_>) -> bool {
    STATUS_KEYS.iter().any(|key| given(entry, key).is_some())
}

/// Whether an object carries a status that means something.
pub(super) fn has_known_status(entry: &Object<'_>) -> bool {
    has_status(entry) && StatusField::read(entry).status != Status::Unknown
}

#[derive(Default)]
struct StatusField {
    status: Option<Status>,
    word: String,
    worded: bool,
    spots: Vec<Spot>,
}

struct StatusRead {
    status: Status,
    word: String,
    worded: bool,
    conflict: bool,
    spots: Vec<Spot>,
}

impl StatusField {
    fn read(entry: &Object<'_>) -> StatusRead {
        let fields: Vec<(&str, Self)> =
            STATUS_KEYS.iter().filter_map(|key| Some((*key, Self::of(key, given(entry, key)?)))).collect();
        let mut fields = fields.into_iter();
        let Some((first_key, first)) = fields.next() else {
            return StatusRead {
                status: Status::Unknown,
                word: String::new(),
                worded: false,
                conflict: false,
                spots: Vec::new(),
            };
        };
        let status = first.status.unwrap_or(Status::Unknown);
        let mut spots = first.spots;
        let mut conflict = false;
        for (key, other) in fields {
            // two words (`status` and `state`) may speak of different things; a word and a switch don't
            let (Some(said), true) = (other.status, (first_key == "passes") != (key == "passes")) else {
                continue;
            };
            if said == Status::Unknown {
                continue;
            }
            conflict |= disagree(status, said);
            spots.extend(other.spots);
        }
        StatusRead { status, word: first.word, worded: first.worded, conflict, spots }
    }

    fn of(key: &str, value: &Value<'_>) -> Self {
        match value {
            Value::BooleanLit(literal) => Self {
                status: Some(if literal.value { Status::Done } else { Status::Todo }),
                word: literal.value.to_string(),
                worded: false,
                spots: vec![Spot { range: range(value), switch: true }],
            },
            Value::StringLit(literal) => {
                let word = literal.value.trim();
                let switch = match (key, normal(word).as_str()) {
                    ("passes", "true" | "yes") => Some(Status::Done),
                    ("passes", "false" | "no") => Some(Status::Todo),
                    _ => None,
                };
                Self {
                    status: Some(switch.unwrap_or_else(|| status_of(word))),
                    word: word.to_owned(),
                    worded: switch.is_none(),
                    spots: match switch {
                        Some(_) => Vec::new(),
                        None => vec![Spot { range: range(value), switch: false }],
                    },
                }
            }
            Value::NumberLit(literal) => Self { word: literal.value.to_owned(), ..Self::default() },
            _ => Self::default(),
        }
    }
}

/// Whether two status keys contradict each other about done. What waits for somebody may well pass already.
fn disagree(one: Status, two: Status) -> bool {
    let open = |status: Status| matches!(status, Status::Todo | Status::InProgress | Status::Blocked);
    (one == Status::Done && open(two)) || (two == Status::Done && open(one))
}

/// The lines of a field that holds command lines: a text, a list of texts, a list of lists of words.
fn commands(value: &Value<'_>, found: &mut Vec<Criterion>) {
    match value {
        Value::StringLit(_) => found.extend(text(value).map(Criterion::Line)),
        Value::Array(list) => {
            for item in &list.elements {
                match items(item) {
                    Some(words) => {
                        let words: Option<Vec<String>> = words.iter().map(text).collect();
                        found.extend(words.filter(|words| !words.is_empty()).map(Criterion::Words));
                    }
                    None if item.as_string_lit().is_some() => commands(item, found),
                    None => prose(item, found),
                }
            }
        }
        other => prose(other, found),
    }
}

/// The texts in a field for people: a text, a list, or objects with a text.
fn prose(value: &Value<'_>, found: &mut Vec<Criterion>) {
    match value {
        Value::Array(list) => list.elements.iter().for_each(|item| prose(item, found)),
        Value::Object(object) => {
            let named =
                ["text", "criteria", "criterion", "description"].iter().find_map(|name| given(object, name));
            if let Some(value) = named {
                prose(value, found);
            }
        }
        other => found.extend(text(other).map(Criterion::Prose)),
    }
}

/// The recorded proof, and whether there is a field for it.
fn evidence(entry: &Object<'_>) -> (Vec<String>, bool) {
    let has = |object: &Object<'_>, name: &str| object.properties.iter().any(|p| p.name.as_str() == name);
    let mut found = Vec::new();
    let mut kept = false;
    for name in ["evidence", "verified_via"] {
        kept |= has(entry, name);
        if let Some(value) = given(entry, name) {
            proof_texts(value, &mut found);
        }
    }
    if let Some(verification) = given(entry, "verification").and_then(Value::as_object) {
        kept |= has(verification, "evidence");
        if let Some(value) = given(verification, "evidence") {
            proof_texts(value, &mut found);
        }
    }
    (found, kept)
}

fn proof_texts(value: &Value<'_>, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.elements.iter().for_each(|item| proof_texts(item, found)),
        Value::Object(object) => {
            let code = ["exit", "exit_code"].iter().find_map(|name| given(object, name)).and_then(integer);
            // a recorded failure proves nothing
            if code.is_none_or(|code| code == 0) {
                let texts: Vec<String> = object.properties.iter().filter_map(|p| text(&p.value)).collect();
                found.extend((!texts.is_empty()).then(|| texts.join(" ")));
            }
        }
        other => found.extend(text(other)),
    }
}

fn dependencies(entry: &Object<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for value in DEPENDENCIES.iter().filter_map(|name| given(entry, name)) {
        let named = match value {
            Value::Array(list) => list.elements.iter().filter_map(dependency).collect(),
            Value::StringLit(literal) => listed_in(&literal.value),
            Value::NumberLit(_) => text(value).into_iter().collect(),
            _ => Vec::new(),
        };
        found.extend(named.into_iter().filter(|id: &String| seen.insert(id.clone())));
    }
    found
}

fn listed_in(words: &str) -> Vec<String> {
    let parts = words.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.filter(|part| !matches!(normal(part).as_str(), "none" | "_" | "n/a")).map(str::to_owned).collect()
}

/// An id, or an object that names one. The kinds that only relate or nest (beads) hold nothing up.
fn dependency(value: &Value<'_>) -> Option<String> {
    let Some(object) = value.as_object() else { return text(value) };
    let kind = given(object, "type").and_then(text);
    let holds =
        kind.is_none_or(|kind| matches!(normal(&kind).as_str(), "blocks" | "depends_on" | "blocked_by"));
    let named = ["depends_on_id", "id", "task_id"].iter().find_map(|name| given(object, name)).and_then(text);
    named.filter(|_| holds)
}

/// What lies below a task (`1.2`), for dependencies that name it.
fn subtasks(entry: &Object<'_>) -> Vec<(String, Status)> {
    let parent = given(entry, "id").and_then(text);
    let (Some(parent), Some(list)) = (parent, given(entry, "subtasks").and_then(items)) else {
        return Vec::new();
    };
    list.iter()
        .filter_map(Value::as_object)
        .filter_map(|task| {
            Some((format!("{parent}.{}", given(task, "id").and_then(text)?), StatusField::read(task).status))
        })
        .collect()
}
