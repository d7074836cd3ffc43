//! The only door to git. The work tree is judged by the git binary (gix misjudges some states and fails open in
//! others); gix reads objects, refs, trees and diffs. Nothing here writes the index, a ref or an object, except where a
//! function says so.

pub mod changes;
pub mod content;
pub mod diffstat;
mod discover;
pub mod hidden;
pub mod index;
pub mod objects;
pub mod operations;
pub mod park;
pub mod pins;
pub mod proof;
pub mod push;
pub mod reflog;
pub mod refs;
pub mod stash;
pub mod status;
pub mod submodules;
mod tree_edit;
pub mod tree_id;
pub mod worktrees;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::process::{Captured, Inherit, Output, child_env};

pub use objects::Objects;
pub use refs::Refs;
pub use status::{Entry, EntryKind, Status};
pub use tree_id::{Content, Contents};

/// Why git could not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not on PATH")]
    Missing,
    #[error("can't start git")]
    Start(#[source] io::Error),
    /// git's own first line.
    #[error("{message}")]
    Failed { command: String, code: Option<i32>, message: String },
    #[error("git answered `{0}` in a form that is not known here")]
    Form(String),
    #[error("can't read {what}: {message}")]
    Objects { what: String, message: String },
}

impl GitError {
    /// Whether git said that there is no repository here.
    pub fn is_no_repository(&self) -> bool {
        matches!(self, Self::Failed { message, .. } if message.contains("not a git repository"))
    }

    /// Whether git said that there is no work tree here (a bare repository).
    pub fn is_bare(&self) -> bool {
        matches!(self, Self::Failed { message, .. } if message.contains("must be run in a work tree"))
    }
}

/// One work tree and the repository behind it. Every path is as git named it.
#[derive(Clone, Debug)]
pub struct Repo {
    /// Top level of the work tree.
    pub top: PathBuf,
    /// This work tree's own git dir.
    pub git_dir: PathBuf,
    /// The git dir that all work trees share.
    pub common_dir: PathBuf,
    pub shallow: bool,
    /// Refs in loose and packed files (gix reads them), not in a reftable (only git does).
    pub ref_files: bool,
    /// Object ids are SHA-256.
    pub sha256: bool,
    vars: BTreeMap<OsString, OsString>,
}

/// The options of every call: nothing here may take a lock, follow a replacement, or believe a monitor.
const ALWAYS: [&str; 4] = ["--no-optional-locks", "--no-replace-objects", "-c", "core.fsmonitor=false"];

impl Repo {
    /// The repository around the current folder; git is asked unless its answer is plain to see. A hook's `GIT_DIR` is not believed: in a linked work
    /// tree it makes git take a subfolder for the top.
    pub fn discover(env: &Env) -> Result<Self, GitError> {
        let vars = child_env(env, Inherit::GitChoices);
        // without git nothing else here would work: it is told once, and here
        let quickly = discover::quickly(env.cwd(), &vars).filter(|_| env.which("git").is_some());
        quickly.map_or_else(|| Self::ask(env), Ok)
    }

    /// As [`Repo::discover`], by git's own word in any case.
    pub fn ask(env: &Env) -> Result<Self, GitError> {
        let vars = child_env(env, Inherit::GitChoices);
        let args = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-shallow-repository",
            "--show-ref-format",
            "--show-object-format",
        ];
        let output = call(&vars, env.cwd(), &args, None)?;
        let text = path_lines(&output.stdout);
        let [top, git_dir, common_dir, shallow, refs, hash] = text.as_slice() else {
            return Err(GitError::Form("rev-parse".to_owned()));
        };
        Ok(Self {
            top: PathBuf::from(top),
            git_dir: PathBuf::from(git_dir),
            common_dir: PathBuf::from(common_dir),
            shallow: shallow == "true",
            // git before 2.45 echoes the option: it knows only files
            ref_files: refs != "reftable",
            sha256: hash == "sha256",
            vars,
        })
    }

    /// Runs git at the top level and returns its output; any exit but 0 is an error with git's first line.
    pub fn git<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Output, GitError> {
        call(&self.vars, &self.top, args, None)
    }

    /// As [`Repo::git`], with bytes on standard input.
    pub fn git_with_input<S: AsRef<OsStr>>(&self, args: &[S], input: Vec<u8>) -> Result<Output, GitError> {
        call(&self.vars, &self.top, args, Some(input))
    }

    /// Runs git at the top level and returns its output whatever its exit code.
    pub fn git_any<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Output, GitError> {
        run(&self.vars, &self.top, args, None)
    }

    /// Runs git in another folder, for a submodule's own repository.
    pub fn git_in<S: AsRef<OsStr>>(&self, dir: &Path, args: &[S]) -> Result<Output, GitError> {
        run(&self.vars, dir, args, None)
    }

    /// endwell's folder for this work tree.
    pub fn own_dir(&self) -> PathBuf {
        self.git_dir.join("endwell")
    }

    /// endwell's folder for all work trees of the repository.
    pub fn shared_dir(&self) -> PathBuf {
        self.common_dir.join("endwell")
    }

    /// The absolute place of a path from the top.
    pub fn at(&self, path: &[u8]) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        self.top.join(OsStr::from_bytes(path))
    }

    /// HEAD's commit; `None` before the first one.
    pub fn head_commit(&self) -> Result<Option<String>, GitError> {
        let output = self.git_any(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        match output.code {
            Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(failed("rev-parse", &output)),
        }
    }

    /// A value of git's configuration, by git's own rules; `None` where it is not set.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        let output = self.git_any(&["config", "--get", key])?;
        match output.code {
            Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())),
            Some(1) => Ok(None),
            _ => Err(failed("config", &output)),
        }
    }

    /// The folder where git looks for hooks, as git itself names it.
    pub fn hooks_dir(&self) -> Result<PathBuf, GitError> {
        let output = self.git(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
        match path_lines(&output.stdout).as_slice() {
            [dir] => Ok(PathBuf::from(dir)),
            _ => Err(GitError::Form("rev-parse --git-path".to_owned())),
        }
    }

    /// Whether git tracks a path (from the top).
    pub fn is_tracked(&self, path: &Path) -> Result<bool, GitError> {
        let args = [OsStr::new("ls-files"), OsStr::new("-z"), OsStr::new("--"), path.as_os_str()];
        let output = self.git(&args)?;
        Ok(!output.stdout.is_empty())
    }
}

fn path_lines(bytes: &[u8]) -> Vec<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').map(|line| OsString::from_vec(line.to_vec())).collect()
}

fn call<S: AsRef<OsStr>>(
    vars: &BTreeMap<OsString, OsString>,
    dir: &Path,
    args: &[S],
    input: Option<Vec<u8>>,
) -> Result<Output, GitError> {
    let output = run(vars, dir, args, input)?;
    if output.success() {
        return Ok(output);
    }
    let mut words = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    let name =
        words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default().into_owned();
    Err(failed(&name, &output))
}

fn failed(command: &str, output: &Output) -> GitError {
    GitError::Failed { command: command.to_owned(), code: output.code, message: output.first_error_line() }
}

fn run<S: AsRef<OsStr>>(
    vars: &BTreeMap<OsString, OsString>,
    dir: &Path,
    args: &[S],
    input: Option<Vec<u8>>,
) -> Result<Output, GitError> {
    let args =
        ALWAYS.iter().map(OsString::from).chain(args.iter().map(|arg| arg.as_ref().to_owned())).collect();
    let command =
        Captured { program: "git".into(), args, dir: dir.to_owned(), env: vars.clone(), stdin: input };
    command.run().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if dir.is_dir() => GitError::Missing,
        _ => GitError::Start(error),
    })
}
