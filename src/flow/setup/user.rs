//! `install --user` and `uninstall --user`: this person's hooks in every project, in the clients' own folders at home. They
//! act only where this person installed endwell in the repository too; here nothing of a repository is touched.

use std::path::Path;

use super::install::{enter_all, strike, write_all};
use super::{plan, unrecorded, unwritten, words};
use crate::agent::edit::{self, Refusal, Step};
use crate::agent::{self, Agent, undo};
use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::githook::mark;
use crate::model::plan::FileEdit;
use crate::ui::Ui;

/// Puts the hooks of the named clients, else of those in use, into this person's settings.
pub fn install_user(env: &Env, ui: Ui, names: &[String], dry_run: bool) -> Result<ExitStatus> {
    let agents = plan::named(names)?
        .unwrap_or_else(|| agent::ALL.iter().copied().filter(|agent| agent.is_at_home(env)).collect());
    let _held = if dry_run { None } else { Some(mark::lock(env).map_err(unrecorded)?) };
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for agent in &agents {
        match edit::prepare(&edit_of(env, agent)?) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(refusal),
        }
    }
    if dry_run {
        show(env, ui, &steps)?;
    } else {
        let (written, failed) = apply(env, &steps)?;
        refused.extend(failed);
        words::written_at_home(env, ui, &written, refused.is_empty());
    }
    for refusal in &refused {
        words::refused(ui, refusal);
    }
    words::agents(env, ui, &agents);
    Ok(if refused.is_empty() { ExitStatus::Done } else { ExitStatus::CouldNotJudge })
}

/// Gives this person's settings back the bytes that they had.
pub fn uninstall_user(env: &Env, ui: Ui, dry_run: bool) -> Result<ExitStatus> {
    let _held = if dry_run { None } else { Some(mark::lock(env).map_err(unrecorded)?) };
    let record = mark::user_record(env).map_err(unrecorded)?;
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for file in record.iter().flat_map(|record| record.files.iter().rev()) {
        match undo::prepare_undo(file) {
            Ok(step) => steps.push(step),
            Err(refusal) => refused.push(refusal),
        }
    }
    if dry_run {
        show(env, ui, &steps)?;
    } else {
        let mut changed = false;
        for step in &steps {
            match step.uninstall() {
                Ok(()) => changed |= words::taken_back_at_home(env, ui, step),
                Err(error) => refused.push(unwritten(step, &error)),
            }
        }
        if refused.is_empty() {
            mark::forget_user_record(env).map_err(unrecorded)?;
            words::uninstalled_at_home(ui, changed || record.is_some());
        }
    }
    for refusal in &refused {
        words::refused(ui, refusal);
    }
    Ok(if refused.is_empty() { ExitStatus::Done } else { ExitStatus::CouldNotJudge })
}

fn edit_of(env: &Env, agent: &Agent) -> Result<FileEdit> {
    let homeless =
        || Failure::broken(format!("can't tell where {} keeps its settings", agent.name)).hint("Set `HOME`.");
    let path = agent.user_settings(env).ok_or_else(homeless)?;
    let root = env
        .home()
        .filter(|home| path.starts_with(home))
        .or_else(|| agent.home_dir(env))
        .ok_or_else(homeless)?;
    Ok(FileEdit {
        what: format!("{}'s hooks for all projects", agent.name),
        path,
        root,
        change: (agent.change)(false),
    })
}

/// The record by which all can be taken back comes first, then the files.
fn apply<'a>(env: &Env, steps: &'a [Step]) -> Result<(Vec<&'a Step>, Vec<Refusal>)> {
    let former = mark::user_record(env).map_err(unrecorded)?;
    let mut record = former.clone().unwrap_or_else(mark::fresh_user_record);
    let changing = enter_all(&mut record, steps);
    if !steps.is_empty() {
        mark::write_user_record(env, &record).map_err(unrecorded)?;
    }
    let (written, refused) = write_all(changing);
    if !refused.is_empty() {
        strike(&mut record, former.as_ref(), &refused);
        mark::write_user_record(env, &record).map_err(unrecorded)?;
    }
    Ok((written, refused))
}

fn show(env: &Env, ui: Ui, steps: &[Step]) -> Result<()> {
    let home = env.home().unwrap_or_default();
    super::show(ui, Path::new(&home), steps)
}
