//! Which acceptance texts are commands. A text is one only if every part of it starts with something that can be
//! started, and no part reads as a sentence; everything else is for people. Must never run anything.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::config::Command;
use crate::env::Env;
use crate::model::board::{Board, Criterion, Feature};

/// Where programs are looked for; each one once.
pub struct Lookup<'a> {
    env: &'a Env,
    top: &'a Path,
    on_path: RefCell<HashMap<String, bool>>,
}

/// A feature's acceptance, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// What can be run, in order.
    pub commands: Vec<AcceptanceCommand>,
    /// What stands in a field for commands, but is for people.
    pub left_to_people: Vec<String>,
    /// What stands in fields for people.
    pub prose: Vec<String>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptanceCommand {
    /// As it stands on the board.
    pub line: String,
    /// What to start, at the top of the work tree.
    pub argv: Vec<String>,
}

/// A feature's acceptance by its id; nothing to run for an id that is not there.
pub fn acceptance_of(board: &Board, id: &str, lookup: &Lookup<'_>) -> Acceptance {
    board.feature(id).map(|feature| acceptance(feature, lookup)).unwrap_or_default()
}

/// A feature's acceptance.
pub fn acceptance(feature: &Feature, lookup: &Lookup<'_>) -> Acceptance {
    let mut found = Acceptance::default();
    for criterion in &feature.acceptance {
        match criterion {
            Criterion::Prose(text) => found.prose.push(text.clone()),
            Criterion::Line(line) if lookup.is_command(line) => {
                let argv = Command::Line(line.clone()).argv();
                found.commands.push(AcceptanceCommand { line: line.clone(), argv });
            }
            Criterion::Line(line) => found.left_to_people.push(line.clone()),
            Criterion::Words(words) => {
                let line = shell_words::join(words);
                let starts = words.first().is_some_and(|word| lookup.can_start(word, lookup.top));
                if starts && !is_sentence(words) {
                    found.commands.push(AcceptanceCommand { line, argv: words.clone() });
                } else {
                    found.left_to_people.push(line);
                }
            }
        }
    }
    found
}

/// Words that a shell itself understands.
const BUILTINS: [&str; 22] = [
    "cd", "test", "[", "true", "false", "echo", "printf", "export", "unset", "set", "source", ".", ":",
    "eval", "exit", "command", "exec", "pwd", "umask", "wait", "trap", "!",
];

impl<'a> Lookup<'a> {
    /// Looks on this environment's PATH and below `top`, the top of the work tree.
    pub fn new(env: &'a Env, top: &'a Path) -> Self {
        Self { env, top, on_path: RefCell::default() }
    }

    /// Whether a line is a command in each of its parts.
    pub fn is_command(&self, line: &str) -> bool {
        let mut dir = self.top.to_owned();
        let segments = segments(line);
        !segments.is_empty() && segments.iter().all(|segment| self.is_startable(segment, &mut dir))
    }

    fn is_startable(&self, segment: &str, dir: &mut PathBuf) -> bool {
        let inner = segment.trim().trim_start_matches('(').trim_end_matches(')');
        let Ok(words) = shell_words::split(inner) else { return false };
        let words: Vec<String> = words.into_iter().skip_while(|word| is_assignment(word)).collect();
        let Some(first) = words.first() else { return false };
        if is_sentence(&words) {
            return false;
        }
        if let ("cd", Some(target)) = (first.as_str(), words.get(1)) {
            *dir = dir.join(target);
        }
        BUILTINS.contains(&first.as_str()) || self.can_start(first, dir)
    }

    /// An executable on PATH, or a file of the repository.
    fn can_start(&self, word: &str, dir: &Path) -> bool {
        if !word.contains('/') {
            return self.is_on_path(word) || crate::fs::is_executable(&dir.join(word));
        }
        let full = dir.join(word);
        if Path::new(word).is_absolute() {
            return crate::fs::is_executable(&full);
        }
        let climbs = Path::new(word).components().any(|part| part == Component::ParentDir);
        full.is_file() && (!climbs || inside(&full, self.top))
    }
}

impl Lookup<'_> {
    fn is_on_path(&self, word: &str) -> bool {
        if let Some(known) = self.on_path.borrow().get(word) {
            return *known;
        }
        let found = self.env.which(word).is_some();
        self.on_path.borrow_mut().insert(word.to_owned(), found);
        found
    }
}

fn inside(path: &Path, top: &Path) -> bool {
    match (path.canonicalize(), top.canonicalize()) {
        (Ok(path), Ok(top)) => path.starts_with(top),
        _ => false,
    }
}

/// Ends with a full stop (one that is no folder), or begins with a capital.
fn is_sentence(words: &[String]) -> bool {
    let capital = words.first().and_then(|word| word.chars().next()).is_some_and(char::is_uppercase);
    let last = words.last().map_or("", String::as_str);
    let stop = last.ends_with('。')
        || (last.ends_with('.') && !last.trim_end_matches('.').is_empty() && !last.ends_with("/."));
    capital || (stop && !last.ends_with("/.."))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The parts between `&&`, `||`, `;`, `|` and line ends, outside of quotes.
fn segments(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut chars = line.trim().trim_end_matches(';').chars().peekable();
    while let Some(c) = chars.next() {
        let ends = match (quote, c) {
            (Some(open), _) if open == c => {
                quote = None;
                false
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                false
            }
            (None, ';' | '|' | '\n') => true,
            (None, '&') => chars.peek() == Some(&'&'),
            _ => false,
        };
        if ends {
            if matches!(c, '|' | '&') && chars.peek().is_some_and(|next| matches!(next, '|' | '&')) {
                chars.next();
            }
            parts.push(String::new());
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
            if c == '\\' && quote != Some('\'') {
                part.extend(chars.next());
            }
        }
    }
    if line.trim().is_empty() { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_must_start_something_and_none_may_be_a_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        for name in ["pytest", "npm", "make", "sh"] {
            crate::fs::write_atomic_mode(&top.join("bin").join(name), b"#!/bin/sh\n", 0o755).unwrap();
        }
        crate::fs::write_atomic(&top.join("checks/read.sh"), b"true\n").unwrap();
        let env = Env::made_of(top, [("PATH", top.join("bin"))]);
        let lookup = Lookup::new(&env, top);
        for line in [
            "pytest tests/test_import.py",
            "CI=1 npm test -- --run 'a; b && c'",
            "make -C . && sh checks/read.sh || false",
            "cd checks && ./read.sh",
            "checks/read.sh | sh",
            "! make broken;",
            "make test 2>&1 | sh",
            "pytest .",
        ] {
            assert!(lookup.is_command(line), "{line}");
        }
        for line in [
            "pytest tests/test_import.py && a sample PDF appears",
            "The page prints",
            "make prints the page.",
            "Make the page",
            "checks/none.sh",
            "checks",
            "../outside.sh",
            "npm 'unbalanced",
            "",
            " ; ",
            "X=1",
        ] {
            assert!(!lookup.is_command(line), "{line}");
        }
    }
}
