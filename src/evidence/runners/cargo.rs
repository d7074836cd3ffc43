//! Rust: `cargo test` (libtest) and nextest.

use super::Told;

/// `cargo test`: `test a::b ... FAILED` lines and one `test result:` line a binary. A name may stand in several test
/// binaries; it is listed once.
pub(super) fn read(text: &str) -> Option<Told> {
    let mut told = Told::default();
    let mut seen = false;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut in_list = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("test result: ") {
            seen = true;
            in_list = false;
            passed += number_before(rest, " passed");
            failed += number_before(rest, " failed");
            skipped += number_before(rest, " ignored");
        } else if line == "failures:" {
            in_list = true;
        } else if let Some(name) = line.strip_prefix("    ").filter(|name| in_list && is_name(name)) {
            told.failing.push(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("test ") {
            if let Some(name) = rest.strip_suffix(" ... FAILED") {
                told.failing.push(name.trim_end_matches(" - should panic").to_owned());
            }
        } else if !line.trim().is_empty() && !line.starts_with("    ") && in_list {
            in_list = line.starts_with("----");
            if line.starts_with("---- ") || !line.starts_with("----") {
                in_list = false;
            }
        }
    }
    if !seen {
        return None;
    }
    told.failing.sort();
    told.failing.dedup();
    (told.passed, told.failed, told.skipped) = (Some(passed), Some(failed), Some(skipped));
    Some(told)
}

/// A test's path, as libtest lists it below `failures:`; a doc test's has a file and a line in it.
fn is_name(name: &str) -> bool {
    let plain = !name.is_empty() && !name.starts_with(' ') && !name.contains(' ');
    plain || name.contains(".rs - ")
}

/// The number that stands before a word.
pub(super) fn number_before(text: &str, word: &str) -> u64 {
    let Some(end) = text.find(word) else { return 0 };
    let digits: String = text[..end].chars().rev().take_while(char::is_ascii_digit).collect();
    digits.chars().rev().collect::<String>().parse().unwrap_or(0)
}

/// nextest: `FAIL [ 0.004s] (1/2) package::binary a::b` lines and a summary.
pub(super) fn read_nextest(text: &str) -> Option<Told> {
    let summary = text.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
    let counts = summary.split("run:").nth(1).unwrap_or_default();
    let mut told = Told {
        passed: Some(number_before(counts, " passed")),
        failed: Some(number_before(counts, " failed") + number_before(counts, " timed out")),
        skipped: Some(number_before(counts, " skipped")),
        failing: Vec::new(),
    };
    let ends = [
        "FAIL",
        "SIGABRT",
        "SIGSEGV",
        "SIGKILL",
        "SIGBUS",
        "SIGILL",
        "TIMEOUT",
        "ABORT",
        "LEAK-FAIL",
        "FAIL + LEAK",
    ];
    for line in text.lines() {
        let Some((word, rest)) = line.trim_start().split_once(" [") else { continue };
        let last_try = word.split_whitespace().last().unwrap_or_default();
        let is_try = word.starts_with("TRY ");
        if !(ends.contains(&word) || (is_try && ends.contains(&last_try))) {
            continue;
        }
        let Some((_, name)) = rest.split_once(']') else { continue };
        let name = name.trim_start();
        // `(3/12)` stands before the name while the run goes on
        let name =
            if name.starts_with('(') { name.split_once(") ").map_or(name, |(_, name)| name) } else { name };
        told.failing.push(name.trim().to_owned());
    }
    told.failing.sort();
    told.failing.dedup();
    Some(told)
}
