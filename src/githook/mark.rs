//! That this person installed endwell in this repository: a mark in the common git dir that counts only where it agrees
//! with a record in the person's own state folder. Nothing in a cloned, copied or unpacked repository counts.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::env::Env;
use crate::fs;
use crate::git::Repo;
use crate::model::SessionId;
use crate::model::install::{Mark, Record, VERSION};
use crate::model::issue::hex;
use crate::model::session::path_key;

/// Why marks can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    #[error("this person's state folder is unknown: neither HOME nor XDG_STATE_HOME is set")]
    NoStateFolder,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("`{path}` is not of a form that this version reads")]
    Form { path: String },
}

/// Whether this person installed endwell here. Any doubt is a no: hooks then do nothing.
pub fn installed_here(env: &Env, repo: &Repo) -> bool {
    record(env, repo).is_ok_and(|record| record.is_some())
}

/// The record of this repository's installation, where the mark agrees with it.
pub fn record(env: &Env, repo: &Repo) -> Result<Option<Record>, MarkError> {
    let Some(mark) = read::<Mark>(&mark_path(repo))? else { return Ok(None) };
    if mark.schema_version != VERSION || SessionId::parse(&mark.id).is_err() {
        return Ok(None);
    }
    let record = read::<Record>(&record_path(env, &mark.id)?)?;
    let here = common_key(repo)?;
    Ok(record.filter(|record| {
        record.schema_version == VERSION && record.id == mark.id && record.common_dir == here
    }))
}

/// An empty record for a repository without one.
pub fn fresh(repo: &Repo) -> Result<Record, MarkError> {
    let bytes = fs::random()?;
    Ok(Record { schema_version: VERSION, id: hex(&bytes), common_dir: common_key(repo)?, files: Vec::new() })
}

/// Writes what can be taken back. Written before anything is changed, so that a killed installation can be undone.
pub fn write_record(env: &Env, record: &Record) -> Result<(), MarkError> {
    // settings may hold secrets, and their former bytes are in here
    Ok(fs::write_atomic_mode(&record_path(env, &record.id)?, &json(record)?, 0o600)?)
}

/// Writes the mark that switches the hooks on.
pub fn write_mark(repo: &Repo, record: &Record) -> Result<(), MarkError> {
    let mark = Mark { schema_version: VERSION, id: record.id.clone() };
    Ok(fs::write_atomic(&mark_path(repo), &json(&mark)?)?)
}

/// Removes mark and record, and the folders that they alone were in.
pub fn remove(env: &Env, repo: &Repo, record: Option<&Record>) -> Result<(), MarkError> {
    fs::remove(&mark_path(repo))?;
    fs::remove_empty_dir(&repo.shared_dir());
    let Some(record) = record else { return Ok(()) };
    let path = record_path(env, &record.id)?;
    fs::remove(&path)?;
    if let Some(dir) = path.parent() {
        fs::remove_empty_dir(dir);
    }
    Ok(())
}

/// Keeps two installations apart.
pub fn lock(env: &Env) -> Result<fs::Lock, MarkError> {
    Ok(fs::lock(&state(env)?.join("install.lock"))?)
}

/// The mark's place.
pub fn mark_path(repo: &Repo) -> PathBuf {
    repo.shared_dir().join("installed.json")
}

fn state(env: &Env) -> Result<PathBuf, MarkError> {
    env.state_dir().ok_or(MarkError::NoStateFolder)
}

fn record_path(env: &Env, id: &str) -> Result<PathBuf, MarkError> {
    Ok(state(env)?.join("installs").join(format!("{id}.json")))
}

fn common_key(repo: &Repo) -> io::Result<String> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(path_key(repo.common_dir.canonicalize()?.as_os_str().as_bytes()))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, MarkError> {
    let Some(bytes) = fs::read_optional(path)? else { return Ok(None) };
    let form = |_| MarkError::Form { path: path.display().to_string() };
    serde_json::from_slice(&bytes).map(Some).map_err(form)
}

fn json<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
