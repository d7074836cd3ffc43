//! Boards written as JSON: which of the known shapes a tree has, and the entries and statements in it. A tree of no
//! known shape is foreign, never an error.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};

use super::entry::{EntryReader, has_known_status, has_status};
use super::tree::{given, integer, items, member, text};
use super::{Place, prd, taskmaster};
use crate::model::board::{Feature, Format, Pointer, Rules, StatedCount};

/// Entries with the keys that they stand under, where they stand in an object.
pub(super) type Entries<'v, 'a> = Vec<(Option<&'v str>, &'v Object<'a>)>;

/// A shape that was recognised.
pub(super) struct Shape<'v, 'a> {
    pub format: Format,
    pub entries: Entries<'v, 'a>,
}

/// What a board's tree says, besides the file around it.
pub(super) struct Content {
    pub format: Format,
    pub project: Option<String>,
    pub features: Vec<Feature>,
    pub pointer: Pointer,
    pub legend: Vec<String>,
    pub rules: Rules,
    pub branch: Option<String>,
    pub counts: Vec<StatedCount>,
}

/// Reads a tree; nothing where it is no board. `offset` is where the text begins in the file.
pub(super) fn read(root: &Value<'_>, source: &str, offset: usize, place: &Place<'_>) -> Option<Content> {
    let shape = shape(root, place)?;
    let objects: Vec<&Object<'_>> = shape.entries.iter().map(|(_, entry)| *entry).collect();
    let mut reader = EntryReader::new(&objects, place.run_fields, source, offset);
    let features: Vec<Feature> =
        shape.entries.iter().enumerate().map(|(at, (key, entry))| reader.read(entry, at + 1, *key)).collect();
    let top = root.as_object();
    let stated = |name: &str| top.and_then(|top| given(top, name)).and_then(text);
    Some(Content {
        format: shape.format,
        project: stated("project"),
        features,
        pointer: top.map(pointer).unwrap_or_default(),
        legend: top.map(legend).unwrap_or_default(),
        rules: top.map(rules).unwrap_or_default(),
        branch: stated("branchName").filter(|_| shape.format == Format::Prd),
        counts: top.map(counts).unwrap_or_default(),
    })
}

fn shape<'v, 'a>(root: &'v Value<'a>, place: &Place<'_>) -> Option<Shape<'v, 'a>> {
    let top = match root {
        Value::Array(list) => return array(&list.elements),
        Value::Object(top) => top,
        _ => return None,
    };
    let named = [features(top), taskmaster::shape(top, place.tag), tasks(top), prd::shape(top)];
    let mut empty = None;
    for shape in named.into_iter().flatten() {
        if !shape.entries.is_empty() {
            return Some(shape);
        }
        empty = empty.or(Some(shape));
    }
    if is_schema(top) {
        return empty;
    }
    numeric_keys(top).or_else(|| groups(top)).or(empty)
}

/// A list whose objects carry statuses; empty lists are boards without entries (templates).
pub(super) fn list<'v, 'a>(elements: &'v [Value<'a>]) -> Option<Entries<'v, 'a>> {
    let entries: Entries<'_, '_> =
        elements.iter().filter_map(Value::as_object).map(|entry| (None, entry)).collect();
    (elements.is_empty() || entries.iter().any(|(_, entry)| has_status(entry))).then_some(entries)
}

fn known_list<'v, 'a>(elements: &'v [Value<'a>]) -> Option<Entries<'v, 'a>> {
    list(elements).filter(|entries| entries.iter().any(|(_, entry)| has_known_status(entry)))
}

fn array<'v, 'a>(elements: &'v [Value<'a>]) -> Option<Shape<'v, 'a>> {
    let entries = if elements.is_empty() { Some(Vec::new()) } else { known_list(elements) };
    entries.map(|entries| Shape { format: Format::Array, entries })
}

fn features<'v, 'a>(top: &'v Object<'a>) -> Option<Shape<'v, 'a>> {
    let entries = match member(top, "features")? {
        Value::Array(elements) => list(&elements.elements)?,
        Value::Object(map) => keyed(map)?,
        _ => return None,
    };
    let whole = |(_, entry): &(Option<&str>, &Object<'_>)| {
        given(entry, "id").is_some() && given(entry, "status").is_some()
    };
    let native = member(top, "active").is_some_and(|value| value.as_boolean_lit().is_none())
        && entries.iter().all(whole);
    Some(Shape { format: if native { Format::Native } else { Format::Features }, entries })
}

/// `{id: {…}}`.
fn keyed<'v, 'a>(map: &'v Object<'a>) -> Option<Entries<'v, 'a>> {
    let objects = map.properties.iter().filter_map(|p| Some((Some(p.name.as_str()), p.value.as_object()?)));
    let entries: Entries<'_, '_> = objects.collect();
    entries.iter().any(|(_, entry)| has_status(entry)).then_some(entries)
}

fn tasks<'v, 'a>(top: &'v Object<'a>) -> Option<Shape<'v, 'a>> {
    let entries = list(member(top, "tasks").and_then(items)?)?;
    Some(Shape { format: Format::Tasks, entries })
}

fn numeric_keys<'v, 'a>(top: &'v Object<'a>) -> Option<Shape<'v, 'a>> {
    let is_position = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = top.properties.iter().filter(|p| is_position(p.name.as_str()));
    let entries: Entries<'_, '_> = numbered.filter_map(|p| Some((None, p.value.as_object()?))).collect();
    let known = entries.iter().any(|(_, entry)| has_known_status(entry));
    known.then_some(Shape { format: Format::NumericKeys, entries })
}

/// Several lists in one object: every list whose items carry a status belongs to the board, one level down too.
fn groups<'v, 'a>(top: &'v Object<'a>) -> Option<Shape<'v, 'a>> {
    let direct = |object: &'v Object<'a>| {
        object
            .properties
            .iter()
            .filter_map(|p| items(&p.value))
            .filter_map(known_list)
            .flatten()
            .collect::<Vec<_>>()
    };
    let mut entries: Entries<'v, 'a> = direct(top);
    if entries.is_empty() {
        for property in &top.properties {
            match &property.value {
                Value::Object(inner) => entries.extend(direct(inner)),
                Value::Array(inner) => {
                    entries.extend(inner.elements.iter().filter_map(Value::as_object).flat_map(direct));
                }
                _ => {}
            }
        }
    }
    (!entries.is_empty()).then_some(Shape { format: Format::Groups, entries })
}

/// A JSON Schema speaks about boards and is none.
fn is_schema(top: &Object<'_>) -> bool {
    let schema = given(top, "$schema").and_then(text).is_some_and(|url| url.contains("json-schema.org"));
    let typed = given(top, "type").is_some()
        && given(top, "properties").is_some_and(|value| value.as_object().is_some());
    schema || typed
}

fn pointer(top: &Object<'_>) -> Pointer {
    let mut pointer = Pointer::default();
    let mut seen = BTreeSet::new();
    for property in &top.properties {
        let name = property.name.as_str();
        let folded: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
        let points = matches!(
            folded.as_str(),
            "active"
                | "activefeature"
                | "activefeatures"
                | "activefeatureid"
                | "currentfeature"
                | "currentfeatureid"
        );
        let known = match &property.value {
            Value::BooleanLit(_) => false,
            Value::NullKeyword(_) => {
                pointer.active_is_null |= name == "active";
                true
            }
            _ => true,
        };
        if !points || !known {
            continue;
        }
        pointer.ids.extend(pointed(&property.value).into_iter().filter(|id| seen.insert(id.clone())));
        pointer.key.get_or_insert_with(|| name.to_owned());
    }
    pointer
}

fn pointed(value: &Value<'_>) -> Vec<String> {
    match value {
        Value::Array(list) => list.elements.iter().flat_map(pointed).collect(),
        Value::Object(object) => given(object, "id").and_then(text).into_iter().collect(),
        other => text(other).into_iter().collect(),
    }
}

fn legend(top: &Object<'_>) -> Vec<String> {
    let below =
        |outer: &str, inner: &str| given(top, outer).and_then(Value::as_object).and_then(|o| given(o, inner));
    let places = [
        below("rules", "valid_status"),
        given(top, "allowed_statuses"),
        given(top, "status_values"),
        below("schema", "status_values"),
        given(top, "status_legend"),
        below("legend", "state"),
    ];
    let words = places.into_iter().flatten().flat_map(|place| match place {
        Value::Array(list) => list.elements.iter().filter_map(text).collect(),
        Value::Object(map) => map.properties.iter().map(|p| p.name.as_str().to_owned()).collect(),
        _ => Vec::new(),
    });
    words.collect()
}

fn rules(top: &Object<'_>) -> Rules {
    let mut found = Rules::default();
    let rules = match member(top, "rules") {
        Some(Value::Object(rules)) => rules,
        Some(Value::Array(list)) => {
            found.sentences = list.elements.iter().filter_map(text).collect();
            return found;
        }
        _ => return found,
    };
    let switch = |name: &str| given(rules, name).and_then(Value::as_boolean_lit).map(|literal| literal.value);
    if switch("one_feature_at_a_time") == Some(false) || switch("single_active_feature") == Some(false) {
        found.limit = None;
    }
    if let Some(limit) =
        given(rules, "wip_limit").and_then(integer).and_then(|limit| usize::try_from(limit).ok())
    {
        found.limit = Some(limit.max(1));
    }
    found.evidence_required = switch("passing_requires_evidence") == Some(true);
    found
}

fn counts(top: &Object<'_>) -> Vec<StatedCount> {
    const ALL: [&str; 3] = ["total_features", "total_tasks", "total"];
    const DONE: [&str; 4] = ["passed", "passing", "completed", "done"];
    let inner = ["stats", "statistics", "summary", "meta", "metadata"].into_iter();
    let places = inner.filter_map(|name| Some((format!("{name}."), given(top, name)?.as_object()?)));
    let mut found = Vec::new();
    for (prefix, place) in std::iter::once((String::new(), top)).chain(places) {
        for (names, of_done) in [(ALL.as_slice(), false), (DONE.as_slice(), true)] {
            for name in names {
                if let Some(stated) = given(place, name).and_then(integer) {
                    found.push(StatedCount { key: format!("{prefix}{name}"), stated, of_done });
                }
            }
        }
    }
    found
}
