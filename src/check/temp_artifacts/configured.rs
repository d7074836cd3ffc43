//! `[artifacts]` in the settings, made ready: what is allowed by path, what more is looked for, what is not looked for.

use std::cell::Cell;

use globset::GlobMatcher;
use regex::bytes::Regex;

use super::scan::Scan;
use super::{Added, Found, MAX_LINE, issue};
use crate::config::artifacts::{Artifacts, Pattern, Prints};
use crate::git::changes::FileChange;
use crate::model::{Issue, Severity};

/// The settings of one run; they remember which exceptions were needed.
pub(super) struct Rules<'a> {
    allow: Vec<(GlobMatcher, Option<&'a str>, &'a str, Cell<bool>)>,
    files: Vec<(GlobMatcher, &'a str)>,
    lines: Vec<(Option<GlobMatcher>, Regex, &'a str)>,
    disabled: Vec<&'a str>,
    prints: Prints,
}

/// A glob without a folder matches in every folder.
fn matcher(pattern: &Pattern) -> Result<GlobMatcher, String> {
    let text = pattern.as_str();
    let anywhere = if text.contains('/') { text.to_owned() } else { format!("**/{text}") };
    let glob = globset::GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

impl<'a> Rules<'a> {
    pub(super) fn new(settings: &'a Artifacts) -> Result<Self, String> {
        let mut rules = Self {
            allow: Vec::new(),
            files: Vec::new(),
            lines: Vec::new(),
            disabled: settings.disable.iter().map(|entry| entry.code.as_str()).collect(),
            prints: settings.prints,
        };
        for entry in &settings.allow {
            let place = matcher(&entry.path)?;
            rules.allow.push((place, entry.code.as_deref(), entry.reason.as_str(), Cell::new(false)));
        }
        for entry in &settings.extra {
            let place = entry.path.as_ref().map(matcher).transpose()?;
            match (&entry.text, place) {
                (Some(text), place) => {
                    let regex = Regex::new(text.as_str()).map_err(|error| error.to_string())?;
                    rules.lines.push((place, regex, entry.reason.as_str()));
                }
                (None, Some(place)) => rules.files.push((place, entry.reason.as_str())),
                (None, None) => {
                    return Err("an entry of `artifacts.extra` has neither `path` nor `text`".to_owned());
                }
            }
        }
        Ok(rules)
    }

    /// What the settings make of the issues of one file.
    pub(super) fn settle(&self, raw: &[u8], path: &str, issues: Vec<Issue>) -> Vec<Issue> {
        let raw_is_text = raw == path.as_bytes();
        let kept = issues.into_iter().filter(|issue| !self.disabled.contains(&issue.code.as_str()));
        kept.map(|mut issue| {
            if issue.code == "debug-print" && issue.severity == Severity::Warn && self.prints == Prints::Block
            {
                issue.severity = Severity::Block;
            }
            let allowed = self.allow.iter().find(|(place, code, ..)| {
                raw_is_text && place.is_match(path) && code.is_none_or(|code| code == issue.code)
            });
            if issue.severity > Severity::Info
                && let Some((_, _, reason, used)) = allowed
            {
                used.set(true);
                issue.severity = Severity::Info;
                issue.message = format!("Allowed ({reason}): {}", issue.message);
            }
            issue
        })
        .collect()
    }

    /// A new file that the settings look for.
    pub(super) fn extra_file(&self, file: &FileChange, path: &str) -> Option<Issue> {
        let (_, reason) = self.files.iter().find(|(place, _)| file.is_new && place.is_match(path))?;
        let found = issue(
            "temp-file",
            Severity::Block,
            format!("A file that the settings look for: {reason}"),
            &file.path,
        );
        Some(found.hint("Delete it, or change `artifacts.extra` in `endwell.toml`."))
    }

    /// Added lines that the settings look for.
    pub(super) fn extra_lines(&self, path: &str, text: &[u8], scan: &Scan, added: &Added<'_>) -> Vec<Found> {
        let here: Vec<_> = self
            .lines
            .iter()
            .filter(|(place, ..)| place.as_ref().is_none_or(|place| place.is_match(path)))
            .collect();
        if here.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for number in (0..scan.lines()).filter(|line| added.counts(*line, text, scan)) {
            let (start, end) = scan.span(number, text);
            let line = text.get(start..end).unwrap_or_default();
            if line.len() <= MAX_LINE
                && let Some((_, _, reason)) = here.iter().find(|(_, regex, _)| regex.is_match(line))
            {
                let message = format!("A line that the settings look for: {reason}");
                let hint = "Delete the line, or change `artifacts.extra` in `endwell.toml`.";
                found.push(Found::new("debug-call", Severity::Block, number, message, hint));
            }
        }
        found
    }

    /// Exceptions that nothing needed.
    pub(super) fn unused(&self) -> impl Iterator<Item = Issue> + '_ {
        self.allow.iter().filter(|(.., used)| !used.get()).map(|(place, _, reason, _)| {
            let message = format!("Nothing needs the exception for `{}` ({reason}).", place.glob().glob());
            issue("unused-exception", Severity::Warn, message, crate::config::FILE.as_bytes())
                .text(place.glob().glob())
                .hint("Delete the entry under `[artifacts]` in `endwell.toml`.")
        })
    }
}
