//! The suites of a project, one after the other, and one verdict for all of them. A project without suites is a single
//! command, whose verdict is left as it is.

use super::{Moment, Now, Outcome, VerifyOptions, verdict};
use crate::config::Suite;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::evidence::{TestCommand, Unclear};
use crate::git::Content;
use crate::model::Severity;
use crate::model::report::{Coverage, Finding, SuiteRun, TestRun};

type Commands = std::result::Result<Vec<TestCommand>, Unclear>;

/// So many paths that lie in no suite are named.
const LISTED: usize = 5;

/// The commands that were asked for.
pub(super) fn chosen(bench: &Workbench, options: &VerifyOptions, commands: Commands) -> Result<Commands> {
    let Some(wanted) = &options.suite else { return Ok(commands) };
    let suites = &bench.config.tests.suite;
    if !suites.iter().any(|suite| suite.name == *wanted) {
        let names: Vec<String> =
            suites.iter().map(|suite| format!("`{}`", crate::ui::plain(&suite.name))).collect();
        let hint = match names.as_slice() {
            [] => "This project has no suites: run `endwell verify` without `--suite`.".to_owned(),
            names => format!("The suites of `endwell.toml` are {}.", names.join(", ")),
        };
        return Err(Failure::usage(format!("there is no suite `{}`", crate::ui::plain(wanted))).hint(hint));
    }
    Ok(commands.map(|mut commands| {
        commands.retain(|command| command.suite.as_ref().is_some_and(|suite| suite.name == *wanted));
        commands
    }))
}

/// Judges each command by `judge`, and joins what it says.
pub(super) fn each(
    bench: &Workbench,
    commands: &[TestCommand],
    before: &Now,
    mut judge: impl FnMut(&TestCommand, &Moment) -> Result<Outcome>,
) -> Result<Outcome> {
    let mut now = before.clone();
    let mut joined = Outcome { from_record: true, ..Outcome::default() };
    if commands.is_empty() {
        return Ok(verdict::without_tests(bench));
    }
    for command in commands {
        let outcome = match now.of(bench, command) {
            Ok(moment) => judge(command, &moment)?,
            Err(unclear) => verdict::unclear(&unclear),
        };
        let Some(suite) = &command.suite else { return Ok(outcome) };
        if !outcome.from_record {
            now = Now { clean_room: now.clean_room, ..Now::look(bench)? };
        }
        joined.add(&suite.name, outcome);
    }
    if before.contents.whole != now.contents.whole && !joined.unjudged {
        joined.findings.push(changed_elsewhere());
        joined.unjudged = true;
    }
    joined.findings.extend(uncovered(bench, &now));
    Ok(joined)
}

impl Outcome {
    fn add(&mut self, suite: &str, outcome: Self) {
        let named = |finding: Finding| Finding { detail: format!("{suite}: {}", finding.detail), ..finding };
        self.findings.extend(outcome.findings.into_iter().map(named));
        self.red |= outcome.red;
        self.unjudged |= outcome.unjudged;
        self.from_record &= outcome.from_record;
        self.tail = self.tail.take().or(outcome.tail);
        self.next = self.next.take().or(outcome.next);
        self.coverage = sum(self.coverage.take(), outcome.coverage);
        if let Some(tests) = outcome.run {
            self.run = Some(together(self.run.take(), suite, &tests));
            self.suites.push(SuiteRun { name: suite.to_owned(), tests });
        }
    }
}

/// One run that stands for several: red where one of them is.
fn together(all: Option<TestRun>, suite: &str, one: &TestRun) -> TestRun {
    let qualified = one.failing.iter().map(|test| SuiteRun::qualified(suite, test));
    let Some(mut all) = all else {
        return TestRun { command: Vec::new(), failing: qualified.collect(), ..one.clone() };
    };
    let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (None, None) => None,
        (one, two) => Some(one.unwrap_or(0) + two.unwrap_or(0)),
    };
    all.failing.extend(qualified);
    all.failing.sort();
    all.exit_code = if all.exit_code == Some(0) { one.exit_code } else { all.exit_code };
    all.duration_ms += one.duration_ms;
    all.passed = add(all.passed, one.passed);
    all.failed = add(all.failed, one.failed);
    all.skipped = add(all.skipped, one.skipped);
    all
}

fn sum(one: Option<Coverage>, two: Option<Coverage>) -> Option<Coverage> {
    match (one, two) {
        (Some(one), Some(two)) => Some(Coverage {
            file: format!("{}, {}", one.file, two.file),
            lines: one.lines + two.lines,
            covered: one.covered + two.covered,
        }),
        (one, two) => one.or(two),
    }
}

/// The suites' evidence stands, but the report is about everything.
fn changed_elsewhere() -> Finding {
    let detail = "Files changed while the suites ran, so there is no one content that the report could be about. Run \
                  it again: what is still as it was is answered from the records.";
    Finding { code: "tree-changed".to_owned(), severity: Severity::Block, detail: detail.to_owned() }
}

/// What lies in no suite: a change there asks for no run, and whoever reads the report should know.
fn uncovered(bench: &Workbench, now: &Now) -> Option<Finding> {
    let Content::Named { clean: true, tree } = &now.contents.whole else { return None };
    let covered: Vec<String> = bench.config.tests.suite.iter().flat_map(Suite::parts).collect();
    let mut names = bench.objects.outside(tree, &covered).ok()?;
    names.retain(|name| !is_aside(name) && !bench.config.is_own(name.as_bytes()));
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    (!names.is_empty()).then(|| Finding {
        code: "suite-gap".to_owned(),
        severity: Severity::Info,
        detail: format!("No suite covers {}{more}: a change there asks for no run.", shown.join(", ")),
    })
}

/// Files that no test looks at in most projects.
fn is_aside(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let ending = std::path::Path::new(&upper).extension().and_then(|end| end.to_str());
    name.starts_with('.')
        || name == crate::config::FILE
        || ["LICENSE", "COPYING", "NOTICE"].iter().any(|word| upper.starts_with(word))
        || matches!(ending, Some("MD" | "TXT" | "RST"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(code: i32, passed: Option<u64>, failing: &[&str]) -> Outcome {
        let failing = failing.iter().map(|name| (*name).to_owned()).collect();
        let command = vec!["t".to_owned()];
        let tests = TestRun { exit_code: Some(code), passed, failing, command, ..TestRun::default() };
        Outcome { run: Some(tests), red: code != 0, from_record: true, ..Outcome::default() }
    }

    #[test]
    fn one_red_suite_makes_the_whole_red_and_its_tests_keep_their_suite() {
        let mut joined = Outcome { from_record: true, ..Outcome::default() };
        for (name, outcome) in
            [("web", run(0, Some(2), &[])), ("api", run(3, None, &["b"])), ("db", run(0, Some(1), &[]))]
        {
            joined.add(name, outcome);
        }
        let all = joined.run.unwrap();
        assert_eq!((all.exit_code, all.passed, all.failing), (Some(3), Some(3), vec!["api: b".to_owned()]));
        assert_eq!(all.command, Vec::<String>::new());
        assert!(joined.red && joined.from_record);
        let names: Vec<&str> = joined.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["web", "api", "db"]);
        assert_eq!(joined.suites[1].tests.failing, ["b"]);
    }

    #[test]
    fn a_suite_that_was_killed_is_not_green_beside_green_ones() {
        let mut joined = Outcome::default();
        let killed = Outcome { run: Some(TestRun::default()), ..Outcome::default() };
        joined.add("a", run(0, None, &[]));
        joined.add("b", killed);
        joined.add("c", run(0, None, &[]));
        assert_eq!(joined.run.unwrap().exit_code, None);
    }
}
