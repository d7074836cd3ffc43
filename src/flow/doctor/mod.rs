//! `endwell doctor`: what is installed but does not fire. It looks and proves; it mends nothing.

mod agents;
mod hook;

use crate::failure::Result;
use crate::flow::Workbench;
use crate::model::SCHEMA_VERSION;
use crate::model::doctor::{Diagnosis, Symptom};

/// Looks at everything.
pub fn examine(bench: &Workbench) -> Result<Diagnosis> {
    let mut findings = Vec::new();
    let push = hook::examine(bench, &mut findings)?;
    let agents = agents::examine(bench, &mut findings);
    findings.sort_by_key(|symptom| !symptom.wrong);
    let healthy = !findings.iter().any(|symptom| symptom.wrong);
    Ok(Diagnosis { schema_version: SCHEMA_VERSION, healthy, push, agents, findings })
}

fn wrong(about: &str, code: &str, message: impl Into<String>, fix: impl Into<String>) -> Symptom {
    Symptom {
        code: code.to_owned(),
        wrong: true,
        about: about.to_owned(),
        message: message.into(),
        fix: fix.into(),
    }
}

fn note(about: &str, code: &str, message: impl Into<String>, fix: impl Into<String>) -> Symptom {
    Symptom { wrong: false, ..wrong(about, code, message, fix) }
}
