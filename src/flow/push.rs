//! The push gate: judges every ref that git is about to push, from the object store; where HEAD's commit is among
//! them, the workbench as well. The checkout is never touched, and no test is run.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::check::temp_artifacts;
use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::check::{CheckOptions, judge_walked as judge_bench};
use crate::flow::evidence::{NewestRun, Recorded};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, bypass, evidence, queue, recover};
use crate::git::pins::is_pin;
use crate::git::push::{PushedRef, Start};
use crate::git::status::{Walk, walk_ahead};
use crate::git::{GitError, Refs, push};
use crate::githook::mark;
use crate::model::{CheckId, Issue};
use crate::report;
use crate::ui::{Ui, plain};

/// Judges a push. `arguments` are git's: the remote's name and its URL; `input` is what git wrote.
pub fn judge(env: &Env, ui: Ui, arguments: &[OsString], input: &[u8]) -> Result<ExitStatus> {
    let refs = push::read(input).map_err(|error| {
        Failure::broken("could not judge the push")
            .because(error)
            .hint("Push again with `git push`; nothing else calls this hook.")
    })?;
    let remote = arguments.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if refs.is_empty() {
        return Ok(ExitStatus::Done);
    }
    let (deletions, updates): (Vec<_>, Vec<_>) =
        refs.into_iter().partition(|pushed| pushed.local_id.is_none());
    for deletion in &deletions {
        ui.say(format_args!("endwell: `{}` is deleted, nothing to judge", plain(&deletion.remote_ref)));
    }
    if updates.is_empty() {
        return Ok(ExitStatus::Done);
    }
    // git starts the hook at the top of the work tree; most pushes push HEAD, and then the walk is what is waited for
    let walk = (!env.switch("ENDWELL_SKIP")).then(|| walk_ahead(env));
    let bench = Workbench::open(env, ui)?;
    if !mark::installed_here(env, &bench.repo) {
        bench.ui.detail("endwell: not installed here by this person, so nothing is judged");
        return Ok(ExitStatus::Done);
    }
    if env.switch("ENDWELL_SKIP") {
        bypass::record(&bench, &remote, &updates, "skipped");
        ui.warn("`ENDWELL_SKIP` is set: this push was not judged, and the next packet says so");
        return Ok(ExitStatus::Done);
    }
    let verdict = Gate { bench: &bench, remote: &remote }.judge(&updates, walk)?;
    bypass::record(&bench, &remote, &updates, if verdict.is_refusal() { "refused" } else { "passed" });
    for warning in &verdict.warnings {
        ui.warn(warning);
    }
    if !verdict.is_refusal() {
        return Ok(ExitStatus::Done);
    }
    ui.say(report::push::refusal(&verdict.issues));
    let unjudged = verdict.issues.iter().any(|issue| issue.code == crate::model::issue::COULD_NOT_CHECK);
    Ok(if unjudged { ExitStatus::CouldNotJudge } else { ExitStatus::Blocked })
}

struct Gate<'a> {
    bench: &'a Workbench,
    remote: &'a str,
}

#[derive(Default)]
struct Verdict {
    issues: Vec<Issue>,
    warnings: Vec<String>,
}

impl Verdict {
    fn is_refusal(&self) -> bool {
        !self.issues.is_empty()
    }
}

impl Gate<'_> {
    fn judge(&self, updates: &[PushedRef], walk: Option<Walk>) -> Result<Verdict> {
        let bench = self.bench;
        let refs = Refs::read(&bench.repo, &bench.objects)
            .map_err(|error| git_failed("can't read the refs", error))?;
        let head = match bench.objects.head().filter(|_| bench.repo.ref_files) {
            Some(head) => Some(head),
            None => bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?,
        };
        let mut verdict = Verdict::default();
        let mut seen = BTreeSet::new();
        let mut head_is_pushed = false;
        for pushed in updates {
            match self.commit_of(pushed) {
                Ok(None) => {}
                Ok(Some(commit)) => {
                    let is_head = Some(&commit) == head.as_ref();
                    head_is_pushed |= is_head;
                    if seen.insert((commit.clone(), pushed.remote_id.clone())) {
                        let judged = self.judge_commit(&mut verdict, pushed, &commit, (&refs, is_head));
                        judged.unwrap_or_else(|error| verdict.issues.push(unjudged(pushed, &error)));
                    }
                }
                Err(issue) => verdict.issues.push(*issue),
            }
        }
        if head_is_pushed {
            self.judge_workbench(&mut verdict, walk)?;
        }
        let mut known = BTreeSet::new();
        verdict.issues.retain(|issue| known.insert(issue.fingerprint.clone()));
        Ok(verdict)
    }

    /// The commit that a ref brings; `None` for a tree or blob, which is not judged.
    fn commit_of(&self, pushed: &PushedRef) -> std::result::Result<Option<String>, Box<Issue>> {
        let shown = plain(&pushed.remote_ref);
        if [&pushed.local_ref, &pushed.remote_ref].iter().any(|name| is_pin(name)) {
            let message = format!("`{shown}` keeps a commit of an open session, which is never pushed.");
            let issue = Issue::block(CheckId::Branch, "session-ref", message)
                .text(&pushed.remote_ref)
                .hint("Leave it out: push branches by name instead of `--mirror`.");
            return Err(Box::new(issue));
        }
        if [&pushed.local_ref, &pushed.remote_ref].iter().any(|name| name.starts_with("refs/endwell/parked/"))
        {
            let message = format!("`{shown}` is parked work, which is never pushed.");
            let issue = Issue::block(CheckId::Branch, "parked-ref", message)
                .text(&pushed.remote_ref)
                .hint("Leave it out: push branches by name instead of `--mirror`.");
            return Err(Box::new(issue));
        }
        let Some(id) = &pushed.local_id else { return Ok(None) };
        self.bench.objects.peel_to_commit(id).map_err(|error| Box::new(unjudged(pushed, &error)))
    }

    /// What a commit adds to the remote, and what is recorded about its tree.
    fn judge_commit(
        &self,
        verdict: &mut Verdict,
        pushed: &PushedRef,
        commit: &str,
        (refs, is_head): (&Refs, bool),
    ) -> std::result::Result<(), GitError> {
        let bench = self.bench;
        let shown = plain(&pushed.remote_ref);
        let tips = (commit, pushed.remote_id.as_deref());
        let base = match push::start(&bench.repo, &bench.objects, refs, self.remote, tips)? {
            Start::Commit(base) if base == commit => return Ok(()),
            Start::Commit(base) => Some(base),
            Start::Nothing => None,
            Start::Capped { from, commits } => {
                verdict.warnings.push(format!(
                    "`{shown}`: the remote has nothing of this history; only its newest {commits} commits are judged"
                ));
                Some(from)
            }
        };
        match temp_artifacts::judge_commits(
            &bench.repo,
            &bench.objects,
            base.as_deref(),
            commit,
            &bench.config,
        ) {
            Ok(found) => verdict.issues.extend(found.into_iter().filter(Issue::blocks)),
            Err(why) => verdict.issues.push(Issue::could_not_check(CheckId::TempArtifacts, why)),
        }
        if !is_head {
            match recorded(bench, &bench.objects.tree_of(commit)?, &shown) {
                Some(issue) if issue.blocks() => verdict.issues.push(issue),
                Some(issue) => verdict.warnings.push(issue.message),
                None => {}
            }
        }
        Ok(())
    }

    /// HEAD's commit is pushed: the bench must be clean, and evidence must be there.
    fn judge_workbench(&self, verdict: &mut Verdict, walk: Option<Walk>) -> Result<()> {
        queue::take_over(self.bench);
        recover::finish_dead(self.bench, None);
        let judged = judge_bench(self.bench, &CheckOptions::default(), walk)?;
        let agents = judged.session.is_agents();
        let relaxed = |issue: &Issue| {
            self.bench.config.push.own_dirt == crate::config::OwnDirt::Warn
                && issue.check == CheckId::WorkingTree
                && !agents
        };
        for issue in judged.report.issues {
            if !issue.blocks() {
                // what a check only remarks on does not belong into every push; missing tests do
                if issue.code == "no-tests" {
                    verdict.warnings.push(issue.message);
                }
            } else if relaxed(&issue) {
                verdict.warnings.push(issue.message);
            } else {
                verdict.issues.push(issue);
            }
        }
        Ok(())
    }
}

/// What the records say about the tests of a tree that is not checked out: red blocks, nothing recorded warns.
fn recorded(bench: &Workbench, tree: &str, shown: &str) -> Option<Issue> {
    let runs = match Recorded::of(bench).runs(tree) {
        Ok(runs) => runs,
        Err(error) => return Some(Issue::could_not_check(CheckId::Tests, error)),
    };
    let of = |suite: &Option<String>| {
        suite.as_ref().map(|name| format!(" (suite `{}`)", plain(name))).unwrap_or_default()
    };
    for NewestRun { suite, newest } in &runs {
        if let Some(red) = newest.as_ref().filter(|newest| !newest.is_green()) {
            let named = red.run.failing.join("`, `");
            let what = if named.is_empty() {
                "without a named failure".to_owned()
            } else {
                format!("`{named}` fail")
            };
            let message = format!("The recorded test run of `{shown}`{} is red: {what}.", of(suite));
            return Some(
                Issue::block(CheckId::Tests, "tests-red", message)
                    .text(tree)
                    .hint("Check that branch out, mend it, run `endwell verify` there, then push again."),
            );
        }
    }
    let missing = runs.iter().find(|run| run.newest.is_none())?;
    let known = !evidence::commands(bench).is_ok_and(|commands| commands.is_empty());
    let message = format!("no test run is recorded for `{shown}`{}", of(&missing.suite));
    known.then(|| Issue::warn(CheckId::Tests, "tests-missing", message).text(tree))
}

fn unjudged(pushed: &PushedRef, error: &GitError) -> Issue {
    let message = format!("`{}` could not be judged: {error}", plain(&pushed.remote_ref));
    Issue::block(CheckId::Branch, crate::model::issue::COULD_NOT_CHECK, message)
        .text(&pushed.remote_ref)
        .hint("Fetch what is missing (`git fetch`), check the repository (`git fsck`), then push again.")
}
