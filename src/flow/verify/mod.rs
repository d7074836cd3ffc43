//! Runs the tests and keeps the result as evidence of the content that was tested; the same content in the same
//! environment is answered from the record. It never records a run whose content it can't name for sure.
//!
//! A green record answers. A red one does not: who asks again wants to know whether it is still red, and what is not
//! seen here (a database, the network) may have changed. Only processes that waited for one run share its result.

mod acceptance;
mod clean_room;
mod reports;
mod run;
mod suites;
mod verdict;

pub use verdict::NOT_RECORDED;

use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::evidence::Key;
use crate::evidence::environment::Parts;
use crate::evidence::store::Found;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::evidence::{self, TestCommand, Unclear};
use crate::flow::workbench::git_failed;
use crate::flow::{self, Workbench, handoff, safe, state};
use crate::git::{Content, Contents, Status};
use crate::model::report::{Coverage, Evidence, Finding, SuiteRun, TestRun, VerificationReport};
use crate::model::{SCHEMA_VERSION, Severity};

/// Tells a nested call that it would wait for itself.
const NESTED: &str = "ENDWELL_VERIFYING";

/// How to verify.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Warnings fail too.
    pub strict: bool,
    /// Instead of the configured limit; zero: none.
    pub timeout: Option<Duration>,
    /// In a fresh checkout of HEAD's commit.
    pub clean_room: bool,
    /// Only this suite; then no report is written.
    pub suite: Option<String>,
}

/// The outcome.
#[derive(Clone, Debug)]
pub struct Verified {
    pub report: VerificationReport,
    pub exit: ExitStatus,
    /// Answered from a record, nothing was run.
    pub from_record: bool,
    /// The end of a red run's output, where it was not shown live.
    pub tail: Option<String>,
    /// The acceptance command that fails the verdict: its entry on the board, and its line.
    pub acceptance: Option<(String, String)>,
    /// The next step, where it is a special one.
    pub next: Option<String>,
}

/// The workbench at one moment.
#[derive(Clone)]
struct Now {
    status: Rc<Status>,
    contents: Rc<Contents>,
    /// It is a fresh checkout.
    clean_room: bool,
}

/// The workbench at one moment, as far as it concerns one command.
struct Moment {
    status: Rc<Status>,
    content: Content,
    parts: Parts,
    /// It is a fresh checkout's.
    clean_room: bool,
}

/// What verifying came to, before the report is made of it.
#[derive(Default)]
struct Outcome {
    run: Option<TestRun>,
    suites: Vec<SuiteRun>,
    findings: Vec<Finding>,
    /// The tests ended red, were stopped, or were killed.
    red: bool,
    /// No verdict can be given on this content.
    unjudged: bool,
    from_record: bool,
    tail: Option<String>,
    coverage: Option<Coverage>,
    acceptance: Option<(String, String)>,
    next: Option<String>,
}

/// Verifies what lies in the work tree and writes the report.
pub fn verify(bench: &Workbench, options: &VerifyOptions) -> Result<Verified> {
    clean_room::sweep(bench);
    if options.clean_room {
        let (before, outcome) = clean_room::run(bench, options)?;
        return conclude(bench, options, &before, outcome);
    }
    let commands = suites::chosen(bench, options, evidence::commands(bench))?;
    let before = Now::look(bench)?;
    let mut outcome = match &commands {
        Ok(commands) => {
            suites::each(bench, commands, &before, |command, moment| answer(bench, options, command, moment))?
        }
        Err(unclear) => verdict::unclear(unclear),
    };
    if options.suite.is_none() {
        acceptance::run(bench, options, &before, &mut outcome)?;
    }
    conclude(bench, options, &before, outcome)
}

/// Removes the checkouts that killed clean-room runs left.
pub fn sweep(bench: &Workbench) {
    clean_room::sweep(bench);
}

/// From the record, or by a run.
fn answer(
    bench: &Workbench,
    options: &VerifyOptions,
    command: &TestCommand,
    before: &Moment,
) -> Result<Outcome> {
    let Content::Named { tree, .. } = &before.content else {
        return run::fresh(bench, options, command, before);
    };
    let key = Key { tree: tree.clone(), argv: command.argv.clone(), cwd: String::new(), clean_room: false };
    if bench.env.text(NESTED) == Some(tree) {
        return Err(Failure::broken("the test command runs `endwell verify` itself")
            .hint("Let `[tests] command` name what runs the tests."));
    }
    if let Some(record) = recorded(bench, &key, before, Evidence::is_green)? {
        return Ok(verdict::of_record(bench, &record));
    }
    let asked = crate::clock::now();
    let _lock = lock(bench, &key)?;
    let made_meanwhile = |record: &Evidence| {
        record.is_green() || record.recorded_at.parse::<jiff::Timestamp>().is_ok_and(|at| at >= asked)
    };
    if let Some(record) = recorded(bench, &key, before, made_meanwhile)? {
        return Ok(verdict::of_record(bench, &record));
    }
    run::fresh(bench, options, command, before)
}

impl Now {
    fn look(bench: &Workbench) -> Result<Self> {
        let status = bench.repo.status().map_err(|error| git_failed("can't look at the work tree", error))?;
        let contents = evidence::contents(bench, &status)
            .map_err(|error| git_failed("can't tell what lies in the work tree", error))?;
        Ok(Self { status: Rc::new(status), contents: Rc::new(contents), clean_room: false })
    }

    /// As far as it concerns a command; `Unclear` where its suite has nothing here.
    fn of(&self, bench: &Workbench, command: &TestCommand) -> std::result::Result<Moment, Unclear> {
        let content = evidence::content_of(bench, &self.contents, command)?;
        let parts = evidence::environment(bench, &self.status, &command.argv, command.suite.as_ref());
        Ok(Moment { status: Rc::clone(&self.status), content, parts, clean_room: self.clean_room })
    }
}

fn recorded(
    bench: &Workbench,
    key: &Key,
    moment: &Moment,
    wanted: impl Fn(&Evidence) -> bool,
) -> Result<Option<Evidence>> {
    let found = evidence::store(bench).find(key, &moment.parts).map_err(|error| {
        Failure::broken("can't read the recorded test runs")
            .because(error)
            .hint(format!("Mend or remove `{}`.", bench.repo.shared_dir().join("evidence").display()))
    })?;
    Ok(match found {
        Found::Same(record) if wanted(&record) => Some(*record),
        _ => None,
    })
}

/// Waits until nobody else runs the tests of this content. Where nothing can be written nothing will be recorded
/// either, so nobody is waited for.
fn lock(bench: &Workbench, key: &Key) -> Result<Option<crate::fs::Lock>> {
    let path = evidence::store(bench).lock_path(key);
    loop {
        match crate::fs::lock(&path) {
            Ok(lock) => return Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                bench.ui.say("verify: another endwell runs these tests; waiting for its result");
            }
            Err(error) if crate::fs::is_read_only(&error) => return Ok(None),
            Err(error) => {
                return Err(Failure::broken("can't take the lock of this content's tests")
                    .because(error)
                    .hint("Make the git folder writable, then run `endwell verify` again."));
            }
        }
    }
}

/// Makes the report and writes it; one that says the same already is left as it is.
fn conclude(bench: &Workbench, options: &VerifyOptions, before: &Now, outcome: Outcome) -> Result<Verified> {
    let fails = |finding: &Finding| {
        finding.severity == Severity::Block || (options.strict && finding.severity == Severity::Warn)
    };
    let passed = !outcome.findings.iter().any(fails);
    let tree = match &before.contents.whole {
        Content::Named { tree, .. } if !outcome.unjudged => Some(tree.clone()),
        _ => None,
    };
    let task = evidence::task(bench, &before.status);
    let report = VerificationReport {
        schema_version: SCHEMA_VERSION,
        task_id: task.clone(),
        passed,
        strict: options.strict,
        findings: outcome.findings,
        head_commit: before.status.head.clone(),
        tree,
        tests: outcome.run,
        suites: outcome.suites,
        coverage: outcome.coverage,
    };
    // a verdict on one suite is none on the project
    if options.suite.is_none() {
        write(bench, &task, &report)?;
    }
    let exit = if outcome.unjudged && !outcome.red {
        ExitStatus::CouldNotJudge
    } else if passed {
        ExitStatus::Done
    } else {
        ExitStatus::Blocked
    };
    Ok(Verified {
        report,
        exit,
        from_record: outcome.from_record,
        tail: outcome.tail,
        acceptance: outcome.acceptance,
        next: outcome.next,
    })
}

fn write(bench: &Workbench, task: &str, report: &VerificationReport) -> Result<()> {
    let path = flow::reports::own_verification(bench, task);
    if path != bench.verification_path(task) {
        let foreign = state::shown(bench, &bench.verification_path(task));
        let text = format!(
            "`{foreign}` belongs to another tool and is left alone; the report is `{}`",
            state::shown(bench, &path)
        );
        state::tell_once(bench, "foreign-verification", &text);
    }
    let failed = |error: io::Error| {
        Failure::broken("can't write the verification report")
            .because(error)
            .hint(format!("Make `{}` writable, or free some space.", bench.config.paths.outputs.display()))
    };
    let report = safe::verification(report.clone(), &handoff::redactor(bench)?.keeping_folders());
    let mut bytes = serde_json::to_vec_pretty(&report).map_err(|error| failed(error.into()))?;
    bytes.push(b'\n');
    if crate::fs::read_optional(&path).ok().flatten().as_deref() == Some(&bytes[..]) {
        return Ok(());
    }
    crate::fs::write_inside(&bench.repo.top, &path, &bytes).map_err(failed)
}
