//! What a refused push says: each kind of finding with what mends it, and the one thing to do next.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;

use crate::model::Issue;

/// At most this many findings of one kind are spelled out.
const SHOWN: usize = 5;

/// The whole text, without a line end behind it. Where a person may make an exception it names that last.
pub fn refusal(issues: &[Issue], may_be_allowed: bool) -> String {
    let noun = if issues.len() == 1 {
        "1 blocking issue".to_owned()
    } else {
        format!("{} blocking issues", issues.len())
    };
    let mut out = format!("{} {noun}\n", "endwell: push refused,".red().bold());
    for kind in super::human::kinds(&issues.iter().collect::<Vec<_>>()) {
        for issue in kind.iter().take(SHOWN) {
            let place = super::place(issue);
            // writing to a String can't fail
            writeln!(out, "  {place}{} ({})", issue.message, issue.code).ok();
        }
        if kind.len() > SHOWN {
            writeln!(out, "  … and {} more of that kind", kind.len() - SHOWN).ok();
        }
        if let Some(first) = kind.first().filter(|first| !first.hint.is_empty()) {
            writeln!(out, "    {} {}", "hint:".cyan(), first.hint).ok();
        }
    }
    out.push_str("Next: mend this, then push again. `endwell check` shows the workbench.");
    if may_be_allowed {
        out.push_str("\nOr let this one push through, on record: `endwell allow --reason \"why\"`.");
    }
    out
}
