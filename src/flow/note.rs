//! The agent's own words, into its state file: order and unknown keys are kept, the same words are not added twice.

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};
use crate::flow::{Workbench, handoff, state, state_text};
use crate::fs;
use crate::model::{SCHEMA_VERSION, Severity};

pub use state::{ReadState, read as read_state};

/// What is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Next,
    Risk {
        severity: Severity,
        test: Option<String>,
    },
    Assumption,
    Question {
        blocking: bool,
    },
    /// Which question: its text or its number from 1; absent: the newest open one.
    Answer {
        question: Option<String>,
    },
    Blocker,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    Added,
    /// It stands there already.
    Known,
}

/// Why a note can't be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    NoQuestion,
    UnknownQuestion,
}

/// Writes a note into the state file.
pub fn add(bench: &Workbench, note: &Note, text: &str) -> Result<Noted> {
    let text = handoff::redactor(bench)?.text(text);
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::usage("there is no text to note").hint("Say it: `endwell note next \"Run …\"`."));
    }
    let _lock = state::lock(bench, "state")?;
    let read = state::read(bench)?;
    let old = read.value.unwrap_or_default();
    let mut value = if old.is_null() { empty() } else { old.clone() };
    let Value::Object(map) = &mut value else { return Ok(Noted::Known) };
    let noted = edit(map, note, text).map_err(refused)?;
    if noted == Noted::Known {
        return Ok(noted);
    }
    map.entry("schema_version").or_insert_with(|| json!(SCHEMA_VERSION));
    let failed = |error: std::io::Error| {
        Failure::broken(format!("can't write `{}`", state::shown(bench, &read.path)))
            .because(error)
            .hint("Make the file and its folder writable, or free some space, then note it again.")
    };
    let bytes = match state_text::edited(&read.text, &old, &value) {
        Some(text) => text.into_bytes(),
        None => pretty(&value).map_err(failed)?,
    };
    fs::write_inside(&bench.repo.top, &read.path, &bytes).map_err(failed)?;
    Ok(noted)
}

fn pretty(value: &Value) -> std::io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn refused(why: Refused) -> Failure {
    let message = match why {
        Refused::NoQuestion => "there is no open question",
        Refused::UnknownQuestion => "there is no such question",
    };
    Failure::usage(message)
        .hint("`agent_state.json` lists the questions; `endwell note question TEXT` asks one.")
}

fn empty() -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "active_task_id": null,
        "touched_files": [],
        "assumptions": [],
        "blockers": [],
        "open_risks": [],
        "questions": [],
        "next_action": null,
    })
}

/// Changes the state's value; nothing else is touched.
pub fn edit(map: &mut Map<String, Value>, note: &Note, text: &str) -> Result<Noted, Refused> {
    match note {
        Note::Next => {
            let same = map.get("next_action").and_then(Value::as_str) == Some(text);
            if !same {
                map.insert("next_action".to_owned(), json!(text));
            }
            Ok(if same { Noted::Known } else { Noted::Added })
        }
        Note::Risk { severity, test } => {
            Ok(add_risk(list(map, "open_risks"), *severity, test.as_deref(), text))
        }
        Note::Assumption => Ok(add_text(list(map, "assumptions"), json!(text), text)),
        Note::Blocker => Ok(add_text(list(map, "blockers"), json!(text), text)),
        Note::Question { blocking } => {
            let entry = if *blocking { json!({"text": text, "blocking": true}) } else { json!(text) };
            Ok(add_text(list(map, "questions"), entry, text))
        }
        Note::Answer { question } => answer(list(map, "questions"), question.as_deref(), text),
    }
}

/// The list of a key; a single value that stands there becomes its first entry.
fn list<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let slot = map.entry(key.to_owned()).or_insert_with(|| json!([]));
    if !slot.is_array() {
        let single = slot.take();
        *slot = if single.is_null() { json!([]) } else { json!([single]) };
    }
    match slot {
        Value::Array(items) => items,
        _ => unreachable!("made an array above"),
    }
}

/// The words of an entry, whatever its form.
fn words(entry: &Value) -> Option<&str> {
    let text = match entry {
        Value::String(text) => Some(text.as_str()),
        Value::Object(map) => map.get("text").or_else(|| map.get("detail")).and_then(Value::as_str),
        _ => None,
    };
    text.map(str::trim)
}

fn add_text(items: &mut Vec<Value>, entry: Value, text: &str) -> Noted {
    if items.iter().any(|item| words(item) == Some(text)) {
        return Noted::Known;
    }
    items.push(entry);
    Noted::Added
}

fn add_risk(items: &mut Vec<Value>, severity: Severity, test: Option<&str>, text: &str) -> Noted {
    let mut entry = json!({"severity": severity, "detail": text});
    if let Some(test) = test {
        entry["test"] = json!(test);
    }
    let twin = items
        .iter_mut()
        .find(|item| words(item) == Some(text) && item.get("test").and_then(Value::as_str) == test);
    match twin {
        Some(item) if *item == entry || item.is_string() => Noted::Known,
        Some(item) => {
            // the same words with another weight: the newer word holds
            item["severity"] = json!(severity);
            Noted::Added
        }
        None => {
            items.push(entry);
            Noted::Added
        }
    }
}

fn answer(items: &mut [Value], question: Option<&str>, text: &str) -> Result<Noted, Refused> {
    let open = |item: &Value| {
        words(item).is_some_and(|words| !words.is_empty())
            && item.get("answer").and_then(Value::as_str).is_none_or(|answer| answer.trim().is_empty())
    };
    let at = match question {
        None => {
            if items.iter().rev().find_map(|item| item.get("answer")?.as_str()) == Some(text) {
                return Ok(Noted::Known);
            }
            items.iter().rposition(open).ok_or(Refused::NoQuestion)?
        }
        Some(wanted) => {
            let number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_number = number.filter(|number| *number < items.len());
            let by_words = || items.iter().position(|item| words(item) == Some(wanted.trim()));
            by_number.or_else(by_words).ok_or(Refused::UnknownQuestion)?
        }
    };
    let item = &mut items[at];
    if item.get("answer").and_then(Value::as_str) == Some(text) {
        return Ok(Noted::Known);
    }
    if let Some(plain) = item.as_str().map(str::to_owned) {
        *item = json!({"text": plain});
    }
    item["answer"] = json!(text);
    Ok(Noted::Added)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(before: &Value, note: &Note, text: &str) -> (String, Noted) {
        let mut value = before.clone();
        let noted = edit(value.as_object_mut().unwrap(), note, text).unwrap();
        (value.to_string(), noted)
    }

    #[test]
    fn order_and_unknown_keys_stay() {
        let before = json!({"zeta": [1], "open_risks": "one", "alpha": {"b": 1, "a": 2}});
        let (after, noted) = edited(&before, &Note::Risk { severity: Severity::Warn, test: None }, "two");
        assert_eq!(noted, Noted::Added);
        assert_eq!(
            after,
            r#"{"zeta":[1],"open_risks":["one",{"severity":"warn","detail":"two"}],"alpha":{"b":1,"a":2}}"#
        );
    }

    #[test]
    fn the_same_words_are_not_added_twice() {
        let before =
            json!({"assumptions": [{"text": "a", "review_score": 2}], "blockers": ["b"], "next_action": "n"});
        assert_eq!(edited(&before, &Note::Assumption, "a").1, Noted::Known);
        assert_eq!(edited(&before, &Note::Blocker, "b").1, Noted::Known);
        assert_eq!(edited(&before, &Note::Next, "n").1, Noted::Known);
        assert_eq!(edited(&before, &Note::Blocker, "c").1, Noted::Added);
    }

    #[test]
    fn an_answer_goes_to_the_newest_open_question() {
        let before = json!({"questions": ["first", "second", {"text": "third", "answer": "yes"}]});
        let (after, _) = edited(&before, &Note::Answer { question: None }, "no");
        assert!(after.contains(r#"{"text":"second","answer":"no"}"#), "{after}");
        let (after, _) = edited(&before, &Note::Answer { question: Some("1".into()) }, "no");
        assert!(after.contains(r#"{"text":"first","answer":"no"}"#), "{after}");
        let mut none = json!({});
        let refused = edit(none.as_object_mut().unwrap(), &Note::Answer { question: None }, "x");
        assert_eq!(refused, Err(Refused::NoQuestion));
    }
}
