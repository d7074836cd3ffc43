//! `install`: the record by which all can be taken back comes first, then the mark, then the files; killed in between,
//! it can be repeated or taken back.

use super::wiring::{self, Wiring};
use super::{InstallOptions, plan, show, unrecorded, unwritten, words};
use crate::agent::edit::{self, Refusal, Step};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, bypass, session, trust};
use crate::githook::{self, Place, manager, mark};
use crate::model::install::Record;

/// Installs; says what was done on standard error, shows diffs on standard output.
pub fn install(bench: &Workbench, options: &InstallOptions) -> Result<ExitStatus> {
    let found = githook::find(&bench.repo);
    let place = found.map_err(|error| git_failed("can't find the hooks folder", error))?;
    let wiring = wiring::choose(bench, &place, options)?;
    let agents = plan::agents(bench, options)?;
    // held before the first look: of two at once, the second sees what the first did
    let held = if options.dry_run { None } else { Some(mark::lock(&bench.env).map_err(unrecorded)?) };
    let (edits, mut refused) = plan::edits(bench, &wiring, &agents, options)?;
    let mut steps = Vec::new();
    for edit in &edits {
        match edit::prepare(edit) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(refusal),
        }
    }
    if options.dry_run {
        show(bench.ui, &bench.repo.top, &steps)?;
    } else {
        let (written, failed, was_here) = apply(bench, &steps)?;
        refused.extend(failed);
        session::take_install_baseline(bench)?;
        trust::record_seen(bench)?;
        bypass::mark_reflogs(bench);
        drop(held);
        words::written(bench, &written, was_here && refused.is_empty(), options.shared);
    }
    for refusal in &refused {
        words::refused(bench.ui, refusal);
    }
    let via = options.via.as_deref().and_then(manager::find);
    words::wiring(bench, (&place, &wiring), via, options.external);
    words::agents(&bench.env, bench.ui, &agents);
    words::only_at_home(bench, &agents);
    let mut fires = true;
    if !options.dry_run && refused.is_empty() {
        fires = wiring.prove(bench)?.is_none_or(|proof| words::proof(bench.ui, &proof));
        words::next(bench, wiring.runs())?;
    }
    let elsewhere =
        matches!(place, Place::Shared { wired: false, .. }) && wiring == Wiring::Nothing && !options.external;
    Ok(if refused.is_empty() && !elsewhere && fires { ExitStatus::Done } else { ExitStatus::CouldNotJudge })
}

/// Which files were written, which could not be, and whether endwell was installed here before.
fn apply<'a>(bench: &Workbench, steps: &'a [Step]) -> Result<(Vec<&'a Step>, Vec<Refusal>, bool)> {
    let (former, mut record, is_moved) = records(bench)?;
    let changing = enter_all(&mut record, steps);
    if is_moved || former.as_ref() != Some(&record) {
        mark::write_record(&bench.env, &record).map_err(unrecorded)?;
    }
    if former.is_none()
        && let Err(error) = mark::write_mark(&bench.repo, &record)
    {
        mark::remove(&bench.env, &bench.repo, Some(&record)).map_err(unrecorded)?;
        return Err(unrecorded(error));
    }
    let (written, refused) = write_all(changing);
    if !refused.is_empty() {
        strike(&mut record, former.as_ref(), &refused);
        mark::write_record(&bench.env, &record).map_err(unrecorded)?;
    }
    Ok((written, refused, former.is_some()))
}

/// Enters every step into the record; gives those that change something.
pub(super) fn enter_all<'a>(record: &mut Record, steps: &'a [Step]) -> Vec<&'a Step> {
    let (changing, standing): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.changes());
    for step in &changing {
        enter(record, step);
    }
    for step in standing {
        // of an installation whose record is lost
        if !record.files.iter().any(|file| file.path == edit::key_of(&step.path)) {
            record.files.extend(step.adopted());
        }
    }
    changing
}

/// Writes the files: which were written, and which could not be.
pub(super) fn write_all(changing: Vec<&Step>) -> (Vec<&Step>, Vec<Refusal>) {
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for step in changing {
        match step.install() {
            Ok(()) => written.push(step),
            Err(error) => refused.push(unwritten(step, &error)),
        }
    }
    (written, refused)
}

/// The record that is in force here, the one to go on with, and whether the repository was moved. A copy goes on with
/// what the other one's record says of its files, under a mark of its own.
fn records(bench: &Workbench) -> Result<(Option<Record>, Record, bool)> {
    let found = mark::find(&bench.env, &bench.repo).map_err(unrecorded)?;
    Ok(match found {
        Some(found) if !found.is_copy => (Some(found.record.clone()), found.record, found.is_moved),
        found => {
            let mut record = mark::fresh(&bench.repo).map_err(unrecorded)?;
            record.files = found.map(|found| found.record.files).unwrap_or_default();
            (None, record, false)
        }
    })
}

fn enter(record: &mut Record, step: &Step) {
    let key = edit::key_of(&step.path);
    match record.files.iter_mut().find(|file| file.path == key) {
        Some(file) => *file = step.record(Some(file)),
        None => record.files.push(step.record(None)),
    }
}

/// What was not written is recorded as it was before.
pub(super) fn strike(record: &mut Record, former: Option<&Record>, refused: &[Refusal]) {
    for refusal in refused {
        let key = edit::key_of(&refusal.path);
        record.files.retain(|file| file.path != key);
        let before = former.and_then(|former| former.files.iter().find(|file| file.path == key));
        record.files.extend(before.cloned());
    }
}
