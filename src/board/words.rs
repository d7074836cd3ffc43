//! What status words mean, and which word a board would use for a meaning. Must never guess: a word that is not listed
//! is unknown.

use crate::model::board::{Board, Format, Status};

/// Lower case; blanks and hyphens become `_`.
pub fn normal(word: &str) -> String {
    word.trim()
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == '-' || c.is_whitespace() { '_' } else { c })
        .collect()
}

/// The meaning of a word, whatever its case and hyphens.
pub fn status_of(word: &str) -> Status {
    let word = normal(word);
    listed(&word).unwrap_or_else(|| qualified(&word))
}

fn listed(word: &str) -> Option<Status> {
    Some(match word {
        "todo" | "to_do" | "pending" | "not_started" | "planned" | "backlog" | "open" | "proposed"
        | "ready" | "draft" | "new" | "queued" | "unstarted" | "spec_ready" | "approved"
        | "ready_for_dev" | "upcoming" | "accepted" | "not_implemented" | "failing" | "failed" | "fail"
        | "needs_fix" => Status::Todo,
        "in_progress" | "doing" | "active" | "wip" | "started" | "implementing" | "current" | "running"
        | "ongoing" | "in_dev" | "in_development" | "partial" | "partially_done" => Status::InProgress,
        "review" | "in_review" | "reviewing" | "qa" | "testing" | "validating" | "ready_for_review"
        | "ready_for_qa" | "ready_for_accept" => Status::Waiting,
        "done" | "completed" | "complete" | "passing" | "pass" | "passed" | "verified" | "implemented"
        | "shipped" | "merged" | "finished" | "closed" | "released" => Status::Done,
        "blocked" | "on_hold" | "deferred" | "paused" | "waiting" | "parked" => Status::Blocked,
        "cancelled" | "canceled" | "superseded" | "archived" | "skipped" | "deprecated" | "removed"
        | "dropped" | "abandoned" | "obsolete" | "wont_do" | "won't_do" | "tombstone" => Status::Closed,
        _ => return None,
    })
}

/// Words with something added to them. `blocked` wins: it says that nothing goes on.
fn qualified(word: &str) -> Status {
    let waits = |rest: &str| rest.contains("pending") || rest.contains("review");
    if word.contains("blocked") {
        Status::Blocked
    } else if word.starts_with("ready_for_")
        || word.starts_with("merged_pending_")
        || word.strip_prefix("in_progress").is_some_and(waits)
    {
        Status::Waiting
    } else if word.starts_with("done") || word.starts_with("complete") {
        Status::Done
    } else {
        Status::Unknown
    }
}

/// Whether a word stands for its meaning alone. Others say more (`approved`, `failing`) and are written only where the
/// board has no plainer one.
fn is_plain(word: &str) -> bool {
    !matches!(
        word,
        "approved"
            | "accepted"
            | "ready"
            | "spec_ready"
            | "ready_for_dev"
            | "draft"
            | "proposed"
            | "new"
            | "failing"
            | "failed"
            | "fail"
            | "needs_fix"
            | "merged"
            | "released"
            | "shipped"
            | "partial"
            | "partially_done"
            | "deferred"
            | "paused"
            | "parked"
            | "on_hold"
    )
}

/// The word to write for a meaning: the one that other entries use, else the legend's, else of the board's family of
/// words, else the native one, spelled in the board's manner.
pub fn word_for(board: &Board, status: Status, except: &str) -> String {
    let used = || board.features.iter().filter(|feature| feature.worded && feature.id != except);
    let of_meaning =
        used().map(|feature| feature.word.as_str()).filter(|word| listed(&normal(word)) == Some(status));
    if let Some(word) = best(of_meaning) {
        return word;
    }
    let mut legend = board.legend.iter().map(String::as_str).filter(|word| status_of(word) == status);
    if let Some(native) = legend.clone().find(|word| normal(word) == status.name()) {
        return native.to_owned();
    }
    if let Some(word) = best(&mut legend) {
        return word;
    }
    let words: Vec<&str> = board.features.iter().filter(|f| f.worded).map(|f| f.word.as_str()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&normal(word).as_str()));
    let family = match status {
        Status::Todo if has(&["passing"]) => "not_started",
        Status::Todo if board.format != Format::Native && has(&["done", "completed", "complete"]) => {
            "pending"
        }
        Status::Done if has(&["not_started", "failing"]) => "passing",
        Status::Waiting => "review",
        // `closed` means done to the field
        Status::Closed => "cancelled",
        _ => status.name(),
    };
    in_manner_of(family, &words)
}

/// The most frequent of the plain words, else of all; the first one where several are as frequent.
fn best<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for word in words {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let rank = |(word, count): &(&str, usize)| (is_plain(&normal(word)), *count);
    let mut found: Option<(&str, usize)> = None;
    for entry in counts {
        if found.is_none_or(|best| rank(&entry) > rank(&best)) {
            found = Some(entry);
        }
    }
    found.map(|(word, _)| word.to_owned())
}

/// A word with the hyphens, blanks and capitals that the board's other words have.
fn in_manner_of(word: &str, words: &[&str]) -> String {
    let any = |separator: char| words.iter().any(|word| word.trim().contains(separator));
    let separated = match (any('_'), any('-'), any(' ')) {
        (false, true, _) => word.replace('_', "-"),
        (false, false, true) => word.replace('_', " "),
        _ => word.to_owned(),
    };
    let all = |test: fn(&str) -> bool| !words.is_empty() && words.iter().all(|word| test(word));
    if all(|word| word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)) {
        separated.to_uppercase()
    } else if all(|word| word.chars().next().is_some_and(char::is_uppercase)) {
        let titled = separated.split_inclusive(['_', '-', ' ']).map(|part| {
            let mut chars = part.chars();
            chars
                .next()
                .map(|first| first.to_uppercase().chain(chars).collect::<String>())
                .unwrap_or_default()
        });
        titled.collect()
    } else {
        separated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_the_field_means_by_them() {
        for (word, status) in [
            ("Not Started", Status::Todo),
            ("failing", Status::Todo),
            ("ready_for_dev", Status::Todo),
            ("IN-PROGRESS", Status::InProgress),
            ("in_progress_pending_validation", Status::Waiting),
            ("ready_for_ui_review", Status::Waiting),
            ("merged_pending_runtime_validation", Status::Waiting),
            ("partial_blocked_runtime_unavailable", Status::Blocked),
            ("completed_with_notes", Status::Done),
            ("closed", Status::Done),
            ("tombstone", Status::Closed),
            ("locked", Status::Unknown),
            ("in_progress_50", Status::Unknown),
            ("", Status::Unknown),
        ] {
            assert_eq!(status_of(word), status, "{word}");
        }
    }

    #[test]
    fn words_are_spelled_in_the_boards_manner() {
        assert_eq!(in_manner_of("in_progress", &["not-started", "done"]), "in-progress");
        assert_eq!(in_manner_of("in_progress", &["Not Started", "Done"]), "In Progress");
        assert_eq!(in_manner_of("in_progress", &["TODO", "DONE"]), "IN_PROGRESS");
        assert_eq!(in_manner_of("in_progress", &["todo", "done"]), "in_progress");
        assert_eq!(in_manner_of("done", &[]), "done");
    }
}
