//! The index file: what it holds, copies of it to work on, and the index that the work tree gets. The index itself is
//! only ever replaced as a whole, by rename.

use std::collections::HashSet;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::{Bench, ParkError, io};
use crate::git::status::{Entry, EntryKind};

/// An entry of the index, with what park needs of it.
pub(super) struct Staged {
    pub(super) path: Vec<u8>,
    /// 0, or 1 to 3 in a conflict.
    pub(super) stage: u32,
    pub(super) mode: String,
    pub(super) id: String,
    /// Added with `git add -N`: the id stands for nothing.
    pub(super) intent: bool,
}

/// Reads an index file; `None` where gix can't (a split index).
pub(super) fn read(bench: &Bench<'_>, path: &Path) -> Option<gix::index::File> {
    let hash = if bench.repo.sha256 { gix::hash::Kind::Sha256 } else { gix::hash::Kind::Sha1 };
    let file = gix::index::File::at(path, hash, true, gix::index::decode::Options::default()).ok()?;
    file.link().is_none().then_some(file)
}

/// The entries at some paths.
pub(super) fn stages(file: &gix::index::File, paths: &HashSet<&[u8]>) -> Vec<Staged> {
    use gix::index::entry::Flags;
    let wanted = file.entries().iter().filter(|entry| {
        let path: &[u8] = entry.path(file);
        paths.contains(path)
    });
    let stages = wanted.map(|entry| Staged {
        path: entry.path(file).to_vec(),
        stage: entry.stage_raw(),
        mode: format!("{:06o}", entry.mode.bits()),
        id: entry.id.to_string(),
        intent: entry.flags.contains(Flags::INTENT_TO_ADD),
    });
    stages.collect()
}

/// A digest of what an index holds, time stamps and endwell's own artifacts left out.
pub(super) fn digest(bench: &Bench<'_>, file: &gix::index::File) -> String {
    use gix::index::entry::Flags;
    let told = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD;
    let mut hasher = Sha256::new();
    for entry in file.entries() {
        let path: &[u8] = entry.path(file);
        if (bench.own)(path) {
            continue;
        }
        let flags = (entry.flags & told).bits();
        hasher.update(format!("{:o} {} {} {flags} ", entry.mode.bits(), entry.id, entry.stage_raw()));
        hasher.update(path);
        hasher.update([0]);
    }
    crate::model::issue::hex(&hasher.finalize())
}

/// Makes an index copy whole in itself, as it has to be to outlive the shared part of a split index.
pub(super) fn unsplit(bench: &Bench<'_>, copy: &Path) -> Result<(), ParkError> {
    if read(bench, copy).is_none() {
        bench.git(copy, &["update-index", "--force-write-index"], Vec::new())?;
    }
    Ok(())
}

/// Makes the dirty paths as they are in HEAD, in an index copy. The new entries carry no time stamps, so that git looks
/// at the files themselves.
pub(super) fn reset(bench: &Bench<'_>, copy: &Path, head: &str, dirty: &[&Entry]) -> Result<(), ParkError> {
    let tracked = || dirty.iter().filter(|entry| !matches!(entry.kind, EntryKind::Untracked));
    let zero = "0".repeat(head.len());
    let mut input = Vec::new();
    // all removals first: what comes may need the place of what goes
    for entry in tracked() {
        line(&mut input, &format!("0 {zero}"), &entry.path);
    }
    for entry in tracked() {
        if let Some(there) = bench.committed(head, &entry.path)? {
            line(&mut input, &format!("{} {}", mode_of(there.kind), there.id), &entry.path);
        }
    }
    patch(bench, copy, input)
}

/// Runs `update-index --index-info`.
pub(super) fn patch(bench: &Bench<'_>, copy: &Path, input: Vec<u8>) -> Result<(), ParkError> {
    if !input.is_empty() {
        bench.git(copy, &["update-index", "-z", "--index-info"], input)?;
    }
    Ok(())
}

/// One line of `--index-info`.
pub(super) fn line(input: &mut Vec<u8>, words: &str, path: &[u8]) {
    input.extend_from_slice(words.as_bytes());
    input.push(b'\t');
    input.extend_from_slice(path);
    input.push(0);
}

pub(super) const fn mode_of(kind: crate::git::objects::TreeEntryKind) -> &'static str {
    use crate::git::objects::TreeEntryKind as Kind;
    match kind {
        Kind::File => "100644",
        Kind::Executable => "100755",
        Kind::Link => "120000",
        Kind::Submodule => "160000",
        Kind::Folder => "040000",
    }
}

/// The time of a file's last change.
pub(super) fn modified(path: &Path) -> Result<(i64, i64), ParkError> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = io("look at the index", path.symlink_metadata())?;
    Ok((meta.mtime(), meta.mtime_nsec()))
}

/// Paths with NUL ends, as git reads them.
pub(super) fn names<'a>(paths: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path);
        input.push(0);
    }
    input
}
