//! `install` and `uninstall`: they join the git hook's and the agents' plans, show or apply them file by file, and keep
//! the record by which every byte comes back. A file that is refused stays as it was and never stops the others.

mod install;
mod plan;
mod uninstall;
mod user;
mod wiring;
mod words;

pub use install::install;
pub use uninstall::uninstall;
pub use user::{install_user, uninstall_user};

use std::path::Path;

use crate::agent::edit::{Refusal, Step};
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::workbench::git_failed;
use crate::git::proof::Proof;
use crate::githook::mark::MarkError;
use crate::ui::Ui;

/// What the person asked for.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Only these clients; empty: the ones in use.
    pub agents: Vec<String>,
    /// Write what a team commits.
    pub shared: bool,
    /// Print what to wire, write no git hook.
    pub external: bool,
    /// Join this hook manager in the way that it wants.
    pub via: Option<String>,
    /// Show, change nothing.
    pub dry_run: bool,
}

/// Shows by a dry push whether git starts our hook.
pub(super) fn prove(bench: &Workbench, only_config: bool) -> Result<Proof> {
    let bytes = crate::fs::random().map_err(|error| unrecorded(error.into()))?;
    let proof = bench.repo.prove_hook(&crate::model::issue::hex(&bytes), only_config);
    proof.map_err(|error| git_failed("can't try the hook in a dry push", error))
}

/// The diffs of a dry run, on standard output.
fn show(ui: Ui, top: &Path, steps: &[Step]) -> Result<()> {
    let changing = steps.iter().filter(|step| step.changes());
    let diffs: Vec<String> = changing.map(|step| step.diff(top)).collect();
    if diffs.is_empty() {
        ui.say("Nothing would change.");
        return Ok(());
    }
    ui.raw(diffs.concat().as_bytes()).map_err(|error| {
        Failure::broken("can't write the diff").because(error).hint("Free some space where the output goes.")
    })
}

/// A file that could not be written.
fn unwritten(step: &Step, error: &std::io::Error) -> Refusal {
    Refusal { what: step.what.clone(), path: step.path.clone(), reason: error.to_string(), paste: None }
}

pub(super) fn unrecorded(error: MarkError) -> Failure {
    Failure::broken("can't keep the record of this installation")
        .because(error)
        .hint("Make `~/.local/state` (or `$XDG_STATE_HOME`) and the git folder writable, then try again.")
}
