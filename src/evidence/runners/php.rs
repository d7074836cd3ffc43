//! PHP: `PHPUnit`, with its plain report or its testdox one.

use super::{Told, after, before};

pub(super) fn phpunit(text: &str) -> Option<Told> {
    if !text.contains("PHPUnit ") {
        return None;
    }
    let count = text.lines().rev().find(|line| line.starts_with("Tests: ") && line.contains("Assertions: "));
    if count.is_none() {
        let green = text.lines().rev().find(|line| line.starts_with("OK (") && line.contains(" test"))?;
        return Some(Told::counted(before(green, " test"), 0, 0, Vec::new()));
    }
    let count = count.unwrap_or_default();
    let mut failing = Vec::new();
    let mut counts_here = false;
    for line in text.lines() {
        if line.starts_with("There was ") || line.starts_with("There were ") {
            let bad = ["error", "failure"].iter().any(|word| line.contains(word));
            counts_here = bad && !line.contains("warning");
        } else if let Some(name) = listed(line).filter(|_| counts_here) {
            failing.push(name);
        }
    }
    if failing.is_empty() {
        failing = testdox(text);
    }
    failing.sort();
    failing.dedup();
    let failed = after(count, "Errors:") + after(count, "Failures:");
    let skipped = after(count, "Skipped:") + after(count, "Incomplete:");
    Some(Told::counted(after(count, "Tests:").saturating_sub(failed + skipped), failed, skipped, failing))
}

/// `2) SumTest::testRows with data set "two" (2)`: without the values, which may be long.
fn listed(line: &str) -> Option<String> {
    let (number, name) = line.split_once(") ")?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) || !name.contains("::") {
        return None;
    }
    let Some((test, set)) = name.split_once(" with data set ") else { return Some(name.trim().to_owned()) };
    let set = set.rsplit_once(" (").map_or(set, |(set, _)| set);
    Some(format!("{test} with data set {set}"))
}

/// Testdox: `Class` and below it ` ✘ Sentence`.
fn testdox(text: &str) -> Vec<String> {
    let mut failing = Vec::new();
    let mut class = "";
    for line in text.lines() {
        if let Some(title) = line.strip_prefix(" ✘ ") {
            failing.push(format!("{class} > {}", title.trim()));
        } else if !line.is_empty() && !line.starts_with(' ') {
            class = line.trim();
        }
    }
    failing
}
