//! Findings about how entries hang together: dependencies that are missing, open, or run in a ring.

use std::collections::{BTreeSet, HashMap};

use super::{LISTED, issue, named, on};
use crate::model::board::{Board, Feature, Status};
use crate::model::{Issue, Severity};

/// Entries by id: statuses of features and of what lies below them.
pub(super) struct Ids<'b> {
    pub(super) statuses: HashMap<&'b str, Status>,
    pub(super) positions: HashMap<&'b str, usize>,
}

impl<'b> Ids<'b> {
    pub(super) fn of(board: &'b Board) -> Self {
        let mut statuses = HashMap::new();
        let mut positions = HashMap::new();
        for (at, feature) in board.features.iter().enumerate() {
            statuses.entry(feature.id.as_str()).or_insert(feature.status);
            positions.entry(feature.id.as_str()).or_insert(at);
            for (id, status) in &feature.subtasks {
                statuses.entry(id.as_str()).or_insert(*status);
            }
        }
        Self { statuses, positions }
    }
}

pub(super) fn dependencies(board: &Board, ids: &Ids<'_>, found: &mut Vec<Issue>) {
    for feature in &board.features {
        let status = |id: &String| ids.statuses.get(id.as_str()).copied();
        let missing: Vec<&str> =
            feature.dependencies.iter().filter(|id| status(id).is_none()).map(String::as_str).collect();
        if !missing.is_empty() {
            let message =
                format!("`{}` depends on {}, which the board does not hold", feature.id, named(&missing));
            let hint = format!("Correct the dependency in `{}`, or add the entry.", board.path);
            let text = format!("{} {}", feature.key(), missing.join(" "));
            found.push(
                on(board, feature, "board-dependency-missing", Severity::Warn, message)
                    .text(&text)
                    .hint(hint),
            );
        }
        if !matches!(feature.status, Status::Done | Status::InProgress) {
            continue;
        }
        let open: Vec<&str> = feature
            .dependencies
            .iter()
            .filter(|id| status(id).is_some_and(Status::is_open))
            .map(String::as_str)
            .collect();
        if !open.is_empty() {
            let message = format!(
                "`{}` is {} before {}, on which it depends",
                feature.id,
                feature.status.name(),
                named(&open)
            );
            let hint = "Finish the dependency first, or take it out of the board.";
            let text = format!("{} {}", feature.key(), open.join(" "));
            found.push(
                on(board, feature, "board-dependency-open", Severity::Warn, message).text(&text).hint(hint),
            );
        }
    }
}

/// Rings of dependencies, found with a stack of our own: a chain of 50,000 entries must not end the process.
pub(super) fn cycles(board: &Board, ids: &Ids<'_>, found: &mut Vec<Issue>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Left,
    }
    let mut rings = 0;
    let mut marks = vec![Mark::New; board.features.len()];
    for start in 0..board.features.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::OnPath;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((at, tried)) = path.last_mut() {
            let Some(id) = board.features[*at].dependencies.get(*tried) else {
                marks[*at] = Mark::Left;
                path.pop();
                continue;
            };
            *tried += 1;
            let Some(&next) = ids.positions.get(id.as_str()) else { continue };
            match marks[next] {
                Mark::New => {
                    marks[next] = Mark::OnPath;
                    path.push((next, 0));
                }
                Mark::OnPath => {
                    let ring =
                        path.iter().skip_while(|(at, _)| *at != next).map(|(at, _)| &board.features[*at]);
                    found.push(ring_found(board, &ring.collect::<Vec<_>>()));
                    rings += 1;
                    // each costs as much as it is long
                    if rings == LISTED {
                        return;
                    }
                }
                Mark::Left => {}
            }
        }
    }
}

fn ring_found(board: &Board, ring: &[&Feature]) -> Issue {
    let ids: Vec<&str> = ring.iter().map(|feature| feature.id.as_str()).collect();
    let message = format!("Features depend on each other in a ring: {}", named(&ids));
    let sorted: BTreeSet<&str> = ids.iter().copied().collect();
    let text: Vec<&str> = sorted.into_iter().collect();
    let line = ring.first().map_or(1, |feature| feature.line);
    issue(board, "board-dependency-cycle", Severity::Warn, message)
        .line(line)
        .text(&text.join("\n"))
        .hint(format!("Take one of these dependencies out of `{}`.", board.path))
}
