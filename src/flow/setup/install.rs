//! `install`: the record by which all can be taken back comes first, then the mark, then the files; killed in between,
//! it can be repeated or taken back.

use super::{InstallOptions, plan, show, unrecorded, unwritten, words};
use crate::agent::edit::{self, Refusal, Step};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, session};
use crate::githook::{self, Place, mark};
use crate::model::install::Record;

/// Installs; says what was done on standard error, shows diffs on standard output.
pub fn install(bench: &Workbench, options: &InstallOptions) -> Result<ExitStatus> {
    let found = githook::find(&bench.repo);
    let place = found.map_err(|error| git_failed("can't find the hooks folder", error))?;
    let agents = plan::agents(bench, options)?;
    // held before the first look: of two at once, the second sees what the first did
    let held = if options.dry_run { None } else { Some(mark::lock(&bench.env).map_err(unrecorded)?) };
    let (edits, mut refused) = plan::edits(bench, &place, &agents, options)?;
    let mut steps = Vec::new();
    for edit in &edits {
        match edit::prepare(edit) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(refusal),
        }
    }
    if options.dry_run {
        show(bench, &steps)?;
    } else {
        let (written, failed) = apply(bench, &steps)?;
        refused.extend(failed);
        session::take_install_baseline(bench)?;
        drop(held);
        words::written(bench, &written, refused.is_empty(), options.shared);
    }
    for refusal in &refused {
        words::refused(bench.ui, refusal);
    }
    words::place(bench.ui, &place, options.external);
    words::agents(bench, &agents);
    let gate_runs = matches!(&place, Place::Own { .. } | Place::Adopted { .. });
    if !options.dry_run && refused.is_empty() {
        words::next(bench, gate_runs)?;
    }
    let elsewhere = matches!(place, Place::Shared { wired: false, .. }) && !options.external;
    Ok(if refused.is_empty() && !elsewhere { ExitStatus::Done } else { ExitStatus::CouldNotJudge })
}

/// Which files were written, and which could not be.
fn apply<'a>(bench: &Workbench, steps: &'a [Step]) -> Result<(Vec<&'a Step>, Vec<Refusal>)> {
    let former = mark::record(&bench.env, &bench.repo).map_err(unrecorded)?;
    let mut record = match &former {
        Some(record) => record.clone(),
        None => mark::fresh(&bench.repo).map_err(unrecorded)?,
    };
    let changing: Vec<&Step> = steps.iter().filter(|step| step.changes()).collect();
    for step in &changing {
        enter(&mut record, step);
    }
    if former.as_ref() != Some(&record) {
        mark::write_record(&bench.env, &record).map_err(unrecorded)?;
    }
    if former.is_none()
        && let Err(error) = mark::write_mark(&bench.repo, &record)
    {
        mark::remove(&bench.env, &bench.repo, Some(&record)).map_err(unrecorded)?;
        return Err(unrecorded(error));
    }
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for step in changing {
        match step.install() {
            Ok(()) => written.push(step),
            Err(error) => refused.push(unwritten(step, &error)),
        }
    }
    if !refused.is_empty() {
        strike(&mut record, former.as_ref(), &refused);
        mark::write_record(&bench.env, &record).map_err(unrecorded)?;
    }
    Ok((written, refused))
}

fn enter(record: &mut Record, step: &Step) {
    let key = edit::key_of(&step.path);
    match record.files.iter_mut().find(|file| file.path == key) {
        Some(file) => *file = step.record(Some(file)),
        None => record.files.push(step.record(None)),
    }
}

/// What was not written is recorded as it was before.
fn strike(record: &mut Record, former: Option<&Record>, refused: &[Refusal]) {
    for refusal in refused {
        let key = edit::key_of(&refusal.path);
        record.files.retain(|file| file.path != key);
        let before = former.and_then(|former| former.files.iter().find(|file| file.path == key));
        record.files.extend(before.cloned());
    }
}
