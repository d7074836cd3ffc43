//! What the index says and status does not: flags that hide edits, and the submodules' recorded commits. Read only.

use std::borrow::Cow;

use super::objects::TreeEntryKind;
use super::{GitError, Repo, Status};

/// The index entries that matter beyond status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFacts {
    /// Paths whose edits git does not look at: assume-unchanged, or skip-worktree outside of a sparse checkout.
    pub unwatched: Vec<Unwatched>,
    /// Submodules: path and recorded commit.
    pub gitlinks: Vec<(Vec<u8>, String)>,
    /// Some entries are marked skip-worktree, in a sparse checkout or not.
    pub skips: bool,
}

/// A path that git was told not to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwatched {
    pub path: Vec<u8>,
    pub id: String,
    pub kind: TreeEntryKind,
}

impl Repo {
    /// What was read beside the status walk, else what the index says now.
    pub fn facts<'s>(&self, status: &'s Status) -> Result<Cow<'s, IndexFacts>, GitError> {
        status
            .index
            .as_ref()
            .map_or_else(|| self.index_facts().map(Cow::Owned), |known| Ok(Cow::Borrowed(known)))
    }

    /// Reads the index's flags: with gix, and where gix can't (a split index), by asking git.
    pub fn index_facts(&self) -> Result<IndexFacts, GitError> {
        let sparse = || -> Result<bool, GitError> {
            Ok(self
                .config("core.sparseCheckout")?
                .is_some_and(|value| matches!(&*value, "true" | "1" | "yes" | "on")))
        };
        let (mut facts, skipped) = match self.read_index() {
            Some(read) => read,
            None => self.ask_index()?,
        };
        facts.skips = !skipped.is_empty();
        if !skipped.is_empty() && !sparse()? {
            facts.unwatched.extend(skipped);
        }
        Ok(facts)
    }

    /// Index facts, with the skip-worktree entries apart.
    fn read_index(&self) -> Option<(IndexFacts, Vec<Unwatched>)> {
        use gix::index::entry::{Flags, Mode};
        let path = self.git_dir.join("index");
        if !crate::fs::exists(&path) {
            return Some((IndexFacts::default(), Vec::new()));
        }
        let hash = if self.sha256 { gix::hash::Kind::Sha256 } else { gix::hash::Kind::Sha1 };
        let file = gix::index::File::at(&path, hash, true, gix::index::decode::Options::default()).ok()?;
        if file.link().is_some() {
            return None;
        }
        let (mut facts, mut skipped) = (IndexFacts::default(), Vec::new());
        let hides = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
        // nearly every entry is an ordinary one: nothing is built for it
        let telling =
            |entry: &&gix::index::Entry| entry.mode == Mode::COMMIT || entry.flags.intersects(hides);
        for entry in file.entries().iter().filter(telling) {
            let kind = match entry.mode {
                Mode::DIR => continue,
                Mode::COMMIT => TreeEntryKind::Submodule,
                Mode::SYMLINK => TreeEntryKind::Link,
                Mode::FILE_EXECUTABLE => TreeEntryKind::Executable,
                _ => TreeEntryKind::File,
            };
            let path = entry.path(&file).to_vec();
            if kind == TreeEntryKind::Submodule {
                facts.gitlinks.push((path.clone(), entry.id.to_string()));
            }
            let unwatched = Unwatched { path, id: entry.id.to_string(), kind };
            if entry.flags.contains(Flags::SKIP_WORKTREE) {
                skipped.push(unwatched);
            } else if entry.flags.contains(Flags::ASSUME_VALID) {
                facts.unwatched.push(unwatched);
            }
        }
        Some((facts, skipped))
    }

    fn ask_index(&self) -> Result<(IndexFacts, Vec<Unwatched>), GitError> {
        let output = self.git(&["ls-files", "-v", "-s", "-z"])?;
        let (mut facts, mut skipped) = (IndexFacts::default(), Vec::new());
        for record in output.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let form = || GitError::Form("ls-files".to_owned());
            let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(form)?;
            let head = String::from_utf8_lossy(&record[..tab]).into_owned();
            let words: Vec<&str> = head.split(' ').collect();
            let [tag, mode, id, ..] = words.as_slice() else { return Err(form()) };
            let path = record[tab + 1..].to_vec();
            let kind = match *mode {
                "160000" => TreeEntryKind::Submodule,
                "120000" => TreeEntryKind::Link,
                "100755" => TreeEntryKind::Executable,
                "040000" => continue,
                _ => TreeEntryKind::File,
            };
            if kind == TreeEntryKind::Submodule {
                facts.gitlinks.push((path.clone(), (*id).to_owned()));
            }
            let unwatched = Unwatched { path, id: (*id).to_owned(), kind };
            if *tag == "S" || *tag == "s" {
                skipped.push(unwatched);
            } else if tag.chars().all(|c| c.is_ascii_lowercase()) {
                facts.unwatched.push(unwatched);
            }
        }
        Ok((facts, skipped))
    }

    /// The ids that the files would have as blobs, filters applied; `None` for all where one can't be read.
    pub fn blob_ids(&self, paths: &[&[u8]]) -> Result<Option<Vec<String>>, GitError> {
        if paths.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(&quoted(path));
            input.push(b'\n');
        }
        match self.git_with_input(&["hash-object", "--stdin-paths"], input) {
            Ok(output) => {
                let ids: Vec<String> =
                    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
                Ok(Some(ids).filter(|ids| ids.len() == paths.len()))
            }
            // a file that went away meanwhile, or a filter that can't run: nothing is known about any of them
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A path as git reads it on a line: in C quotes where it holds a line end or starts with a quote.
pub(super) fn quoted(path: &[u8]) -> Vec<u8> {
    if !path.iter().any(|byte| matches!(byte, b'\n' | b'"' | b'\\')) {
        return path.to_vec();
    }
    let mut out = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            other => out.push(*other),
        }
    }
    out.push(b'"');
    out
}
