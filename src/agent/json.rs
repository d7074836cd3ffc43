//! Our entries in a client's JSON settings: put in at the end of each event's list, found again by the command itself,
//! and taken out. The file is edited as text: order, comments, indentation, numbers and line ends stay. A file that
//! is not what the client expects is refused; it is never parsed and printed again.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use crate::model::plan::{HookEntries, HookEntry, Syntax};

/// Why a settings file is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("it is not UTF-8")]
    Encoding,
    #[error("it is not JSON: line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("it is not YAML: {message}")]
    Yaml { message: String },
    #[error("`{at}` is not {wanted}")]
    Shape { at: String, wanted: &'static str },
    #[error("`{at}` stands in it twice")]
    Twice { at: String },
    #[error("the client rejects a file with the key `{key}`")]
    ForeignKey { key: String },
}

const MARK: char = '\u{feff}';

/// The file's text with our entries in it; `None` as `text` stands for a file that is not there yet.
pub fn put_in(text: Option<&[u8]>, hooks: &HookEntries) -> Result<Vec<u8>, JsonError> {
    let Some(bytes) = text else { return Ok(fresh(hooks)) };
    let (mark, text) = split(bytes)?;
    let root = parse(text, hooks.syntax == Syntax::StrictJson)?;
    let top =
        root.object_value().ok_or(JsonError::Shape { at: "the file".to_owned(), wanted: "an object" })?;
    check_top(&top, hooks)?;
    let map = match top.get("hooks") {
        None => top.append("hooks", CstInputValue::Object(Vec::new())).object_value(),
        Some(property) => property.object_value(),
    };
    let map = map.ok_or(JsonError::Shape { at: "hooks".to_owned(), wanted: "an object" })?;
    for entry in &hooks.entries {
        put_entry(&map, entry, hooks.client)?;
    }
    Ok(format!("{mark}{root}").into_bytes())
}

/// The file's text without our entries. `before` is what is known of the file before endwell was in it: lists and maps
/// that stood there empty stay.
pub fn take_out(bytes: &[u8], before: Option<&[u8]>) -> Result<Vec<u8>, JsonError> {
    let (mark, text) = split(bytes)?;
    let root = parse(text, false)?;
    let had: Value = before
        .and_then(|bytes| split(bytes).ok())
        .and_then(|(_, text)| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let Some(top) = root.object_value() else { return Ok(bytes.to_vec()) };
    let Some(map) = top.object_value("hooks") else { return Ok(bytes.to_vec()) };
    for property in map.properties() {
        let Some(list) = property.array_value() else { continue };
        let emptied = take_from_list(&list);
        let stood = property.decoded_name().is_some_and(|name| had["hooks"].get(name).is_some());
        if emptied && !stood {
            property.remove();
        }
    }
    if map.properties().is_empty()
        && had.get("hooks").is_none()
        && let Some(property) = top.get("hooks")
    {
        property.remove();
    }
    Ok(format!("{mark}{root}").into_bytes())
}

/// A client's own records as data: comments and trailing commas are passed over.
pub(super) fn loose(text: &str) -> Result<Value, JsonError> {
    Ok(parse(text, false)?.to_serde_value().unwrap_or_default())
}

/// The events for which a file already calls us.
pub fn covered(bytes: &[u8], client: &str) -> Vec<String> {
    let Ok((_, text)) = split(bytes) else { return Vec::new() };
    let Some(value) = parse(text, false).ok().and_then(|root| root.to_serde_value()) else {
        return Vec::new();
    };
    let Some(map) = value.get("hooks").and_then(Value::as_object) else { return Vec::new() };
    map.iter().filter(|(_, list)| value_calls_us(list, client)).map(|(event, _)| event.clone()).collect()
}

/// Whether a command is ours: endwell's hook, from wherever it is started.
pub fn is_ours(command: &str, client: Option<&str>) -> bool {
    let words: Vec<&str> = command
        .split([' ', '\t', '\n', '"', '\'', ';', '&', '|', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(5).any(|five| {
        let program = five[0].rsplit(['/', '\\']).next().unwrap_or_default();
        let named = client.is_none_or(|client| five[4] == client);
        matches!(program, "endwell" | "endwell.exe") && five[1] == "hook" && five[3] == "--client" && named
    })
}

fn value_calls_us(value: &Value, client: &str) -> bool {
    match value {
        Value::String(text) => is_ours(text, Some(client)),
        Value::Array(items) => items.iter().any(|item| value_calls_us(item, client)),
        Value::Object(map) => map.values().any(|item| value_calls_us(item, client)),
        _ => false,
    }
}

fn split(bytes: &[u8]) -> Result<(&str, &str), JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::Encoding)?;
    let after = text.strip_prefix(MARK).unwrap_or(text);
    Ok(text.split_at(text.len() - after.len()))
}

fn parse(text: &str, strict: bool) -> Result<CstRootNode, JsonError> {
    if strict || text.trim().is_empty() {
        // the client's own parser would say the same, and drop the file
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|error| JsonError::Syntax { line: error.line().max(1), message: plain(&error) })?;
    }
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options)
        .map_err(|error| JsonError::Syntax { line: error.line_display(), message: error.kind().to_string() })
}

fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn check_top(top: &CstObject, hooks: &HookEntries) -> Result<(), JsonError> {
    let mut seen = Vec::new();
    for key in top.properties().iter().filter_map(jsonc_parser::cst::CstObjectProp::decoded_name) {
        if !hooks.top_keys.is_empty() && !hooks.top_keys.contains(&key.as_str()) {
            return Err(JsonError::ForeignKey { key });
        }
        if key == "hooks" && seen.contains(&key) {
            return Err(JsonError::Twice { at: key });
        }
        seen.push(key);
    }
    Ok(())
}

fn put_entry(map: &CstObject, entry: &HookEntry, client: &str) -> Result<(), JsonError> {
    let at = || format!("hooks.{}", entry.event);
    let named = map.properties().iter().filter(|p| p.decoded_name().as_deref() == Some(entry.event)).count();
    if named > 1 {
        return Err(JsonError::Twice { at: at() });
    }
    let Some(property) = map.get(entry.event) else {
        map.append(entry.event, CstInputValue::Array(vec![input(&entry.group)]));
        return Ok(());
    };
    let list = property.array_value().ok_or_else(|| JsonError::Shape { at: at(), wanted: "a list" })?;
    let ours: Vec<CstObject> = list
        .elements()
        .iter()
        .flat_map(handlers)
        .filter(|handler| handler_is_ours(handler, Some(client)))
        .collect();
    if ours.is_empty() {
        list.append(input(&entry.group));
    }
    for handler in ours {
        let current = command_of(&handler).is_some_and(|command| entry.commands.contains(&command));
        if let (false, Some(property), Some(command)) =
            (current, handler.get("command"), entry.commands.first())
        {
            property.set_value(CstInputValue::String(command.clone()));
        }
    }
    Ok(())
}

/// The objects that may carry a command: the element itself (flat lists), or those of its inner list.
fn handlers(element: &CstNode) -> Vec<CstObject> {
    let Some(object) = element.as_object() else { return Vec::new() };
    match object.array_value("hooks") {
        Some(inner) => inner.elements().iter().filter_map(CstNode::as_object).collect(),
        None => vec![object],
    }
}

fn command_of(handler: &CstObject) -> Option<String> {
    ["command", "bash"].iter().find_map(|key| {
        let value = handler.get(key)?.value()?;
        value.as_string_lit()?.decoded_value().ok()
    })
}

fn handler_is_ours(handler: &CstObject, client: Option<&str>) -> bool {
    command_of(handler).is_some_and(|command| is_ours(&command, client))
}

/// Takes our handlers out of an event's list; whether the list is empty now because of it.
fn take_from_list(list: &CstArray) -> bool {
    let mut took = false;
    for element in list.elements() {
        let Some(object) = element.as_object() else { continue };
        let all = handlers(&element);
        let (ours, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|handler| handler_is_ours(handler, None));
        if ours.is_empty() {
            continue;
        }
        took = true;
        if others.is_empty() {
            object.remove();
        } else {
            ours.into_iter().for_each(CstObject::remove);
        }
    }
    took && list.elements().is_empty()
}

fn fresh(hooks: &HookEntries) -> Vec<u8> {
    let mut top = serde_json::Map::new();
    for (key, value) in &hooks.preamble {
        top.insert((*key).to_owned(), value.clone());
    }
    let map =
        hooks.entries.iter().map(|entry| (entry.event.to_owned(), Value::Array(vec![entry.group.clone()])));
    top.insert("hooks".to_owned(), Value::Object(map.collect()));
    format!("{:#}\n", Value::Object(top)).into_bytes()
}

/// What a person pastes where the file is not ours to write.
pub fn to_paste(hooks: &HookEntries) -> String {
    String::from_utf8_lossy(&fresh(hooks)).trim_end().to_owned()
}

/// A value as the editor of JSON texts takes it; numbers keep their digits.
pub fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hooks() -> HookEntries {
        let command = "endwell hook stop --client claude";
        let group = json!({"hooks": [{"type": "command", "command": command}]});
        let entry = HookEntry { event: "Stop", commands: vec![command.to_owned()], group };
        HookEntries {
            client: "claude",
            syntax: Syntax::StrictJson,
            top_keys: &[],
            preamble: Vec::new(),
            entries: vec![entry],
        }
    }

    fn put(text: &str) -> String {
        String::from_utf8(put_in(Some(text.as_bytes()), &hooks()).unwrap()).unwrap()
    }

    #[test]
    fn numbers_order_and_layout_stay() {
        let before = "{\n  \"ratio\": 1.0,\n  \"big\": 12345678901234567890,\n  \"hooks\": {}\n}";
        insta::assert_snapshot!(put(before), @r#"
    {
      "ratio": 1.0,
      "big": 12345678901234567890,
      "hooks": {
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "endwell hook stop --client claude"
              }
            ]
          }
        ]
      }
    }
    "#);
        assert_eq!(put(&put(before)), put(before), "a second time changes nothing");
    }

    #[test]
    fn what_is_put_in_can_be_taken_out_again() {
        for before in [
            "{}\n",
            "{\n  \"hooks\": {}\n}\n",
            "{\r\n    \"hooks\": {\r\n        \"Stop\": []\r\n    }\r\n}\r\n",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"sh x\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
        ] {
            let after = put(before);
            let back = take_out(after.as_bytes(), Some(before.as_bytes())).unwrap();
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(squeeze(std::str::from_utf8(&back).unwrap()), squeeze(before));
        }
    }

    #[test]
    fn our_command_is_known_wherever_it_is_started_from() {
        assert!(is_ours("endwell hook stop --client claude", Some("claude")));
        assert!(is_ours("/opt/endwell-0.1/bin/endwell hook stop --client claude", None));
        assert!(is_ours(
            "command -v endwell >/dev/null && endwell hook stop --client claude",
            Some("claude")
        ));
        assert!(!is_ours("endwell hook stop --client codex", Some("claude")));
        assert!(!is_ours("endwell-like hook stop --client claude", None));
        assert!(!is_ours("endwell check", None));
    }
}
