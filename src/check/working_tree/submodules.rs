//! Submodules: any dirt in them blocks, whatever it is; the project's own `.gitmodules` may hide it, this machine's
//! configuration may not.

use std::collections::BTreeMap;

use crate::check::Context;
use crate::git::index::IndexFacts;
use crate::git::{Entry, EntryKind, GitError};
use crate::model::{CheckId, Issue};
use crate::ui::plain;

const ID: CheckId = CheckId::WorkingTree;

pub(super) fn judge(context: &Context<'_>, facts: &IndexFacts) -> Result<Vec<Issue>, GitError> {
    let dirty: Vec<&Entry> = context.status.entries.iter().filter(|entry| entry.is_submodule()).collect();
    if dirty.is_empty() && facts.gitlinks.is_empty() {
        return Ok(Vec::new());
    }
    let declared = context.repo.gitmodules()?;
    let mut issues = dirt(context, &dirty, &declared)?;
    for (path, commit) in &facts.gitlinks {
        let shown = plain(&String::from_utf8_lossy(path));
        if !declared.contains_key(path) {
            let message = format!(
                "`{shown}` is recorded as a submodule, but `.gitmodules` does not say where it comes from."
            );
            issues.push(Issue::warn(ID, "gitlink-without-url", message).at(path).hint(format!(
                "Add it with `git submodule add URL {shown}`, or take it out with `git rm --cached {shown}`."
            )));
        } else if !context.repo.submodule_commit_is_pushed(path, commit)? {
            let message =
                format!("`{shown}` is recorded at {}, which is on none of its remotes.", short(commit));
            issues.push(
                Issue::warn(ID, "submodule-unpushed", message)
                    .at(path)
                    .hint(format!("Push it first: `git -C {shown} push`.")),
            );
        }
    }
    Ok(issues)
}

/// Submodules whose content or commit differs.
fn dirt(
    context: &Context<'_>,
    dirty: &[&Entry],
    declared: &BTreeMap<Vec<u8>, Option<String>>,
) -> Result<Vec<Issue>, GitError> {
    let hides = |entry: &&&Entry| declared.get(&entry.path).is_some_and(Option::is_some);
    // a second walk only where the project itself hides something
    let shown =
        if dirty.iter().any(|entry| hides(&entry)) { Some(context.repo.submodules_shown()?) } else { None };
    let issue = |entry: &&Entry| {
        let path = plain(&String::from_utf8_lossy(&entry.path));
        let hidden = hides(&entry) && shown.as_ref().is_some_and(|shown| !shown.contains(&entry.path));
        if hidden {
            let message =
                format!("`{path}` is a submodule with changes that `.gitmodules` hides (`ignore`).");
            return Issue::warn(ID, "submodule-hidden", message)
                .at(&entry.path)
                .hint(format!("Look at `git -C {path} status`; this is the project's own choice."));
        }
        let issue = Issue::block(ID, "submodule-dirty", format!("`{path}` is a submodule {}.", what(entry)))
            .at(&entry.path)
            .hint(format!("Commit and push in `{path}`, then commit the new state here; or `git submodule update {path}`."));
        context.owned(issue, entry)
    };
    Ok(dirty.iter().map(issue).collect())
}

fn what(entry: &Entry) -> &'static str {
    let EntryKind::Changed(change) = &entry.kind else { return "in conflict" };
    match (change.staged, change.unstaged, change.submodule) {
        (_, b'D', _) => "whose folder is gone",
        (_, _, Some([_, b'M', _])) => "with edits of its own",
        (_, _, Some([_, _, b'U'])) => "with untracked files",
        (_, _, Some([b'C', _, _])) => "at another commit than the one recorded",
        _ => "whose new state is staged, not committed",
    }
}

fn short(id: &str) -> &str {
    &id[..id.len().min(12)]
}
