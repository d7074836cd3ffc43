//! One run of the test command: supervised, read, and recorded where its content is known to be the same before and
//! after.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Moment, NESTED, Now, Outcome, VerifyOptions, reports, verdict};
use crate::config::Suite;
use crate::evidence::Key;
use crate::evidence::environment::{differences, digest_of, written_by_runs};
use crate::evidence::runners;
use crate::evidence::store::Found;
use crate::failure::{Failure, FailureKind, Result};
use crate::flow::Workbench;
use crate::flow::evidence::{self, TestCommand};
use crate::flow::{handoff, queue, trust};
use crate::fs::is_read_only;
use crate::git::Content;
use crate::model::SCHEMA_VERSION;
use crate::model::queue::QueuedKind;
use crate::model::report::{Evidence, TestRun};
use crate::process::stream::{Ended, EndedBy, Group, Keep, Kept, Stdin, Supervised, Tee};
use crate::process::{Captured, Inherit, child_env};
use crate::redact::Redactor;

/// The time limit where none is configured.
pub(super) const TIME_LIMIT: Duration = Duration::from_mins(30);
/// How often the progress line is written.
const PROGRESS: Duration = Duration::from_secs(10);
/// So many lines of a red run's output are shown where it was not shown live.
const SHOWN: usize = 40;

/// Runs the tests.
pub(super) fn fresh(
    bench: &Workbench,
    options: &VerifyOptions,
    command: &TestCommand,
    before: &Moment,
) -> Result<Outcome> {
    let is_configured =
        (bench.config.tests.command.is_some() || command.suite.is_some()) && !command.acceptance;
    if is_configured && trust::standing(bench, &command.argv) == trust::Standing::Unseen {
        return Err(trust::unseen(&command.argv, &command.because));
    }
    announce(bench, command);
    if command.missing.is_some() {
        return Ok(verdict::not_started(bench, command, None));
    }
    let asked = crate::clock::now();
    let mut ended = match supervise(bench, options, command, before) {
        Ok(ended) => ended,
        Err(error) => return Ok(verdict::not_started(bench, command, Some(&error))),
    };
    if ended.error == Some(EndedBy::Interrupted) {
        let failure = Failure::new(FailureKind::Interrupted, "interrupted; nothing was recorded");
        return Err(failure.hint("Run `endwell verify` again."));
    }
    // the bytes go where their text comes: both of both streams would be too much
    let text = |kept: &mut Kept| std::mem::take(kept).text();
    let (stdout, stderr) = (text(&mut ended.stdout), text(&mut ended.stderr));
    let reported = reports::tests(&bench.repo.top, asked);
    let told = reported
        .filter(|told| ended.code == Some(0) || !told.failing.is_empty())
        .unwrap_or_else(|| runners::read(&stdout, &stderr, &bench.repo.top));
    let run = run_of(bench, options, command, &ended, told);
    if found_no_test(&run) {
        return Ok(verdict::nothing_collected(&run));
    }
    let mut evidence = record_of(command, &run, &ended, before);
    evidence.coverage = reports::covered(&bench.repo.top, asked);
    evidence.versions = versions(bench, &evidence.environment);
    if !evidence.is_green() {
        evidence.last_line = last_line(bench, &stdout, &stderr);
    }
    let mut outcome = settle(bench, command, before, evidence)?;
    if outcome.red && !bench.ui.is_live() {
        outcome.tail = Some(last_lines(&stdout, &stderr));
    }
    Ok(outcome)
}

fn run_of(
    bench: &Workbench,
    options: &VerifyOptions,
    command: &TestCommand,
    ended: &Ended,
    told: runners::Told,
) -> TestRun {
    // what it took to end it is no part of what it was given
    let took = match ended.error {
        Some(EndedBy::Timeout) => limit(bench, options),
        _ => ended.duration,
    };
    TestRun {
        command: command.argv.clone(),
        exit_code: ended.code,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        passed: told.passed,
        failed: told.failed,
        skipped: told.skipped,
        failing: if ended.code == Some(0) { Vec::new() } else { told.failing },
    }
}

/// Python's runners end with 5 where they find no test.
fn found_no_test(run: &TestRun) -> bool {
    let python = run.command.iter().any(|word| word.contains("pytest") || word.contains("unittest"));
    let ran = run.passed.unwrap_or(0) + run.failed.unwrap_or(0);
    run.exit_code == Some(5) && python && run.failing.is_empty() && ran == 0
}

fn limit(bench: &Workbench, options: &VerifyOptions) -> Duration {
    let configured = bench.config.tests.timeout.map(Duration::from_secs);
    options.timeout.or(configured).unwrap_or(TIME_LIMIT)
}

fn announce(bench: &Workbench, command: &TestCommand) {
    let shown = |argv: &[String]| crate::ui::plain(&shell_words::join(argv));
    bench.ui.say(format_args!("verify: running `{}` ({})", shown(&command.argv), command.because));
    for other in &command.others {
        let missing =
            other.missing.as_ref().map(|program| format!("; `{program}` is missing")).unwrap_or_default();
        let kind = other.kind;
        bench.ui.say(format_args!(
            "verify: not run: `{}` ({kind}, {}{missing})",
            shown(&other.argv),
            other.because
        ));
    }
    if !command.others.is_empty() {
        bench.ui.hint("`[tests] command` in `endwell.toml` chooses another, or one that runs them all.");
    }
}

fn supervise(
    bench: &Workbench,
    options: &VerifyOptions,
    command: &TestCommand,
    before: &Moment,
) -> std::io::Result<Ended> {
    let mut words = command.argv.iter();
    let program = words.next().cloned().unwrap_or_default();
    let mut env = child_env(&bench.env, Inherit::NoGit);
    // Python believes a cache that is younger than its source by whole seconds and of the same size: a run would test
    // what an earlier one compiled, and leave such caches between the sources
    env.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
    if let Content::Named { tree, .. } = &before.content {
        env.insert(NESTED.into(), tree.into());
    }
    let limit = limit(bench, options);
    let supervised = Supervised {
        program: program.into(),
        args: words.map(Into::into).collect(),
        dir: bench.repo.top.clone(),
        env,
        timeout: (!limit.is_zero()).then_some(limit),
        tee: if bench.ui.is_live() { Tee::ToStderr } else { Tee::Quiet },
        stdin: Stdin::Closed,
        group: Group::OwnEndsWithChild,
        keep: Keep::TESTS,
    };
    let shown = crate::ui::plain(&shell_words::join(&command.argv));
    let mut next = PROGRESS;
    supervised.run_watched(&mut |elapsed| {
        if elapsed >= next && !bench.ui.is_live() {
            bench.ui.say(format_args!("verify: {shown} … {} s", elapsed.as_secs()));
            next += PROGRESS;
        }
    })
}

fn record_of(command: &TestCommand, run: &TestRun, ended: &Ended, before: &Moment) -> Evidence {
    let (tree, clean) = match &before.content {
        Content::Named { tree, clean } => (tree.clone(), *clean),
        Content::Unnamed { .. } => (String::new(), false),
    };
    Evidence {
        schema_version: SCHEMA_VERSION,
        tree,
        commit: before.status.head.clone().filter(|_| clean),
        cwd: String::new(),
        environment_digest: digest_of(&before.parts, &[]),
        environment: before.parts.clone(),
        volatile: Vec::new(),
        clean_room: before.clean_room,
        acceptance: command.acceptance,
        suite: command.suite.as_ref().map(|suite| suite.name.clone()),
        flaky: Vec::new(),
        run: run.clone(),
        coverage: None,
        versions: BTreeMap::new(),
        error: ended.error.map(|error| error.name().to_owned()),
        last_line: None,
        output_digest: ended.digest.clone(),
        recorded_at: crate::clock::now_text(),
    }
}

/// Records the run where the content was the same before and after, and says what it means.
fn settle(
    bench: &Workbench,
    command: &TestCommand,
    before: &Moment,
    mut evidence: Evidence,
) -> Result<Outcome> {
    let after = match Now::look(bench)?.of(bench, command) {
        Ok(after) => after,
        Err(unclear) => return Ok(verdict::unbound(&evidence, &unclear.why)),
    };
    let same = match (&before.content, &after.content) {
        (Content::Unnamed { why }, _) | (_, Content::Unnamed { why }) => {
            return Ok(verdict::unbound(&evidence, why));
        }
        (Content::Named { tree: one, .. }, Content::Named { tree: two, .. }) => one == two,
    };
    if !same {
        let known: Vec<_> = before.status.entries.iter().map(|entry| &entry.path).collect();
        let entries = after.status.entries.iter().filter(|entry| !bench.config.is_own(&entry.path));
        let new: Vec<Vec<u8>> =
            entries.filter(|entry| !known.contains(&&entry.path)).map(|entry| entry.path.clone()).collect();
        return Ok(verdict::changed_meanwhile(&evidence, &new));
    }
    evidence.volatile = differences(&before.parts, &after.parts);
    let steering: Vec<String> =
        evidence.volatile.iter().filter(|part| !written_by_runs(part)).cloned().collect();
    if !steering.is_empty() {
        return Ok(verdict::environment_changed(&evidence, &steering));
    }
    evidence.environment_digest = digest_of(&evidence.environment, &evidence.volatile);
    let store = evidence::store(bench);
    let key = Key {
        tree: evidence.tree.clone(),
        argv: evidence.run.command.clone(),
        cwd: evidence.cwd.clone(),
        clean_room: evidence.clean_room,
    };
    if let Ok(Found::Same(former)) = store.find(&key, &before.parts)
        && former.clean_room == key.clean_room
    {
        // the tests themselves may stand on the board as a command too
        evidence.acceptance &= former.acceptance;
        if evidence.is_green() {
            evidence.flaky = if former.is_green() { former.flaky } else { failed(*former) };
        }
    }
    let written = store.write(&evidence);
    let mut outcome = verdict::of_run(bench, &evidence);
    match written {
        Ok(()) => store.prune(|| named_by_packets(bench)).unwrap_or_default(),
        Err(error) if is_read_only(&error) => {
            let queued = queue::put(bench, QueuedKind::Evidence, |queued| {
                queued.evidence = Some(Box::new(evidence));
            });
            outcome.findings.push(verdict::not_recorded(&error, queued.is_ok()));
        }
        Err(error) => {
            return Err(Failure::broken("can't record the test run")
                .because(error)
                .hint("Make the git folder writable, or free some space, then run `endwell verify` again."));
        }
    }
    Ok(outcome)
}

/// What was red in a run, as names: where its output named no test, the run itself. One that was stopped failed nothing.
fn failed(former: Evidence) -> Vec<String> {
    match (former.error, former.run.exit_code) {
        (None, Some(code)) if former.run.failing.is_empty() => {
            vec![format!("the whole run (exit code {code}, no test named)")]
        }
        _ => former.run.failing,
    }
}

/// Trees that a packet names: their records stay.
fn named_by_packets(bench: &Workbench) -> BTreeSet<String> {
    let store = handoff::store(bench);
    let stored =
        store.receipts().into_iter().filter_map(|receipt| store.load(&receipt.session_id).ok().flatten());
    let commits = stored.flat_map(|stored| {
        [Some(stored.packet.head_commit), stored.packet.last_known_good_commit].into_iter().flatten()
    });
    let parts: Vec<Vec<String>> = bench.config.tests.suite.iter().map(Suite::parts).collect();
    let mut named = BTreeSet::new();
    for tree in commits.filter_map(|commit| bench.objects.tree_of(&commit).ok()) {
        let of_suites =
            parts.iter().filter_map(|part| bench.repo.part_of_tree(&bench.objects, &tree, part).ok()?);
        named.extend(of_suites);
        named.insert(tree);
    }
    named
}

/// What the tools behind the command say of their version: a shim hides it from a look at the file.
fn versions(bench: &Workbench, parts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let known = ["rustc", "python3", "node", "java", "ruby", "php"];
    let mut found = BTreeMap::new();
    for tool in known
        .into_iter()
        .filter(|tool| parts.get(&format!("tool:{tool}")).is_some_and(|place| place.starts_with('/')))
    {
        let asked = Captured {
            program: tool.into(),
            args: vec!["--version".into()],
            dir: bench.repo.top.clone(),
            env: child_env(&bench.env, Inherit::NoGit),
            stdin: None,
        };
        let Ok(told) = asked.run() else { continue };
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        if let Some(line) = text.lines().next().filter(|_| told.success()) {
            found.insert(tool.to_owned(), crate::ui::plain(line.trim()));
        }
    }
    found
}

fn last_lines(stdout: &str, stderr: &str) -> String {
    let end = |text: &str| runners::plain_text(end_of(text)).trim_end().to_owned();
    let text = format!("{}\n{}", end(stdout), end(stderr));
    let mut lines: Vec<&str> = text.trim().lines().rev().take(SHOWN).collect();
    lines.reverse();
    lines.join("\n")
}

/// As much of a text's end as is looked at for its last lines.
fn end_of(text: &str) -> &str {
    let start = text.len().saturating_sub(64 << 10);
    &text[text.ceil_char_boundary(start)..]
}

/// What a run said last: on standard error, where it said anything there.
fn last_line(bench: &Workbench, stdout: &str, stderr: &str) -> Option<String> {
    let last = |text: &str| {
        let text = runners::plain_text(end_of(text));
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    };
    let line = last(stderr).or_else(|| last(stdout))?;
    let home = bench.env.home();
    let redactor = Redactor::new(home.as_deref().and_then(|home| home.to_str()));
    Some(redactor.text(&line).chars().take(300).collect())
}
