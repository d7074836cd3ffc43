//! Swift: `XCTest` and Swift Testing, as `swift test` prints them.

use super::{Told, before};

pub(super) fn xctest(text: &str) -> Option<Told> {
    let (mut failing, mut seen) = (Vec::new(), false);
    let (mut run, mut failed) = (0, 0);
    for line in text.lines() {
        let test = line.trim_start();
        if let Some(rest) = test.strip_prefix("Test Case '") {
            if let Some((name, _)) = rest.split_once("' failed (") {
                failing.push(xctest_name(name));
            }
        } else if let Some(rest) = test.strip_prefix("✘ Test ") {
            let name = rest.split_once(" failed after ").map(|(name, _)| name);
            failing.extend(
                name.filter(|name| !name.starts_with("run with"))
                    .map(|name| name.trim_matches('"').to_owned()),
            );
        }
        if test.starts_with("Executed ") && test.contains(" test") && test.contains(" failure") {
            // the last one is the sum of those before it
            (seen, run) = (true, before(test, " test"));
        } else if test.contains("Test run with ") {
            seen = true;
            run += before(test, " test");
        }
    }
    failing.sort();
    failing.dedup();
    failed += failing.len() as u64;
    seen.then(|| Told {
        passed: Some(run.saturating_sub(failed)),
        failed: Some(failed),
        skipped: None,
        failing,
    })
}

/// `-[Module.Class test]` on macOS, `Class.test` elsewhere.
fn xctest_name(name: &str) -> String {
    name.strip_prefix("-[")
        .and_then(|name| name.strip_suffix(']'))
        .map_or_else(|| name.to_owned(), |name| name.replace(' ', "."))
}
