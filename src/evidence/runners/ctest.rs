//! `CMake`'s test driver, `ctest`: the list of failed tests at the end of its output.

use super::{Told, before};

/// The list below `The following tests FAILED:`.
pub(super) fn ctest(text: &str) -> Option<Told> {
    let count = text.lines().rev().find(|line| line.contains("% tests passed"))?;
    let total = count.rsplit("out of ").next().and_then(|rest| rest.trim().parse::<u64>().ok())?;
    let failed = before(count, " tests failed").max(before(count, " test failed"));
    let listed = text.lines().skip_while(|line| !line.contains("The following tests FAILED:")).skip(1);
    let failing = listed.map_while(name).collect();
    Some(Told { passed: Some(total.saturating_sub(failed)), failed: Some(failed), skipped: None, failing })
}

/// `2 - bad (Not Run)`.
fn name(line: &str) -> Option<String> {
    let (number, rest) = line.trim().split_once(" - ")?;
    number.parse::<u64>().ok()?;
    Some(rest.rsplit_once(" (").map_or(rest, |(name, _)| name).trim().to_owned())
}
