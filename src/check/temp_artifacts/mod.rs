//! `temp-artifacts`: what agents leave behind, among the lines and files that were added since the base. Blocks only
//! what is certain and warns about the rest. Reads what `git::changes` hands over; never looks at lines that stood
//! there before, never deletes anything.

mod configured;
mod debug;
mod exceptions;
mod heredoc;
mod language;
mod languages;
mod literals;
mod markers;
mod names;
mod patterns;
mod runs;
mod scan;
mod scanner;
mod shapes;
mod words;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use self::configured::Rules;
use self::language::Language;
use self::scan::Scan;
use super::{Check, Context, CouldNotCheck};
use crate::config::Config;
use crate::git::changes::{self, Changes, Content, FileChange};
use crate::git::{Entry, Objects, Repo};
use crate::model::{CheckId, Issue, Severity};

/// Files with more added lines than this are data.
const MAX_ADDED: u32 = 20_000;
/// Longer lines, in bytes, are data.
const MAX_LINE: usize = 2_000;
/// Where a mark of generated code must stand, in bytes from the start.
const HEAD: usize = 2_000;

/// Folders of other people's code.
const FOREIGN_DIRS: [&str; 3] = ["vendor", "node_modules", "third_party"];
/// What clients and installers write.
const CLIENT_DIRS: [&str; 6] = [".claude/", ".codex/", ".gemini/", ".qwen/", ".opencode/", ".github/hooks/"];
const PROSE_ENDINGS: [&str; 8] = ["md", "rst", "adoc", "txt", "markdown", "mdx", "asciidoc", "text"];

/// The check.
#[derive(Clone, Copy, Debug)]
pub struct TempArtifacts;

impl Check for TempArtifacts {
    fn id(&self) -> CheckId {
        CheckId::TempArtifacts
    }

    fn run(&self, context: &Context<'_>) -> super::Found {
        let changes = changes::since(context.repo, context.objects, context.status, context.base)?;
        let exists = |path: &[u8]| crate::fs::exists(&context.repo.at(path));
        let issues = judge(&changes, &exists, context.config)?;
        let issues = by_attributes(issues, context.repo)?;
        let dirty: HashMap<&[u8], &Entry> =
            context.status.entries.iter().map(|entry| (entry.path.as_slice(), entry)).collect();
        let owned = issues.into_iter().map(|issue| {
            match issue.raw_path().and_then(|path| dirty.get(path.as_slice()).copied()) {
                Some(entry) if issue.severity > Severity::Info => context.owned(issue, entry),
                _ => context.by_session(issue),
            }
        });
        Ok(owned.collect())
    }
}

/// Judges what a push adds, commit against commit; `None` is the empty tree.
pub fn judge_commits(
    repo: &Repo,
    objects: &Objects,
    base: Option<&str>,
    tip: &str,
    config: &Config,
) -> super::Found {
    let changes = changes::between(objects, base, tip)?;
    let exists = |path: &[u8]| objects.entry_at(tip, path).is_ok_and(|entry| entry.is_some());
    by_attributes(judge(&changes, &exists, config)?, repo)
}

/// Judges changes, attributes aside. `exists` tells whether a path is there now.
pub fn judge(changes: &Changes, exists: &dyn Fn(&[u8]) -> bool, config: &Config) -> super::Found {
    let rules = Rules::new(&config.artifacts).map_err(CouldNotCheck::because)?;
    let mut issues = Vec::new();
    for file in &changes.files {
        let path = String::from_utf8_lossy(&file.path);
        if !is_own(&path, config) {
            let found = judge_file(file, &path, changes, exists, &rules);
            issues.extend(rules.settle(&file.path, &path, found));
        }
    }
    let settings_changed = changes.files.iter().any(|file| file.path == crate::config::FILE.as_bytes());
    if settings_changed {
        issues.extend(rules.unused());
    }
    Ok(issues)
}

/// Takes out what git's attributes exempt. Asks git only where there is something to exempt.
fn by_attributes(issues: Vec<Issue>, repo: &Repo) -> super::Found {
    let paths: HashSet<Vec<u8>> =
        issues.iter().filter(|issue| issue.severity > Severity::Info).filter_map(Issue::raw_path).collect();
    let mut paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    paths.sort_unstable();
    let attributes = repo.artifact_attributes(&paths)?;
    let kept = issues.into_iter().filter_map(|mut issue| {
        let found = issue.raw_path().and_then(|path| attributes.get(&path)).copied().unwrap_or_default();
        if found.foreign {
            return None;
        }
        if found.exempt && issue.severity > Severity::Info {
            issue.severity = Severity::Info;
            issue.message = format!("Allowed by the attribute `-endwell-artifact`: {}", issue.message);
        }
        Some(issue)
    });
    Ok(kept.collect())
}

/// endwell's own artifacts, and what clients write for themselves.
fn is_own(path: &str, config: &Config) -> bool {
    config.is_own(path.as_bytes()) || CLIENT_DIRS.iter().any(|dir| path.starts_with(dir))
}

fn judge_file(
    file: &FileChange,
    path: &str,
    changes: &Changes,
    exists: &dyn Fn(&[u8]) -> bool,
    rules: &Rules<'_>,
) -> Vec<Issue> {
    if path.split('/').any(|part| FOREIGN_DIRS.contains(&part)) {
        return Vec::new();
    }
    let mut issues: Vec<Issue> = names::judge(file, exists)
        .map(|verdict| {
            let hint =
                "Delete it, ignore it in `.gitignore`, or allow it under `[artifacts]` in `endwell.toml`.";
            issue(verdict.code, verdict.severity, format!("{}.", verdict.message), &file.path)
                .text("")
                .hint(hint)
        })
        .into_iter()
        .collect();
    let Content::Text(text) = &file.content else { return issues };
    let added = Added { lines: &file.added, removed: &changes.removed };
    if added.is_empty() || is_snapshot(path) {
        return issues;
    }
    let mut found = markers::find(text, &added);
    let scanned = if is_skipped(path, text, &added) { None } else { Language::of(path, text) };
    let scan = scanned.map(|language| (language, scan::scan(text, language)));
    if let Some((language, scan)) = &scan {
        found.extend(runs::find(text, scan, language, &added));
        let base = file.base.as_deref();
        found.extend(debug::find(&debug::Subject { path, text, base, scan, language, added: &added }));
        found.extend(rules.extra_lines(path, text, scan, &added));
    }
    found.sort_by_key(|found| found.line);
    issues.extend(exceptions::settle(found, &file.path, text, scan.as_ref().map(|(_, scan)| scan), &added));
    issues.extend(rules.extra_file(file, path));
    issues
}

fn issue(code: &str, severity: Severity, message: impl Into<String>, path: &[u8]) -> Issue {
    Issue::new(CheckId::TempArtifacts, code, severity, message).at(path)
}

fn is_snapshot(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|ending| ending == "snap")
        || path.split('/').any(|part| matches!(part, "__snapshots__" | "snapshots"))
}

/// Files whose lines are not looked at, but for conflict markers.
fn is_skipped(path: &str, text: &[u8], added: &Added<'_>) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let head = text.get(..text.len().min(HEAD)).unwrap_or_default();
    added.count() > MAX_ADDED
        || path.split('/').any(|part| part == "dist")
        || name.contains(".min.")
        || PROSE_ENDINGS.contains(&ending.as_str())
        || ending == "lock"
        || memchr::memmem::find(head, b"@generated").is_some()
        || memchr::memmem::find(head, b"Code generated")
            .is_some_and(|_| memchr::memmem::find(head, b"DO NOT EDIT").is_some())
}

/// Which lines of a file are added. Lines are 0-based here.
struct Added<'a> {
    lines: &'a [Range<u32>],
    removed: &'a HashSet<Vec<u8>>,
}

impl Added<'_> {
    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn count(&self) -> u32 {
        self.lines.iter().map(|range| range.end - range.start).sum()
    }

    /// The difference adds the line.
    fn is_raw(&self, line: usize) -> bool {
        let Ok(line) = u32::try_from(line + 1) else { return false };
        let next = self.lines.partition_point(|range| range.start <= line);
        next.checked_sub(1).and_then(|index| self.lines.get(index)).is_some_and(|range| range.contains(&line))
    }

    /// The difference adds the line, and does not take the same text away elsewhere.
    fn counts(&self, line: usize, text: &[u8], scan: &Scan) -> bool {
        self.is_raw(line) && !self.moved(line, text, scan)
    }

    fn moved(&self, line: usize, text: &[u8], scan: &Scan) -> bool {
        if self.removed.is_empty() {
            return false;
        }
        let (start, end) = scan.span(line, text);
        self.removed.contains(text.get(start..end).unwrap_or_default().trim_ascii())
    }

    /// Whether the opener of a block comment came from elsewhere.
    fn opener_moved(&self, line: usize, text: &[u8], scan: &Scan) -> bool {
        self.moved(line, text, scan)
    }
}

/// A finding before exceptions are looked at. Lines are 0-based.
#[derive(Clone, Debug)]
struct Found {
    code: &'static str,
    severity: Severity,
    line: usize,
    /// The lines that an exception beside them covers.
    first: usize,
    last: usize,
    message: String,
    hint: &'static str,
}

impl Found {
    fn new(
        code: &'static str,
        severity: Severity,
        line: usize,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self { code, severity, line, first: line, last: line, message: message.into(), hint }
    }
}
