//! Bringing parked work back: exactly, where HEAD and the index are as the park left them; else by git's own merge.

use super::index;
use super::refs::{exact, manifest};
use super::state::look;
use super::steps::{shown, ways_are_free};
use super::{Bench, ParkError, Parked, apply, forward, io};
use crate::fs;
use crate::git::operations;
use crate::git::status::{EntryKind, Status};
use crate::model::SCHEMA_VERSION;
use crate::model::issue::sha256_hex;
use crate::model::park::{Lies, ParkJournal, ParkedManifest, Step, Work};
use crate::model::session::{path_key, path_of_key};

/// How it came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// As it was, index included.
    Exactly,
    /// Onto another commit, staged state included where git could.
    Merged { staged: bool },
    /// Not whole: these paths changed in the last moment and were left; the work is still parked.
    InPart { left: Vec<String> },
    /// git met conflicts, or files in the way; the work is still parked.
    WithConflicts { said: String, conflicts: Vec<String> },
}

/// Brings it back into a clean work tree.
pub fn unpark(bench: &Bench<'_>, parked: &Parked) -> Result<Came, ParkError> {
    let _held = bench.lock()?;
    forward::recover_held(bench)?;
    bench.sweep()?;
    if bench.ref_now(&parked.record.reference)?.as_deref() != Some(&parked.commit) {
        return Err(ParkError::refused(
            format!("`{}` is not parked any more", parked.record.id),
            "`endwell park --list` shows what is.",
        ));
    }
    let manifest = manifest(bench.objects, &parked.commit)?;
    let status = bench.repo.status()?;
    refuse(bench, &status)?;
    let same_head = status.head.as_deref() == Some(&manifest.record.head);
    if same_head && index_is_as_left(bench, &manifest) && !hidden(bench, &manifest)? {
        return exactly(bench, parked, &manifest, &status);
    }
    apply::apply(bench, parked)
}

fn refuse(bench: &Bench<'_>, status: &Status) -> Result<(), ParkError> {
    if let Some(operation) = operations::under_way(&bench.repo.git_dir).first() {
        return Err(ParkError::refused(format!("a {} is under way", operation.name()), operation.ways_out()));
    }
    let Some(dirty) = status.entries.iter().find(|entry| !(bench.own)(&entry.path)) else { return Ok(()) };
    Err(ParkError::refused(
        format!("the work tree is not clean: `{}`", shown(&dirty.path)),
        "Commit that, or put it aside with `endwell park NOTE`, then try again.",
    ))
}

fn index_is_as_left(bench: &Bench<'_>, manifest: &ParkedManifest) -> bool {
    index::read(bench, &bench.index_path())
        .is_some_and(|file| index::digest(bench, &file) == manifest.index_after)
}

/// Whether git was told not to look at one of the paths: then "clean" says nothing about it.
fn hidden(bench: &Bench<'_>, manifest: &ParkedManifest) -> Result<bool, ParkError> {
    let unwatched = bench.repo.index_facts()?.unwatched;
    let unwatched: Vec<String> = unwatched.iter().map(|entry| path_key(&entry.path)).collect();
    Ok(manifest.entries.iter().any(|entry| unwatched.contains(&entry.path)))
}

fn exactly(
    bench: &Bench<'_>,
    parked: &Parked,
    manifest: &ParkedManifest,
    status: &Status,
) -> Result<Came, ParkError> {
    let steps = steps(bench, manifest)?;
    ways_are_free(bench, &steps)?;
    let form = || ParkError::Form(format!("parked commit `{}`", parked.commit));
    let saved = exact(bench.objects, &parked.commit, "index")?.ok_or_else(form)?;
    let next = bench.scratch("next");
    io("write the index", fs::write_atomic(&next, &bench.objects.blob(&saved)?))?;
    keep_own(bench, manifest, status)?;
    // by its age git tells which entries it must compare by content
    io("date the index", fs::set_modified(&next, manifest.index_modified))?;
    let index_before =
        io("read the index", fs::read_optional(&bench.index_path()))?.map(|bytes| sha256_hex(&bytes));
    let journal = ParkJournal {
        schema_version: SCHEMA_VERSION,
        work: Work::Unpark,
        nonce: sha256_hex(format!("unpark {}", parked.commit).as_bytes())[..16].to_owned(),
        commit: parked.commit.clone(),
        record: parked.record.clone(),
        index_before,
        done: false,
        steps,
        folders: manifest.folders.clone(),
    };
    bench.write_journal(&journal)?;
    if let Err(error) = bench.hold_index(&journal.nonce) {
        // nothing was changed yet
        bench.close(&journal)?;
        return Err(error);
    }
    let left = forward::forward(bench, &journal)?;
    Ok(if left.is_empty() { Came::Exactly } else { Came::InPart { left } })
}

/// What goes where. What lies there now is either what HEAD has (git says that the tree is clean) or nothing.
fn steps(bench: &Bench<'_>, manifest: &ParkedManifest) -> Result<Vec<Step>, ParkError> {
    let steps = manifest.entries.iter().map(|entry| {
        let path = path_of_key(&entry.path);
        let before = io("look at the work tree", look(&bench.repo.top, &path, bench.repo.sha256))?;
        let known = before == Lies::Nothing
            || before == entry.lies
            || bench.committed(&manifest.record.head, &path)?.is_some();
        if !known {
            let path = shown(&path);
            return Err(ParkError::refused(
                format!("`{path}` is there again, and git does not list it (it is ignored, perhaps)"),
                format!("Move `{path}` elsewhere, then try again."),
            ));
        }
        Ok(Step { path: entry.path.clone(), before, after: entry.lies.clone(), modified: entry.modified })
    });
    steps.collect()
}

/// Entries of endwell's own artifacts stay as they are now.
fn keep_own(bench: &Bench<'_>, manifest: &ParkedManifest, status: &Status) -> Result<(), ParkError> {
    let now =
        status.entries.iter().filter(|entry| (bench.own)(&entry.path) && entry.kind != EntryKind::Untracked);
    let mut own: Vec<Vec<u8>> = now.map(|entry| entry.path.clone()).collect();
    own.extend(manifest.own.iter().map(|key| path_of_key(key)));
    own.sort();
    own.dedup();
    if own.is_empty() {
        return Ok(());
    }
    let (paths, zero) = (own.iter().map(Vec::as_slice).collect(), "0".repeat(manifest.record.head.len()));
    let form = || ParkError::Form("the index".to_owned());
    let current = index::read(bench, &bench.index_path()).ok_or_else(form)?;
    let mut input = Vec::new();
    for path in &own {
        index::line(&mut input, &format!("0 {zero}"), path);
    }
    for stage in index::stages(&current, &paths).iter().filter(|stage| !stage.intent) {
        index::line(&mut input, &format!("{} {} {}", stage.mode, stage.id, stage.stage), &stage.path);
    }
    index::patch(bench, &bench.scratch("next"), input)
}
