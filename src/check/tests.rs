//! The check `tests`: green for exactly this content, or red with each failing test named in a risk. It looks at what
//! is recorded and runs nothing.
//!
//! When a failing test counts as named in an open risk: the risk's `test` is the test's name; or its `detail` holds the
//! name verbatim, either in back-ticks or quotes with nothing else in them, or as a whole (not as a part of a longer
//! name), where it can't be a word of prose: it holds `::`, `>`, or a `/` or `.` between other characters, or it is at
//! least 12 characters without a space. A test called `works` is not named by "it works on my machine". A test of a
//! suite is `SUITE: NAME`; its bare name does where no other suite has a failing test of that name.

use super::{Check, Context, Found};
use crate::model::report::{Evidence, SuiteRun, SuiteStanding, TestStanding};
use crate::model::state::StateRisk;
use crate::model::{CheckId, Issue};
use crate::ui::plain;

const ID: CheckId = CheckId::Tests;
/// A name without a space is no word of prose from this length on.
const LONG: usize = 12;
/// So many names are listed in a message; of more only the number is said.
const LISTED: usize = 5;
const RUN: &str = "Run `endwell verify`.";

/// The check.
pub struct Tests;

impl Check for Tests {
    fn id(&self) -> CheckId {
        ID
    }

    fn run(&self, context: &Context<'_>) -> Found {
        Ok(judge(context.tests, &context.state.open_risks))
    }
}

/// What the standing of the tests means, given the open risks.
pub fn judge(standing: &TestStanding, risks: &[StateRisk]) -> Vec<Issue> {
    match standing {
        TestStanding::NoCommand => vec![
            Issue::warn(
                ID,
                "no-tests",
                "No test command is configured, and none was found in the project's files.",
            )
            .hint("Name one in `endwell.toml`: `[tests]`, `command = \"…\"`."),
        ],
        TestStanding::Below(found) => vec![Issue::warn(ID, "no-tests", found.message()).hint(found.hint())],
        TestStanding::Unclear { why, hint } => vec![Issue::could_not_check(ID, why).hint(hint.clone())],
        TestStanding::Green(evidence) => flaky(evidence).into_iter().collect(),
        TestStanding::Red(evidence) => {
            vec![red(evidence, &|name| risks.iter().any(|risk| accounts_for(risk, name)))]
        }
        TestStanding::Stale { changed } => {
            let what = names(changed);
            let message =
                format!("The tests ran on this content, but in another environment: {what} changed since.");
            vec![Issue::block(ID, "tests-stale", message).hint(RUN)]
        }
        TestStanding::Missing { command, last, claimed } => vec![missing(command, last.as_deref(), *claimed)],
        TestStanding::Suites(suites) => of_suites(suites, risks),
        TestStanding::Unbound { why } => {
            let message = format!("No test run can be bound to this content: {}.", plain(why));
            vec![
                Issue::block(ID, "tests-unbound", message)
                    .hint("Commit or undo what is named, then run `endwell verify`."),
            ]
        }
    }
}

fn missing(command: &str, last: Option<&Evidence>, claimed: Option<bool>) -> Issue {
    let (before, hint) = match (claimed, last) {
        (Some(green), _) => {
            let word = if green { "green" } else { "red" };
            let told = format!(
                " A run where nothing can be recorded (an agent's sandbox) says of itself that it was {word}, which \
                 counts as missing."
            );
            (told, "Run `endwell verify` outside of the sandbox: where the git folder can be written.")
        }
        (None, Some(last)) if last.is_green() => {
            (" The last run, on other content, was green.".to_owned(), RUN)
        }
        (None, Some(_)) => (" The last run, on other content, was red.".to_owned(), RUN),
        (None, None) => (String::new(), RUN),
    };
    let message = format!("The tests (`{}`) have not run on this content.{before}", plain(command));
    Issue::block(ID, "tests-missing", message).hint(hint)
}

/// Each suite by itself; those that have not run are told together.
fn of_suites(suites: &[SuiteStanding], risks: &[StateRisk]) -> Vec<Issue> {
    let mut issues = Vec::new();
    let missing: Vec<&SuiteStanding> =
        suites.iter().filter(|suite| matches!(suite.standing, TestStanding::Missing { .. })).collect();
    if let [_, _, ..] = missing.as_slice() {
        let named: Vec<String> = missing.iter().map(|suite| suite.name.clone()).collect();
        let message = format!("The suites {} have not run on this content.", names(&named));
        issues.push(Issue::block(ID, "tests-missing", message).text(&named.join("\n")).hint(RUN));
    }
    for SuiteStanding { name, standing } in suites {
        let found = match standing {
            TestStanding::Missing { .. } if missing.len() > 1 => Vec::new(),
            TestStanding::Red(evidence) => vec![red_suite(name, evidence, suites, risks)],
            other => judge(other, risks),
        };
        issues.extend(found.into_iter().map(|mut issue| {
            issue.message = format!("Suite `{}`: {}", plain(name), issue.message);
            let text = format!("{name}\n{}", issue.fingerprint);
            issue.text(&text)
        }));
    }
    issues
}

fn red_suite(suite: &str, evidence: &Evidence, suites: &[SuiteStanding], risks: &[StateRisk]) -> Issue {
    let elsewhere = |test: &String| {
        suites.iter().any(|other| match &other.standing {
            TestStanding::Red(red) if other.name != suite => red.run.failing.contains(test),
            _ => false,
        })
    };
    let mut named = evidence.clone();
    let mut known = Vec::new();
    for test in &mut named.run.failing {
        let qualified = SuiteRun::qualified(suite, test);
        let bare = |risk: &StateRisk| !elsewhere(test) && accounts_for(risk, test);
        if risks.iter().any(|risk| accounts_for(risk, &qualified) || bare(risk)) {
            known.push(qualified.clone());
        }
        *test = qualified;
    }
    red(&named, &|name| known.iter().any(|known| known == name))
}

fn flaky(evidence: &Evidence) -> Option<Issue> {
    (!evidence.flaky.is_empty()).then(|| {
        let message = format!("Red, then green on the same content: {}.", names(&evidence.flaky));
        Issue::warn(ID, "tests-flaky", message)
            .text(&evidence.flaky.join("\n"))
            .hint("Make the test independent of time, order and leftovers, or note it as a risk.")
    })
}

fn red(evidence: &Evidence, is_known: &dyn Fn(&str) -> bool) -> Issue {
    let command = plain(&shell_words::join(&evidence.run.command));
    match evidence.error.as_deref() {
        Some("timeout") => {
            let seconds = evidence.run.duration_ms / 1000;
            let message =
                format!("The tests (`{command}`) were stopped by the time limit after {seconds} s.");
            return Issue::block(ID, "tests-timeout", message)
                .hint("Make them shorter or raise `[tests] timeout`, then run `endwell verify`.");
        }
        Some(error) => {
            let message = format!("The tests (`{command}`) did not come to an end: {}.", plain(error));
            return Issue::block(ID, "tests-killed", message).hint(RUN);
        }
        None => {}
    }
    let failing = &evidence.run.failing;
    if failing.is_empty() {
        let code =
            evidence.run.exit_code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        let message =
            format!("The tests (`{command}`) ended with {code}, and their output names no failing test.");
        return Issue::block(ID, "tests-unnamed", message)
            .hint(format!("Run `{command}`, mend what it says, then run `endwell verify`."));
    }
    let unnamed: Vec<String> = failing.iter().filter(|name| !is_known(name)).cloned().collect();
    let Some(first) = unnamed.first() else {
        let message = format!("The tests are red, and each failure is an open risk: {}.", names(failing));
        return Issue::warn(ID, "tests-red-named", message)
            .text(&failing.join("\n"))
            .hint("Mend them when it is their turn.");
    };
    let message = format!("The tests are red, and no open risk names {}.", names(&unnamed));
    Issue::block(ID, "tests-red", message).text(&unnamed.join("\n")).hint(format!(
        "Mend them and run `endwell verify`, or say why each may stay: `endwell note risk --test {} \"why\"`.",
        shell_words::quote(first)
    ))
}

/// Whether a risk accounts for a failing test, by the rules at the top of this file.
pub fn accounts_for(risk: &StateRisk, name: &str) -> bool {
    let name = name.trim();
    if name.is_empty() {
        return false;
    }
    if risk.test.as_deref().map(str::trim) == Some(name) {
        return true;
    }
    let quoted = ['`', '"', '\''].iter().any(|quote| risk.detail.contains(&format!("{quote}{name}{quote}")));
    quoted || (is_telling(name) && stands_whole(&risk.detail, name))
}

/// Whether a name can't be mistaken for a word of prose.
fn is_telling(name: &str) -> bool {
    let inside = |mark: char| {
        let mut parts = name.split(mark);
        let first = parts.next().is_some_and(|part| part.ends_with(is_word));
        first && parts.next().is_some_and(|part| part.starts_with(is_word))
    };
    let long = name.chars().count() >= LONG && !name.contains(char::is_whitespace);
    long || name.contains("::") || name.contains('>') || inside('/') || inside('.')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text holds a name that is not a part of a longer one.
fn stands_whole(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(start, found)| {
        let before = text[..start].chars().rev();
        let after = text[start + found.len()..].chars();
        // `[` opens the parameters of one case
        !goes_on(before) && !goes_on(after.clone()) && !after.as_str().starts_with('[')
    })
}

/// Whether the characters beside a name, going away from it, belong to it. A dot or a colon that ends a sentence
/// does not.
fn goes_on(mut beside: impl Iterator<Item = char>) -> bool {
    let word = |c: Option<char>| c.is_some_and(is_word);
    match beside.next() {
        Some('.' | '/' | '-') => word(beside.next()),
        Some(':') => beside.next() == Some(':'),
        c => word(c),
    }
}

fn names(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{}`", plain(name))).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod cases {
    use super::*;
    use crate::model::Severity;
    use crate::model::report::TestRun;

    fn red_run(failing: &[&str]) -> TestStanding {
        TestStanding::Red(Box::new(Evidence {
            run: TestRun {
                command: vec!["cargo".to_owned(), "test".to_owned()],
                exit_code: Some(101),
                failing: failing.iter().map(|name| (*name).to_owned()).collect(),
                ..TestRun::default()
            },
            ..Evidence::default()
        }))
    }

    fn risk(detail: &str, test: Option<&str>) -> StateRisk {
        StateRisk { severity: Severity::Warn, detail: detail.to_owned(), test: test.map(str::to_owned) }
    }

    fn only(standing: &TestStanding, risks: &[StateRisk]) -> Issue {
        let mut issues = judge(standing, risks);
        assert_eq!(issues.len(), 1, "{issues:?}");
        issues.remove(0)
    }

    #[test]
    fn a_red_test_passes_only_when_each_failure_is_named() {
        let standing = red_run(&["a::one", "a::two"]);
        let one = risk("known since the move", Some("a::one"));
        let issue = only(&standing, std::slice::from_ref(&one));
        assert_eq!((issue.code.as_str(), issue.severity), ("tests-red", Severity::Block));
        assert!(issue.message.contains("a::two") && !issue.message.contains("a::one"), "{}", issue.message);
        assert!(issue.hint.contains("endwell note risk --test a::two \"why\""), "{}", issue.hint);
        let issue = only(&standing, &[one, risk("`a::two` needs the network", None)]);
        assert_eq!((issue.code.as_str(), issue.severity), ("tests-red-named", Severity::Warn));
    }

    #[test]
    fn a_longer_or_shorter_name_names_no_other_test() {
        assert!(accounts_for(&risk("test_sailings fails", None), "test_sailings"));
        assert!(accounts_for(&risk("fails: test_sailings.", None), "test_sailings"));
        assert!(!accounts_for(&risk("test_sailings_b fails", None), "test_sailings"));
        assert!(!accounts_for(&risk("my_test_sailings fails", None), "test_sailings"));
        assert!(!accounts_for(&risk("b::a::one fails", None), "a::one"));
        assert!(!accounts_for(&risk("t.py::one[2] fails", None), "t.py::one"));
        assert!(!accounts_for(&risk("a.py.orig is broken", None), "a.py"));
        assert!(!accounts_for(&risk("x", Some("a::one")), "one"));
        assert!(!accounts_for(&risk("", None), ""));
    }

    #[test]
    fn prose_names_no_test_whose_name_is_a_word() {
        for detail in ["Nobody knows how this works on Windows", "works", "it's works", "the `works` of it"] {
            let quoted = detail.contains('`');
            assert_eq!(accounts_for(&risk(detail, None), "works"), quoted, "{detail}");
        }
        assert!(accounts_for(&risk("fails at night: \"works\"", None), "works"));
        assert!(accounts_for(&risk("x", Some("works")), "works"));
        assert!(!accounts_for(&risk("it adds up the totals", None), "adds up"));
        for name in ["a::one", "t/a.py", "sums > total", "m.Sums.total"] {
            assert!(accounts_for(&risk(&format!("known: {name} needs the network"), None), name), "{name}");
        }
    }

    #[test]
    fn every_other_standing_but_green_and_none_blocks() {
        let code = |standing: &TestStanding| only(standing, &[]).code;
        assert_eq!(code(&TestStanding::NoCommand), "no-tests");
        assert!(judge(&TestStanding::Green(Box::default()), &[]).is_empty());
        let claimed =
            only(&TestStanding::Missing { command: "t".to_owned(), last: None, claimed: Some(true) }, &[]);
        assert_eq!((claimed.code.as_str(), claimed.severity), ("tests-missing", Severity::Block));
        let missing = TestStanding::Missing { command: "pytest".to_owned(), last: None, claimed: None };
        for (standing, wanted) in [
            (red_run(&[]), "tests-unnamed"),
            (missing, "tests-missing"),
            (TestStanding::Stale { changed: vec!["file:.env".to_owned()] }, "tests-stale"),
            (TestStanding::Unbound { why: "x".to_owned() }, "tests-unbound"),
        ] {
            let issue = only(&standing, &[]);
            assert_eq!((issue.code.as_str(), issue.severity), (wanted, Severity::Block));
        }
    }
}
