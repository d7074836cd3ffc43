//! Changes a JSON text where its value changed and nowhere else: order, layout, numbers and unknown keys stay as they stand
//! there. Takes nothing out.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstRootNode};
use serde_json::Value;

use crate::agent::json::input;

/// The text with what `new` says beyond `old`; `None` where it is not of a form that can be edited.
pub(super) fn edited(text: &str, old: &Value, new: &Value) -> Option<String> {
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let root = CstRootNode::parse(&text[mark.len()..], &ParseOptions::default()).ok()?;
    merge(&root.value()?, old, new);
    let edited = format!("{mark}{root}");
    // whatever the editor makes of it, it must say what was meant
    let said: Value = serde_json::from_str(&edited[mark.len()..]).ok()?;
    (said == *new).then_some(edited)
}

fn merge(node: &CstNode, old: &Value, new: &Value) {
    if old == new {
        return;
    }
    match (old, new, node.as_object(), node.as_array()) {
        (Value::Object(old), Value::Object(new), Some(object), _) => {
            for (key, value) in new {
                match (old.get(key), object.get(key)) {
                    (Some(was), _) if was == value => {}
                    (Some(was), Some(property)) => match property.value() {
                        Some(inner) if goes_inside(was, value) => merge(&inner, was, value),
                        _ => property.set_value(input(value)),
                    },
                    _ => drop(object.append(key, input(value))),
                }
            }
        }
        (Value::Array(old), Value::Array(new), _, Some(array)) => {
            let elements = array.elements();
            for ((element, was), value) in elements.into_iter().zip(old).zip(new) {
                match element {
                    _ if was == value => {}
                    element if goes_inside(was, value) => merge(&element, was, value),
                    element => replace(&element, value),
                }
            }
            for value in new.iter().skip(old.len()) {
                array.append(input(value));
            }
        }
        _ => {}
    }
}

fn goes_inside(was: &Value, is: &Value) -> bool {
    match (was, is) {
        (Value::Object(_), Value::Object(_)) => true,
        (Value::Array(was), Value::Array(is)) => is.len() >= was.len(),
        _ => false,
    }
}

fn replace(element: &CstNode, value: &Value) {
    let value = input(value);
    if let Some(text) = element.as_string_lit() {
        text.replace_with(value);
    } else if let Some(object) = element.as_object() {
        object.replace_with(value);
    } else if let Some(number) = element.as_number_lit() {
        number.replace_with(value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed_is_another_text() {
        let text = "{ \"version\": 2.50, \"big\":12345678901234567890123, \"e\": 1e5,\r\n\t\"open_risks\": [\r\n\t\t{\"detail\":\"a\", \"weight\": 1.10}\r\n\t],\r\n\t\"next_action\": \"x\" }\n";
        let old: Value = serde_json::from_str(text).unwrap();
        let mut new = old.clone();
        new["next_action"] = json!("y \"quoted\"");
        new["open_risks"][0]["severity"] = json!("warn");
        new["open_risks"].as_array_mut().unwrap().push(json!("b"));
        let edited = edited(text, &old, &new).unwrap();
        for kept in [
            "\"version\": 2.50, \"big\":12345678901234567890123, \"e\": 1e5,\r\n",
            "\"weight\": 1.10",
            "\"detail\":\"a\"",
        ] {
            assert!(edited.contains(kept), "{kept}: {edited}");
        }
        assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), new);
    }
}
