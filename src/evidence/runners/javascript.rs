//! JavaScript: jest, vitest, mocha, and the spec report of `node --test` (its TAP report is `tap`'s).

use super::{Told, before, indent};

/// jest: `FAIL file` and below it `  ● suite › test`; a file that could not be run is named itself. Bun's runner is
/// another.
pub(super) fn jest(text: &str) -> Option<Told> {
    let count = text.lines().rev().find(|line| line.starts_with("Tests:") && line.contains(" total"));
    let suites = text.lines().rev().find(|line| line.starts_with("Test Suites:"))?;
    let mut failing = Vec::new();
    let mut file: Option<&str> = None;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("FAIL ") {
            file = Some(path.split(" (").next().unwrap_or(path).trim());
        } else if line.starts_with("PASS ") {
            file = None;
        } else if let (Some(file), Some(title)) = (file, line.strip_prefix("  ● ")) {
            match title.trim() {
                "Test suite failed to run" => failing.push(file.to_owned()),
                title if is_note(title) => {}
                title => failing.push(format!("{file} › {title}")),
            }
        }
    }
    let count = count.unwrap_or(suites);
    let failed = before(count, " failed").max(failing.len() as u64);
    let skipped = before(count, " skipped") + before(count, " todo");
    Some(Told::counted(before(count, " passed"), failed, skipped, failing))
}

/// What jest prints with the same mark but is no test.
fn is_note(title: &str) -> bool {
    title == "Console" || title.starts_with("Cannot log after tests") || title.starts_with("Validation ")
}

/// vitest: ` FAIL  file > suite > test` lines.
pub(super) fn vitest(text: &str) -> Option<Told> {
    let files = text.lines().rev().find(|line| line.trim_start().starts_with("Test Files "))?;
    let count = text.lines().rev().find(|line| line.trim_start().starts_with("Tests ")).unwrap_or("");
    let mut failing: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix(" FAIL  "))
        // `file [ file ]` is a file that could not be run
        .map(|name| name.split(" [ ").next().unwrap_or(name).trim().to_owned())
        .collect();
    failing.sort();
    failing.dedup();
    let failed = before(count, " failed").max(failing.len() as u64).max(before(files, " failed"));
    Some(Told::counted(
        before(count, " passed"),
        failed,
        before(count, " skipped") + before(count, " todo"),
        failing,
    ))
}

/// mocha: the numbered list below `N failing`: titles one below the other, each deeper, the last one with a colon.
pub(super) fn mocha(text: &str) -> Option<Told> {
    let is_count = |line: &str, word: &str| {
        let line = line.trim();
        line.split_once(' ').is_some_and(|(number, rest)| {
            number.bytes().all(|b| b.is_ascii_digit())
                && !number.is_empty()
                && (rest == word || rest.starts_with(&format!("{word} (")))
        })
    };
    let passing = text.lines().position(|line| is_count(line, "passing"))?;
    let number = |word: &str| {
        let found = text.lines().skip(passing).find(|line| is_count(line, word));
        found.map_or(0, |line| before(line, &format!(" {word}")))
    };
    let mut failing = Vec::new();
    let mut titles: Option<Vec<&str>> = None;
    let start = text.lines().skip(passing).position(|line| is_count(line, "failing")).map(|at| passing + at);
    for line in text.lines().skip(start.unwrap_or(usize::MAX)) {
        if let Some(first) = numbered(line) {
            titles = Some(vec![first]);
        } else if let Some(found) = &mut titles {
            found.push(line.trim());
        }
        let Some(found) = &titles else { continue };
        let last = found.last().copied().unwrap_or_default();
        if last.is_empty() {
            titles = None;
        } else if let Some(title) = last.strip_suffix(':') {
            let above = &found[..found.len() - 1];
            failing.push(above.iter().copied().chain([title]).collect::<Vec<_>>().join(" > "));
            titles = None;
        }
    }
    Some(Told::counted(number("passing"), number("failing"), number("pending"), failing))
}

/// The text behind `  1) `, indented by two.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("  ")?.split_once(") ")?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// `node --test` with its spec report: an indented tree of `▶`, `✔` and `✖`, and `ℹ` counts.
pub(super) fn node_spec(text: &str) -> Option<Told> {
    let count = |word: &str| {
        let prefix = format!("ℹ {word} ");
        let line = text.lines().rev().find_map(|line| line.strip_prefix(&prefix))?;
        line.trim().parse::<u64>().ok()
    };
    let (passed, failed) = (count("pass")?, count("fail")?);
    let mut failing: Vec<String> = Vec::new();
    let mut above: Vec<(usize, String, usize)> = Vec::new();
    for line in text.lines().take_while(|line| *line != "✖ failing tests:") {
        let (depth, mark) = (indent(line), line.trim_start());
        let suite = mark.strip_prefix("▶ ");
        let bad = mark.strip_prefix("✖ ").filter(|rest| rest.contains("ms)") && !rest.contains("# TODO"));
        if suite.is_none() && bad.is_none() {
            continue;
        }
        let name = suite.or(bad).map(without_time).unwrap_or_default();
        let closes = above.iter().rposition(|(at, open, _)| *at == depth && *open == name);
        let children = closes.map(|at| above[at].2);
        above.truncate(closes.unwrap_or_else(|| above.iter().take_while(|(at, ..)| *at < depth).count()));
        // a suite that failed because of what is in it is not named besides
        if bad.is_some() && children.is_none_or(|before| failing.len() == before) {
            let path = above.iter().map(|(_, name, _)| name.as_str()).chain([name.as_str()]);
            failing.push(path.collect::<Vec<_>>().join(" > "));
        }
        if suite.is_some() && closes.is_none() {
            above.push((depth, name, failing.len()));
        }
    }
    let cancelled = count("cancelled").unwrap_or(0);
    Some(Told::counted(
        passed,
        failed + cancelled,
        count("skipped").unwrap_or(0) + count("todo").unwrap_or(0),
        failing,
    ))
}

fn without_time(title: &str) -> String {
    title
        .rsplit_once(" (")
        .filter(|(_, time)| time.contains("ms)"))
        .map_or(title, |(name, _)| name)
        .trim()
        .to_owned()
}
