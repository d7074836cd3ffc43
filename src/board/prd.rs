//! The `prd.json` of a ralph loop: user stories with a switch that says whether they pass.

use jsonc_parser::ast::Object;

use super::json::{Shape, list};
use super::tree::{items, member};
use crate::model::board::Format;

/// The shape, where it is this one.
pub(super) fn shape<'v, 'a>(top: &'v Object<'a>) -> Option<Shape<'v, 'a>> {
    let stories =
        ["userStories", "stories"].into_iter().find_map(|name| member(top, name).and_then(items))?;
    Some(Shape { format: Format::Prd, entries: list(stories)? })
}
