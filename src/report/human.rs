//! For people: issues by check, one next step for each kind, one closing line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use owo_colors::OwoColorize as _;

use crate::model::clean::{CheckStatus, CleanReport};
use crate::model::{CheckId, Issue, Severity};
use crate::ui;

/// At most this many issues of one kind are shown; JSON has all of them.
const SHOWN: usize = 10;

/// The whole report.
pub fn render(report: &CleanReport) -> String {
    let mut out = String::new();
    for outcome in &report.checks {
        let issues: Vec<&Issue> = report.issues.iter().filter(|issue| issue.check == outcome.check).collect();
        // writing to a String can't fail
        writeln!(out, "{} {}", mark(outcome.status), heading(outcome.check, outcome.status)).ok();
        for kind in kinds(&issues) {
            section(&mut out, &kind);
        }
    }
    out.push_str(&closing(report));
    out
}

fn mark(status: CheckStatus) -> String {
    match status {
        CheckStatus::Clean => "✓".green().to_string(),
        CheckStatus::Warn => "!".yellow().to_string(),
        CheckStatus::Block | CheckStatus::CouldNotCheck => "✗".red().to_string(),
    }
}

fn heading(check: CheckId, status: CheckStatus) -> String {
    match status {
        CheckStatus::Clean => format!("{check}"),
        CheckStatus::CouldNotCheck => format!("{} {}", check.bold(), "could not be judged".red()),
        CheckStatus::Warn | CheckStatus::Block => check.bold().to_string(),
    }
}

/// Issues of one code and severity, in order of their first appearance.
pub(super) fn kinds<'a>(issues: &[&'a Issue]) -> Vec<Vec<&'a Issue>> {
    let mut kinds: Vec<Vec<&Issue>> = Vec::new();
    for issue in issues {
        let same = |kind: &&mut Vec<&Issue>| {
            kind.first().is_some_and(|first| first.code == issue.code && first.severity == issue.severity)
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(issue),
            None => kinds.push(vec![issue]),
        }
    }
    kinds
}

fn section(out: &mut String, kind: &[&Issue]) {
    if let Some(first) = kind.first().filter(|first| first.code == "debug-print" && kind.len() > 3) {
        let files: BTreeSet<&str> = kind.iter().filter_map(|issue| issue.path.as_deref()).collect();
        let (prints, files) = (plural(kind.len(), "print"), plural(files.len(), "file"));
        let word = ui::severity(first.severity);
        // writing to a String can't fail
        writeln!(out, "  {word} {prints} in {files} that printed nothing before {}", code(first)).ok();
        writeln!(out, "    {} {} `--format json` lists all.", "hint:".cyan(), first.hint).ok();
        return;
    }
    for issue in kind.iter().take(SHOWN) {
        let place = super::place(issue);
        writeln!(out, "  {} {place}{} {}", ui::severity(issue.severity), issue.message, code(issue)).ok();
    }
    if kind.len() > SHOWN {
        writeln!(out, "  … and {} more; `--format json` lists all", kind.len() - SHOWN).ok();
    }
    if let Some(first) =
        kind.first().filter(|first| first.severity > Severity::Info && !first.hint.is_empty())
    {
        writeln!(out, "    {} {}", "hint:".cyan(), first.hint).ok();
    }
}

fn code(issue: &Issue) -> String {
    let before = if issue.owner == crate::model::Owner::Before { ", before this session" } else { "" };
    format!("({}{before})", issue.code).dimmed().to_string()
}

fn closing(report: &CleanReport) -> String {
    let count = |severity| report.issues.iter().filter(|issue| issue.severity == severity).count();
    let (blocking, warnings) = (count(Severity::Block), count(Severity::Warn));
    let also = if warnings == 0 { String::new() } else { format!(", {}", plural(warnings, "warning")) };
    if report.clean {
        format!("{}{also}", "Clean".green().bold())
    } else {
        format!("{}{also}", plural(blocking, "blocking issue").red().bold())
    }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
