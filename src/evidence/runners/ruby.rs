//! Ruby: `RSpec` and minitest (Rails too).

use super::{Told, before};

/// `RSpec`: the list below `Failed examples:`; an example is named by its description, since its line moves.
pub(super) fn rspec(text: &str) -> Option<Told> {
    let is_count = |line: &&str| line.contains(" example") && line.contains(" failure");
    let count = text.lines().rev().find(is_count)?;
    let mut failing: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("rspec "))
        .filter(|line| line.starts_with(['.', '\'', '"']) || line.contains("_spec.rb"))
        .map(|line| line.split_once(" # ").map_or(line, |(_, description)| description).trim().to_owned())
        .collect();
    let loading = text.lines().filter_map(|line| line.strip_prefix("An error occurred while loading "));
    failing.extend(loading.map(|path| path.trim_end_matches('.').to_owned()));
    let outside = before(count, " error");
    let failed = before(count, " failure") + outside;
    let skipped = before(count, " pending");
    let passed = before(count, " example").saturating_sub(before(count, " failure") + skipped);
    Some(Told::counted(passed, failed, skipped, failing))
}

/// minitest: `Class#test [place]:` below `Failure:` or `Error:`.
pub(super) fn minitest(text: &str) -> Option<Told> {
    let is_count = |line: &&str| line.contains(" runs, ") && line.contains(" assertions, ");
    let count = text.lines().rev().find(is_count)?;
    let mut failing = Vec::new();
    let mut expected = false;
    for line in text.lines() {
        if let Some(name) = Some(line.trim()).filter(|name| expected && name.contains('#')) {
            let name = name.split(" [").next().unwrap_or(name);
            failing.push(name.trim_end_matches(':').to_owned());
        }
        let head = line.trim();
        let head = head
            .split_once(") ")
            .filter(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()))
            .map_or(head, |(_, h)| h);
        expected = head == "Failure:" || head == "Error:";
    }
    let failed = before(count, " failures") + before(count, " errors");
    let skipped = before(count, " skips");
    Some(Told::counted(before(count, " runs").saturating_sub(failed + skipped), failed, skipped, failing))
}
