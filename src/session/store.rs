//! Where baselines and journals lie: `<git-dir>/endwell/`. A file that can't be read counts as absent and is named:
//! without a baseline more blocks, never less.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fs;
use crate::git::Repo;
use crate::model::session::{Baseline, Phase, Session};
use crate::model::{SCHEMA_VERSION, SessionId};

/// Why a baseline or a journal could not be written or locked.
#[derive(Debug, thiserror::Error)]
#[error("can't keep session records in `{dir}`")]
pub struct StoreError {
    dir: String,
    #[source]
    source: io::Error,
}

impl StoreError {
    /// Whether the git folder can't be written here, as in an agent's sandbox.
    pub fn is_read_only(&self) -> bool {
        fs::is_read_only(&self.source)
    }
}

/// The records of one work tree.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    pub fn of(repo: &Repo) -> Self {
        Self { dir: repo.own_dir() }
    }

    /// The records of every work tree of the repository.
    pub fn everywhere(repo: &Repo) -> Vec<Self> {
        let linked = fs::list(&repo.common_dir.join("worktrees")).unwrap_or_default();
        let git_dirs = std::iter::once(repo.common_dir.clone()).chain(linked);
        git_dirs.map(|dir| Self { dir: dir.join("endwell") }).filter(|store| fs::exists(&store.dir)).collect()
    }

    /// The baseline that the installation took.
    pub fn install_baseline(&self) -> Option<Baseline> {
        read(&self.dir.join("baseline.json"))
    }

    pub fn save_install_baseline(&self, baseline: &Baseline) -> Result<(), StoreError> {
        self.write(&self.dir.join("baseline.json"), baseline)
    }

    /// Forgets the installation's baseline, and the folder where nothing else is in it.
    pub fn forget_install_baseline(&self) -> Result<(), StoreError> {
        fs::remove(&self.dir.join("baseline.json")).map_err(|source| self.failed(source))?;
        fs::remove_empty_dir(&self.dir);
        Ok(())
    }

    /// A session's journal.
    pub fn session(&self, id: &SessionId) -> Option<Session> {
        read(&self.session_path(id))
    }

    pub fn save(&self, session: &Session) -> Result<(), StoreError> {
        self.write(&self.session_path(&session.id), session)
    }

    /// Every journal that can be read, by start time.
    pub fn sessions(&self) -> Vec<Session> {
        let files = fs::list(&self.dir.join("sessions")).unwrap_or_default();
        let json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let mut sessions: Vec<Session> =
            files.iter().filter(|path| json(path)).filter_map(|path| read(path)).collect();
        sessions.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
        sessions
    }

    /// Agents' sessions that have not ended.
    pub fn open_sessions(&self) -> Vec<Session> {
        self.sessions()
            .into_iter()
            .filter(|session| session.phase != Phase::Ended && session.agent != "manual")
            .collect()
    }

    /// Held while a session's journal is read, changed and written.
    pub fn lock(&self) -> Result<fs::Lock, StoreError> {
        fs::lock(&self.dir.join("lock")).map_err(|source| self.failed(source))
    }

    fn session_path(&self, id: &SessionId) -> PathBuf {
        self.dir.join("sessions").join(format!("{id}.json"))
    }

    fn write<T: Serialize>(&self, path: &Path, value: &T) -> Result<(), StoreError> {
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| self.failed(error.into()))?;
        bytes.push(b'\n');
        fs::write_atomic(path, &bytes).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError { dir: self.dir.display().to_string(), source }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = fs::read_optional(path).ok()??;
    let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    if value.get("schema_version")?.as_u64()? > u64::from(SCHEMA_VERSION) {
        return None;
    }
    serde_json::from_value(value).ok()
}
