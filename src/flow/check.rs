//! The cleanliness phase: one status walk, five checks, one report, written where the next step looks for it.

use std::path::Path;

use crate::check::{self, Context};
use crate::clock::Stopwatch;
use crate::failure::{Failure, Result};
use crate::flow::board::{BoardInputs, Seen};
use crate::flow::evidence::LazyContent;
use crate::flow::session::CurrentSession;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, evidence, handoff, park, safe, session, state};
use crate::git::objects::Relation;
use crate::git::status::Walk;
use crate::git::{GitError, Refs, Status};
use crate::model::clean::{CheckOutcome, CheckStatus, CleanReport};
use crate::model::report::TestStanding;
use crate::model::state::AgentState;
use crate::model::{CheckId, Issue, SCHEMA_VERSION, Severity};

/// What is judged, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Only these checks; empty: all five. A partial run writes no report.
    pub only: Vec<CheckId>,
    /// The revision since which lines and files count as added.
    pub base: Option<String>,
    /// The session's id, where it is given.
    pub session: Option<String>,
}

/// A judgement with what it was made from.
pub struct Judged {
    pub report: CleanReport,
    pub session: CurrentSession,
    /// Absent where git could not walk the work tree.
    pub status: Option<Status>,
    pub tests: TestStanding,
    pub board: BoardInputs,
}

/// Judges the workbench freshly and, for a full run, writes `clean_state.json` and `clean_report.json`.
pub fn judge(bench: &Workbench, options: &CheckOptions) -> Result<Judged> {
    judge_walked(bench, options, None)
}

/// As [`judge`], with a walk that is under way already.
pub fn judge_walked(bench: &Workbench, options: &CheckOptions, walk: Option<Walk>) -> Result<Judged> {
    let judged = look(bench, options, walk)?;
    if options.only.is_empty() {
        write(bench, &judged.report)?;
    }
    Ok(judged)
}

/// Judges the workbench without writing anything.
pub fn look(bench: &Workbench, options: &CheckOptions, walk: Option<Walk>) -> Result<Judged> {
    super::verify::sweep(bench);
    let recovered = park::recover(bench)?;
    // what was brought back after a kill is not in a walk that began before
    let walk = walk.filter(|_| !recovered).unwrap_or_else(|| bench.repo.walk());
    let (refs, index) = (Refs::read(&bench.repo, &bench.objects), bench.repo.index_facts());
    let broke_off = || Err(GitError::Form("the status walk broke off".to_owned()));
    let status = walk.join().unwrap_or_else(|_| broke_off());
    let (mut status, refs) = match (status, refs) {
        (Ok(status), Ok(refs)) => (status, refs),
        (Err(error), _) | (_, Err(error)) => return unjudged(bench, options, &error),
    };
    status.index = index.ok();
    let current = session::current(bench, status.head.as_deref(), options.session.as_deref())?;
    let base = base(bench, options, &status, &refs, &current)?;
    let content = LazyContent::new(bench, &status);
    let inputs = Inputs::gather(bench, &status, &content)?;
    let board =
        BoardInputs::gather(bench, &Seen { status: &status, content: &content }, &current, base.as_deref());
    let config = current.in_force(&bench.config);
    let context = Context {
        repo: &bench.repo,
        objects: &bench.objects,
        refs: &refs,
        status: &status,
        state: &inputs.state,
        baseline: current.baseline.as_ref(),
        base: base.as_deref(),
        config: &config,
        in_session: current.is_agents(),
        other_worktrees: &inputs.other_worktrees,
        tests: &inputs.tests,
        board: &board.reading,
        board_before: board.before.as_ref(),
        proofs: &board.proofs,
    };
    let (checks, issues) = run(&context, &options.only);
    let dirty = status.entries.iter().any(|entry| !bench.config.is_own(&entry.path));
    let tree = match &status.head {
        Some(head) if !dirty => bench.objects.tree_of(head).ok(),
        _ => None,
    };
    let report = CleanReport {
        schema_version: SCHEMA_VERSION,
        clean: !issues.iter().any(Issue::blocks),
        head: status.head.clone(),
        tree,
        base,
        session: Some(current.id.to_string()),
        checks,
        issues,
    };
    Ok(Judged { report, session: current, status: Some(status), tests: inputs.tests, board })
}

/// What the checks look at beyond git.
struct Inputs {
    state: AgentState,
    other_worktrees: Vec<Option<String>>,
    tests: TestStanding,
}

impl Inputs {
    fn gather(bench: &Workbench, status: &Status, content: &LazyContent<'_>) -> Result<Self> {
        let other_worktrees =
            bench.repo.other_worktrees().map_err(|error| git_failed("can't list the work trees", error))?;
        Ok(Self {
            state: state::read(bench)?.state,
            other_worktrees,
            tests: evidence::standing(bench, status, content),
        })
    }
}

fn run(context: &Context<'_>, only: &[CheckId]) -> (Vec<CheckOutcome>, Vec<Issue>) {
    let (mut outcomes, mut issues) = (Vec::new(), Vec::new());
    for check in check::ALL.iter().filter(|check| only.is_empty() || only.contains(&check.id())) {
        let clock = Stopwatch::start();
        let mut found =
            check.run(context).unwrap_or_else(|why| vec![Issue::could_not_check(check.id(), why)]);
        found.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        outcomes.push(CheckOutcome {
            check: check.id(),
            status: status_of(&found),
            duration_ms: clock.millis(),
        });
        issues.append(&mut found);
    }
    (outcomes, issues)
}

fn status_of(issues: &[Issue]) -> CheckStatus {
    if issues.iter().any(|issue| issue.code == crate::model::issue::COULD_NOT_CHECK) {
        return CheckStatus::CouldNotCheck;
    }
    match issues.iter().map(|issue| issue.severity).max() {
        Some(Severity::Block) => CheckStatus::Block,
        Some(Severity::Warn) => CheckStatus::Warn,
        _ => CheckStatus::Clean,
    }
}

/// git could not answer: every check that was asked for blocks with git's first line.
fn unjudged(bench: &Workbench, options: &CheckOptions, error: &GitError) -> Result<Judged> {
    let current = session::current(bench, None, options.session.as_deref())?;
    let asked = CheckId::ALL.into_iter().filter(|id| options.only.is_empty() || options.only.contains(id));
    let outcome = |check| CheckOutcome { check, status: CheckStatus::CouldNotCheck, duration_ms: 0 };
    let report = CleanReport {
        schema_version: SCHEMA_VERSION,
        clean: false,
        head: None,
        tree: None,
        base: None,
        session: Some(current.id.to_string()),
        checks: asked.clone().map(outcome).collect(),
        issues: asked.map(|check| Issue::could_not_check(check, error)).collect(),
    };
    Ok(Judged {
        report,
        session: current,
        status: None,
        tests: TestStanding::NoCommand,
        board: BoardInputs::default(),
    })
}

/// The commit since which lines and files count as added.
pub(super) fn base(
    bench: &Workbench,
    options: &CheckOptions,
    status: &Status,
    refs: &Refs,
    current: &CurrentSession,
) -> Result<Option<String>> {
    if let Some(revision) = &options.base {
        let found = bench.objects.commit_named(revision).map_err(|error| {
            Failure::usage(format!("`{revision}` names no commit"))
                .because(error)
                .hint("Give `--base` a commit, branch or tag that this repository knows.")
        })?;
        return Ok(Some(found));
    }
    let Some(head) = status.head.as_deref() else { return Ok(None) };
    let shared = |other: &str| match bench.objects.relation(head, other) {
        Ok(Relation::MergeBase(base)) => Some(base),
        _ => None,
    };
    let baseline = current.baseline.as_ref();
    if current.is_agents()
        && let Some(baseline) = baseline
    {
        return Ok(match &baseline.head {
            Some(start) => shared(start),
            // the session began before the first commit: everything is new
            None => Some(bench.objects.empty_tree()),
        });
    }
    let upstream = status.upstream.as_deref().and_then(|name| refs.id(&format!("refs/remotes/{name}")));
    let default =
        || check::branch::default_branch(&bench.repo, refs, &bench.config).ok().flatten().map(|(_, id)| id);
    Ok(upstream
        .and_then(&shared)
        .or_else(|| baseline.and_then(|baseline| baseline.head.as_deref()).and_then(&shared))
        .or_else(|| default().and_then(|id| shared(&id))))
}

/// Writes both files; a report that says the same but for the time it took is left as it is.
pub fn write(bench: &Workbench, report: &CleanReport) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::broken("can't write the report of the cleanliness phase")
            .because(error)
            .hint(format!("Make `{}` writable, or free some space.", bench.config.paths.outputs.display()))
    };
    let report = &safe::clean(report.clone(), &handoff::redactor(bench)?.keeping_folders());
    let top = &bench.repo.top;
    let state = bench.output("clean_state.json");
    not_foreign(bench, &state, |value| {
        value.as_array().is_some_and(|items| items.iter().all(|item| item["check"].is_string()))
    })?;
    let bytes = json(&report.blocking()).map_err(failed)?;
    if crate::fs::read_optional(&state).ok().flatten().as_deref() != Some(&bytes[..]) {
        crate::fs::write_inside(top, &state, &bytes).map_err(failed)?;
    }
    let path = bench.output("clean_report.json");
    not_foreign(bench, &path, |value| value["schema_version"].is_u64() && value["checks"].is_array())?;
    let former: Option<CleanReport> =
        crate::fs::read_optional(&path).ok().flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if former.is_some_and(|former| timeless(former) == timeless(report.clone())) {
        return Ok(());
    }
    crate::fs::write_inside(top, &path, &json(report).map_err(failed)?).map_err(failed)
}

/// A file of another tool's under the name of ours is never overwritten.
fn not_foreign(bench: &Workbench, path: &Path, is_ours: impl Fn(&serde_json::Value) -> bool) -> Result<()> {
    let Ok(Some(bytes)) = crate::fs::read_optional(path) else { return Ok(()) };
    // an empty or torn file holds nothing that could be lost
    let ours = bytes.is_empty() || serde_json::from_slice(&bytes).is_ok_and(|value| is_ours(&value));
    let torn = bytes.starts_with(b"[") || bytes.starts_with(b"{");
    if ours || (torn && serde_json::from_slice::<serde_json::Value>(&bytes).is_err()) {
        return Ok(());
    }
    let shown = path.strip_prefix(&bench.repo.top).unwrap_or(path).display();
    Err(Failure::broken(format!("`{shown}` is not endwell's, so it is not overwritten"))
        .hint("Move it away, or give endwell another folder: `[paths] outputs` in `endwell.toml`."))
}

fn timeless(mut report: CleanReport) -> CleanReport {
    for check in &mut report.checks {
        check.duration_ms = 0;
    }
    report
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> std::io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
