//! A JSON text as a tree that knows where each value stands. Strict where the text is; comments, trailing commas and
//! raw control characters are read with a remark, anything else is an error with its place.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::text::{conflict_line, line_number};
use crate::model::board::Remark;

/// Why a text is no JSON.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message} at line {line}, column {column}")]
pub(super) struct NoJson {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a text; the remark says what is not JSON by the book.
pub(super) fn parse(text: &str) -> Result<(Value<'_>, Option<Remark>), NoJson> {
    if let Some(line) = conflict_line(text) {
        let message = "conflict markers of a merge that is not finished".to_owned();
        return Err(NoJson { line, column: 1, message });
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| NoJson {
        line: line_number(error.line_display().saturating_sub(1)),
        column: line_number(error.column_display().saturating_sub(1)),
        message: lower_first(&error.kind().to_string()),
    })?;
    let Some(value) = parsed.value else {
        return Err(NoJson { line: 1, column: 1, message: "the file is empty".to_owned() });
    };
    Ok((value, not_by_the_book(text)))
}

fn not_by_the_book(text: &str) -> Option<Remark> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    Some(Remark {
        code: "board-syntax",
        message: "comments, trailing commas or raw control characters: not every tool can read this"
            .to_owned(),
        line: Some(line_number(error.line().saturating_sub(1))),
    })
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// The member with this name; the last one, should there be several.
pub(super) fn member<'v, 'a>(object: &'v Object<'a>, name: &str) -> Option<&'v Value<'a>> {
    property(object, name).map(|property| &property.value)
}

/// As [`member`], leaving out null.
pub(super) fn given<'v, 'a>(object: &'v Object<'a>, name: &str) -> Option<&'v Value<'a>> {
    member(object, name).filter(|value| !matches!(value, Value::NullKeyword(_)))
}

fn property<'v, 'a>(object: &'v Object<'a>, name: &str) -> Option<&'v ObjectProp<'a>> {
    object.properties.iter().rev().find(|property| property.name.as_str() == name)
}

/// The elements of a list.
pub(super) fn items<'v, 'a>(value: &'v Value<'a>) -> Option<&'v [Value<'a>]> {
    value.as_array().map(|array| array.elements.as_slice())
}

/// A text, trimmed, or a number as it stands; nothing for an empty text.
pub(super) fn text(value: &Value<'_>) -> Option<String> {
    let text = match value {
        Value::StringLit(literal) => literal.value.trim(),
        Value::NumberLit(literal) => literal.value,
        _ => return None,
    };
    (!text.is_empty()).then(|| text.to_owned())
}

/// An integer.
pub(super) fn integer(value: &Value<'_>) -> Option<i64> {
    value.as_number_lit().and_then(|literal| literal.value.parse().ok())
}

/// The bytes of a value in the text.
pub(super) fn range(value: &Value<'_>) -> std::ops::Range<usize> {
    value.start()..value.end()
}

/// Whether two texts hold the same but for the values at the given places (of the first text).
pub(super) fn same_but_for(one: &Value<'_>, two: &Value<'_>, places: &[usize]) -> bool {
    if places.contains(&one.start()) {
        return true;
    }
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            one.properties.len() == two.properties.len()
                && one.properties.iter().zip(&two.properties).all(|(one, two)| {
                    one.name.as_str() == two.name.as_str() && same_but_for(&one.value, &two.value, places)
                })
        }
        (Value::Array(one), Value::Array(two)) => {
            one.elements.len() == two.elements.len()
                && one.elements.iter().zip(&two.elements).all(|(one, two)| same_but_for(one, two, places))
        }
        (Value::StringLit(one), Value::StringLit(two)) => one.value == two.value,
        (Value::NumberLit(one), Value::NumberLit(two)) => one.value == two.value,
        (Value::BooleanLit(one), Value::BooleanLit(two)) => one.value == two.value,
        (Value::NullKeyword(_), Value::NullKeyword(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_commas_and_raw_controls_are_forgiven() {
        for text in ["{\"a\": 1, // x\n}", "[1,]", "[\"a\nb\"]", "/* x */ []"] {
            assert!(parse(text).unwrap().1.is_some(), "{text}");
        }
        assert!(parse("[1, {\"a\": null}]").unwrap().1.is_none());
        for text in [
            "",
            "  \n",
            "{a: 1}",
            "['a']",
            "[1 2]",
            "[{} {}]",
            "{\"a\" 1}",
            "[1]]",
            "[0x1]",
            "[1,,2]",
            "nonsense",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_error_names_its_place() {
        let error = parse("{\n  \"a\": [1,\n  2\n").unwrap_err();
        assert!(error.line >= 2, "{error}");
        assert!(parse(&"[".repeat(100_000)).is_err(), "deep nesting is an error, not a crash");
    }
}
