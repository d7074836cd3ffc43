//! Reports and states with every text of theirs redacted, on their way into a file. Ids, hashes, paths and counts are
//! left as they are: others join on them.

use crate::model::clean::CleanReport;
use crate::model::report::{Evidence, ReviewReport, TestRun, VerificationReport};
use crate::model::state::AgentState;
use crate::redact::Redactor;

fn each<'a>(redactor: &Redactor, texts: impl IntoIterator<Item = &'a mut String>) {
    for text in texts {
        *text = redactor.text(text);
    }
}

pub(super) fn state(mut state: AgentState, redactor: &Redactor) -> AgentState {
    each(redactor, state.assumptions.iter_mut().map(|assumption| &mut assumption.text));
    each(redactor, &mut state.blockers);
    each(redactor, &mut state.next_action);
    for risk in &mut state.open_risks {
        each(redactor, [&mut risk.detail].into_iter().chain(&mut risk.test));
    }
    for question in &mut state.questions {
        each(redactor, [&mut question.text].into_iter().chain(&mut question.answer));
    }
    state
}

pub(super) fn verification(mut report: VerificationReport, redactor: &Redactor) -> VerificationReport {
    for finding in &mut report.findings {
        each(redactor, [&mut finding.code, &mut finding.detail]);
    }
    let suites = report.suites.iter_mut().map(|suite| &mut suite.tests);
    for TestRun { command, failing, .. } in report.tests.iter_mut().chain(suites) {
        each(redactor, command.iter_mut().chain(failing));
    }
    report
}

pub(super) fn evidence(mut evidence: Evidence, redactor: &Redactor) -> Evidence {
    let run = &mut evidence.run;
    each(redactor, run.command.iter_mut().chain(&mut run.failing).chain(&mut evidence.last_line));
    evidence
}

pub(super) fn review(mut report: ReviewReport, redactor: &Redactor) -> ReviewReport {
    for dimension in &mut report.dimensions {
        each(redactor, [&mut dimension.name, &mut dimension.note]);
    }
    report
}

pub(super) fn clean(mut report: CleanReport, redactor: &Redactor) -> CleanReport {
    for issue in &mut report.issues {
        each(redactor, [&mut issue.message, &mut issue.hint]);
    }
    report
}
