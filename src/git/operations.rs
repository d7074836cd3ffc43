//! Operations under way: porcelain status is silent about them, and the tree is often clean meanwhile.

use std::path::Path;

/// An operation that was begun and neither ended nor given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Merge,
    Rebase,
    /// `git am`.
    ApplyMailbox,
    CherryPick,
    Revert,
    Bisect,
}

impl Operation {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::ApplyMailbox => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// The way on, and the way back.
    pub const fn ways_out(self) -> &'static str {
        match self {
            Self::Merge => "Finish it with `git merge --continue`, or give it up with `git merge --abort`.",
            Self::Rebase => {
                "Finish it with `git rebase --continue`, or give it up with `git rebase --abort`."
            }
            Self::ApplyMailbox => "Finish it with `git am --continue`, or give it up with `git am --abort`.",
            Self::CherryPick => {
                "Finish it with `git cherry-pick --continue`, or give it up with `git cherry-pick --abort`."
            }
            Self::Revert => {
                "Finish it with `git revert --continue`, or give it up with `git revert --abort`."
            }
            Self::Bisect => "End it with `git bisect reset`.",
        }
    }
}

/// What is under way in a work tree, given its own git dir.
pub fn under_way(git_dir: &Path) -> Vec<Operation> {
    let there = |name: &str| crate::fs::exists(&git_dir.join(name));
    let mut found = Vec::new();
    if there("rebase-apply/applying") {
        found.push(Operation::ApplyMailbox);
    } else if there("rebase-apply") || there("rebase-merge") {
        found.push(Operation::Rebase);
    }
    if there("MERGE_HEAD") {
        found.push(Operation::Merge);
    }
    let rebasing = !found.is_empty();
    // a rebase that stops at a pick leaves CHERRY_PICK_HEAD too: one operation, not two
    if there("CHERRY_PICK_HEAD") && !rebasing {
        found.push(Operation::CherryPick);
    }
    if there("REVERT_HEAD") && !rebasing {
        found.push(Operation::Revert);
    }
    if found.is_empty()
        && let Some(operation) = sequencer(git_dir)
    {
        found.push(operation);
    }
    if there("BISECT_LOG") {
        found.push(Operation::Bisect);
    }
    found
}

/// A series whose conflict was committed by hand leaves only its to-do list.
fn sequencer(git_dir: &Path) -> Option<Operation> {
    let todo = crate::fs::read_optional(&git_dir.join("sequencer/todo")).ok()??;
    let text = String::from_utf8_lossy(&todo);
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    match first {
        Some(line) if line.starts_with("revert") => Some(Operation::Revert),
        _ => Some(Operation::CherryPick),
    }
}

/// Work that a rebase put aside and will bring back: hidden until then.
pub fn autostash(git_dir: &Path) -> bool {
    ["rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"]
        .iter()
        .any(|name| crate::fs::exists(&git_dir.join(name)))
}
