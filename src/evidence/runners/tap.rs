//! The Test Anything Protocol, with subtests indented by four: `node --test` where its output is no terminal, tap,
//! prove and others. A test that failed only because its subtest did is left out.

use super::{Told, indent};

pub(super) fn tap(text: &str) -> Option<Told> {
    let is_plan = |line: &str| {
        line.split_once("..").is_some_and(|(one, last)| {
            one == "1" && last.split(' ').next().is_some_and(|last| last.parse::<u64>().is_ok())
        })
    };
    if !text.lines().any(|line| line.starts_with("TAP version ") || is_plan(line)) {
        return None;
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut failing: Vec<String> = Vec::new();
    // titles of the subtests around the current line, with the number of failures when each began
    let mut above: Vec<(usize, String, usize)> = Vec::new();
    for line in text.lines() {
        let (depth, mark) = (indent(line), line.trim_start());
        if let Some(title) = mark.strip_prefix("# Subtest: ") {
            above.retain(|(at, ..)| *at < depth);
            above.push((depth, unescaped(title.trim()), failing.len()));
            continue;
        }
        let Some(result) = Line::read(mark).filter(|_| depth % 4 == 0) else { continue };
        let inside = above.iter().rfind(|(at, ..)| *at == depth).map(|(_, _, before)| *before);
        above.retain(|(at, ..)| *at < depth);
        let has_failing_parts = inside.is_some_and(|before| failing.len() > before);
        match result.kind {
            Kind::Skipped => skipped += 1,
            Kind::Ok => passed += 1,
            Kind::NotOk if has_failing_parts => {}
            Kind::NotOk => {
                failed += 1;
                let path = above.iter().map(|(_, title, _)| title.as_str()).chain([result.title.as_str()]);
                failing.push(path.collect::<Vec<_>>().join(" > "));
            }
        }
    }
    let summed = |word: &str| {
        let prefix = format!("# {word} ");
        text.lines()
            .rev()
            .find_map(|line| line.strip_prefix(&prefix))
            .and_then(|rest| rest.trim().parse::<u64>().ok())
    };
    // node counts tests without their suites; other producers say nothing, or the same
    Some(match (summed("pass"), summed("fail")) {
        (Some(pass), Some(fail)) => {
            let cancelled = summed("cancelled").unwrap_or(0);
            let skip =
                summed("skipped").or_else(|| summed("skip")).unwrap_or(0) + summed("todo").unwrap_or(0);
            Told::counted(pass, fail + cancelled, skip, failing)
        }
        _ => Told::counted(passed, failed, skipped, failing),
    })
}

enum Kind {
    Ok,
    NotOk,
    Skipped,
}

/// `ok 1 - title # SKIP why` or `not ok 2 - title`.
struct Line {
    kind: Kind,
    title: String,
}

impl Line {
    fn read(mark: &str) -> Option<Self> {
        let (ok, rest) = match (mark.strip_prefix("ok"), mark.strip_prefix("not ok")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return None,
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let rest = rest.trim_start();
        let number = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let title = rest[number..].trim_start().trim_start_matches("- ");
        // a directive's mark is not escaped, a title's is
        let (title, directive) = title.split_once(" # ").unwrap_or((title, ""));
        let directive = directive.to_ascii_uppercase();
        let kind = match ok {
            _ if directive.starts_with("SKIP") || directive.starts_with("TODO") => Kind::Skipped,
            true => Kind::Ok,
            false => Kind::NotOk,
        };
        let title = title.strip_prefix("# SKIP").unwrap_or(title).trim();
        let title = if title.is_empty() { format!("test {}", &rest[..number]) } else { unescaped(title) };
        Some(Self { kind, title })
    }
}

fn unescaped(title: &str) -> String {
    title.replace("\\#", "#").replace("\\\\", "\\")
}
