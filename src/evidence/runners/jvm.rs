//! The JVM: Maven's Surefire and Gradle.

use super::{Told, after, before};

/// Surefire: lines that end in `<<< FAILURE!` or `<<< ERROR!`, and `Tests run:` totals, one a module.
pub(super) fn surefire(text: &str) -> Option<Told> {
    let level = |line: &str| -> String {
        let tags = ["[ERROR] ", "[INFO] ", "[WARNING] "];
        tags.iter().find_map(|tag| line.strip_prefix(tag)).unwrap_or(line).to_owned()
    };
    let (mut run, mut failed, mut skipped, mut seen) = (0, 0, 0, false);
    let mut failing = Vec::new();
    for line in text.lines().map(level) {
        if line.starts_with("Tests run:") {
            if line.contains("Time elapsed") {
                continue;
            }
            seen = true;
            run += after(&line, "Tests run:");
            failed += after(&line, "Failures:") + after(&line, "Errors:");
            skipped += after(&line, "Skipped:");
        } else if line.ends_with("<<< FAILURE!") || line.ends_with("<<< ERROR!") {
            failing.extend(surefire_name(&line));
        }
    }
    failing.sort();
    failing.dedup();
    seen.then(|| Told::counted(run.saturating_sub(failed + skipped), failed, skipped, failing))
}

/// `x.SumTest.bad -- Time elapsed: …` (3.x) or `bad(x.SumTest)  Time elapsed: …` (2.x).
fn surefire_name(line: &str) -> Option<String> {
    let name = line.split("Time elapsed:").next()?.trim_end().trim_end_matches("--").trim();
    let Some((method, class)) = name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) else {
        return (!name.is_empty()).then(|| name.to_owned());
    };
    // `rows(int)[2]` has its parameters' types in the brackets, `bad(x.SumTest)` the class
    Some(if class.contains('.') && !method.contains('.') {
        format!("{class}.{method}")
    } else {
        name.to_owned()
    })
}

/// Gradle: `x.SumTest > bad() FAILED`, and `7 tests completed, 3 failed, 1 skipped` where something failed.
pub(super) fn gradle(text: &str) -> Option<Told> {
    let completed = text.lines().filter(|line| line.contains(" completed, ") && line.contains("test"));
    let (mut run, mut failed, mut skipped, mut seen) = (0, 0, 0, false);
    for line in completed {
        let tests = before(line, " tests completed").max(before(line, " test completed"));
        seen |= tests > 0;
        run += tests;
        failed += before(line, " failed");
        skipped += before(line, " skipped");
    }
    let mut failing: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with(' ') && line.contains(" > "))
        .filter_map(|line| line.strip_suffix(" FAILED"))
        .map(str::to_owned)
        .collect();
    failing.sort();
    failing.dedup();
    if !seen {
        return (!failing.is_empty() && text.contains("BUILD FAILED"))
            .then(|| Told { failing, ..Told::default() });
    }
    Some(Told::counted(run.saturating_sub(failed + skipped), failed, skipped, failing))
}
