//! Takes paths from one state to another. A path is touched only while it is in the state that it was seen in, or when
//! it is half-way there by our own hand; anything else is left as it is and named.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::state::{at, is_folder, look, meta, parents};
use super::{Bench, ParkError};
use crate::fs;
use crate::model::park::{Lies, ParkJournal, ParkedFolder, Step, Work};
use crate::model::session::{path_key, path_of_key};

/// A run over the steps of a journal.
pub(super) struct Run<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) journal: &'a ParkJournal,
    folders: BTreeMap<Vec<u8>, u32>,
}

impl<'a> Run<'a> {
    pub(super) fn new(bench: &'a Bench<'a>, journal: &'a ParkJournal) -> Self {
        let folders = journal.folders.iter().map(|folder| (path_of_key(&folder.path), folder.mode));
        Self { bench, journal, folders: folders.collect() }
    }

    /// Goes through all steps, removals first, since what comes may need the place of what goes. Returns the paths that
    /// are in neither of their two states, or that the system refuses to change.
    pub(super) fn go(&self) -> Vec<Vec<u8>> {
        let mut left = Vec::new();
        let goes = |step: &&Step| step.after == Lies::Nothing;
        for step in self.journal.steps.iter().filter(goes) {
            let path = path_of_key(&step.path);
            if self.remove(&path, step).is_err() {
                left.push(path);
            }
        }
        for (number, step) in self.journal.steps.iter().enumerate().filter(|(_, step)| !goes(step)) {
            let path = path_of_key(&step.path);
            if self.place(&path, step, number).is_err() {
                left.push(path);
            }
        }
        left
    }

    /// Removes temporary files that a killed run left in the work tree.
    pub(super) fn sweep(&self) {
        for (number, step) in self.journal.steps.iter().enumerate() {
            let path = path_of_key(&step.path);
            if parents(&path).all(|parent| is_folder(&at(self.top(), parent))) {
                // what can't be removed is named by `git status`, and holds nothing that is not saved
                fs::remove(&self.temporary(&path, number)).ok();
            }
        }
    }

    fn top(&self) -> &Path {
        &self.bench.repo.top
    }

    fn remove(&self, path: &[u8], step: &Step) -> io::Result<()> {
        let now = look(self.top(), path, self.bench.repo.sha256)?;
        if now != Lies::Nothing {
            if now != step.before {
                return Err(other_state());
            }
            fs::remove(&at(self.top(), path))?;
        }
        if step.before != Lies::Nothing {
            self.remove_emptied(path);
        }
        Ok(())
    }

    /// Removes the folders that a removal left empty; not the one that the person's shell is in.
    fn remove_emptied(&self, path: &[u8]) {
        for parent in parents(path).rev() {
            let folder = at(self.top(), parent);
            if self.bench.cwd.starts_with(&folder) || !is_folder(&folder) {
                return;
            }
            fs::remove_empty_dir(&folder);
            if fs::exists(&folder) {
                return;
            }
        }
    }

    fn place(&self, path: &[u8], step: &Step, number: usize) -> io::Result<()> {
        let now = look(self.top(), path, self.bench.repo.sha256)?;
        let target = at(self.top(), path);
        if now != step.after {
            if now != step.before {
                return Err(other_state());
            }
            self.make_parents(path)?;
            if is_folder(&target) {
                remove_empty_tree(&target);
            }
            let ready = self.ready(path, step, number)?;
            if let Some(time) = step.modified {
                fs::set_modified(&ready, time)?;
            }
            return fs::rename(&ready, &target);
        }
        match step.modified {
            Some(time) => fs::set_modified(&target, time),
            None => Ok(()),
        }
    }

    fn make_parents(&self, path: &[u8]) -> io::Result<()> {
        for parent in parents(path) {
            let folder = at(self.top(), parent);
            match meta(&folder)? {
                Some(meta) if meta.is_dir() => {}
                Some(_) => return Err(other_state()),
                None => {
                    fs::create_dir(&folder)?;
                    if let Some(mode) = self.folders.get(parent) {
                        fs::set_mode(&folder, *mode)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The new content as a file in the same folder, or, when parking, as git checked it out.
    fn ready(&self, path: &[u8], step: &Step, number: usize) -> io::Result<PathBuf> {
        let bytes = |id: &str| self.bench.objects.blob(id).map_err(io::Error::other);
        let temporary = self.temporary(path, number);
        fs::remove(&temporary)?;
        if self.journal.work == Work::Park {
            let staged = at(&self.bench.scratch("stage"), path);
            if same_device(&staged, &temporary) {
                return Ok(staged);
            }
        }
        match (&step.after, self.journal.work) {
            (Lies::File { mode, .. }, Work::Park) => {
                let staged = at(&self.bench.scratch("stage"), path);
                fs::create_new(&temporary, &fs::read(&staged)?, *mode)?;
            }
            (Lies::Link { .. }, Work::Park) => {
                let target = fs::read_link(&at(&self.bench.scratch("stage"), path))?;
                fs::symlink(&target, &temporary)?;
            }
            (Lies::File { mode, id }, _) => fs::create_new(&temporary, &bytes(id)?, *mode)?,
            (Lies::Link { id }, _) => fs::symlink(&bytes(id)?, &temporary)?,
            (Lies::Nothing, _) => return Err(other_state()),
        }
        Ok(temporary)
    }

    fn temporary(&self, path: &[u8], number: usize) -> PathBuf {
        let name = format!(".endwell-{}-{number}.tmp", self.journal.nonce);
        at(self.top(), path).with_file_name(name)
    }
}

fn other_state() -> io::Error {
    io::Error::other("it changed meanwhile")
}

/// Whether a rename between the two places is one step.
fn same_device(one: &Path, two: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device =
        |place: &Path| place.parent().and_then(|folder| folder.metadata().ok()).map(|meta| meta.dev());
    device(one).is_some() && device(one) == device(two)
}

/// Removes a folder in which there are only folders.
fn remove_empty_tree(folder: &Path) {
    for inner in fs::list(folder).unwrap_or_default() {
        if is_folder(&inner) {
            remove_empty_tree(&inner);
        }
    }
    fs::remove_empty_dir(folder);
}

/// Refuses where something that git does not list (an ignored file, say) stands in a place that is needed.
pub(super) fn ways_are_free(bench: &Bench<'_>, steps: &[Step]) -> Result<(), ParkError> {
    let goes: BTreeSet<Vec<u8>> =
        steps.iter().filter(|step| step.after == Lies::Nothing).map(|step| path_of_key(&step.path)).collect();
    for step in steps.iter().filter(|step| step.after != Lies::Nothing && step.before != step.after) {
        let path = path_of_key(&step.path);
        let blocked = parents(&path)
            .find(|parent| !goes.contains(*parent) && in_the_way(&at(&bench.repo.top, parent)))
            .map(<[u8]>::to_vec)
            .or_else(|| first_foreign(bench, &path, &goes));
        if let Some(blocked) = blocked {
            let (needed, blocked) = (shown(&path), shown(&blocked));
            return Err(ParkError::refused(
                format!(
                    "`{blocked}` is in the way of `{needed}`, and git does not list it (it is ignored, perhaps)"
                ),
                format!("Move `{blocked}` elsewhere, then try again."),
            ));
        }
    }
    Ok(())
}

fn in_the_way(place: &Path) -> bool {
    place.symlink_metadata().is_ok_and(|meta| !meta.is_dir())
}

/// The first file in a folder at this path that does not go.
fn first_foreign(bench: &Bench<'_>, path: &[u8], goes: &BTreeSet<Vec<u8>>) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = at(&bench.repo.top, path);
    if !is_folder(&folder) || !parents(path).all(|parent| is_folder(&at(&bench.repo.top, parent))) {
        return None;
    }
    // a folder that can't be listed holds what nobody knows
    let Ok(inner) = fs::list(&folder) else { return Some(path.to_vec()) };
    inner.iter().find_map(|place| {
        let mut below = path.to_vec();
        below.push(b'/');
        below.extend_from_slice(place.file_name().unwrap_or_default().as_bytes());
        if is_folder(place) {
            first_foreign(bench, &below, goes)
        } else {
            (!goes.contains(&below)).then_some(below)
        }
    })
}

/// The folders above these paths with their permission bits.
pub(super) fn folders_of(bench: &Bench<'_>, paths: &[&[u8]]) -> Vec<ParkedFolder> {
    use std::os::unix::fs::PermissionsExt as _;
    let folders: BTreeSet<&[u8]> = paths.iter().flat_map(|path| parents(path)).collect();
    let known = folders.into_iter().filter_map(|folder| {
        let meta = at(&bench.repo.top, folder).symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        Some(ParkedFolder { path: path_key(folder), mode: meta.permissions().mode() & 0o7777 })
    });
    known.collect()
}

/// A path for a message.
pub(super) fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).escape_debug().to_string()
}
