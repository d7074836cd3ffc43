//! Findings about the evidence that a board keeps: what is done without any, and what cites files that are not there.

use std::collections::BTreeSet;

use super::{named, on};
use crate::model::board::{Board, Status};
use crate::model::{Issue, Severity};

pub(super) fn evidence(board: &Board, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Issue>) {
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
