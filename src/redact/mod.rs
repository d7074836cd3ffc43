//! Text from outside made safe to keep: decoded text goes in, and what comes out holds no terminal escapes, no
//! control or direction characters, no secret that a rule knows, and no name of the home folder. Only values (command
//! lines and outputs) go through here: never ids, hashes, paths or counts, which other files join on.
//!
//! The order matters: strip, then redact, then cut. A cut in front of redaction would halve a token and keep a half.

mod clean;
mod escapes;
mod generic;
mod rules;

use std::collections::BTreeMap;

use regex::Regex;

pub use clean::{clean, clip, head_lines, tail_lines};

/// Kind of secret to the number of places.
pub type Counts = BTreeMap<String, u64>;

/// Every mark begins like this; text that is marked already is left alone.
const MARK: &str = "[redacted:";

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Absolute folders and what is written in their place, in this order.
    folders: Vec<(String, &'static str)>,
    custom: Vec<Regex>,
    mask_mail: bool,
}

impl Redactor {
    /// The maintained rules, with the home folder (absolute) to shorten.
    pub fn new(home: Option<&str>) -> Self {
        Self::default().in_place_of(home, "~")
    }

    /// Paths below this folder (absolute) are written relative to it.
    #[must_use]
    pub fn relative_to(self, top: &str) -> Self {
        self.in_place_of(Some(top), ".")
    }

    fn in_place_of(mut self, folder: Option<&str>, short: &'static str) -> Self {
        let folder = folder.map(|folder| folder.trim_end_matches('/')).filter(|folder| folder.len() > 1);
        self.folders.extend(folder.map(|folder| (folder.to_owned(), short)));
        // a folder inside of another goes first
        self.folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        self
    }

    /// Folders are written as they are: for texts with commands that a person copies.
    #[must_use]
    pub fn keeping_folders(mut self) -> Self {
        self.folders.clear();
        self
    }

    /// The project's own patterns: the first group of a match is a secret, or all of it where there is no group.
    #[must_use]
    pub fn with_patterns(mut self, patterns: Vec<Regex>) -> Self {
        self.custom = patterns;
        self
    }

    /// Masks e-mail addresses too.
    #[must_use]
    pub const fn masking_mail(mut self, mask: bool) -> Self {
        self.mask_mail = mask;
        self
    }

    /// A text that is safe to keep. What was taken out is counted by kind.
    pub fn apply(&self, text: &str, counts: &mut Counts) -> String {
        let mut text = clean(text);
        for pattern in &self.custom {
            text = replace((&text, &text), pattern, "custom", counts, &|_, _| true);
        }
        text = with_rules(&text, false, counts);
        text = generic::redact(&text, counts);
        if escapes::are_in(&text) {
            text = with_rules(&text, true, counts);
        }
        if self.mask_mail {
            text = replace((&text, &text), &rules::MAIL, "email", counts, &|_, _| true);
        }
        self.folders.iter().fold(text, |text, (folder, short)| shorten(&text, folder, short))
    }

    /// As [`Redactor::apply`], where nobody needs the counts.
    pub fn text(&self, text: &str) -> String {
        self.apply(text, &mut Counts::new())
    }
}

/// The maintained rules; `blank`: as if escapes that are written out were blanks, since they hide where a word begins.
fn with_rules(text: &str, blank: bool, counts: &mut Counts) -> String {
    let mut text = text.to_owned();
    for rule in rules::RULES.iter().filter(|rule| !blank || rule.begins_a_word()) {
        if rule.may_match(&text) {
            let looked_at = if blank { escapes::blanked(&text) } else { text.clone() };
            let holds = |_: &str, value: &str| (rule.holds)(value);
            text = replace((&text, &looked_at), rule.pattern(), rule.kind, counts, &holds);
        }
    }
    text
}

fn shorten(text: &str, folder: &str, short: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let after = &rest[at + folder.len()..];
        let ends =
            after.chars().next().is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
        let begins = rest[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')));
        out.push_str(&rest[..at]);
        out.push_str(if ends && begins { short } else { folder });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Puts a mark in place of each match's first group (or the whole match) that `holds` says is a secret. `holds` gets
/// the text in front of the value too. `looked_at` is the text, or one of the same length with other characters.
fn replace(
    (text, looked_at): (&str, &str),
    pattern: &Regex,
    kind: &str,
    counts: &mut Counts,
    holds: &dyn Fn(&str, &str) -> bool,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in pattern.captures_iter(looked_at) {
        let Some(value) = (1..found.len()).find_map(|group| found.get(group)).or_else(|| found.get(0)) else {
            continue;
        };
        let before = &looked_at[..value.start()];
        if value.is_empty() || value.as_str().contains(MARK) || !holds(before, value.as_str()) {
            continue;
        }
        out.push_str(&text[from..value.start()]);
        out.push_str(MARK);
        out.push_str(kind);
        out.push(']');
        from = value.end();
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    out.push_str(&text[from..]);
    out
}

/// As [`replace`] for patterns of prefix, separator and body: `holds` gets the text in front, prefix and body, and
/// the text behind; the body is what goes.
fn replace_pairs(
    text: &str,
    pattern: &Regex,
    counts: &mut Counts,
    holds: impl Fn(&str, (&str, &str), &str) -> bool,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in pattern.captures_iter(text) {
        let (Some(prefix), Some(body)) = (found.get(1), found.get(3)) else { continue };
        if !holds(&text[..prefix.start()], (prefix.as_str(), body.as_str()), &text[body.end()..]) {
            continue;
        }
        out.push_str(&text[from..body.start()]);
        out.push_str(MARK);
        out.push_str("token]");
        from = body.end();
        *counts.entry("token".to_owned()).or_default() += 1;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests;
