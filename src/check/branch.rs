//! `branch`: on the expected branch, no detached HEAD, no orphan. It judges HEAD's branch and the branches made in
//! this session; what else lies in the repository (an old `gh-pages`) is none of its business.

use crate::check::{Check, Context, Found};
use crate::config::Config;
use crate::git::objects::Relation;
use crate::git::{GitError, Refs, Repo, operations};
use crate::model::{CheckId, Issue, Owner};
use crate::ui::plain;

const ID: CheckId = CheckId::Branch;

/// The check.
pub struct Branch;

impl Check for Branch {
    fn id(&self) -> CheckId {
        ID
    }

    fn run(&self, context: &Context<'_>) -> Found {
        let mut issues = Vec::new();
        let Some(head) = context.status.head.as_deref() else { return Ok(vec![unborn(context)]) };
        match context.status.branch.as_deref() {
            None => issues.extend(detached(context)),
            Some(branch) => {
                issues.extend(unexpected(context, branch));
                issues.extend(orphan(context, branch, head)?);
                issues.extend(upstream_gone(context, branch));
            }
        }
        issues.extend(moved(context, head)?);
        issues.extend(strays(context, head)?);
        Ok(issues)
    }
}

fn unborn(context: &Context<'_>) -> Issue {
    let branch = context.status.branch.as_deref().unwrap_or("HEAD");
    if context.refs.branches().next().is_none() {
        return Issue::warn(ID, "no-commit", "There is no commit yet: nothing to hand over.")
            .hint("Make the first commit.");
    }
    let message =
        format!("`{}` has no commit yet and will share no history with the other branches.", plain(branch));
    Issue::block(ID, "orphan-branch", message)
        .text(branch)
        .hint("Go back to a branch with history (`git switch BRANCH`), and start from there.")
}

/// A detached HEAD; where an operation is under way it is that operation's effect, not a second issue.
fn detached(context: &Context<'_>) -> Option<Issue> {
    if !operations::under_way(&context.repo.git_dir).is_empty() {
        return None;
    }
    let issue = Issue::block(ID, "detached-head", "HEAD is on no branch: commits made here are easily lost.")
        .hint("Give it a branch: `git switch -c NAME`.");
    let colocated = crate::fs::exists(&context.repo.top.join(".jj"));
    let before =
        context.baseline.is_some_and(|baseline| baseline.branch.is_none() && baseline.head.is_some());
    Some(match (colocated, before) {
        (_, true) => issue.stood_before(),
        (true, _) => issue.as_warning(),
        _ => context.by_session(issue),
    })
}

/// HEAD's branch against the one that is expected: by configuration, else where the agent's session began. A branch
/// made in the session is where its work belongs; one that was there before is not.
fn unexpected(context: &Context<'_>, branch: &str) -> Option<Issue> {
    let configured = context.config.branch.expected.as_deref();
    let session = context.baseline.filter(|_| context.in_session);
    let (expected, why) = match (configured, session) {
        (Some(expected), _) => (expected, "`branch.expected` in `endwell.toml` says so"),
        (None, Some(baseline)) if baseline.branches.contains_key(branch) => {
            (baseline.branch.as_deref()?, "the session began there")
        }
        _ => return other_than_the_boards(context, branch),
    };
    if expected == branch {
        return None;
    }
    let (here, there) = (plain(branch), plain(expected));
    let issue = Issue::block(
        ID,
        "unexpected-branch",
        format!("HEAD is on `{here}`, but `{there}` is expected: {why}."),
    )
    .text(branch)
    .hint(format!("Go back with `git switch {there}`."));
    Some(context.by_session(issue))
}

/// A loop's board names the branch that its open stories belong on. Such boards are left lying: a warning only.
fn other_than_the_boards(context: &Context<'_>, branch: &str) -> Option<Issue> {
    let board = context.board.board()?;
    let expected = board.branch.as_deref().filter(|expected| *expected != branch)?;
    if !board.features.iter().any(|feature| feature.status.is_open()) {
        return None;
    }
    let (here, there, path) = (plain(branch), plain(expected), plain(&board.path));
    let message = format!("HEAD is on `{here}`, but `branchName` of `{path}` says `{there}`.");
    let hint = format!("Go there with `git switch {there}`, or set `[branch] expected` in `endwell.toml`.");
    Some(context.by_session(Issue::warn(ID, "unexpected-branch", message).text(branch).hint(hint)))
}

fn orphan(context: &Context<'_>, branch: &str, head: &str) -> Result<Option<Issue>, GitError> {
    let Some((name, id)) = default_branch(context.repo, context.refs, context.config)? else {
        return Ok(None);
    };
    if id == head || name == branch {
        return Ok(None);
    }
    if context.objects.relation(head, &id)? != Relation::None {
        return Ok(None);
    }
    let (branch, name) = (plain(branch), plain(&name));
    if context.repo.shallow {
        let message = format!("This shallow clone can't tell whether `{branch}` and `{name}` share history.");
        return Ok(Some(
            Issue::warn(ID, "merge-base-unknown", message).hint("Fetch more of it: `git fetch --unshallow`."),
        ));
    }
    let issue = Issue::block(ID, "orphan-branch", format!("`{branch}` shares no history with `{name}`."))
        .text(&branch)
        .hint(format!(
            "Move the work onto `{name}`: `git switch -c NEW {name}`, then `git cherry-pick` the commits."
        ));
    let before = context.baseline.is_some_and(|baseline| baseline.branches.contains_key(branch.as_str()));
    Ok(Some(if before { issue.stood_before() } else { context.by_session(issue) }))
}

/// The default branch's short name and commit: by configuration, the remote's HEAD, git's configuration, or custom.
pub fn default_branch(
    repo: &Repo,
    refs: &Refs,
    config: &Config,
) -> Result<Option<(String, String)>, GitError> {
    let local = |name: &str| Some((name.to_owned(), refs.id(&format!("refs/heads/{name}"))?.to_owned()));
    if let Some(name) = &config.branch.default {
        return Ok(local(name)
            .or_else(|| Some((name.clone(), refs.id(&format!("refs/remotes/{name}"))?.to_owned()))));
    }
    if let Some(target) = refs.symbolic.get("refs/remotes/origin/HEAD")
        && let Some(id) = refs.id(target)
    {
        let short = target.strip_prefix("refs/remotes/origin/").unwrap_or(target);
        return Ok(Some((short.to_owned(), id.to_owned())));
    }
    if let Some(found) = ["main", "master"].into_iter().find_map(local) {
        return Ok(Some(found));
    }
    Ok(repo.config("init.defaultBranch")?.and_then(|name| local(&name)))
}

fn upstream_gone(context: &Context<'_>, branch: &str) -> Option<Issue> {
    let upstream = context.status.upstream.as_deref().filter(|_| !context.status.upstream_there)?;
    let (branch, upstream) = (plain(branch), plain(upstream));
    Some(
        Issue::warn(ID, "upstream-gone", format!("`{upstream}`, the upstream of `{branch}`, is gone.")).hint(
            format!(
                "Push again (`git push -u origin {branch}`), or forget it: `git branch --unset-upstream`."
            ),
        ),
    )
}

/// HEAD was moved under the session: what it had committed may be on no branch any more.
fn moved(context: &Context<'_>, head: &str) -> Result<Option<Issue>, GitError> {
    let Some(baseline) = context.baseline.filter(|_| context.in_session && context.repo.ref_files) else {
        return Ok(None);
    };
    let since = baseline.taken_at.parse::<jiff::Timestamp>().map_or(i64::MAX, jiff::Timestamp::as_second);
    let Some(last) = context.repo.moved_from_outside(head, since).pop() else { return Ok(None) };
    let (from, to) = (short(&last.from), short(&last.to));
    let kept = !context.objects.has(&last.from) || context.objects.is_ancestor(&last.from, head)?;
    let message = format!("Another process moved HEAD under this session, from {from} to {to}.");
    let issue = if kept {
        Issue::warn(ID, "head-moved", message).hint("Look at what came in: `git log -p -1`.")
    } else {
        let message = format!("{message} The commit {from} is not in its history any more.");
        Issue::block(ID, "head-moved", message).hint(format!(
            "Bring it back with `git merge {from}` or `git cherry-pick {from}`, or make it a branch."
        ))
    };
    Ok(Some(issue.text(&format!("{from} {to}")).owned_by(Owner::Session)))
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// Branches that this session made and left: neither merged nor pushed nor checked out.
fn strays(context: &Context<'_>, head: &str) -> Result<Vec<Issue>, GitError> {
    let Some(baseline) = context.baseline.filter(|_| context.in_session) else { return Ok(Vec::new()) };
    let mut issues = Vec::new();
    for (name, id) in context.refs.branches() {
        let elsewhere = || context.other_worktrees.iter().any(|other| other.as_deref() == Some(name));
        let known = baseline.branches.contains_key(name) || context.status.branch.as_deref() == Some(name);
        let of_another = || !context.other_worktrees.is_empty() && !context.repo.was_checked_out_here(name);
        if known || elsewhere() || of_another() || is_kept(context, name, id, head)? {
            continue;
        }
        let shown = plain(name);
        let message = format!("`{shown}` was made in this session and is neither merged nor pushed.");
        issues.push(
            Issue::block(ID, "stray-branch", message)
                .text(name)
                .hint(format!("Merge it, push it (`git push -u origin {shown}`), or delete it (`git branch -D {shown}`)."))
                .owned_by(Owner::Session),
        );
    }
    Ok(issues)
}

/// Whether a branch's commits are also on HEAD, on another local branch, or on a remote.
fn is_kept(context: &Context<'_>, name: &str, id: &str, head: &str) -> Result<bool, GitError> {
    let others = context.refs.branches().filter(|(other, _)| *other != name).map(|(_, other)| other);
    let holders = std::iter::once(head).chain(others).chain(context.refs.tracking().map(|(_, other)| other));
    for holder in holders {
        if holder == id || context.objects.is_ancestor(id, holder)? {
            return Ok(true);
        }
    }
    Ok(false)
}
