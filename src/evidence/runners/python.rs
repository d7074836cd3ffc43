//! Python: pytest and unittest.

use super::Told;
use super::cargo::number_before;

/// unittest: `FAIL: test_x (module.Class.test_x)` headers and `Ran N tests`.
pub(super) fn read_unittest(text: &str) -> Option<Told> {
    let ran = text.lines().rev().find(|line| line.starts_with("Ran ") && line.contains(" test"))?;
    let total = number_before(ran, " test");
    let mut told = Told::default();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) else {
            continue;
        };
        told.failing.push(unittest_name(rest));
    }
    told.failing.sort();
    told.failing.dedup();
    let result = text.lines().rev().find(|line| line.starts_with("OK") || line.starts_with("FAILED ("));
    let count = |word: &str| {
        let inside = result.unwrap_or_default();
        inside.split(&format!("{word}=")).nth(1).map_or(0, |rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        })
    };
    let failed = count("failures") + count("errors");
    let skipped = count("skipped");
    told.failed = Some(failed);
    told.skipped = Some(skipped);
    told.passed = Some(total.saturating_sub(failed + skipped));
    Some(told)
}

/// `test_x (module.Class.test_x)` (3.11 on) or `test_x (module.Class)` as one dotted name; a subtest's parameters stay
/// behind it.
fn unittest_name(rest: &str) -> String {
    let Some((method, place)) = rest.split_once(" (") else { return rest.trim().to_owned() };
    let (place, more) = place.split_once(')').unwrap_or((place, ""));
    let name = if place.ends_with(&format!(".{method}")) || method.contains(' ') {
        place.to_owned()
    } else {
        format!("{place}.{method}")
    };
    format!("{name}{more}").trim().to_owned()
}
