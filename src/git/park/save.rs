//! Parking: everything is saved under a ref before anything is taken away, and checked again after it was saved.

use std::collections::HashSet;
use std::io::ErrorKind;

use super::index::{self, Staged};
use super::state::see;
use super::steps::{folders_of, shown, ways_are_free};
use super::store::{self, Blobs, Words, changed_meanwhile};
use super::{Bench, ParkError, forward, io};
use crate::fs;
use crate::git::operations;
use crate::git::status::{Change, Entry, EntryKind, Status};
use crate::model::SCHEMA_VERSION;
use crate::model::issue::sha256_hex;
use crate::model::park::{Lies, ParkJournal, ParkedManifest, ParkedPath, ParkedRecord, Step, Work};
use crate::model::session::path_key;

/// What is asked for. Branch, HEAD and the number of paths are found.
pub struct Asked {
    pub record: ParkedRecord,
    /// Seconds since the epoch.
    pub at: i64,
}

/// What a park left.
pub struct Put {
    pub record: ParkedRecord,
    pub commit: String,
    /// Paths that changed in the last moment: saved as they were, left as they are.
    pub left: Vec<String>,
}

/// Puts all uncommitted work aside; `None` where there is none.
pub fn park(bench: &Bench<'_>, asked: Asked) -> Result<Option<Put>, ParkError> {
    let _held = bench.lock()?;
    forward::recover_held(bench)?;
    bench.sweep()?;
    let status = bench.repo.status()?;
    let unseen = behind_loops(bench, &status);
    let (own, dirty): (Vec<&Entry>, Vec<&Entry>) =
        status.entries.iter().chain(&unseen).partition(|entry| (bench.own)(&entry.path));
    if dirty.is_empty() {
        return Ok(None);
    }
    let head = refuse(bench, &status, &dirty)?;
    let record = ParkedRecord {
        branch: status.branch.clone(),
        head: head.to_owned(),
        paths: dirty.len() as u64,
        ..asked.record
    };
    let saving = Saving { bench, status: &status, own, dirty, head, at: asked.at };
    let journal = saving.save(record)?;
    saving.begin(&journal)?;
    let left = forward::forward(bench, &journal)?;
    Ok(Some(Put { record: journal.record, commit: journal.commit, left }))
}

/// Tracked files where a link that leads to itself has taken the place of a folder: git can't look behind the link, says
/// so on standard error, and leaves them out of its status. They are gone like any file behind a link.
fn behind_loops(bench: &Bench<'_>, status: &Status) -> Vec<Entry> {
    let loops = |entry: &&Entry| {
        let place = bench.repo.at(&entry.path);
        entry.kind == EntryKind::Untracked
            && place.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
            && place.metadata().is_err_and(|error| error.kind() != ErrorKind::NotFound)
    };
    let loops: Vec<&Entry> = status.entries.iter().filter(loops).collect();
    let Some(file) = (!loops.is_empty()).then(|| index::read(bench, &bench.index_path())).flatten() else {
        return Vec::new();
    };
    let listed: HashSet<&[u8]> = status.entries.iter().map(|entry| entry.path.as_slice()).collect();
    let below = file.entries().iter().filter_map(|entry| {
        let path: &[u8] = entry.path(&file);
        let behind =
            loops.iter().any(|lie| path.starts_with(&lie.path) && path.get(lie.path.len()) == Some(&b'/'));
        (behind && !listed.contains(path)).then(|| path.to_vec())
    });
    let gone = |path| Entry {
        path,
        kind: EntryKind::Changed(Change {
            staged: b'.',
            unstaged: b'D',
            submodule: None,
            modes: [String::new(), String::new(), String::new()],
            index_id: String::new(),
        }),
    };
    below.map(gone).collect()
}

/// States that can't be put aside and brought back.
fn refuse<'a>(bench: &Bench<'_>, status: &'a Status, dirty: &[&Entry]) -> Result<&'a str, ParkError> {
    if let Some(operation) = operations::under_way(&bench.repo.git_dir).first() {
        return Err(ParkError::refused(format!("a {} is under way", operation.name()), operation.ways_out()));
    }
    let Some(head) = status.head.as_deref() else {
        return Err(ParkError::refused(
            "there is no commit to park on",
            "Make the first commit: `git commit`.",
        ));
    };
    for entry in dirty {
        let path = shown(&entry.path);
        match &entry.kind {
            EntryKind::Untracked if entry.path.ends_with(b"/") => {
                return Err(ParkError::refused(
                    format!("`{path}` is a repository of its own"),
                    "Move it out of the work tree, or ignore it.",
                ));
            }
            EntryKind::Changed(Change { submodule, modes, .. })
                if submodule.is_some() || modes.iter().any(|mode| mode == "160000") =>
            {
                return Err(ParkError::refused(
                    format!("the submodule `{path}` is not as it was committed"),
                    format!(
                        "Commit in it and record that here, or bring it back with `git submodule update -- {path}`."
                    ),
                ));
            }
            EntryKind::Untracked | EntryKind::Unmerged { .. } | EntryKind::Changed(_) => {}
        }
    }
    Ok(head)
}

struct Saving<'a> {
    bench: &'a Bench<'a>,
    status: &'a Status,
    own: Vec<&'a Entry>,
    dirty: Vec<&'a Entry>,
    head: &'a str,
    at: i64,
}

impl Saving<'_> {
    /// Saves everything as objects, and prepares the index and the files of the clean state. The work tree, the refs and
    /// the index are as they were.
    fn save(&self, record: ParkedRecord) -> Result<ParkJournal, ParkError> {
        let bench = self.bench;
        let index_bytes = io("read the index", fs::read_optional(&bench.index_path()))?;
        let saved = bench.scratch("saved");
        if let Some(bytes) = &index_bytes {
            io("copy the index", fs::write_atomic(&saved, bytes))?;
        } else {
            io("make a folder", fs::create_dir_all(&bench.scratch("")))?;
            bench.git(&saved, &["read-tree", "--empty"], Vec::new())?;
        }
        index::unsplit(bench, &saved)?;
        let whole = io("read the index", fs::read(&saved))?;
        let (entries, kept) = self.blobs(&whole)?;
        let next = bench.scratch("next");
        io("copy the index", fs::write_atomic(&next, &whole))?;
        index::reset(bench, &next, self.head, &self.dirty)?;
        let steps = self.steps(&entries)?;
        ways_are_free(bench, &steps)?;
        let paths: Vec<&[u8]> = self.dirty.iter().map(|entry| entry.path.as_slice()).collect();
        let folders = folders_of(bench, &paths);
        let after = index::read(bench, &next).ok_or_else(|| ParkError::Form("the index".to_owned()))?;
        let index_modified =
            if index_bytes.is_some() { index::modified(&bench.index_path())? } else { (self.at, 0) };
        let manifest = ParkedManifest {
            schema_version: SCHEMA_VERSION,
            record,
            entries,
            folders: folders.clone(),
            index_modified,
            index_after: index::digest(bench, &after),
            own: self
                .own
                .iter()
                .filter(|e| e.kind != EntryKind::Untracked)
                .map(|e| path_key(&e.path))
                .collect(),
        };
        let commit = self.commit(&manifest, &whole, kept)?;
        let nonce = sha256_hex(
            format!("{commit} {} {}", manifest.record.reference, manifest.record.parked_at).as_bytes(),
        );
        Ok(ParkJournal {
            schema_version: SCHEMA_VERSION,
            work: Work::Park,
            nonce: nonce[..16].to_owned(),
            commit,
            record: manifest.record,
            index_before: index_bytes.map(|bytes| sha256_hex(&bytes)),
            done: false,
            steps,
            folders,
        })
    }

    /// Saves the raw bytes of every path and of the index. Returns what lies where, and the ids to keep reachable.
    fn blobs(&self, index: &[u8]) -> Result<(Vec<ParkedPath>, Vec<String>), ParkError> {
        let mut blobs = Blobs::new(self.bench);
        let (mut entries, mut kept) = (Vec::with_capacity(self.dirty.len()), Vec::new());
        for entry in &self.dirty {
            let seen = see(&self.bench.repo.top, &entry.path, self.bench.repo.sha256).map_err(|error| {
                ParkError::refused(
                    format!("`{}` can't be saved: {error}", shown(&entry.path)),
                    "Make it readable, or move it out of the work tree, then try again.",
                )
            })?;
            if let Lies::File { id, .. } | Lies::Link { id } = &seen.lies {
                kept.push(id.clone());
                match &seen.bytes {
                    Some(bytes) => blobs.add(bytes)?,
                    None => blobs.add_large(&entry.path, id),
                }
            }
            entries.push(ParkedPath {
                path: path_key(&entry.path),
                lies: seen.lies,
                modified: seen.modified,
            });
        }
        blobs.add(index)?;
        blobs.finish()?;
        Ok((entries, kept))
    }

    /// Lets git check out the clean state of every path beside the work tree, and says what goes where.
    fn steps(&self, entries: &[ParkedPath]) -> Result<Vec<Step>, ParkError> {
        let bench = self.bench;
        let mut wanted: Vec<&[u8]> = Vec::new();
        for entry in self.dirty.iter().filter(|entry| entry.kind != EntryKind::Untracked) {
            if bench.committed(self.head, &entry.path)?.is_some() {
                wanted.push(&entry.path);
            }
        }
        forward::stage(bench, &wanted)?;
        let wanted: HashSet<&[u8]> = wanted.into_iter().collect();
        let stage = bench.scratch("stage");
        let steps = self.dirty.iter().zip(entries).map(|(entry, saved)| {
            let after = if wanted.contains(entry.path.as_slice()) {
                io(
                    "look at what git checked out",
                    super::state::look(&stage, &entry.path, bench.repo.sha256),
                )?
            } else {
                Lies::Nothing
            };
            Ok(Step { path: saved.path.clone(), before: saved.lies.clone(), after, modified: None })
        });
        steps.collect()
    }

    /// Commits in the shape of a stash entry (so that git can apply it elsewhere), with a fourth parent that holds the
    /// exact data.
    fn commit(
        &self,
        manifest: &ParkedManifest,
        index: &[u8],
        kept: Vec<String>,
    ) -> Result<String, ParkError> {
        let bench = self.bench;
        let saved = index::read(bench, &bench.scratch("saved"));
        let paths: HashSet<&[u8]> = self.dirty.iter().map(|entry| entry.path.as_slice()).collect();
        let stages = saved.map(|file| index::stages(&file, &paths)).unwrap_or_default();
        let (index_tree, work_tree) = self.trees(index, &stages, &manifest.entries)?;
        let untracked_tree = self.untracked_tree()?;
        let branch = manifest.record.branch.as_deref().unwrap_or("(no branch)");
        let note = &manifest.record.note;
        let words = |message: &str| -> (String, i64) { (message.to_owned(), self.at) };
        let write = |tree: &str, parents: &[&str], (message, at): (String, i64)| {
            store::commit(bench, tree, parents, &Words { message: &message, at })
        };
        let index_commit = write(&index_tree, &[self.head], words(&format!("index on {branch}: {note}")))?;
        let untracked = write(&untracked_tree, &[], words(&format!("untracked files on {branch}: {note}")))?;
        let mut files: Vec<(String, String)> = kept.into_iter().map(|id| (id.clone(), id)).collect();
        let staged = stages.iter().filter(|s| !s.intent && s.mode != "160000" && bench.objects.has(&s.id));
        files.extend(staged.map(|stage| (stage.id.clone(), stage.id.clone())));
        let text = io("write the manifest", serde_json::to_vec(manifest).map_err(Into::into))?;
        files.push(("manifest.json".to_owned(), store::blob(bench, text)?));
        files.push(("index".to_owned(), store::blob(bench, index.to_vec())?));
        let exact =
            write(&store::tree(bench, files)?, &[], words(&format!("exact data on {branch}: {note}")))?;
        let parents = [self.head, &index_commit, &untracked, &exact];
        write(&work_tree, &parents, words(&format!("On {branch}: {note}")))
    }

    /// The trees of the index and of the tracked files. A conflict has no tree: our side stands for it.
    fn trees(
        &self,
        index: &[u8],
        stages: &[Staged],
        entries: &[ParkedPath],
    ) -> Result<(String, String), ParkError> {
        let bench = self.bench;
        let copy = bench.scratch("work");
        io("copy the index", fs::write_atomic(&copy, index))?;
        let zero = "0".repeat(self.head.len());
        let mut settle = Vec::new();
        for entry in self.dirty.iter().filter(|entry| matches!(entry.kind, EntryKind::Unmerged { .. })) {
            index::line(&mut settle, &format!("0 {zero}"), &entry.path);
        }
        for stage in stages.iter().filter(|stage| stage.stage == 2) {
            index::line(&mut settle, &format!("{} {}", stage.mode, stage.id), &stage.path);
        }
        index::patch(bench, &copy, settle)?;
        let write_tree = || -> Result<String, ParkError> {
            let output = bench.git(&copy, &["write-tree", "--missing-ok"], Vec::new())?;
            Ok(String::from_utf8_lossy(&output).trim().to_owned())
        };
        let index_tree = write_tree()?;
        // a path where a folder stands now is gone too: `update-index --remove` would stumble over it
        let tracked = self.dirty.iter().zip(entries).filter(|(entry, _)| entry.kind != EntryKind::Untracked);
        let (gone, there): (Vec<_>, Vec<_>) = tracked.partition(|(_, saved)| saved.lies == Lies::Nothing);
        let mut removals = Vec::new();
        for (entry, _) in &gone {
            index::line(&mut removals, &format!("0 {zero}"), &entry.path);
        }
        index::patch(bench, &copy, removals)?;
        if !there.is_empty() {
            let names = index::names(there.iter().map(|(entry, _)| entry.path.as_slice()));
            bench.git(&copy, &["update-index", "--add", "--replace", "-z", "--stdin"], names)?;
        }
        Ok((index_tree, write_tree()?))
    }

    fn untracked_tree(&self) -> Result<String, ParkError> {
        let bench = self.bench;
        let copy = bench.scratch("untracked");
        let untracked = self.dirty.iter().filter(|entry| entry.kind == EntryKind::Untracked);
        let names = index::names(untracked.map(|entry| entry.path.as_slice()));
        bench.git(&copy, &["update-index", "--add", "--replace", "-z", "--stdin"], names)?;
        let output = bench.git(&copy, &["write-tree"], Vec::new())?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    }

    /// Takes the index, looks whether all is still as it was saved, and makes the ref. From then on it goes forward.
    fn begin(&self, journal: &ParkJournal) -> Result<(), ParkError> {
        let bench = self.bench;
        bench.write_journal(journal)?;
        let begun = || -> Result<(), ParkError> {
            bench.hold_index(&journal.nonce)?;
            let now = bench.repo.status()?;
            let index = io("read the index", fs::read_optional(&bench.index_path()))?.map(|b| sha256_hex(&b));
            if now.entries != self.status.entries
                || now.head != self.status.head
                || index != journal.index_before
            {
                return Err(changed_meanwhile());
            }
            bench.write_record(&journal.record)?;
            Ok(bench.create_ref(&journal.record.reference, &journal.commit)?)
        };
        begun().inspect_err(|_| {
            // nothing was taken away yet; what can't be tidied up now is at the next command
            forward::abandon(bench, journal).ok();
        })
    }
}
