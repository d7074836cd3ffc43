//! What to do next by the board: set done what is proven, else bring the active feature to its acceptance, else begin
//! the next open feature whose dependencies are done. A status that nobody knows is never chosen.

use std::collections::{BTreeMap, HashMap};

use super::commands::{Lookup, acceptance};
use crate::model::board::{Board, Feature, Proof, Status};

/// The first concrete step, as one sentence; nothing where the board holds nothing to do.
pub fn next_action(board: &Board, proofs: &BTreeMap<String, Proof>, lookup: &Lookup<'_>) -> Option<String> {
    let active = board.active();
    let proven = |feature: &&Feature| {
        matches!(feature.status, Status::Todo | Status::InProgress)
            && matches!(proofs.get(&feature.id), Some(Proof::Passed { whole: true }))
    };
    if let Some(feature) = active.filter(proven).or_else(|| board.features.iter().find(proven)) {
        let why = "its acceptance passes";
        return Some(format!(
            "Set `{}` done, {why}: `endwell board set {} done`",
            feature.id,
            shell_word(&feature.id)
        ));
    }
    if let Some(feature) =
        active.filter(|feature| matches!(feature.status, Status::Todo | Status::InProgress))
    {
        return Some(step(if feature.status == Status::Todo { "Start" } else { "Finish" }, feature, lookup));
    }
    next_feature(board).map(|feature| step("Start", feature, lookup))
}

/// The next open feature whose dependencies are done: by priority where all of them are integers, else in file order.
pub fn next_feature(board: &Board) -> Option<&Feature> {
    let mut statuses: HashMap<&str, Status> = HashMap::new();
    for feature in &board.features {
        statuses.entry(&feature.id).or_insert(feature.status);
        for (id, status) in &feature.subtasks {
            statuses.entry(id).or_insert(*status);
        }
    }
    let ready = |feature: &&Feature| {
        let met = |id: &String| statuses.get(id.as_str()).is_some_and(|status| !status.is_open());
        feature.status == Status::Todo && feature.dependencies.iter().all(met)
    };
    let ranked = board.features.iter().all(|feature| feature.priority.is_some());
    let ready = board.features.iter().filter(ready);
    if ranked { ready.min_by_key(|feature| feature.priority) } else { ready.into_iter().next() }
}

fn step(verb: &str, feature: &Feature, lookup: &Lookup<'_>) -> String {
    let goal = if feature.goal.is_empty() || feature.goal == feature.id {
        String::new()
    } else {
        format!(" ({})", feature.goal)
    };
    let acceptance = acceptance(feature, lookup);
    let lines: Vec<String> =
        acceptance.commands.iter().map(|command| format!("`{}`", command.line)).collect();
    let what = format!("{verb} `{}`{goal}", feature.id);
    if !lines.is_empty() {
        return format!("{what}: make {} pass", lines.join(" and "));
    }
    match acceptance.left_to_people.first().or_else(|| acceptance.prose.first()) {
        Some(first) if *first != feature.goal => format!("{what}: {first}"),
        _ => what,
    }
}

/// An id as it can be typed.
pub fn shell_word(id: &str) -> String {
    shell_words::quote(id).into_owned()
}
