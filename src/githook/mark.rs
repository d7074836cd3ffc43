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
use crate::model::session::{path_key, path_of_key};

/// The mark's place in the common git dir.
const MARK: &str = "endwell/installed.json";

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

/// The record of this repository's installation, where the mark agrees with it. A repository that was moved since is
/// still the same one.
pub fn record(env: &Env, repo: &Repo) -> Result<Option<Record>, MarkError> {
    Ok(find(env, repo)?.filter(|found| !found.is_copy).map(|found| found.record))
}

/// What the record says of this repository's files, and whether it is a copy's: another repository holds the same mark
/// then, and the record stays that one's.
pub fn find(env: &Env, repo: &Repo) -> Result<Option<Found>, MarkError> {
    let Some(mark) = read::<Mark>(&mark_path(repo))? else { return Ok(None) };
    if mark.schema_version != VERSION || SessionId::parse(&mark.id).is_err() {
        return Ok(None);
    }
    let record = read::<Record>(&record_path(env, &mark.id)?)?;
    let here = common_key(repo)?;
    let known = record.filter(|record| record.schema_version == VERSION && record.id == mark.id);
    let Some(record) = known else { return Ok(None) };
    if record.common_dir == here {
        return Ok(Some(Found { record, is_copy: false, is_moved: false }));
    }
    let there = path_of(&record.common_dir).join(MARK);
    let is_copy = read::<Mark>(&there).is_ok_and(|other| other.is_some_and(|other| other.id == mark.id));
    let mut record = moved(&record, here);
    if is_copy {
        // what lies outside was not copied with it
        record.files.retain(|file| {
            [&repo.top, &repo.common_dir].iter().any(|dir| path_of(&file.path).starts_with(dir))
        });
    }
    Ok(Some(Found { record, is_copy, is_moved: !is_copy }))
}

/// A record and whose it is.
#[derive(Clone, Debug)]
pub struct Found {
    /// With the paths of this repository.
    pub record: Record,
    pub is_copy: bool,
    /// What is kept names the former place still.
    pub is_moved: bool,
}

/// The record with the paths of the place where the repository lies now.
fn moved(record: &Record, here: String) -> Record {
    let (from, to) = roots(&path_of(&record.common_dir), &path_of(&here));
    let rebased = |key: &str| match path_of(key).strip_prefix(&from) {
        Ok(rest) => key_of(&to.join(rest)),
        Err(_) => key.to_owned(),
    };
    let mut record = Record { common_dir: here, ..record.clone() };
    for file in &mut record.files {
        file.path = rebased(&file.path);
        file.aside = file.aside.as_deref().map(rebased);
        file.made_dirs = file.made_dirs.iter().map(|dir| rebased(dir)).collect();
    }
    record
}

/// The folders that were moved as a whole: the ones that hold `.git`, else the git dirs themselves.
fn roots<'a>(from: &'a Path, to: &'a Path) -> (PathBuf, PathBuf) {
    let (mut old, mut new) = (from, to);
    while let (Some(name), Some(old_up), Some(new_up)) = (old.file_name(), old.parent(), new.parent()) {
        if new.file_name() != Some(name) {
            break;
        }
        (old, new) = (old_up, new_up);
        if name == ".git" {
            return (old.to_owned(), new.to_owned());
        }
    }
    (from.to_owned(), to.to_owned())
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

/// The record of what this person installed at home, for every project.
pub fn user_record(env: &Env) -> Result<Option<Record>, MarkError> {
    let record = read::<Record>(&user_path(env)?)?;
    match record {
        Some(record) if record.schema_version != VERSION => {
            Err(MarkError::Form { path: user_path(env)?.display().to_string() })
        }
        record => Ok(record),
    }
}

/// An empty record of that kind.
pub fn fresh_user_record() -> Record {
    Record { schema_version: VERSION, id: "user".to_owned(), common_dir: String::new(), files: Vec::new() }
}

pub fn write_user_record(env: &Env, record: &Record) -> Result<(), MarkError> {
    Ok(fs::write_atomic_mode(&user_path(env)?, &json(record)?, 0o600)?)
}

pub fn forget_user_record(env: &Env) -> Result<(), MarkError> {
    Ok(fs::remove(&user_path(env)?)?)
}

fn user_path(env: &Env) -> Result<PathBuf, MarkError> {
    Ok(state(env)?.join("user.json"))
}

/// Keeps two installations apart.
pub fn lock(env: &Env) -> Result<fs::Lock, MarkError> {
    Ok(fs::lock(&state(env)?.join("install.lock"))?)
}

/// The mark's place.
pub fn mark_path(repo: &Repo) -> PathBuf {
    repo.common_dir.join(MARK)
}

fn state(env: &Env) -> Result<PathBuf, MarkError> {
    env.state_dir().ok_or(MarkError::NoStateFolder)
}

fn record_path(env: &Env, id: &str) -> Result<PathBuf, MarkError> {
    Ok(state(env)?.join("installs").join(format!("{id}.json")))
}

fn common_key(repo: &Repo) -> io::Result<String> {
    Ok(key_of(&repo.common_dir.canonicalize()?))
}

fn key_of(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    path_key(path.as_os_str().as_bytes())
}

fn path_of(key: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    PathBuf::from(std::ffi::OsString::from_vec(path_of_key(key)))
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
