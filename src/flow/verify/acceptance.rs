//! The board's own acceptance commands, run and recorded as the tests are: those of the active feature and of the
//! features that were set to done in this session. A red one of a finished feature fails the verdict; one of a feature
//! at work is only told.

use super::{Moment, Outcome, VerifyOptions, answer};
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::board::{self, AcceptanceRun};
use crate::flow::check::{self, CheckOptions};
use crate::flow::evidence::TestCommand;
use crate::flow::session;
use crate::flow::workbench::git_failed;
use crate::git::Refs;
use crate::model::Severity;
use crate::model::board::{BoardReading, Status};
use crate::model::report::Finding;

/// Runs them, and adds to the outcome what fails the verdict.
pub(super) fn run(
    bench: &Workbench,
    options: &VerifyOptions,
    before: &Moment,
    outcome: &mut Outcome,
) -> Result<()> {
    let reading = board::read(bench);
    let BoardReading::Board(found) = &reading else { return Ok(()) };
    let current = session::current(bench, before.status.head.as_deref(), None)?;
    let status = &before.status;
    let refs =
        Refs::read(&bench.repo, &bench.objects).map_err(|error| git_failed("can't read the refs", error))?;
    let base = check::base(bench, &CheckOptions::default(), status, &refs, &current)?;
    let then = board::before(bench, &reading, &current, base.as_deref());
    for run in board::acceptance_runs(bench, found, then.as_ref()) {
        let done = found.feature(&run.feature).is_some_and(|feature| feature.status == Status::Done);
        let ran = one(bench, options, &run)?;
        let shown = crate::ui::plain(&run.line);
        if !ran.red && !ran.unjudged {
            bench.ui.say(format_args!("verify: acceptance of `{}` passes: `{shown}`", run.feature));
            continue;
        }
        let what = if ran.unjudged { "could not be judged" } else { "fails" };
        bench.ui.say(format_args!("verify: acceptance of `{}` {what}: `{shown}`", run.feature));
        if done {
            outcome.findings.push(Finding {
                code: "board-done-unproven".to_owned(),
                severity: Severity::Block,
                detail: format!("`{}` is set to done, but its command {what}: `{}`", run.feature, run.line),
            });
            outcome.red |= ran.red;
            outcome.tail = outcome.tail.take().or(ran.tail);
        }
    }
    Ok(())
}

fn one(bench: &Workbench, options: &VerifyOptions, run: &AcceptanceRun) -> Result<Outcome> {
    let command = TestCommand {
        argv: run.argv.clone(),
        because: format!("acceptance of `{}` on the board", run.feature),
        missing: None,
        others: Vec::new(),
        acceptance: true,
    };
    let now = Moment::now(bench, &run.argv)?;
    answer(bench, options, &command, &now)
}
