//! Workflow commands of GitHub Actions: one annotation an issue, on the lines that a pull request shows.

use std::fmt::Write as _;

use crate::model::clean::CleanReport;
use crate::model::{Issue, Severity};

/// One line an issue, without a line end behind the last.
pub fn render(report: &CleanReport) -> String {
    let lines: Vec<String> = report.issues.iter().map(annotation).collect();
    lines.join("\n")
}

fn annotation(issue: &Issue) -> String {
    let command = match issue.severity {
        Severity::Block => "error",
        Severity::Warn => "warning",
        Severity::Info => "notice",
    };
    let mut out = format!("::{command} ");
    if let Some(path) = &issue.path {
        // writing to a String can't fail
        write!(out, "file={},", property(path)).ok();
    }
    if let Some(line) = issue.line {
        write!(out, "line={line},").ok();
    }
    let title = property(&format!("{}: {}", issue.check, issue.code));
    write!(out, "title={title}::{}", data(&format!("{} {}", issue.message, issue.hint))).ok();
    out
}

/// The escapes that the runner undoes.
fn data(text: &str) -> String {
    text.trim().replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
