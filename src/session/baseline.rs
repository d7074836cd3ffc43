//! Takes a baseline: what is there now, so that later "whose dirt is it?" has an answer.

use crate::git::{Refs, Repo, Status, operations};
use crate::model::SCHEMA_VERSION;
use crate::model::session::{Baseline, BoardBaseline, path_key};

/// Writes down HEAD, branches, stash entries, operations, and every dirty path with a digest of what lies there.
/// `taken_at` is RFC 3339; endwell's own artifacts are left out by `is_own`.
pub fn take(
    repo: &Repo,
    refs: &Refs,
    status: &Status,
    board: Option<BoardBaseline>,
    taken_at: String,
) -> Result<Baseline, crate::git::GitError> {
    let stashes = if status.stashes == 0 { Vec::new() } else { repo.stash_entries()? };
    let dirty = status.entries.iter().map(|entry| (path_key(&entry.path), repo.content_digest(entry)));
    Ok(Baseline {
        schema_version: SCHEMA_VERSION,
        taken_at,
        head: status.head.clone(),
        branch: status.branch.clone(),
        branches: refs.branches().map(|(name, id)| (name.to_owned(), id.to_owned())).collect(),
        stashes: stashes.into_iter().map(|entry| entry.commit).collect(),
        dirty: dirty.collect(),
        operations: operations::under_way(&repo.git_dir)
            .iter()
            .map(|operation| operation.name().to_owned())
            .collect(),
        board,
        settings: None,
    })
}
