//! The board's own acceptance commands, run and recorded as the tests are: those of the active feature and of the
//! features that were set to done in this session. A red one of a finished feature fails the verdict; one of a feature
//! at work is only told.

use super::{Now, Outcome, VerifyOptions, answer, verdict};
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::board::{self, AcceptanceRun};
use crate::flow::check::{self, CheckOptions};
use crate::flow::evidence::TestCommand;
use crate::flow::session;
use crate::flow::trust::{self, Standing};
use crate::flow::workbench::git_failed;
use crate::git::Refs;
use crate::model::Severity;
use crate::model::board::{BoardReading, Status};
use crate::model::report::Finding;

/// Runs them, and adds to the outcome what fails the verdict.
pub(super) fn run(
    bench: &Workbench,
    options: &VerifyOptions,
    before: &Now,
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
    let runs = board::acceptance_runs(bench, found, then.as_ref());
    let since = current.baseline.as_ref().map(|baseline| baseline.taken_at.as_str());
    let excused = board::excused(bench, found, since);
    for run in runs {
        match trust::standing(bench, &run.argv) {
            Standing::Seen => {}
            Standing::Unseen => {
                outcome.findings.push(not_seen(&run));
                continue;
            }
            Standing::NotInstalled => {
                outcome.findings.push(not_run());
                return Ok(());
            }
        }
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
            let reason =
                excused.iter().find(|(feature, _)| *feature == run.feature).map(|(_, reason)| reason);
            outcome.findings.push(unproven(&run, what, reason));
            if reason.is_none() {
                outcome.red |= ran.red;
                outcome.tail = outcome.tail.take().or(ran.tail);
                outcome.acceptance.get_or_insert((run.feature, run.line));
            }
        }
    }
    Ok(())
}

/// A recorded reason makes it a warning, as it does in the check of the board.
fn unproven(run: &AcceptanceRun, what: &str, reason: Option<&String>) -> Finding {
    let why = reason.map(|reason| format!("; the recorded reason: {reason}")).unwrap_or_default();
    Finding {
        code: "board-done-unproven".to_owned(),
        severity: if reason.is_some() { Severity::Warn } else { Severity::Block },
        detail: format!("`{}` is set to done, but its command {what}: `{}`{why}", run.feature, run.line),
    }
}

/// A board that came with a clone is somebody else's word: only who installed endwell here runs what it says.
fn not_run() -> Finding {
    Finding {
        code: "acceptance-not-run".to_owned(),
        severity: Severity::Warn,
        detail:
            "The board's acceptance commands were not run: you have not installed endwell in this repository \
                 (`endwell install`)."
                .to_owned(),
    }
}

/// One that changed since the person last saw it may be anybody's word.
fn not_seen(run: &AcceptanceRun) -> Finding {
    let line = crate::ui::plain(&run.line);
    Finding {
        code: "acceptance-not-run".to_owned(),
        severity: Severity::Warn,
        detail: format!(
            "The acceptance command of `{}` was not run: `{line}` is new since you last saw the board. A person looks at it \
             and runs `endwell trust` in a terminal.",
            run.feature
        ),
    }
}

fn one(bench: &Workbench, options: &VerifyOptions, run: &AcceptanceRun) -> Result<Outcome> {
    let command = TestCommand {
        argv: run.argv.clone(),
        because: format!("acceptance of `{}` on the board", run.feature),
        missing: None,
        others: Vec::new(),
        acceptance: true,
        suite: None,
    };
    match Now::look(bench)?.of(bench, &command) {
        Ok(moment) => answer(bench, options, &command, &moment),
        Err(unclear) => Ok(verdict::unclear(&unclear)),
    }
}
