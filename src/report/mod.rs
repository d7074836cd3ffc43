//! The forms in which a judgement is shown. Pure: a report in, text out.

pub mod doctor;
pub mod github;
pub mod human;
pub mod push;
pub mod sarif;

use crate::model::Issue;

/// Where a finding is, to be put in front of its message; nothing where the message names the place itself.
fn place(issue: &Issue) -> String {
    let Some(path) = &issue.path else { return String::new() };
    let shown = crate::ui::plain(path);
    match issue.line {
        Some(line) => format!("{shown}:{line}: "),
        None if issue.message.contains(&shown) => String::new(),
        None => format!("{shown}: "),
    }
}
