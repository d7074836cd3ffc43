//! What a test run means, as findings of the verification report. The codes are those of the `tests` check.

use super::Outcome;
use crate::evidence::detect;
use crate::flow::evidence::{self, TestCommand, Unclear};
use crate::flow::{Workbench, session};
use crate::model::Severity;
use crate::model::issue::COULD_NOT_CHECK;
use crate::model::report::{Evidence, Finding, TestRun};

/// The run is told, but not kept.
pub const NOT_RECORDED: &str = "not-recorded";

fn finding(code: &str, severity: Severity, detail: impl Into<String>) -> Finding {
    Finding { code: code.to_owned(), severity, detail: detail.into() }
}

/// A project without tests passes, with a warning that every packet carries.
pub(super) fn without_tests(bench: &Workbench) -> Outcome {
    let detail = match evidence::below(bench) {
        Some(below) => format!("{} {}", below.message(), below.hint()),
        None => "No test command is configured, and none was found in the project's files.".to_owned(),
    };
    Outcome { findings: vec![finding("no-tests", Severity::Warn, detail)], ..Outcome::default() }
}

/// Nobody can say which command runs the tests.
pub(super) fn unclear(unclear: &Unclear) -> Outcome {
    Outcome {
        findings: vec![finding(COULD_NOT_CHECK, Severity::Block, format!("{}.", unclear.why))],
        unjudged: true,
        next: Some(unclear.hint.clone()),
        ..Outcome::default()
    }
}

/// The program could not be started; `error` where it was tried.
pub(super) fn not_started(
    bench: &Workbench,
    command: &TestCommand,
    error: Option<&std::io::Error>,
) -> Outcome {
    let program = command.argv.first().map(String::as_str).unwrap_or_default();
    let missing = command.missing.as_deref().unwrap_or(program);
    let remedy = detect::remedy(missing);
    let there = missing.contains('/') && bench.repo.top.join(missing).is_file();
    let (detail, next) = match error {
        _ if there && !crate::fs::is_executable(&bench.repo.top.join(missing)) => (
            format!("`{missing}` is there but not executable."),
            Some(format!(
                "Run `chmod +x {}`, or name what runs it in `[tests] command`.",
                shell_words::quote(missing)
            )),
        ),
        Some(error) if error.kind() != std::io::ErrorKind::NotFound => {
            (format!("`{program}` can't be started: {error}"), None)
        }
        _ if remedy.is_some() => (
            format!("`{missing}` is not there: the tests are not configured and built."),
            remedy.map(|remedy| format!("Run `{remedy}`, then `endwell verify` again.")),
        ),
        _ if command.missing.is_some() => {
            (format!("`{missing}` is not there: install it, or set `[tests] command`."), None)
        }
        _ => (format!("`{program}` is not on PATH."), None),
    };
    let run = TestRun { command: command.argv.clone(), ..TestRun::default() };
    Outcome {
        run: Some(run),
        findings: vec![finding("tests-not-found", Severity::Block, detail)],
        unjudged: true,
        next,
        ..Outcome::default()
    }
}

/// The runner ended with the code that says that it found no test: neither green nor red.
pub(super) fn nothing_collected(run: &TestRun) -> Outcome {
    let detail = "The runner found no test (exit code 5), so there is nothing to judge.";
    Outcome {
        run: Some(run.clone()),
        findings: vec![finding("no-tests-ran", Severity::Block, detail)],
        unjudged: true,
        next: Some(
            "Write a test that it finds, or name another command in `endwell.toml`: `[tests] command`."
                .to_owned(),
        ),
        ..Outcome::default()
    }
}

/// A recorded run.
pub(super) fn of_record(bench: &Workbench, evidence: &Evidence) -> Outcome {
    Outcome { from_record: true, ..of_run(bench, evidence) }
}

/// A run that is bound to its content.
pub(super) fn of_run(bench: &Workbench, evidence: &Evidence) -> Outcome {
    let mut findings: Vec<Finding> = result(evidence).into_iter().collect();
    if !evidence.flaky.is_empty() {
        let detail = format!("Red, then green on the same content: {}", evidence.flaky.join(", "));
        findings.push(finding("tests-flaky", Severity::Warn, detail));
    }
    findings.extend(fewer(bench, evidence));
    findings.extend(coverage(bench, evidence));
    Outcome {
        run: Some(evidence.run.clone()),
        findings,
        red: !evidence.is_green(),
        coverage: evidence.coverage.clone(),
        ..Outcome::default()
    }
}

/// The run itself: red, stopped, killed, or green without having run any test.
fn result(evidence: &Evidence) -> Option<Finding> {
    let run = &evidence.run;
    let block = |code: &str, detail: String| Some(finding(code, Severity::Block, detail));
    match (evidence.error.as_deref(), run.exit_code) {
        (Some("timeout"), _) => {
            block("tests-timeout", format!("Stopped by the time limit after {} s.", run.duration_ms / 1000))
        }
        (Some(error), _) => block("tests-killed", format!("The tests did not come to an end: {error}.")),
        (None, Some(0)) if total(run) == Some(0) => {
            let detail = "The command succeeded without running any test.";
            Some(finding("no-tests-ran", Severity::Warn, detail))
        }
        (None, Some(0)) => None,
        (None, code) if run.failing.is_empty() => {
            let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            block("tests-unnamed", format!("Ended with {code}, and the output names no failing test."))
        }
        (None, _) => block("tests-red", format!("Failing: {}", run.failing.join(", "))),
    }
}

/// Coverage below the floor, or too far below that of the last green run of this command on other content.
fn coverage(bench: &Workbench, evidence: &Evidence) -> Option<Finding> {
    let now = evidence.coverage.as_ref()?.hundredths();
    let percent = |hundredths: u64| format!("{}.{:02} %", hundredths / 100, hundredths % 100);
    let current = session::current(bench, None, None).ok();
    let settings = current.map_or_else(|| bench.config.clone(), |now| now.in_force(&bench.config)).tests;
    if let Some(floor) = settings.coverage_floor
        && now < u64::from(floor) * 100
    {
        let detail = format!("Line coverage is {}; `[tests] coverage_floor` is {floor} %.", percent(now));
        return Some(finding("coverage-floor", Severity::Block, detail));
    }
    let drop = u64::from(settings.coverage_drop?) * 100;
    let last = last_green(bench, evidence)?;
    let before = last.coverage.as_ref()?.hundredths();
    (now + drop < before).then(|| {
        let detail = format!("Line coverage fell from {} to {}.", percent(before), percent(now));
        finding("coverage-drop", Severity::Block, detail)
    })
}

/// The last green run of the same command on other content, before this one.
fn last_green(bench: &Workbench, evidence: &Evidence) -> Option<Evidence> {
    let time = |record: &Evidence| record.recorded_at.parse::<jiff::Timestamp>().ok();
    let (at, store) = (time(evidence), evidence::store(bench));
    let wanted = |record: &Evidence| {
        let alike = record.clean_room == evidence.clean_room && record.tree != evidence.tree;
        record.is_green() && alike && time(record) < at
    };
    store.newest(&evidence.run.command, &evidence.cwd, wanted).ok()?
}

/// Fewer tests than in the last green run of this command on other content.
fn fewer(bench: &Workbench, evidence: &Evidence) -> Option<Finding> {
    let now = total(&evidence.run).filter(|_| evidence.is_green())?;
    let last = last_green(bench, evidence)?;
    let before = total(&last.run)?;
    (now < before).then(|| {
        let ran = if now == 1 { "1 test ran".to_owned() } else { format!("{now} tests ran") };
        let detail = format!("{ran}; {before} in the last green run (tree {}).", short(&last.tree));
        finding("fewer-tests", Severity::Warn, detail)
    })
}

/// Tests that ran, as far as the output tells; skipped ones did not run.
fn total(run: &TestRun) -> Option<u64> {
    let (passed, failed) = (run.passed?, run.failed.unwrap_or(0));
    Some(passed + failed)
}

fn short(id: &str) -> &str {
    &id[..id.len().min(8)]
}

/// A run whose content has no name: it says nothing that could be relied on later.
pub(super) fn unbound(evidence: &Evidence, why: &str) -> Outcome {
    let detail = format!("The result can't be bound to this content: {why}.");
    unjudged(evidence, finding("tests-unbound", Severity::Block, detail))
}

/// Files changed while the tests ran.
pub(super) fn changed_meanwhile(evidence: &Evidence, new: &[Vec<u8>]) -> Outcome {
    let names: Vec<String> =
        new.iter().take(5).map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let detail = match names.as_slice() {
        [] => "Files changed while the tests ran, so the result belongs to no known content. Run it again."
            .to_owned(),
        names => format!(
            "Files appeared or changed while the tests ran, so the result belongs to no known content: {}. If the \
             tests write them, commit them (a lock file) or add them to `.gitignore`.",
            names.join(", ")
        ),
    };
    unjudged(evidence, finding("tree-changed", Severity::Block, detail))
}

/// What could steer the tests changed while they ran: nobody can tell which of the two states the result is of.
pub(super) fn environment_changed(evidence: &Evidence, changed: &[String]) -> Outcome {
    let names: Vec<&str> = changed
        .iter()
        .take(5)
        .map(|part| part.split_once(':').map_or(part.as_str(), |(_, name)| name))
        .collect();
    let detail = format!(
        "While the tests ran this changed, so the result is not recorded: {}. Run it again while nothing changes; what \
         the tests write themselves belongs into an ignored folder such as `tmp/`.",
        names.join(", ")
    );
    unjudged(evidence, finding("tests-unbound", Severity::Block, detail))
}

fn unjudged(evidence: &Evidence, why: Finding) -> Outcome {
    let mut findings: Vec<Finding> = result(evidence).into_iter().collect();
    findings.push(why);
    Outcome {
        run: Some(evidence.run.clone()),
        findings,
        red: !evidence.is_green(),
        unjudged: true,
        ..Outcome::default()
    }
}

/// The git folder can't be written here (an agent's sandbox): the result is said, but nobody can rely on it later.
pub(super) fn not_recorded(error: &std::io::Error, queued: bool) -> Finding {
    let told = if queued { " A note of it waits in the outputs folder for the next hook." } else { "" };
    let detail = format!(
        "The git folder can't be written here ({error}), so the run counts as missing until it is run outside of this \
         sandbox.{told}"
    );
    finding(NOT_RECORDED, Severity::Warn, detail)
}
