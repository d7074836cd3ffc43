//! Python: pytest and unittest.

use super::{Told, after, before};

/// pytest: the lines below `short test summary info`, else the verbose progress lines, else the headings of the
/// failures.
pub(super) fn pytest(text: &str) -> Option<Told> {
    let result = text.lines().rev().find(|line| is_result(line));
    let summary = text.lines().position(|line| line.contains("= short test summary info ="));
    if summary.is_none() && !text.contains("= test session starts =") && !text.contains("= FAILURES =") {
        // what `-q` leaves of a green run is its result line alone
        let result = result?;
        return Some(counts(result, Vec::new()));
    }
    let mut failing: Vec<String> = match summary {
        Some(start) => text.lines().skip(start + 1).filter_map(summarised).collect(),
        None => Vec::new(),
    };
    if failing.is_empty() {
        failing = text.lines().filter_map(verbose).collect();
    }
    Some(result.map_or_else(
        || Told { failing: failing.clone(), ..Told::default() },
        |line| counts(line, failing.clone()),
    ))
}

/// `3 failed, 2 passed, 1 error in 0.03s`, with or without a frame of `=`.
fn is_result(line: &str) -> bool {
    let mut words = line.trim_matches(['=', ' ']).split(' ');
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let kinds = ["passed", "failed", "error", "skipped", "xfailed", "xpassed", "deselected", "warning"];
    let counted = first.parse::<u64>().is_ok() && kinds.iter().any(|kind| second.starts_with(kind));
    line.contains(" in ") && (counted || line.contains("no tests ran in "))
}

fn counts(line: &str, failing: Vec<String>) -> Told {
    let failed = before(line, " failed") + before(line, " error");
    let skipped = before(line, " skipped") + before(line, " xfailed");
    let passed = before(line, " passed") + before(line, " xpassed");
    Told::counted(passed, failed, skipped, failing)
}

/// `FAILED path::test[a - b] - why`: the name ends at the first ` - ` outside of brackets.
fn summarised(line: &str) -> Option<String> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let balanced = |end: &usize| rest[..*end].matches('[').count() <= rest[..*end].matches(']').count();
    let end = rest.match_indices(" - ").map(|(at, _)| at).find(balanced).unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// `path::test FAILED  [ 28%]`.
fn verbose(line: &str) -> Option<String> {
    let percent = line.trim_end().strip_suffix("%]")?;
    let (rest, _) = percent.rsplit_once('[')?;
    let rest = rest.trim_end();
    let name = rest.strip_suffix(" FAILED").or_else(|| rest.strip_suffix(" ERROR"))?;
    name.contains("::").then(|| name.to_owned())
}

/// unittest: `FAIL: test_x (module.Class.test_x)` headings below a line of `=`, and `Ran N tests`.
pub(super) fn unittest(text: &str) -> Option<Told> {
    let ran = text
        .lines()
        .rev()
        .find(|line| line.starts_with("Ran ") && line.contains(" test") && line.contains(" in "))?;
    let mut failing = Vec::new();
    let mut last = "";
    for line in text.lines() {
        let heading = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        if let Some(heading) = heading.filter(|_| last.starts_with("======")) {
            failing.push(unittest_name(heading));
        }
        last = line;
    }
    let result =
        text.lines().rev().find(|line| line.starts_with("FAILED (") || line.starts_with("OK")).unwrap_or("");
    // `expected failures=1` is no failure
    let result = result.replace("expected failures=", "expected=");
    let failed =
        after(&result, "failures=") + after(&result, "errors=") + after(&result, "unexpected successes=");
    let skipped = after(&result, "skipped=");
    Some(Told::counted(before(ran, " test").saturating_sub(failed + skipped), failed, skipped, failing))
}

/// `test_x (module.Class.test_x)` (3.11 on) or `test_x (module.Class)` as one dotted name; a subtest's parameters stay
/// behind it.
fn unittest_name(heading: &str) -> String {
    let Some((method, place)) = heading.split_once(" (") else { return heading.trim().to_owned() };
    let (place, more) = place.split_once(')').unwrap_or((place, ""));
    // a failed import is reported as a test of a loader class
    let place =
        place.strip_prefix("unittest.loader._FailedTest").map_or(place, |rest| rest.trim_start_matches('.'));
    let name = if place.is_empty() {
        method.to_owned()
    } else if place == method || place.ends_with(&format!(".{method}")) {
        place.to_owned()
    } else {
        format!("{place}.{method}")
    };
    format!("{name}{more}").trim().to_owned()
}
