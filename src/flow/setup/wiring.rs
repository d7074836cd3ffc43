//! How this repository's pushes come to call endwell: by a file in its own hooks folder, by git's configuration, by a
//! block in a script of the project, or by an entry in a hook manager's file. It looks and decides; it writes nothing.

use std::path::{Path, PathBuf};

use super::InstallOptions;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::workbench::git_failed;
use crate::fs;
use crate::git::proof::Proof;
use crate::githook::manager::{self, Manager, Way};
use crate::githook::{self, Place, config};
use crate::model::plan::FileEdit;

/// The way that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wiring {
    /// A file in the repository's own hooks folder.
    File(PathBuf),
    /// git's configuration calls our hook.
    Config,
    /// A block in this script, with the person's consent.
    Block(PathBuf),
    /// An entry in a manager's file; whether it stands there.
    Entry(&'static Manager, bool),
    /// Somebody else's hook calls ours already.
    Called,
    /// No hook is written; the place says why.
    Nothing,
}

/// Decides on the way.
pub(super) fn choose(bench: &Workbench, place: &Place, options: &InstallOptions) -> Result<Wiring> {
    let manager = options.via.as_deref().map(named).transpose()?;
    if options.external {
        return Ok(Wiring::Nothing);
    }
    let repo = &bench.repo;
    if fs::exists(&config::script(&repo.common_dir)) && config::is_known(repo).map_err(unasked)? {
        return Ok(Wiring::Config);
    }
    match (manager.map(|manager| manager.way), place) {
        (Some(Way::Entry { file, .. }), _) => {
            let entry = fs::read_optional(&repo.top.join(file)).ok().flatten().unwrap_or_default();
            let stands = memchr::memmem::find(&entry, githook::CALL.as_bytes()).is_some();
            return Ok(manager.map_or(Wiring::Nothing, |manager| Wiring::Entry(manager, stands)));
        }
        (Some(Way::Block), Place::Project { script, .. }) => return Ok(Wiring::Block(script.clone())),
        (Some(Way::Block), _) => {
            return Err(Failure::usage("git runs no script of the project here")
                .hint("Set the manager up first, then run this again; or leave `--via` out."));
        }
        (Some(Way::Front) | None, _) => {}
    }
    match place {
        Place::Adopted { .. } | Place::Project { wired: true, .. } | Place::Shared { wired: true, .. } => {
            Ok(Wiring::Called)
        }
        Place::Own { dir } if githook::calls_us(&dir.join("pre-push")) => Ok(Wiring::File(dir.clone())),
        Place::Own { .. } | Place::Project { .. } | Place::Shared { .. }
            if config::is_known(repo).map_err(unasked)? =>
        {
            Ok(Wiring::Config)
        }
        Place::Own { dir } => Ok(Wiring::File(dir.clone())),
        Place::Off { .. } | Place::Project { .. } | Place::Shared { .. } => Ok(Wiring::Nothing),
    }
}

fn unasked(error: crate::git::GitError) -> Failure {
    git_failed("can't ask git for its hooks", error)
}

fn named(id: &str) -> Result<&'static Manager> {
    manager::find(id).ok_or_else(|| {
        Failure::usage(format!("`{id}` is no hook manager that endwell knows"))
            .hint(format!("Give `--via` one of: {}.", manager::names()))
    })
}

impl Wiring {
    /// The files that it changes.
    pub(super) fn edits(&self, bench: &Workbench, program: &Path) -> Vec<FileEdit> {
        let missing = bench.config.push.missing;
        match self {
            Self::File(dir) => vec![githook::plan(dir, program, missing)],
            Self::Config => config::plan(&bench.repo, program, missing),
            Self::Block(script) => vec![githook::block_plan(script, &bench.repo.top)],
            Self::Entry(..) | Self::Called | Self::Nothing => Vec::new(),
        }
    }

    /// Whether a push calls endwell.
    pub(super) const fn runs(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Entry(_, false))
    }

    /// A dry push that shows it; `None` where hooks of others would run before or beside ours, or nothing is wired.
    pub(super) fn prove(&self, bench: &Workbench) -> Result<Option<Proof>> {
        let only_config = match self {
            Self::File(_) | Self::Block(_) | Self::Entry(_, true) => false,
            Self::Config => true,
            Self::Entry(_, false) | Self::Called | Self::Nothing => return Ok(None),
        };
        super::prove(bench, only_config).map(Some)
    }
}
