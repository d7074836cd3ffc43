//! The workbench that a command works on: one work tree with its settings, its objects, and where its artifacts lie.

use std::path::PathBuf;

use crate::config::{self, Config};
use crate::env::Env;
use crate::failure::{Failure, Result};
use crate::git::status::Walk;
use crate::git::{GitError, Objects, Repo};
use crate::model::slug;
use crate::ui::Ui;

/// One work tree, opened.
pub struct Workbench {
    pub env: Env,
    pub ui: Ui,
    pub repo: Repo,
    pub objects: Objects,
    pub config: Config,
    /// Keys of `endwell.toml` that mean nothing.
    pub unknown_keys: Vec<String>,
}

impl Workbench {
    /// Opens the work tree around the current folder.
    pub fn open(env: &Env, ui: Ui) -> Result<Self> {
        Self::of(env, ui, Repo::discover(env).map_err(|error| no_work_tree(env, error))?)
    }

    /// As [`Workbench::open`], with the status walk under way meanwhile: whatever is judged waits for it.
    pub fn open_walking(env: &Env, ui: Ui) -> Result<(Self, Walk)> {
        let repo = Repo::discover(env).map_err(|error| no_work_tree(env, error))?;
        let walk = repo.walk();
        Ok((Self::of(env, ui, repo)?, walk))
    }

    /// The work tree of a repository that git was asked for already.
    pub fn of(env: &Env, ui: Ui, repo: Repo) -> Result<Self> {
        let objects = Objects::open(&repo).map_err(|error| git_failed("can't open the repository", error))?;
        let loaded = config::load(env, &repo.top)?;
        for key in &loaded.unknown {
            let file = loaded.file.as_deref().unwrap_or_else(|| config::FILE.as_ref()).display();
            ui.warn(format_args!("`{file}` has the key `{key}`, which means nothing here"));
        }
        Ok(Self { env: env.clone(), ui, repo, objects, config: loaded.config, unknown_keys: loaded.unknown })
    }

    /// Whether there is a work tree around the current folder.
    pub fn is_here(env: &Env) -> bool {
        Repo::discover(env).is_ok()
    }

    /// The agent's state file.
    pub fn state_path(&self) -> PathBuf {
        self.repo.top.join(&self.config.paths.state)
    }

    /// The feedback log.
    pub fn feedback_path(&self) -> PathBuf {
        self.repo.top.join(&self.config.paths.feedback)
    }

    /// A place below the outputs folder.
    pub fn output(&self, below: &str) -> PathBuf {
        self.repo.top.join(&self.config.paths.outputs).join(below)
    }

    /// The verification report of a task.
    pub fn verification_path(&self, task: &str) -> PathBuf {
        self.output("verification").join(format!("{}.json", slug(task)))
    }

    /// The review report of a task.
    pub fn review_path(&self, task: &str) -> PathBuf {
        self.output("review").join(format!("{}.json", slug(task)))
    }
}

fn no_work_tree(env: &Env, error: GitError) -> Failure {
    let here = env.cwd().display();
    match error {
        GitError::Missing => Failure::broken("git is not on PATH")
            .hint("Install git 2.31 or newer, or put its folder on PATH."),
        error if error.is_no_repository() => Failure::broken(format!("`{here}` is in no git repository"))
            .hint("Go to a repository (`cd`, or `endwell -C DIR …`), or make one with `git init`."),
        error if error.is_bare() => {
            Failure::broken(format!("`{here}` is a bare repository, without a work tree"))
                .hint("Go to a clone or a linked work tree of it (`git worktree list`).")
        }
        error => git_failed(&format!("git can't judge `{here}`"), error),
    }
}

/// A git error as a person sees it.
pub fn git_failed(what: &str, error: GitError) -> Failure {
    Failure::broken(what)
        .because(error)
        .hint("Run `git status` there: it says the same, with git's own advice.")
}
