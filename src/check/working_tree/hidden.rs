//! Edits that git does not show, and changes that are none: hashed as git would, never opened before `lstat` says
//! that a regular file lies there (a fifo would hang).

use crate::check::Context;
use crate::git::hidden::Hidden;
use crate::git::index::IndexFacts;
use crate::git::{Entry, EntryKind, GitError};
use crate::model::{CheckId, Issue};
use crate::ui::plain;

/// Edits of paths that are marked assume-unchanged or skip-worktree. What is not there is no edit.
pub(super) fn judge(context: &Context<'_>, facts: &IndexFacts) -> Result<Vec<Issue>, GitError> {
    let hidden = context.repo.hidden(context.objects, facts, &|path| context.config.is_own(path))?;
    let edited = hidden.iter().filter(|(_, state)| *state == Hidden::Edited);
    Ok(edited.map(|(entry, _)| issue(&entry.path)).collect())
}

fn issue(path: &[u8]) -> Issue {
    let shown = plain(&String::from_utf8_lossy(path));
    let message = format!("`{shown}` may hold edits that git was told not to look at.");
    Issue::warn(CheckId::WorkingTree, "hidden-edit", message)
        .at(path)
        .hint("Make git look again: `git update-index --no-assume-unchanged --no-skip-worktree -- PATH`.")
}

/// Paths that git calls modified although the same blob would be committed: line endings or time stamps only.
pub(super) fn phantoms<'a>(context: &Context<'a>) -> Result<Vec<&'a [u8]>, GitError> {
    let candidates: Vec<(&[u8], &str)> =
        context.status.entries.iter().filter_map(|entry| candidate(context, entry)).collect();
    let paths: Vec<&[u8]> = candidates.iter().map(|(path, _)| *path).collect();
    let Some(ids) = context.repo.blob_ids(&paths)? else { return Ok(Vec::new()) };
    let same = candidates.iter().zip(&ids).filter(|((_, index_id), id)| index_id == &id.as_str());
    Ok(same.map(|((path, _), _)| *path).collect())
}

/// A regular file, modified in the work tree only, with an unchanged mode, whose text could differ in line endings.
fn candidate<'a>(context: &Context<'_>, entry: &'a Entry) -> Option<(&'a [u8], &'a str)> {
    let EntryKind::Changed(change) = &entry.kind else { return None };
    let [_, index_mode, tree_mode] = &change.modes;
    let only_content = change.staged == b'.' && change.unstaged == b'M' && index_mode == tree_mode;
    (only_content && change.submodule.is_none() && is_regular(context, &entry.path))
        .then_some((entry.path.as_slice(), change.index_id.as_str()))
}

fn is_regular(context: &Context<'_>, path: &[u8]) -> bool {
    crate::fs::stat(&context.repo.at(path)).is_some_and(|meta| meta.is_file())
}
