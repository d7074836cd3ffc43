//! Rust: `cargo test` (libtest) and nextest.

use super::{Told, before};

/// `cargo test`: a list below `failures:` and one `test result:` line a test binary. A name that several binaries
/// share is listed once. A binary that died without a result is named as cargo names it (`--test NAME`).
pub(super) fn libtest(text: &str) -> Option<Told> {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let (mut failing, mut seen, mut listing, mut rerun) = (Vec::new(), false, false, None);
    for line in text.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            seen = true;
            passed += before(result, " passed");
            failed += before(result, " failed");
            skipped += before(result, " ignored");
        }
        if let Some(name) = line.strip_prefix("    ").filter(|_| listing) {
            failing.push(name.trim_end_matches(" - should panic").to_owned());
        } else if let Some((_, target)) = line.split_once("error: test failed, to rerun pass `") {
            rerun = Some(target.trim_end_matches('`').to_owned());
        } else if line.trim_start().starts_with("process didn't exit successfully: ") {
            // a binary that merely has failing tests ends without this line
            failing.extend(rerun.take());
            seen = true;
        }
        listing = line == "failures:" || (listing && line.starts_with("    "));
    }
    seen.then(|| Told::counted(passed, failed.max(failing.len() as u64), skipped, failing))
}

/// Words of nextest for tests that did not fail.
const NOT_FAILED: [&str; 6] = ["PASS", "SKIP", "SLOW", "LEAK", "FLAKY", "SETUP"];

/// nextest: the `Summary` line and what it lists below: `FAIL [ 0.004s] (1/2) package::binary module::test`.
pub(super) fn nextest(text: &str) -> Option<Told> {
    let start =
        text.lines().position(|line| line.trim_start().starts_with("Summary [") && line.contains("run:"))?;
    let summary = text.lines().nth(start)?.split("run:").nth(1).unwrap_or_default();
    let listed = text.lines().skip(start + 1).filter_map(status);
    let mut failing: Vec<String> = listed.collect();
    if failing.is_empty() {
        failing = text.lines().take(start).filter_map(status).collect();
    }
    failing.sort();
    failing.dedup();
    let failed = before(summary, " failed") + before(summary, " timed out");
    if failed == 0 {
        failing.clear();
    }
    Some(Told::counted(before(summary, " passed"), failed, before(summary, " skipped"), failing))
}

/// The name in a status line of a test that failed.
fn status(line: &str) -> Option<String> {
    let (word, rest) = line.trim_start().split_once(" [")?;
    let word =
        word.strip_prefix("TRY ").map_or(word, |tried| tried.split_once(' ').map_or(tried, |(_, word)| word));
    let is_word =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '-' | '+' | ' '));
    if !is_word || NOT_FAILED.iter().any(|word_of_success| word.starts_with(word_of_success)) {
        return None;
    }
    let (time, name) = rest.split_once(']')?;
    if !time.trim_end().ends_with('s') {
        return None;
    }
    let name = name.trim_start();
    let name = if name.starts_with('(') { name.split_once(") ")?.1 } else { name };
    Some(name.trim().to_owned())
}
