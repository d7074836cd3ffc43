//! Stash entries: all work trees share them and old ones are common, so only this session's, or this branch's, block.

use crate::check::{Context, CouldNotCheck};
use crate::git::stash::{StashEntry, StashNote};
use crate::model::{CheckId, Issue, Owner, Severity};
use crate::ui::plain;

pub(super) fn judge(context: &Context<'_>) -> Result<Vec<Issue>, CouldNotCheck> {
    if context.status.stashes == 0 {
        return Ok(Vec::new());
    }
    let entries = context.repo.stash_entries()?;
    Ok(entries.iter().filter_map(|entry| issue(context, entry)).collect())
}

fn issue(context: &Context<'_>, entry: &StashEntry) -> Option<Issue> {
    let (code, about) = match &entry.note {
        StashNote::Own(_) => return None,
        StashNote::Empty(note) => {
            ("stash-note-empty", format!("has the note “{}”, which says nothing", plain(note)))
        }
        StashNote::None => ("stash-without-note", "has no note that says what it is".to_owned()),
    };
    let branch = entry.branch.as_deref().map(|branch| format!(" of `{}`", plain(branch))).unwrap_or_default();
    let message = format!("`{}`{branch} {about}.", entry.selector);
    let severity = if code == "stash-note-empty" { Severity::Warn } else { severity(context, entry) };
    let made_elsewhere = made_elsewhere(context, entry);
    let hint = format!(
        "Bring it back (`git stash pop {0}`), or keep it with a note: `git stash store -m \"On {1}: what and why\" {2}` \
         after `git stash drop {0}`.",
        entry.selector,
        entry.branch.as_deref().unwrap_or("BRANCH"),
        &entry.commit[..entry.commit.len().min(12)],
    );
    let hint = if made_elsewhere {
        "It looks like another work tree's: leave it to the session there.".to_owned()
    } else {
        hint
    };
    let owner = match context.baseline {
        None => Owner::Unknown,
        Some(baseline) if baseline.stashes.contains(&entry.commit) => Owner::Before,
        Some(_) if made_elsewhere => Owner::Unknown,
        Some(_) => Owner::Session,
    };
    Some(
        Issue::new(CheckId::WorkingTree, code, severity, message)
            .text(&entry.commit)
            .hint(hint)
            .owned_by(owner),
    )
}

/// Made on another branch than the one that is checked out, in another work tree perhaps: none of ours.
fn severity(context: &Context<'_>, entry: &StashEntry) -> Severity {
    let here = match (&entry.branch, &context.status.branch) {
        (Some(made_on), Some(now)) => made_on == now,
        (None, None) => entry.parent.is_some() && entry.parent == context.status.head,
        _ => false,
    };
    let new = context.baseline.is_none_or(|baseline| !baseline.stashes.contains(&entry.commit));
    match context.baseline {
        Some(_) if new && !made_elsewhere(context, entry) => Severity::Block,
        None if here && on_this_branch(context, entry) => Severity::Block,
        _ => Severity::Warn,
    }
}

/// Made on a branch that this work tree has never had, while there are others: none of ours.
fn made_elsewhere(context: &Context<'_>, entry: &StashEntry) -> bool {
    let Some(branch) = entry.branch.as_deref() else { return false };
    let there_now = context.other_worktrees.iter().any(|other| other.as_deref() == Some(branch));
    let here = context.status.branch.as_deref() == Some(branch) || context.repo.was_checked_out_here(branch);
    !context.other_worktrees.is_empty() && (there_now || !here)
}

/// Whether the commit that it was made on is in this branch's history; unreadable counts as yes.
fn on_this_branch(context: &Context<'_>, entry: &StashEntry) -> bool {
    let (Some(parent), Some(head)) = (&entry.parent, &context.status.head) else { return true };
    parent == head || context.objects.is_ancestor(parent, head).unwrap_or(true)
}
