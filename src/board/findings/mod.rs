//! What is false about a board by itself: no session, no git, nothing run. Each kind of finding is one function; a
//! tracker that serves many hands only warns.

mod evidence;
mod links;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evidence::evidence;
use links::{Ids, cycles, dependencies};

use super::words::{normal, status_of};
use crate::model::board::{Board, Feature, Status};
use crate::model::{CheckId, Issue, Severity};

/// How many findings of one code are listed one by one; the rest is counted in one more.
const LISTED: usize = 25;

/// Every finding, in the order of the reference.
pub(super) fn of(board: &Board, exists: &dyn Fn(&str) -> bool) -> Vec<Issue> {
    let mut found = Vec::new();
    let ids = Ids::of(board);
    duplicates(board, &mut found);
    at_work(board, &mut found);
    pointer(board, &ids, &mut found);
    conflicts(board, &mut found);
    evidence(board, exists, &mut found);
    dependencies(board, &ids, &mut found);
    cycles(board, &ids, &mut found);
    counts(board, &mut found);
    words(board, &mut found);
    bytes(board, &mut found);
    if board.format.is_tracker() {
        for issue in &mut found {
            issue.severity = issue.severity.min(Severity::Warn);
        }
    }
    fold(found)
}

/// The one remark on other files that could have been the board.
pub(super) fn others(board: &Board) -> Issue {
    let named: Vec<String> = board
        .others
        .iter()
        .map(|other| {
            format!("`{}` ({})", other.path, if other.is_board { "a board too" } else { "no board" })
        })
        .collect();
    let message = format!("`{}` is the board; not used: {}", board.path, named.join(", "));
    let first = board.others.first().map_or("", |other| other.path.as_str());
    Issue::info(CheckId::FeatureBoard, "board-foreign", message)
        .at(first.as_bytes())
        .text(&named.join("\n"))
        .hint("Nothing to do; `[paths] board` in `endwell.toml` names another board.")
}

fn issue(board: &Board, code: &str, severity: Severity, message: String) -> Issue {
    Issue::new(CheckId::FeatureBoard, code, severity, message).at(board.path.as_bytes())
}

fn on(board: &Board, feature: &Feature, code: &str, severity: Severity, message: String) -> Issue {
    issue(board, code, severity, message).line(feature.line).text(feature.key())
}

fn duplicates(board: &Board, found: &mut Vec<Issue>) {
    let mut first: HashMap<&str, u32> = HashMap::new();
    let mut told = BTreeSet::new();
    for feature in &board.features {
        match first.get(feature.id.as_str()) {
            Some(line) if told.insert(feature.id.as_str()) => {
                let message =
                    format!("Two entries have the id `{}` (lines {line} and {})", feature.id, feature.line);
                let hint = format!("Give one of them an id of its own in `{}`.", board.path);
                found.push(
                    on(board, feature, "board-duplicate-id", Severity::Block, message)
                        .text(&feature.id)
                        .hint(hint),
                );
            }
            Some(_) => {}
            None => {
                first.insert(&feature.id, feature.line);
            }
        }
    }
}

fn at_work(board: &Board, found: &mut Vec<Issue>) {
    let Some(limit) = board.rules.limit else { return };
    let ids: Vec<&str> = board.at_work().map(|feature| feature.id.as_str()).collect();
    if ids.len() <= limit {
        return;
    }
    let message =
        format!("{} features are at work at once ({}); the board allows {limit}", ids.len(), named(&ids));
    let hint = "Keep one at work and set the others back: `endwell board set ID todo`.";
    let sorted: BTreeSet<&str> = ids.into_iter().collect();
    let text: Vec<&str> = sorted.into_iter().collect();
    found.push(
        issue(board, "board-many-in-progress", Severity::Block, message).text(&text.join("\n")).hint(hint),
    );
}

fn pointer(board: &Board, ids: &Ids<'_>, found: &mut Vec<Issue>) {
    let key = board.pointer.key.as_deref().unwrap_or("active");
    let working: Vec<&str> = board.at_work().map(|feature| feature.id.as_str()).collect();
    let point = |code: &str, severity, message: String, hint: &str| {
        let text = format!("{} {}", board.pointer.ids.join(" "), working.join(" "));
        issue(board, code, severity, message).text(&text).hint(format!("{hint} in `{}`.", board.path))
    };
    if board.pointer.ids.is_empty() {
        if board.pointer.active_is_null && !working.is_empty() {
            let message = format!("`active` is null while {} is at work", named(&working));
            found.push(point(
                "board-active-missing",
                Severity::Block,
                message,
                "Set `active` to the feature at work",
            ));
        }
        return;
    }
    let mut open = Vec::new();
    for id in &board.pointer.ids {
        match ids.positions.get(id.as_str()).map(|at| &board.features[*at]) {
            None => {
                let message = format!("`{key}` names `{id}`, which is no entry of the board");
                let hint = format!("Point `{key}` at an entry, or at null,");
                found.push(point("board-active-dangling", Severity::Block, message, &hint));
            }
            Some(feature) if !feature.status.is_open() => {
                let message = format!("`{key}` names `{id}`, which is {}", feature.status.name());
                let hint = format!("Point `{key}` at the next feature, or at null,");
                found.push(point("board-active-done", Severity::Block, message, &hint));
            }
            Some(feature) => open.push(feature),
        }
    }
    let Some(first) = open.first() else { return };
    if !working.is_empty() && open.iter().all(|feature| feature.status != Status::InProgress) {
        let message = format!("`{key}` names `{}`, but {} is at work", first.id, named(&working));
        let hint = format!("Point `{key}` at the feature at work, or change the statuses,");
        found.push(point("board-active-other", Severity::Block, message, &hint));
    } else if working.is_empty() && open.iter().all(|f| matches!(f.status, Status::Todo | Status::Blocked)) {
        let message =
            format!("`{key}` names `{}`, which is {}; nothing is at work", first.id, first.status.name());
        let hint =
            format!("Start it with `endwell board set {} in_progress`, or leave it as the plan,", first.id);
        found.push(point("board-active-not-started", Severity::Warn, message, &hint));
    }
}

fn conflicts(board: &Board, found: &mut Vec<Issue>) {
    for feature in board.features.iter().filter(|feature| feature.conflict) {
        let message =
            format!("`{}` is `{}` by one field and the opposite by another", feature.id, feature.word);
        let hint = format!("Make `status` and `passes` of `{}` agree in `{}`.", feature.id, board.path);
        found.push(on(board, feature, "board-status-conflict", Severity::Block, message).hint(hint));
    }
}

fn counts(board: &Board, found: &mut Vec<Issue>) {
    let done = board.features.iter().filter(|feature| feature.status == Status::Done).count();
    for count in &board.counts {
        let real = if count.of_done { done } else { board.features.len() };
        if i64::try_from(real) != Ok(count.stated) {
            let what = if count.of_done { "done" } else { "there" };
            let message = format!("`{}` says {}, but {real} features are {what}", count.key, count.stated);
            let hint = format!("Correct the number in `{}`.", board.path);
            found
                .push(issue(board, "board-count-wrong", Severity::Warn, message).text(&count.key).hint(hint));
        }
    }
}

fn words(board: &Board, found: &mut Vec<Issue>) {
    let legend: BTreeSet<String> = board.legend.iter().map(|word| normal(word)).collect();
    for feature in &board.features {
        if feature.status == Status::Unknown {
            let what = if feature.word.is_empty() {
                "has no status".to_owned()
            } else {
                format!("has the status `{}`, which is not known", feature.word)
            };
            let message = format!("`{}` {what}; it counts as open", feature.id);
            let hint = format!(
                "Set one that is: `endwell board set {} todo` (or in_progress, done, blocked).",
                feature.id
            );
            let text = format!("{} {}", feature.key(), feature.word);
            found.push(
                on(board, feature, "board-unknown-status", Severity::Warn, message).text(&text).hint(hint),
            );
        }
        if feature.worded && !legend.is_empty() && !legend.contains(&normal(&feature.word)) {
            let message = format!(
                "`{}` has the status `{}`, which the board's own list lacks",
                feature.id, feature.word
            );
            let means =
                |word: &&String| status_of(word) == feature.status && feature.status != Status::Unknown;
            let hint = match board.legend.iter().find(means) {
                Some(word) => format!("Use the board's own word, `{word}`."),
                None => format!("Use one of the board's own words: {}.", named(&board.legend)),
            };
            let text = format!("{} {}", feature.key(), feature.word);
            found
                .push(on(board, feature, "board-off-legend", Severity::Warn, message).text(&text).hint(hint));
        }
    }
}

fn bytes(board: &Board, found: &mut Vec<Issue>) {
    for remark in &board.remarks {
        let message = format!("`{}`: {}", board.path, remark.message);
        let hint = format!("Save `{}` as plain JSON in UTF-8.", board.path);
        let issue = issue(board, remark.code, Severity::Warn, message).text(remark.code).hint(hint);
        found.push(match remark.line {
            Some(line) => issue.line(line),
            None => issue,
        });
    }
    if board.features.is_empty() {
        let message = format!("`{}` has no entries", board.path);
        let hint = "Add the first feature, or remove the file.";
        found.push(issue(board, "board-empty", Severity::Warn, message).hint(hint));
    }
}

/// Back-ticked names, the first few of many.
fn named<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{}`", name.as_ref())).collect();
    match names.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Lists the first findings of each code one by one, and counts the rest.
fn fold(found: Vec<Issue>) -> Vec<Issue> {
    let mut seen: BTreeMap<(String, Severity), usize> = BTreeMap::new();
    let mut kept = Vec::new();
    let mut last: BTreeMap<(String, Severity), Issue> = BTreeMap::new();
    for issue in found {
        let key = (issue.code.clone(), issue.severity);
        let count = seen.entry(key.clone()).or_insert(0);
        *count += 1;
        // what blocks is always said, or a new fault could hide behind old ones
        if *count <= LISTED || issue.severity == Severity::Block {
            kept.push(issue);
        } else {
            last.entry(key).or_insert(issue);
        }
    }
    for (key, mut issue) in last {
        let more = seen.get(&key).map_or(0, |count| count - LISTED);
        if more > 1 {
            issue.message = format!("{} (and {} more of this kind)", issue.message, more - 1);
        }
        kept.push(issue);
    }
    kept
}
