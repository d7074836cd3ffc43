//! The one executor of plans: works out what each file would become, shows it as a diff, writes it, and takes it back
//! (what that is, [`super::undo`] works out).
//! A file that can't be judged is refused and stays as it is; a refused file never stops the others.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{json, settings};
use crate::fs;
use crate::model::install::{Before, FileRecord};
use crate::model::issue::sha256_hex;
use crate::model::plan::{Change, EditKind, FileEdit, HookEntries, Spot, WHOLE_MARK, Whole};
use crate::model::session::{path_key, path_of_key};

/// What one file becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub what: String,
    pub path: PathBuf,
    pub kind: EditKind,
    /// The file's bytes now; `None`: nothing is there (or what is there is moved aside).
    pub now: Option<Vec<u8>>,
    /// The file's bytes then; `None`: it goes.
    pub then: Option<Vec<u8>>,
    /// The Unix mode to write; `None`: as it is.
    pub mode: Option<u32>,
    /// The file holds nothing but what endwell writes where there is none.
    pub is_fresh: bool,
    /// Somebody else's file that is set aside, which an installation without a record left.
    pub aside: Option<PathBuf>,
    /// A move of somebody else's file that goes with it.
    pub moved: Option<Move>,
    /// Folders to make before, or to remove behind it where they are empty; outermost first.
    pub dirs: Vec<PathBuf>,
}

/// A file that changes its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: PathBuf,
    pub to: PathBuf,
}

/// Why a file stays as it is.
#[derive(Debug)]
pub struct Refusal {
    pub what: String,
    pub path: PathBuf,
    pub reason: String,
    /// What a person can put there by hand.
    pub paste: Option<String>,
}

const BEGIN: &str = "# begin endwell: written by `endwell install`, taken out by `endwell uninstall`";
const END: &str = "# end endwell";

/// Works out what an edit does to the file that is there.
pub fn prepare(edit: &FileEdit) -> Result<Step, Refusal> {
    let refuse = |reason: String| Refusal {
        what: edit.what.clone(),
        path: edit.path.clone(),
        reason,
        paste: to_paste(&edit.change),
    };
    fs::stays_inside(&edit.root, &edit.path).map_err(|error| refuse(error.to_string()))?;
    let is_link = fs::stat(&edit.path).is_some_and(|meta| meta.is_symlink());
    let mut step = Step {
        what: edit.what.clone(),
        path: edit.path.clone(),
        kind: edit.change.kind(),
        now: None,
        then: None,
        mode: None,
        is_fresh: false,
        aside: None,
        moved: None,
        dirs: missing_dirs(&edit.path),
    };
    if let Change::Whole(file) = &edit.change {
        whole(&mut step, file).map_err(refuse)?;
        return Ok(step);
    }
    if is_link {
        return Err(refuse("it is a symbolic link, which endwell does not write through".to_owned()));
    }
    step.now = fs::read_optional(&edit.path).map_err(|error| refuse(error.to_string()))?;
    step.then = match &edit.change {
        Change::Block { lines, spot } => {
            if step.now.is_none() && *spot == Spot::Top {
                step.mode = Some(0o755);
            }
            Some(block_in(step.now.as_deref(), lines, *spot))
        }
        Change::Hooks(hooks) => {
            step.is_fresh = is_fresh(step.now.as_deref(), hooks);
            hooked(&step.path, step.now.as_deref(), hooks).map_err(|error| refuse(error.to_string()))?
        }
        Change::Whole(_) => None,
    };
    Ok(step)
}

pub(super) fn is_fresh(now: Option<&[u8]>, hooks: &HookEntries) -> bool {
    now.is_some_and(|now| settings::put_in(None, hooks).is_ok_and(|fresh| fresh == now))
}

pub(super) fn kept_aside(file: &Whole) -> Option<PathBuf> {
    file.aside.iter().find(|aside| fs::exists(aside)).cloned()
}

fn hooked(path: &Path, now: Option<&[u8]>, hooks: &HookEntries) -> Result<Option<Vec<u8>>, json::JsonError> {
    match now {
        Some(now) if hooks.entries.is_empty() => settings::take_out(path, now, None).map(Some),
        None if hooks.entries.is_empty() => Ok(None),
        now => settings::put_in(now, hooks).map(Some),
    }
}

fn whole(step: &mut Step, file: &Whole) -> Result<(), String> {
    let Some(meta) = fs::stat(&step.path) else {
        step.then = Some(file.bytes.clone());
        step.mode = Some(file.mode);
        return Ok(());
    };
    if meta.is_dir() {
        return Err("a folder lies there".to_owned());
    }
    let there = if meta.is_symlink() {
        None
    } else {
        fs::read_optional(&step.path).map_err(|error| error.to_string())?
    };
    let Some(mark) = file.mark else {
        // somebody else's word stands
        step.then.clone_from(&there);
        step.now = there;
        return Ok(());
    };
    if let Some(ours) = there.filter(|there| has_mark(there, mark)) {
        if edited(&ours, file, mark) {
            return Err("it was edited since endwell wrote it".to_owned());
        }
        step.now = Some(ours);
        step.aside = kept_aside(file);
        step.mode = (meta.permissions().mode() & 0o777 != file.mode).then_some(file.mode);
    } else {
        step.moved = Some(Move { from: step.path.clone(), to: free_place(&file.aside)? });
        step.mode = Some(file.mode);
    }
    step.then = Some(file.bytes.clone());
    Ok(())
}

fn free_place(aside: &[PathBuf]) -> Result<PathBuf, String> {
    match aside.iter().find(|aside| fs::exists(aside)) {
        // of an earlier installation whose own hook is gone: who took it away, nobody can tell
        Some(kept) => Err(format!(
            "`{}` still holds the hook from before an earlier installation: move it back, or remove it if it is not \
             wanted",
            kept.display()
        )),
        None => aside.first().cloned().ok_or_else(|| "a file of somebody else lies there".to_owned()),
    }
}

/// Whether one of our files is no more as we wrote it. What another version wrote can't be told, and counts as ours.
fn edited(there: &[u8], file: &Whole, mark: &str) -> bool {
    let fixed = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines
            .filter(|line| !file.variable.is_some_and(|begin| line.starts_with(begin.as_bytes())))
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (theirs, ours) = (fixed(there), fixed(&file.bytes));
    let version = |lines: &[Vec<u8>]| lines.iter().find(|line| line.starts_with(mark.as_bytes())).cloned();
    version(&theirs) == version(&ours) && theirs != ours
}

/// Whether a file carries a mark.
pub fn has_mark(bytes: &[u8], mark: &str) -> bool {
    memchr::memmem::find(bytes, mark.as_bytes()).is_some()
}

fn to_paste(change: &Change) -> Option<String> {
    match change {
        Change::Hooks(hooks) => Some(settings::to_paste(hooks)),
        Change::Block { lines, .. } => Some(lines.join("\n")),
        Change::Whole(_) => None,
    }
}

fn block_in(text: Option<&[u8]>, lines: &[String], spot: Spot) -> Vec<u8> {
    let block = format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"));
    let text = match (text, spot) {
        (None, Spot::Top) => b"#!/bin/sh\n",
        (text, _) => text.unwrap_or_default(),
    };
    let first = if text.starts_with(b"#!") {
        text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1)
    } else {
        0
    };
    let (mut head, tail) = match (find_block(text), spot) {
        (Some((start, end)), _) => (text[..start].to_vec(), &text[end..]),
        (None, Spot::Top) => (text[..first].to_vec(), &text[first..]),
        (None, Spot::End) => (text.to_vec(), &b""[..]),
    };
    if !head.is_empty() && !head.ends_with(b"\n") {
        head.push(b'\n');
    }
    [head.as_slice(), block.as_bytes(), tail].concat()
}

pub(super) fn find_block(text: &[u8]) -> Option<(usize, usize)> {
    let start = memchr::memmem::find(text, BEGIN.as_bytes())?;
    let end = start + memchr::memmem::find(&text[start..], END.as_bytes())? + END.len();
    let end = if text.get(end) == Some(&b'\n') { end + 1 } else { end };
    Some((start, end))
}

/// Our lines in a text file.
pub fn block_lines(text: &[u8]) -> Vec<String> {
    let Some((start, end)) = find_block(text) else { return Vec::new() };
    String::from_utf8_lossy(&text[start..end]).lines().map(str::to_owned).collect()
}

/// Folders that don't exist yet, outermost first.
fn missing_dirs(path: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|dir| !fs::exists(dir)).map(Path::to_owned).collect();
    dirs.reverse();
    dirs
}

impl Move {
    /// Moves a file back, and removes the folder that it was kept in, with the links there to its former neighbours.
    fn back(kept: &Path, place: &Path) -> io::Result<()> {
        fs::rename(kept, place)?;
        let (Some(folder), Some(home)) = (kept.parent(), place.parent()) else { return Ok(()) };
        if folder == home {
            return Ok(());
        }
        for neighbour in fs::list(folder)? {
            let leads_home = |target: Vec<u8>| {
                let target = folder.join(OsString::from_vec(target));
                let parent = target.parent().and_then(|parent| parent.canonicalize().ok());
                parent.is_some() && parent == home.canonicalize().ok()
            };
            if fs::read_link(&neighbour).is_ok_and(leads_home) {
                fs::remove(&neighbour)?;
            }
        }
        fs::remove_empty_dir(folder);
        Ok(())
    }
}

impl Step {
    pub fn changes(&self) -> bool {
        self.now != self.then || self.moved.is_some() || self.mode.is_some()
    }

    /// The record that lets it be taken back. `former` is the record of an earlier installation.
    pub fn record(&self, former: Option<&FileRecord>) -> FileRecord {
        let kept = former.filter(|record| {
            self.moved.is_none() && self.now.as_deref().is_some_and(|now| sha256_hex(now) == record.after)
        });
        let before = match (kept, &self.now) {
            (Some(record), _) => record.before.clone(),
            (None, None) => Before::Absent,
            // an earlier one of ours: what was there before that lies aside
            (None, Some(_)) if self.kind == EditKind::Whole => Before::Absent,
            (None, Some(_)) if former.is_some() => Before::Unknown,
            (None, Some(now)) => Before::Bytes(STANDARD.encode(now)),
        };
        let moved = self.moved.as_ref().map(|moved| key_of(&moved.to));
        FileRecord {
            what: self.what.clone(),
            path: key_of(&self.path),
            kind: self.kind,
            before,
            after: sha256_hex(self.then.as_deref().unwrap_or_default()),
            aside: moved
                .or_else(|| former.and_then(|record| record.aside.clone()))
                .or_else(|| self.aside.as_deref().map(key_of)),
            made_dirs: match former {
                Some(record) if self.dirs.is_empty() => record.made_dirs.clone(),
                _ => self.dirs.iter().map(|dir| key_of(dir)).collect(),
            },
        }
    }

    /// The record of a file with our part in it that no record speaks of, and that stays as it is.
    pub fn adopted(&self) -> Option<FileRecord> {
        let now = self.now.as_deref()?;
        let (is_ours, before) = match self.kind {
            EditKind::Whole => (has_mark(now, WHOLE_MARK), Before::Absent),
            EditKind::Block => (find_block(now).is_some(), Before::Unknown),
            EditKind::Hooks if self.is_fresh => (true, Before::Absent),
            EditKind::Hooks => (true, Before::Unknown),
        };
        is_ours.then(|| FileRecord { before, ..self.record(None) })
    }

    /// A unified diff, and the moves in words.
    pub fn diff(&self, top: &Path) -> String {
        let name = |path: &Path| path.strip_prefix(top).unwrap_or(path).display().to_string();
        let mut text = String::new();
        if let Some(Move { from, to }) = &self.moved {
            text = format!("rename `{}` to `{}`\n", name(from), name(to));
        }
        let old = String::from_utf8_lossy(self.now.as_deref().unwrap_or_default()).into_owned();
        let new = String::from_utf8_lossy(self.then.as_deref().unwrap_or_default()).into_owned();
        let label = |side: &str, there: bool| {
            if there { format!("{side}/{}", name(&self.path)) } else { "/dev/null".to_owned() }
        };
        let diff = similar::TextDiff::from_lines(&old, &new);
        let (a, b) = (label("a", self.now.is_some()), label("b", self.then.is_some()));
        text.push_str(&diff.unified_diff().header(&a, &b).to_string());
        text
    }

    /// Puts a file in its new state. What was there stays until the new content is complete.
    pub fn install(&self) -> io::Result<()> {
        if let Some(Move { from, to }) = &self.moved {
            to.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(from, to)?;
        }
        let written = self.write();
        if let (Err(_), Some(moved)) = (&written, &self.moved) {
            // the hook from before goes on working
            Move::back(&moved.to, &moved.from)?;
        }
        written
    }

    /// Takes a file back to its former state, with the folders that were made for it.
    pub fn uninstall(&self) -> io::Result<()> {
        self.write()?;
        if let Some(moved) = &self.moved {
            Move::back(&moved.from, &moved.to)?;
        }
        for dir in self.dirs.iter().rev() {
            fs::remove_empty_dir(dir);
        }
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        match (&self.then, self.mode) {
            _ if self.now == self.then && self.mode.is_none() => Ok(()),
            (None, _) => fs::remove(&self.path),
            (Some(bytes), Some(mode)) => fs::write_atomic_mode(&self.path, bytes, mode),
            (Some(bytes), None) => fs::write_atomic(&self.path, bytes),
        }
    }
}

/// The key of an absolute path.
pub fn key_of(path: &Path) -> String {
    path_key(path.as_os_str().as_bytes())
}

/// The path behind a key.
pub fn path_of(key: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(path_of_key(key)))
}
