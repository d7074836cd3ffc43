//! Unfinished work aside and back, by own plumbing. The only place besides git's own commands that writes objects, a
//! ref (`refs/endwell/parked/<worktree>/<id>`) and the index. Nothing is taken away before it is saved under a ref, and
//! no path that is in neither of the two expected states is ever touched.

mod apply;
mod forward;
mod index;
mod journal;
mod refs;
mod save;
mod state;
mod steps;
mod store;
mod unpark;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::objects::{TreeEntry, TreeEntryKind};
use super::{GitError, Objects, Repo, call, run};
use crate::process::Output;

pub use forward::{Recovered, recover};
pub use refs::{Listing, Parked, free_id, has_records, has_worktree, list, ref_part, worktree_name};
pub use save::{Asked, Put, park};
pub use unpark::{Came, unpark};

/// Why work was not put aside, or not brought back.
#[derive(Debug, thiserror::Error)]
pub enum ParkError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("can't {what}")]
    Io {
        what: String,
        #[source]
        source: io::Error,
    },
    /// Nothing was touched.
    #[error("{message}")]
    Refused { message: String, hint: String },
    #[error("{0} is in a form that is not known here")]
    Form(String),
}

impl ParkError {
    fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: hint.into() }
    }
}

/// Names what was attempted when a file operation fails.
fn io<T>(what: &str, result: io::Result<T>) -> Result<T, ParkError> {
    result.map_err(|source| ParkError::Io { what: what.to_owned(), source })
}

/// The work tree that is worked on.
pub struct Bench<'a> {
    pub repo: &'a Repo,
    pub objects: &'a Objects,
    /// Paths that are endwell's own: neither parked nor touched.
    pub own: &'a dyn Fn(&[u8]) -> bool,
    /// Where the person's shell is: that folder is not removed under it.
    pub cwd: &'a Path,
}

impl Bench<'_> {
    /// The folder for temporary files of a park or unpark.
    fn scratch(&self, name: &str) -> PathBuf {
        self.repo.own_dir().join("park").join(name)
    }

    fn index_path(&self) -> PathBuf {
        self.repo.git_dir.join("index")
    }

    /// The file or link that a commit has at a path; a folder is none.
    fn committed(&self, commit: &str, path: &[u8]) -> Result<Option<TreeEntry>, GitError> {
        Ok(self.objects.entry_at(commit, path)?.filter(|entry| entry.kind != TreeEntryKind::Folder))
    }

    /// Runs git on an index file of our own.
    fn git(&self, index: &Path, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let (vars, all) = self.prepared(index, args);
        Ok(call(&vars, &self.repo.top, &all, Some(input))?.stdout)
    }

    /// As [`Bench::git`], whatever the exit code.
    fn git_any(&self, index: &Path, args: &[&str], input: Vec<u8>) -> Result<Output, GitError> {
        let (vars, all) = self.prepared(index, args);
        run(&vars, &self.repo.top, &all, Some(input))
    }

    /// Runs git on an index file of our own, with another folder as its work tree.
    fn git_elsewhere(
        &self,
        (index, tree): (&Path, &Path),
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<(), GitError> {
        let (mut vars, all) = self.prepared(index, args);
        vars.insert("GIT_DIR".into(), self.repo.git_dir.clone().into());
        vars.insert("GIT_WORK_TREE".into(), tree.into());
        call(&vars, tree, &all, Some(input)).map(|_| ())
    }

    fn prepared<'b>(
        &self,
        index: &Path,
        args: &[&'b str],
    ) -> (std::collections::BTreeMap<OsString, OsString>, Vec<&'b str>) {
        let mut vars = self.repo.vars.clone();
        vars.insert("GIT_INDEX_FILE".into(), index.into());
        // no hook may see these steps; a split index would write its shared part into the repository; what is parked
        // must be on the disk before the work tree is cleared
        let mut all = vec![
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.splitIndex=false",
            "-c",
            "core.safecrlf=false",
            "-c",
            "core.fsync=objects,derived-metadata,reference",
            "-c",
            "core.fsyncMethod=batch",
        ];
        all.extend(args);
        (vars, all)
    }
}
