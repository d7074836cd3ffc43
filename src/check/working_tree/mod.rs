//! `working-tree`: every change committed, or set aside with a note. It only looks: nothing is ever stashed, reset or
//! deleted by a check.

mod hidden;
mod stashes;
mod submodules;

use crate::check::{Check, Context, Found};
use crate::git::operations::{self, Operation};
use crate::git::status::Change;
use crate::git::{Entry, EntryKind, GitError};
use crate::model::{CheckId, Issue, Owner};
use crate::ui::{plain, shell_word};

const ID: CheckId = CheckId::WorkingTree;

/// The check.
pub struct WorkingTree;

impl Check for WorkingTree {
    fn id(&self) -> CheckId {
        ID
    }

    fn run(&self, context: &Context<'_>) -> Found {
        let facts = context.repo.facts(context.status)?;
        let mut issues = operations_under_way(context);
        issues.extend(entries(context)?);
        issues.extend(submodules::judge(context, &facts)?);
        issues.extend(hidden::judge(context, &facts)?);
        issues.extend(stashes::judge(context)?);
        if context.refs.has_replacements() {
            issues.push(
                Issue::warn(
                    ID,
                    "replace-refs",
                    "`refs/replace` shows other commits than the ones that are pushed.",
                )
                .hint("Look at `git replace --list`, and delete what is not needed with `git replace -d`."),
            );
        }
        Ok(issues)
    }
}

fn operations_under_way(context: &Context<'_>) -> Vec<Issue> {
    let hidden = operations::autostash(&context.repo.git_dir);
    operations::under_way(&context.repo.git_dir)
        .into_iter()
        .map(|operation| under_way(context, operation, hidden))
        .collect()
}

fn under_way(context: &Context<'_>, operation: Operation, hidden: bool) -> Issue {
    let name = operation.name();
    let mut message = format!("A {name} is under way.");
    if hidden && operation != Operation::Bisect {
        message.push_str(" It put uncommitted work aside (autostash) and brings it back at its end.");
    }
    let before =
        context.baseline.is_some_and(|baseline| baseline.operations.iter().any(|known| known == name));
    let issue = Issue::block(ID, "operation-in-progress", message).text(name).hint(operation.ways_out());
    match (context.baseline, before) {
        (None, _) => issue,
        (Some(_), true) => issue.stood_before(),
        (Some(_), false) => issue.owned_by(Owner::Session),
    }
}

/// One issue for each path, endwell's own artifacts and submodules left out.
fn entries(context: &Context<'_>) -> Result<Vec<Issue>, GitError> {
    let phantoms = hidden::phantoms(context)?;
    let judged = context.status.entries.iter().filter(|entry| !entry.is_submodule());
    Ok(judged
        .filter(|entry| !context.config.is_own(&entry.path))
        .map(|entry| judge(context, entry, &phantoms))
        .collect())
}

fn judge(context: &Context<'_>, entry: &Entry, phantoms: &[&[u8]]) -> Issue {
    let shown = plain(&String::from_utf8_lossy(&entry.path));
    let issue = match &entry.kind {
        EntryKind::Unmerged { code } => {
            let code = String::from_utf8_lossy(code);
            Issue::block(ID, "conflict", format!("`{shown}` is in conflict ({code})."))
                .hint(format!("Resolve it, then `git add {}`.", quoted(&entry.path)))
        }
        EntryKind::Untracked => {
            Issue::block(ID, "untracked", format!("`{shown}` is not tracked.")).hint(untracked_hint(entry))
        }
        EntryKind::Changed(_) if phantoms.contains(&entry.path.as_slice()) => {
            let message = format!("`{shown}` differs in its line endings only.");
            Issue::warn(ID, "line-endings", message)
                .hint(format!("Run `git add --renormalize -- {}`.", quoted(&entry.path)))
        }
        EntryKind::Changed(change) => Issue::block(ID, "uncommitted", format!("`{shown}` {}.", what(change)))
            .hint("Commit it, or put it aside: `endwell park \"what and why\"`."),
    };
    context.owned(issue.at(&entry.path), entry)
}

fn untracked_hint(entry: &Entry) -> String {
    let path = quoted(&entry.path);
    if entry.path.ends_with(b"/") {
        return format!("A repository of its own lies there: move it out, or ignore `{path}`.");
    }
    format!(
        "Commit it (`git add -- {path}`), put it aside (`endwell park \"what and why\"`), delete it, or ignore it in \
         `.gitignore`."
    )
}

fn what(change: &Change) -> String {
    let verb = |letter: u8| match letter {
        b'A' => "added",
        b'D' => "deleted",
        b'T' => "another kind of file",
        _ => "modified",
    };
    match (change.staged, change.unstaged) {
        (staged, b'.') => format!("is {} in the index, not committed", verb(staged)),
        (b'.', b'A') => "is added with `git add -N`, not committed".to_owned(),
        (b'.', unstaged) => format!("is {} in the work tree", verb(unstaged)),
        (staged, unstaged) => {
            format!("is {} in the index and {} in the work tree", verb(staged), verb(unstaged))
        }
    }
}

/// A path as a word for `git add`: names that git would take for a pattern are marked as literal.
fn quoted(path: &[u8]) -> String {
    let magic = path.first() == Some(&b':') || path.iter().any(|byte| b"*?[\\".contains(byte));
    shell_word(&if magic { [b":(literal)", path].concat() } else { path.to_vec() })
}
