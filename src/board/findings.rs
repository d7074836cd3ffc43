//! What is false about a board by itself: no session, no git, nothing run. Each kind of finding is one function; a
//! tracker that serves many hands only warns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// Entries by id: statuses of features and of what lies below them.
struct Ids<'b> {
    statuses: HashMap<&'b str, Status>,
    positions: HashMap<&'b str, usize>,
}

impl<'b> Ids<'b> {
    fn of(board: &'b Board) -> Self {
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

fn evidence(board: &Board, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Issue>) {
    let kept = board.rules.evidence_required || board.features.iter().any(|feature| feature.keeps_evidence);
    let done = || board.features.iter().filter(|feature| feature.status == Status::Done);
    for feature in done().filter(|feature| kept && feature.evidence.is_empty()) {
        let message = format!("`{}` is done, but the board holds no evidence for it", feature.id);
        let hint = format!("Write what proved `{}` into its evidence field in `{}`.", feature.id, board.path);
        found.push(on(board, feature, "board-done-no-evidence", Severity::Warn, message).hint(hint));
    }
    for feature in done() {
        let cited: BTreeSet<&str> = feature.evidence.iter().flat_map(|text| cited_paths(text)).collect();
        let gone: Vec<&str> = cited.into_iter().filter(|path| !exists(path)).collect();
        if !gone.is_empty() {
            let message =
                format!("The evidence of `{}` cites what is not there: {}", feature.id, named(&gone));
            let hint = "Correct the path, or record the proof again.";
            let text = format!("{} {}", feature.key(), gone.join(" "));
            found.push(
                on(board, feature, "board-evidence-path-missing", Severity::Warn, message)
                    .text(&text)
                    .hint(hint),
            );
        }
    }
}

/// Words of a text that can only be meant as files of the repository: with a folder and an ending, no pattern, no URL.
fn cited_paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | ',' | ';')
    });
    words.filter_map(|word| {
        let word = word.split("::").next().unwrap_or(word);
        let word = word.split(['#', ':']).next().unwrap_or(word).trim_end_matches(['.', '!', '?']);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@');
        let (folder, name) = word.rsplit_once('/')?;
        let (stem, ending) = name.rsplit_once('.')?;
        let short =
            (1..=6).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let letters = ending.bytes().any(|byte| byte.is_ascii_alphabetic());
        let inside = !folder.is_empty()
            && !word.starts_with(['/', '~', '-', '@'])
            && !word.split('/').any(|part| part == "..");
        let host = folder.split('/').next().is_some_and(|first| first.trim_start_matches('.').contains('.'));
        (short && letters && inside && !host && !stem.is_empty() && word.chars().all(plain)).then_some(word)
    })
}

fn dependencies(board: &Board, ids: &Ids<'_>, found: &mut Vec<Issue>) {
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
fn cycles(board: &Board, ids: &Ids<'_>, found: &mut Vec<Issue>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_repository_are_taken_for_cited_paths() {
        let text = "src/piers.c, 14 of 14; see https://example.org/a/b.html and `tests/a_test.py::test_x`, docs/*.md, \
            ../up/x.txt /tmp/x.log 3/4 and/or v1.2/2.3 make day: ok (out/log.txt:12).";
        let found: Vec<&str> = cited_paths(text).collect();
        assert_eq!(found, ["src/piers.c", "tests/a_test.py", "out/log.txt"]);
    }
}
