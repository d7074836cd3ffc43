//! The push gate: judges every ref that git is about to push, from the object store; where HEAD's commit is among
//! them, the workbench as well. The checkout is never touched. Tests are run only where nothing else is missing and they
//! are known to be short: a host drops the connection that git has already opened.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use crate::check::temp_artifacts;
use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::check::{CheckOptions, Judged, judge_walked as judge_bench};
use crate::flow::evidence::{NewestRun, Recorded};
use crate::flow::verify::{self, VerifyOptions};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, allow, bypass, evidence, queue, recover};
use crate::git::pins::is_pin;
use crate::git::push::{PushedRef, Start};
use crate::git::status::{Walk, walk_ahead};
use crate::git::{GitError, Refs, push};
use crate::githook::mark;
use crate::model::issue::COULD_NOT_CHECK;
use crate::model::overrides::{Override, PARKED};
use crate::model::report::TestStanding;
use crate::model::{CheckId, Issue, Severity};
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
    if let Some(answer) = prove(env, ui) {
        return Ok(answer);
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
        bypass::record(&bench, &remote, &updates, "skipped", None);
        ui.warn("`ENDWELL_SKIP` is set: this push was not judged, and the next packet says so");
        return Ok(ExitStatus::Done);
    }
    Gate { bench: &bench, remote: &remote, updates: &updates }.decide(walk)
}

/// Answers `endwell install` and `doctor`, which want to see that git really starts this hook. It says no, so that it is
/// no way around the gate.
fn prove(env: &Env, ui: Ui) -> Option<ExitStatus> {
    let nonce = env.text(push::PROOF)?;
    ui.say(format_args!("{} {}", push::PROOF, plain(nonce)));
    Some(ExitStatus::Blocked)
}

struct Gate<'a> {
    bench: &'a Workbench,
    remote: &'a str,
    updates: &'a [PushedRef],
}

#[derive(Default)]
struct Verdict {
    issues: Vec<Issue>,
    warnings: Vec<String>,
    /// How the tests of HEAD's commit stand, where it is pushed from a bench without any dirt.
    tests: Option<TestStanding>,
}

impl Verdict {
    fn is_refusal(&self) -> bool {
        !self.issues.is_empty()
    }

    /// Nothing is missing but a run of the tests.
    fn lacks_only_tests(&self) -> bool {
        let is_run = |issue: &Issue| {
            issue.check == CheckId::Tests && matches!(issue.code.as_str(), "tests-missing" | "tests-stale")
        };
        self.is_refusal() && self.issues.iter().all(is_run)
    }
}

impl Gate<'_> {
    /// Judges, lets through what a person has let through, runs short tests where they are all that is missing, and
    /// says what came of it.
    fn decide(&self, walk: Option<Walk>) -> Result<ExitStatus> {
        let (bench, ui) = (self.bench, self.bench.ui);
        let mut verdict = self.judge(walk)?;
        let mut exception = self.exception(&verdict);
        if exception.is_none()
            && verdict.lacks_only_tests()
            && let Some(limit) = verdict.tests.as_ref().and_then(|tests| short(bench, tests))
        {
            ui.say(format_args!(
                "endwell: only the tests are missing, and they are short: running them (at most {} s)",
                limit.as_secs()
            ));
            verify::verify(bench, &VerifyOptions { timeout: Some(limit), ..VerifyOptions::default() })?;
            verdict = self.judge(None)?;
            exception = self.exception(&verdict);
        }
        for warning in &verdict.warnings {
            ui.warn(warning);
        }
        let record = |word, exception| bypass::record(bench, self.remote, self.updates, word, exception);
        if let Some(exception) = exception {
            record("allowed", Some(&exception));
            allow::forget(bench);
            ui.warn(format_args!(
                "this push goes through by an exception of {}: {}",
                exception.by, exception.reason
            ));
            return Ok(ExitStatus::Done);
        }
        if !verdict.is_refusal() {
            record("passed", None);
            allow::forget(bench);
            return Ok(ExitStatus::Done);
        }
        record("refused", None);
        allow::remember(bench, self.remote, self.updates, &verdict.issues);
        let may_be_allowed = verdict.issues.iter().all(|issue| issue.code != PARKED)
            && (bench.config.allow.agents || allow::agent_around(bench).is_none());
        ui.say(report::push::refusal(&verdict.issues, may_be_allowed));
        let unjudged = verdict.issues.iter().any(|issue| issue.code == COULD_NOT_CHECK);
        Ok(if unjudged { ExitStatus::CouldNotJudge } else { ExitStatus::Blocked })
    }

    fn exception(&self, verdict: &Verdict) -> Option<Override> {
        verdict.is_refusal().then(|| allow::claim(self.bench, self.updates, &verdict.issues)).flatten()
    }

    fn judge(&self, walk: Option<Walk>) -> Result<Verdict> {
        let bench = self.bench;
        let refs = Refs::read(&bench.repo, &bench.objects)
            .map_err(|error| git_failed("can't read the refs", error))?;
        let head = match bench.objects.head().filter(|_| bench.repo.ref_files) {
            Some(head) => Some(head),
            None => bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?,
        };
        let mut verdict = Verdict::default();
        // what each commit adds to the remote, by the remote's own
        let mut seen = BTreeMap::new();
        let mut head_is_pushed = false;
        for pushed in self.updates {
            match self.commit_of(pushed) {
                Ok(None) => {}
                Ok(Some(commit)) => {
                    let is_head = Some(&commit) == head.as_ref();
                    let key = (commit.clone(), pushed.remote_id.clone());
                    let adds = *seen.entry(key).or_insert_with(|| {
                        let judged = self.judge_commit(&mut verdict, pushed, &commit, (&refs, is_head));
                        judged.unwrap_or_else(|error| {
                            verdict.issues.push(unjudged(pushed, &error));
                            true
                        })
                    });
                    // a tag on what the remote has already brings no work of this bench
                    head_is_pushed |= is_head && (adds || !pushed.remote_ref.starts_with("refs/tags/"));
                }
                Err(issue) => verdict.issues.push(*issue),
            }
        }
        if head_is_pushed {
            self.judge_workbench(&mut verdict, head.as_deref(), walk)?;
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
            return Err(Box::new(parked(pushed)));
        }
        let Some(id) = &pushed.local_id else { return Ok(None) };
        let objects = &self.bench.objects;
        let commit = objects.peel_to_commit(id).map_err(|error| Box::new(unjudged(pushed, &error)))?;
        let Some(commit) = commit else { return Ok(None) };
        // by its id, too, or behind a tag
        match objects.is_parked(&commit) {
            Ok(false) => Ok(Some(commit)),
            Ok(true) => Err(Box::new(parked(pushed))),
            Err(error) => Err(Box::new(unjudged(pushed, &error))),
        }
    }

    /// Judges what a commit adds to the remote, and what is recorded about its tree; whether it adds anything.
    fn judge_commit(
        &self,
        verdict: &mut Verdict,
        pushed: &PushedRef,
        commit: &str,
        (refs, is_head): (&Refs, bool),
    ) -> std::result::Result<bool, GitError> {
        let bench = self.bench;
        let shown = plain(&pushed.remote_ref);
        let tips = (commit, pushed.remote_id.as_deref());
        let base = match push::start(&bench.repo, &bench.objects, refs, self.remote, tips)? {
            Start::Commit(base) if base == commit => {
                // a tracking branch can be stale or made up: what is on record counts all the same
                let found = recorded(bench, &bench.objects.tree_of(commit)?, &shown);
                verdict.issues.extend(found.filter(|issue| issue.blocks() && !is_head));
                return Ok(false);
            }
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
        Ok(true)
    }

    /// HEAD's commit is pushed: the bench must be clean, and evidence must be there.
    fn judge_workbench(&self, verdict: &mut Verdict, head: Option<&str>, walk: Option<Walk>) -> Result<()> {
        let bench = self.bench;
        queue::take_over(bench);
        recover::finish_dead(bench, None);
        let Judged { report, session, tests, .. } = judge_bench(bench, &CheckOptions::default(), walk)?;
        let settings = session.in_force(&bench.config);
        let may_relax = settings.push.own_dirt == crate::config::OwnDirt::Warn && !session.is_agents();
        let relaxed =
            |issue: &Issue| may_relax && issue.check == CheckId::WorkingTree && issue.code != COULD_NOT_CHECK;
        let is_relaxed = report.issues.iter().any(|issue| issue.blocks() && relaxed(issue));
        for issue in report.issues {
            if !issue.blocks() {
                // what a check only remarks on does not belong into every push; missing tests do
                if issue.code == "no-tests" {
                    verdict.warnings.push(issue.message);
                }
            } else if relaxed(&issue) {
                verdict.warnings.push(issue.message);
            } else if !(is_relaxed && issue.check == CheckId::Tests) {
                verdict.issues.push(issue);
            }
        }
        if let Some(head) = head.filter(|_| is_relaxed) {
            // the bench holds something else than what is pushed: that commit's own record counts
            let tree = bench.objects.tree_of(head).map_err(|error| git_failed("can't read HEAD", error))?;
            verdict.issues.extend(recorded(bench, &tree, "HEAD").map(|issue| {
                Issue {
                    severity: Severity::Block,
                    hint:
                        "Run `endwell verify --clean-room`: it tests the commit without what lies around it."
                            .to_owned(),
                    ..issue
                }
            }));
        }
        // a tree is named only where nothing lies around it
        verdict.tests = report.tree.is_some().then_some(tests);
        Ok(())
    }
}

/// How long tests may take that are run in the middle of a push: `None` where they are not known to be short enough.
fn short(bench: &Workbench, tests: &TestStanding) -> Option<Duration> {
    let limit = Duration::from_secs(bench.config.push.test_seconds);
    let open = |standing: &TestStanding| {
        matches!(standing, TestStanding::Missing { .. } | TestStanding::Stale { .. })
    };
    let any = match tests {
        TestStanding::Suites(suites) => suites.iter().any(|suite| open(&suite.standing)),
        one => open(one),
    };
    let store = evidence::store(bench);
    let mut took = Duration::ZERO;
    // of suites all are counted: which of them will run is not known yet
    for command in evidence::commands(bench).ok().filter(|_| any)? {
        let last = store.newest(&command.argv, "", |_| true).ok()??;
        took += Duration::from_millis(Some(last).filter(|last| last.error.is_none())?.run.duration_ms);
    }
    (took < limit).then_some(limit)
}

fn parked(pushed: &PushedRef) -> Issue {
    let message = format!("`{}` is parked work, which is never pushed.", plain(&pushed.remote_ref));
    Issue::block(CheckId::Branch, PARKED, message)
        .text(&pushed.remote_ref)
        .hint("Leave it out: push branches by name instead of `--mirror`.")
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
    Issue::block(CheckId::Branch, COULD_NOT_CHECK, message)
        .text(&pushed.remote_ref)
        .hint("Fetch what is missing (`git fetch`), check the repository (`git fsck`), then push again.")
}
