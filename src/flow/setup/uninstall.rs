//! `uninstall`: gives back the bytes that were there. Where a file was changed by somebody since, only endwell's part
//! goes; where no record of this person agrees, only what carries endwell's own marks.

use std::path::Path;

use super::{plan, show, unrecorded, unwritten, words};
use crate::agent;
use crate::agent::undo;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, bypass, session, trust};
use crate::fs;
use crate::githook::{self, Place, mark};
use crate::model::install::{FileRecord, Record};
use crate::session::Store;

/// Takes everything back; says what was done on standard error, shows diffs on standard output.
pub fn uninstall(bench: &Workbench, dry_run: bool) -> Result<ExitStatus> {
    let _held = if dry_run { None } else { Some(mark::lock(&bench.env).map_err(unrecorded)?) };
    let found = mark::find(&bench.env, &bench.repo).map_err(unrecorded)?;
    let files = match &found {
        Some(found) => found.record.files.clone(),
        None => marked(bench)?,
    };
    // a copy gets its files back, and the other one keeps its record
    let record = found.filter(|found| !found.is_copy).map(|found| found.record);
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for file in files.iter().rev() {
        match undo::prepare_undo(file) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(refusal),
        }
    }
    if dry_run {
        show(bench.ui, &bench.repo.top, &steps)?;
    } else {
        let mut changed = false;
        for step in &steps {
            match step.uninstall() {
                Ok(()) => changed |= words::taken_back(bench, step),
                Err(error) => refused.push(unwritten(step, &error)),
            }
        }
        if refused.is_empty() {
            forget(bench, record.as_ref())?;
            words::uninstalled(bench.ui, changed || record.is_some());
        }
    }
    for refusal in &refused {
        words::refused(bench.ui, refusal);
    }
    Ok(if refused.is_empty() { ExitStatus::Done } else { ExitStatus::CouldNotJudge })
}

fn forget(bench: &Workbench, record: Option<&Record>) -> Result<()> {
    for store in Store::everywhere(&bench.repo) {
        store.forget_install_baseline().map_err(session::kept)?;
    }
    trust::forget(bench)?;
    bypass::unmark_reflogs(bench);
    mark::remove(&bench.env, &bench.repo, record).map_err(unrecorded)
}

/// What carries endwell's own marks in the places where an installation puts them.
fn marked(bench: &Workbench) -> Result<Vec<FileRecord>> {
    let found = githook::find(&bench.repo);
    let place = found.map_err(|error| git_failed("can't find the hooks folder", error))?;
    let mut edits = Vec::new();
    let missing = bench.config.push.missing;
    match &place {
        Place::Own { dir } => edits.push(githook::plan(dir, Path::new("endwell"), missing)),
        Place::Project { script, .. } => edits.push(githook::block_plan(script, &bench.repo.top)),
        _ => {}
    }
    if fs::exists(&githook::config::script(&bench.repo.common_dir)) {
        edits.extend(githook::config::plan(&bench.repo, Path::new("endwell"), missing));
    }
    for agent in agent::ALL {
        edits.extend(agent.own_settings.map(|own| plan::settings_edit(bench, agent, own, false)));
    }
    edits.push(plan::exclude_edit(bench, Vec::new()));
    Ok(edits.iter().filter(|edit| fs::exists(&edit.path)).map(undo::unrecorded).collect())
}
