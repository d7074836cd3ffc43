//! `open_risks`: what could bite next, from every source, most severe first. The same words from two sources are one
//! risk, at the higher severity.

use jiff::Timestamp;

use super::inputs::Inputs;
use crate::model::Severity;
use crate::model::packet::OpenRisk;
use crate::model::report::ReviewVerdict;
use crate::redact::{clean, clip};

/// The longest risk, in characters.
const MAX_DETAIL: usize = 600;

/// A review below this is a risk.
const GOOD_REVIEW: f64 = 7.0;

/// A session longer than this without a change is odd.
const LONG_SECONDS: i64 = 300;

/// Every risk.
pub(super) fn all(inputs: &Inputs) -> Vec<OpenRisk> {
    let mut found = Collected::default();
    from_state(inputs, &mut found);
    from_verdict(inputs, &mut found);
    from_review(inputs, &mut found);
    for issue in &inputs.clean.issues {
        let place = issue.path.as_deref().map(|path| match issue.line {
            Some(line) => format!(" (`{path}:{line}`)"),
            None => format!(" (`{path}`)"),
        });
        let named = issue.path.as_deref().is_some_and(|path| issue.message.contains(path));
        let place = if named { String::new() } else { place.unwrap_or_default() };
        let source = if issue.check == crate::model::CheckId::Tests { "tests" } else { "check" };
        found.add(issue.severity, format!("{}{place}", issue.message), source);
    }
    for parked in &inputs.parked {
        found.add(Severity::Warn, format!("Parked work `{}`: {}", parked.id, parked.note), "check");
    }
    for stash in &inputs.stashes {
        let short = stash.commit.get(..8).unwrap_or(&stash.commit);
        found.add(Severity::Warn, format!("Stashed work `{short}`: {}", stash.note), "check");
    }
    for risk in &inputs.found_risks {
        found.add(risk.severity, risk.detail.clone(), &risk.source);
    }
    from_log(inputs, &mut found);
    found.in_order()
}

#[derive(Default)]
struct Collected(Vec<OpenRisk>);

impl Collected {
    fn add(&mut self, severity: Severity, detail: impl AsRef<str>, source: &str) {
        let words = clean(detail.as_ref());
        let detail = clip(&words.split_whitespace().collect::<Vec<_>>().join(" "), MAX_DETAIL);
        if detail.is_empty() {
            return;
        }
        match self.0.iter_mut().find(|risk| risk.detail == detail) {
            Some(have) => have.severity = have.severity.max(severity),
            None => self.0.push(OpenRisk { severity, detail, source: source.to_owned() }),
        }
    }

    fn in_order(mut self) -> Vec<OpenRisk> {
        // stable: within a severity the order of the sources stays
        self.0.sort_by_key(|risk| std::cmp::Reverse(risk.severity));
        self.0
    }
}

fn from_state(inputs: &Inputs, found: &mut Collected) {
    for blocker in &inputs.state.blockers {
        found.add(Severity::Block, format!("Blocked: {blocker}"), "state");
    }
    for risk in &inputs.state.open_risks {
        let detail = match &risk.test {
            Some(test) if !risk.detail.contains(test.as_str()) => format!("{} (test `{test}`)", risk.detail),
            _ => risk.detail.clone(),
        };
        found.add(risk.severity, detail, "state");
    }
}

fn from_verdict(inputs: &Inputs, found: &mut Collected) {
    let verdict = &inputs.receipts.verification;
    // what the checks say too stands there already, in fuller words
    let said = |code: &str| inputs.clean.issues.iter().any(|issue| issue.code == code);
    for finding in verdict.findings.iter().filter(|finding| !said(&finding.code)) {
        found.add(finding.severity, format!("{}: {}", finding.code, finding.detail), "verdict");
    }
    let failing = verdict.tests.as_ref().map(|run| run.failing.as_slice()).unwrap_or_default();
    for test in failing {
        let told = inputs
            .state
            .open_risks
            .iter()
            .any(|risk| risk.test.as_deref() == Some(test) || risk.detail.contains(test.as_str()));
        if !told {
            found.add(Severity::Warn, format!("Test `{test}` is red"), "tests");
        }
    }
    if !verdict.passed && verdict.findings.is_empty() && failing.is_empty() {
        found.add(Severity::Warn, "The verification did not pass and names no finding", "verdict");
    }
}

fn from_review(inputs: &Inputs, found: &mut Collected) {
    let Some(review) = &inputs.receipts.review else { return };
    if review.verdict == ReviewVerdict::HardFail {
        found.add(Severity::Block, "The review's verdict is a hard fail", "review");
    }
    if review.total < GOOD_REVIEW {
        found.add(Severity::Warn, format!("The review gave {} of 10", number(review.total)), "review");
    }
    for dimension in review.dimensions.iter().filter(|dimension| dimension.score < 1.0) {
        let note =
            if dimension.note.trim().is_empty() { String::new() } else { format!(": {}", dimension.note) };
        let detail = format!("The review scored {} {} of 2{note}", dimension.name, number(dimension.score));
        found.add(Severity::Warn, detail, "review");
    }
}

fn from_log(inputs: &Inputs, found: &mut Collected) {
    if inputs.log.unreadable > 0 {
        let lines = if inputs.log.unreadable == 1 { "line" } else { "lines" };
        let detail = format!("{} {lines} of `{}` could not be read", inputs.log.unreadable, inputs.log.path);
        found.add(Severity::Info, detail, "log");
    }
    if inputs.log.more {
        let detail = format!("Commands before those that are listed stand in `{}` only", inputs.log.path);
        found.add(Severity::Info, detail, "log");
    }
    if inputs.changed_files.is_empty()
        && let Some(minutes) = long_without_change(inputs)
    {
        let detail = format!(
            "The session ran for {minutes} minutes and changed nothing: it was wedged, or there was nothing to do"
        );
        found.add(Severity::Warn, detail, "log");
    }
}

/// Whole minutes from the session's start to its last command, where there are more than five.
fn long_without_change(inputs: &Inputs) -> Option<i64> {
    let start = when(inputs.started_at.as_deref()?)?;
    let end = inputs.log.records.iter().filter_map(|record| when(record.started_at.as_deref()?)).max()?;
    let seconds = end - start;
    (seconds > LONG_SECONDS).then_some(seconds / 60)
}

fn when(text: &str) -> Option<i64> {
    match text.parse::<Timestamp>() {
        Ok(time) => Some(time.as_second()),
        Err(_) => text.split('.').next()?.parse().ok(),
    }
}

/// A score without needless decimals.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
