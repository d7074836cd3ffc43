//! Our entries in a client's YAML settings, as [`super::json`] does it for JSON: put in at the end of each event's list,
//! found again by the command itself, and taken out. The file is edited as text: order, comments and layout stay. What
//! comes out is read again before it is believed; a file that is not what the client expects is refused.

use std::fmt::Write as _;

use serde_json::Value;
use yaml_edit::{Mapping, MappingBuilder, Sequence, SequenceBuilder, YamlFile, YamlNode};

use super::json::{JsonError, is_ours};
use crate::model::plan::{HookEntries, HookEntry};

const KEY: &str = "hooks";

/// The file's text with our entries in it; `None` as `bytes` stands for a file that is not there yet.
pub(super) fn put_in(bytes: Option<&[u8]>, hooks: &HookEntries) -> Result<Vec<u8>, JsonError> {
    let text = text_of(bytes.unwrap_or_default())?;
    let file = parse(text)?;
    let top = top(&file)?;
    let missing: Vec<&HookEntry> = match &top {
        Some(top) => hooks.entries.iter().filter(|entry| !calls_us(top, entry, hooks.client)).collect(),
        None => hooks.entries.iter().collect(),
    };
    let out = match top.as_ref().filter(|top| top.contains_key(KEY)) {
        _ if missing.is_empty() => return Ok(text.as_bytes().to_vec()),
        Some(top) => {
            insert(top, &missing)?;
            file.to_string()
        }
        None => appended(text, &missing),
    };
    // what the editor made is read again, and counts only if all is in it and all that was there still is
    let again = parse(&out)?;
    let all = self::top(&again)?
        .is_some_and(|top| hooks.entries.iter().all(|entry| calls_us(&top, entry, hooks.client)));
    let rest = take_out(out.as_bytes(), Some(text.as_bytes()))?;
    if all && lines(&rest) == lines(text.as_bytes()) {
        Ok(out.into_bytes())
    } else {
        Err(JsonError::Shape { at: KEY.to_owned(), wanted: "of a form that endwell can add to" })
    }
}

/// The file's text without our entries. `before` is what is known of the file before endwell was in it: lists and maps
/// that stood there empty stay.
pub(super) fn take_out(bytes: &[u8], before: Option<&[u8]>) -> Result<Vec<u8>, JsonError> {
    let file = parse(text_of(bytes)?)?;
    let Some(top) = top(&file)? else { return Ok(bytes.to_vec()) };
    let Some(map) = top.get_mapping(KEY) else { return Ok(bytes.to_vec()) };
    let had = before
        .and_then(|bytes| parse(text_of(bytes).ok()?).ok())
        .and_then(|file| file.document()?.as_mapping());
    let had_map = had.as_ref().and_then(|top| top.get_mapping(KEY));
    let events: Vec<String> = map.keys().filter_map(|key| scalar(&key)).collect();
    for event in events {
        let Some(list) = map.get_sequence(event.as_str()) else { continue };
        let ours: Vec<usize> =
            list.values().enumerate().filter(|(_, item)| is_our_item(item, None)).map(|(at, _)| at).collect();
        if ours.len() == list.len()
            && !ours.is_empty()
            && !had_map.as_ref().is_some_and(|had| had.contains_key(event.as_str()))
        {
            map.remove(event.as_str());
            continue;
        }
        for at in ours.into_iter().rev() {
            list.remove(at);
        }
    }
    if map.is_empty() && !had.is_some_and(|had| had.contains_key(KEY)) {
        if top.len() == 1 {
            // the editor would leave an empty mapping behind
            return Ok(before_key(bytes).to_vec());
        }
        top.remove(KEY);
    }
    Ok(file.to_string().into_bytes())
}

/// The text in front of our key, which is the only one.
fn before_key(bytes: &[u8]) -> &[u8] {
    let key = format!("{KEY}:");
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let length: usize =
        lines.by_ref().take_while(|line| !line.starts_with(key.as_bytes())).map(<[u8]>::len).sum();
    &bytes[..length]
}

/// The events for which a file already calls us.
pub(super) fn covered(bytes: &[u8], client: &str) -> Vec<String> {
    let file = text_of(bytes).and_then(parse);
    let Some(map) = file.ok().and_then(|file| file.document()?.as_mapping()?.get_mapping(KEY)) else {
        return Vec::new();
    };
    let events = map.keys().filter_map(|key| scalar(&key));
    events
        .filter(|event| map.get_sequence(event.as_str()).is_some_and(|list| has_ours(&list, client)))
        .collect()
}

/// What a person pastes where the file is not ours to write.
pub(super) fn to_paste(hooks: &HookEntries) -> String {
    appended("", &hooks.entries.iter().collect::<Vec<_>>()).trim_end().to_owned()
}

fn text_of(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|_| JsonError::Encoding)
}

fn parse(text: &str) -> Result<YamlFile, JsonError> {
    let file: YamlFile = text
        .parse()
        .map_err(|error: yaml_edit::YamlError| JsonError::Yaml { message: plain(&error.to_string()) })?;
    match file.documents().count() {
        0 | 1 => Ok(file),
        _ => Err(JsonError::Shape { at: "the file".to_owned(), wanted: "a single document" }),
    }
}

fn plain(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

/// The top-level mapping; `None`: nothing but comments is there.
fn top(file: &YamlFile) -> Result<Option<Mapping>, JsonError> {
    let Some(document) = file.document() else { return Ok(None) };
    match document.as_mapping() {
        Some(top) if top.find_all_entries_by_key(KEY).count() > 1 => {
            Err(JsonError::Twice { at: KEY.to_owned() })
        }
        Some(top) => Ok(Some(top)),
        None if document.is_empty() && document.as_scalar().is_none() && document.as_sequence().is_none() => {
            Ok(None)
        }
        None => Err(JsonError::Shape { at: "the file".to_owned(), wanted: "a mapping" }),
    }
}

fn calls_us(top: &Mapping, entry: &HookEntry, client: &str) -> bool {
    let list = top.get_mapping(KEY).and_then(|map| map.get_sequence(entry.event));
    list.is_some_and(|list| has_ours(&list, client))
}

fn has_ours(list: &Sequence, client: &str) -> bool {
    list.values().any(|item| is_our_item(&item, Some(client)))
}

fn is_our_item(item: &YamlNode, client: Option<&str>) -> bool {
    let command = item.get("command").and_then(|command| scalar(&command));
    command.is_some_and(|command| is_ours(&command, client))
}

fn scalar(node: &YamlNode) -> Option<String> {
    node.as_scalar().map(yaml_edit::Scalar::as_string)
}

fn insert(top: &Mapping, missing: &[&HookEntry]) -> Result<(), JsonError> {
    let shape = |at: String, wanted| JsonError::Shape { at, wanted };
    let map = top.get_mapping(KEY).ok_or_else(|| shape(KEY.to_owned(), "a mapping with entries"))?;
    for entry in missing {
        let at = || format!("{KEY}.{}", entry.event);
        let item = item(&entry.group).ok_or_else(|| shape(at(), "a list"))?;
        match map.get_sequence(entry.event) {
            Some(list) => list.push(item),
            None if map.contains_key(entry.event) => return Err(shape(at(), "a list")),
            None => {
                let list = SequenceBuilder::new().item(item).build_document().as_sequence();
                map.set(entry.event, list.ok_or_else(|| shape(at(), "a list"))?);
            }
        }
    }
    Ok(())
}

fn item(group: &Value) -> Option<Mapping> {
    let mut builder = MappingBuilder::new();
    for (key, value) in group.as_object()? {
        builder = match value {
            Value::Number(number) => builder.pair(key.as_str(), number.as_i64()?),
            other => builder.pair(key.as_str(), other.as_str()?),
        };
    }
    builder.build_document().as_mapping()
}

/// The text with a `hooks` mapping of our own at its end.
fn appended(text: &str, missing: &[&HookEntry]) -> String {
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str("hooks:\n");
    for entry in missing {
        // writing to a String can't fail
        writeln!(out, "  {}:", entry.event).ok();
        let pairs = entry.group.as_object().into_iter().flatten();
        for (index, (key, value)) in pairs.enumerate() {
            writeln!(out, "  {} {key}: {value}", if index == 0 { "  -" } else { "   " }).ok();
        }
    }
    out
}

/// Lines that say something, without their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests;
