//! Spec-kit's `tasks.md`: check boxes under headings. Indented boxes belong to the task above; boxes in fences are
//! examples; never written.

use super::text::line_number;
use super::words::status_of;
use crate::model::board::{Criterion, Feature, Status};

struct CheckBox<'a> {
    line: u32,
    mark: &'a str,
    id: Option<&'a str>,
    text: &'a str,
}

/// The tasks; nothing where there is no box.
pub(super) fn read(source: &str) -> Option<Vec<Feature>> {
    let mut boxes = Vec::new();
    let mut fence: Option<&str> = None;
    for (at, line) in source.lines().enumerate() {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker));
        match (fence, marker) {
            (None, Some(_)) => fence = marker,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) => boxes.extend(check_box(line, line_number(at))),
            _ => {}
        }
    }
    let with_ids = boxes.iter().any(|task| task.id.is_some());
    boxes.retain(|task| !with_ids || task.id.is_some());
    if boxes.is_empty() {
        return None;
    }
    Some(boxes.iter().enumerate().map(|(at, task)| feature(task, at + 1)).collect())
}

fn check_box(line: &str, number: u32) -> Option<CheckBox<'_>> {
    let bullet = line.strip_prefix(' ').unwrap_or(line);
    let rest = ["- [", "* [", "+ ["].into_iter().find_map(|start| bullet.strip_prefix(start))?;
    let (mark, text) = rest.split_once(']')?;
    let is_mark =
        mark.chars().count() == 1 && !mark.chars().any(|c| c.is_alphanumeric() && !matches!(c, 'x' | 'X'));
    if !is_mark || !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    let bare = first.trim_matches(['*', '`', ':']);
    let (id, text) = if is_task_id(bare) { (Some(bare), text[first.len()..].trim()) } else { (None, text) };
    Some(CheckBox { line: number, mark, id, text })
}

/// `T001`, `T002a`.
fn is_task_id(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('T') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && rest.len() <= digits + 1 && rest[digits..].bytes().all(|byte| byte.is_ascii_lowercase())
}

fn feature(task: &CheckBox<'_>, position: usize) -> Feature {
    let (status, word) = match task.mark {
        "x" | "X" | "✓" | "✔" => (Status::Done, "x"),
        " " => (Status::Todo, " "),
        other => (status_of(other), other),
    };
    Feature {
        id: task.id.map_or_else(|| format!("#{position}"), str::to_owned),
        positional: task.id.is_none(),
        status,
        word: word.to_owned(),
        worded: false,
        conflict: false,
        goal: task.text.to_owned(),
        acceptance: vec![Criterion::Prose(task.text.to_owned())],
        evidence: Vec::new(),
        keeps_evidence: false,
        dependencies: Vec::new(),
        priority: None,
        subtasks: Vec::new(),
        line: task.line,
        spots: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_tasks_where_they_stand_in_the_first_columns() {
        let text = "~~~\n- [ ] T000 no\n~~~\n - [✓] T001 a\n* [ ] **T002** b\n  - [x] T003 below\n- [x](link) no\n- [ ] no id\n";
        let found = read(text).unwrap();
        let ids: Vec<&str> = found.iter().map(|feature| feature.id.as_str()).collect();
        assert_eq!(ids, ["T001", "T002"]);
        assert_eq!((found[0].status, found[1].status, found[1].line), (Status::Done, Status::Todo, 5));
        assert_eq!(read("- [ ] a\n- [x] b\n").unwrap()[1].id, "#2");
        assert!(read("# Notes\n- a\n").is_none());
    }
}
