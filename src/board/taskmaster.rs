//! Task Master's `tasks.json`: tagged lists of tasks, or one list in the older form. Subtasks are details.

use jsonc_parser::ast::{Object, Value};

use super::json::{Shape, list};
use super::tree::{given, items, member};
use crate::model::board::Format;

/// The shape, where it is one of these. `tag` is the tool's own current tag.
pub(super) fn shape<'v, 'a>(top: &'v Object<'a>, tag: Option<&str>) -> Option<Shape<'v, 'a>> {
    let elements = match member(top, "tasks").and_then(items) {
        Some(elements) => is_tool_made(top, elements).then_some(elements),
        None => tagged(top, tag),
    }?;
    Some(Shape { format: Format::TaskMaster, entries: list(elements)? })
}

/// The list of the current tag, else of `master`, else of the first tag.
fn tagged<'v, 'a>(top: &'v Object<'a>, tag: Option<&str>) -> Option<&'v [Value<'a>]> {
    let tasks = |value: &'v Value<'a>| value.as_object().and_then(|tag| member(tag, "tasks")).and_then(items);
    let named = |name: &str| member(top, name).and_then(tasks);
    tag.and_then(named)
        .or_else(|| named("master"))
        .or_else(|| top.properties.iter().find_map(|p| tasks(&p.value)))
}

/// Marks of the tool, which a hand-written `tasks` list lacks.
fn is_tool_made(top: &Object<'_>, elements: &[Value<'_>]) -> bool {
    let objects = || elements.iter().filter_map(Value::as_object);
    if objects().any(|task| given(task, "task_id").is_some()) {
        return false;
    }
    let marks =
        |task: &Object<'_>| ["testStrategy", "subtasks"].iter().any(|key| member(task, key).is_some());
    let metadata = given(top, "metadata").is_some_and(|value| value.as_object().is_some());
    metadata || objects().any(marks)
}
