//! The object store, read with gix: commits, trees, blobs, diffs, merge bases. Never the index, never the work tree,
//! and never a replacement object: what is pushed is the original.

use std::fmt::Display;

use gix::ObjectId;

use super::{GitError, Refs, Repo};

/// An opened object store. Not shared between threads: open one for each.
pub struct Objects {
    pub(super) repo: gix::Repository,
}

/// One difference between two trees, renames found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// From the top, raw bytes.
    pub path: Vec<u8>,
    /// The former path of a renamed file.
    pub from: Option<Vec<u8>>,
    /// What was there; `None` for an added path.
    pub old: Option<TreeEntry>,
    /// What is there; `None` for a deleted path.
    pub new: Option<TreeEntry>,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub id: String,
    pub kind: TreeEntryKind,
}

/// What a tree entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeEntryKind {
    File,
    Executable,
    Link,
    /// A submodule's commit.
    Submodule,
    Folder,
}

impl TreeEntryKind {
    /// A regular file.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

/// How two commits are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    MergeBase(String),
    /// No common commit is known here.
    None,
}

impl Objects {
    /// Opens the object store of a repository that git itself has accepted.
    pub fn open(repo: &Repo) -> Result<Self, GitError> {
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .config_overrides(["gitoxide.objects.noReplace=true", "core.commitGraph=true"])
            .with(gix::sec::Trust::Full);
        let mut opened: gix::Repository =
            options.open(&repo.git_dir).map_err(|error| cannot("the repository", &error))?.into();
        opened.object_cache_size_if_unset(4 * 1024 * 1024);
        Ok(Self { repo: opened })
    }

    /// HEAD's commit, from the refs' files; `None` where it has none, or where gix can't read the refs.
    pub fn head(&self) -> Option<String> {
        Some(self.repo.head_id().ok()?.to_string())
    }

    /// The commit id that a revision expression names.
    pub fn commit_named(&self, revision: &str) -> Result<String, GitError> {
        let what = format!("revision `{revision}`");
        let id = self.repo.rev_parse_single(revision).map_err(|error| cannot(&what, &error))?;
        let object = id.object().map_err(|error| cannot(&what, &error))?;
        let commit = object.peel_to_commit().map_err(|error| cannot(&what, &error))?;
        Ok(commit.id.to_string())
    }

    /// The id of the tree without entries; it needs not be stored.
    pub fn empty_tree(&self) -> String {
        ObjectId::empty_tree(self.repo.object_hash()).to_string()
    }

    /// Whether an object is in the store.
    pub fn has(&self, id: &str) -> bool {
        self.parse(id).is_ok_and(|id| self.repo.has_object(id))
    }

    /// The commit behind an id (tags peeled); `None` where it names a tree or a blob.
    pub fn peel_to_commit(&self, id: &str) -> Result<Option<String>, GitError> {
        let object = self.repo.find_object(self.parse(id)?).map_err(|error| cannot(id, &error))?;
        match object.peel_tags_to_end().map_err(|error| cannot(id, &error))?.try_into_commit() {
            Ok(commit) => Ok(Some(commit.id.to_string())),
            Err(_) => Ok(None),
        }
    }

    /// Whether a commit is parked work, or one of its parts, by its shape or by the refs that hold such work.
    pub fn is_parked(&self, commit: &str) -> Result<bool, GitError> {
        let id = self.parse(commit)?;
        let found = self.repo.find_commit(id).map_err(|error| cannot(commit, &error))?;
        let parents: Vec<ObjectId> = found.parent_ids().map(gix::Id::detach).collect();
        let exact = match parents.as_slice() {
            [] => Some(id),
            [_, _, _, exact] => Some(*exact),
            _ => None,
        };
        if exact.is_some_and(|exact| self.holds_exact_data(exact)) {
            return Ok(true);
        }
        let platform = self.repo.references().map_err(|error| cannot("the refs", &error))?;
        let Ok(refs) = platform.prefixed("refs/endwell/parked/") else { return Ok(false) };
        Ok(refs.flatten().filter_map(|found| found.target().try_id().map(ToOwned::to_owned)).any(|parked| {
            let parts = self.repo.find_commit(parked).map(|commit| {
                // the first parent is the commit that the work was done on
                commit.parent_ids().skip(1).any(|part| part == id)
            });
            parked == id || parts.unwrap_or(false)
        }))
    }

    /// The part of parked work that nothing else has: the index file and the list of what was there.
    fn holds_exact_data(&self, commit: ObjectId) -> bool {
        let tree = self.tree_at(&commit.to_string());
        tree.is_ok_and(|tree| ["manifest.json", "index"].iter().all(|name| tree.find_entry(*name).is_some()))
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        Ok(self.tree_at(commit)?.id.to_string())
    }

    /// First line of a commit's message.
    pub fn subject(&self, commit: &str) -> Result<String, GitError> {
        let found = self.repo.find_commit(self.parse(commit)?).map_err(|error| cannot(commit, &error))?;
        let message = found.message().map_err(|error| cannot(commit, &error))?;
        Ok(String::from_utf8_lossy(message.summary().as_ref()).into_owned())
    }

    /// A blob's bytes.
    pub fn blob(&self, id: &str) -> Result<Vec<u8>, GitError> {
        let mut blob = self.repo.find_blob(self.parse(id)?).map_err(|error| cannot(id, &error))?;
        Ok(blob.take_data())
    }

    /// The id that some bytes would have as a blob; nothing is written.
    pub fn blob_id(&self, bytes: &[u8]) -> Option<String> {
        let id = gix::objs::compute_hash(self.repo.object_hash(), gix::objs::Kind::Blob, bytes);
        id.ok().map(|id| id.to_string())
    }

    /// A blob's size in bytes.
    pub fn size(&self, id: &str) -> Result<u64, GitError> {
        Ok(self.repo.find_header(self.parse(id)?).map_err(|error| cannot(id, &error))?.size())
    }

    /// What a commit holds at a path; `None` where there is nothing.
    pub fn entry_at(&self, commit: &str, path: &[u8]) -> Result<Option<TreeEntry>, GitError> {
        let tree = self.tree_at(commit)?;
        let parts = path.split(|byte| *byte == b'/');
        let found = tree.lookup_entry(parts).map_err(|error| cannot(commit, &error))?;
        Ok(found.map(|entry| TreeEntry { id: entry.object_id().to_string(), kind: kind(entry.mode()) }))
    }

    /// The net difference between two commits' trees, sorted by path, folders left out. `None` is the empty tree.
    pub fn diff(&self, old: Option<&str>, new: &str) -> Result<Vec<TreeChange>, GitError> {
        let old_tree = match old {
            Some(commit) => self.tree_at(commit)?,
            None => self.repo.empty_tree(),
        };
        let new_tree = self.tree_at(new)?;
        let what = "the difference";
        let mut cache = self.diff_cache()?;
        let mut changes = Vec::new();
        let hash = self.repo.object_hash();
        let done = gix::diff::tree_with_rewrites(
            gix::objs::TreeRefIter::from_bytes(&old_tree.data, hash),
            gix::objs::TreeRefIter::from_bytes(&new_tree.data, hash),
            &mut cache,
            &mut gix::diff::tree::State::default(),
            &self.repo.objects,
            |change| -> gix::Result<_> {
                changes.extend(tree_change(change));
                Ok(std::ops::ControlFlow::Continue(()))
            },
            gix::diff::tree_with_rewrites::Options {
                location: Some(gix::diff::tree::recorder::Location::Path),
                rewrites: Some(gix::diff::Rewrites::default()),
            },
        );
        done.map_err(|error| cannot(what, &error))?;
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// The best common ancestor of two commits.
    pub fn relation(&self, one: &str, two: &str) -> Result<Relation, GitError> {
        self.relation_to_any(one, &[two])
    }

    /// The best common ancestor of a commit and any of several others. Others that are not in the store are passed by.
    pub fn relation_to_any(&self, one: &str, others: &[&str]) -> Result<Relation, GitError> {
        let others = others.iter().filter(|id| others.len() == 1 || self.has(id)).map(|id| self.parse(id));
        let bases = self
            .repo
            .merge_bases_many(self.parse(one)?, &others.collect::<Result<Vec<_>, _>>()?)
            .map_err(|error| cannot("the merge base", &error))?;
        Ok(bases.first().map_or(Relation::None, |id| Relation::MergeBase(id.to_string())))
    }

    /// Whether the first commit is the second, or in its history.
    pub fn is_ancestor(&self, one: &str, two: &str) -> Result<bool, GitError> {
        Ok(matches!(self.relation(one, two)?, Relation::MergeBase(base) if base == one))
    }

    /// Commits reachable from `tip` but not from `hidden`, newest first, at most `limit`.
    pub fn commits_since(
        &self,
        hidden: Option<&str>,
        tip: &str,
        limit: usize,
    ) -> Result<Vec<String>, GitError> {
        let what = "the history";
        let mut walk = self.repo.rev_walk([self.parse(tip)?]);
        if let Some(hidden) = hidden {
            walk = walk.with_hidden([self.parse(hidden)?]);
        }
        let walk = walk.all().map_err(|error| cannot(what, &error))?;
        walk.take(limit)
            .map(|info| info.map(|info| info.id.to_string()).map_err(|error| cannot(what, &error)))
            .collect()
    }

    /// The refs, from their files.
    pub(super) fn refs(&self) -> Result<Refs, GitError> {
        let what = "the refs";
        let platform = self.repo.references().map_err(|error| cannot(what, &error))?;
        let mut refs = Refs::default();
        for prefix in ["refs/heads/", "refs/remotes/", "refs/replace/", "refs/stash"] {
            let found = platform.prefixed(prefix).map_err(|error| cannot(what, &error))?;
            for reference in found {
                let mut reference = reference.map_err(|error| cannot(what, &error))?;
                let name = String::from_utf8_lossy(reference.name().as_bstr()).into_owned();
                if let gix::refs::TargetRef::Symbolic(target) = reference.target() {
                    refs.symbolic
                        .insert(name.clone(), String::from_utf8_lossy(target.as_bstr()).into_owned());
                }
                let id = match reference.target() {
                    gix::refs::TargetRef::Object(id) => Some(id.to_owned()),
                    gix::refs::TargetRef::Symbolic(_) => {
                        reference.follow_to_object().ok().map(gix::Id::detach)
                    }
                };
                // a symbolic ref to a branch that is gone dangles: it names nothing
                if let Some(id) = id {
                    refs.all.insert(name, id.to_string());
                }
            }
        }
        Ok(refs)
    }

    /// An id of this repository's kind: one of the other hash would be looked up as if it were cut off.
    pub(super) fn parse(&self, id: &str) -> Result<ObjectId, GitError> {
        let what = || format!("object id `{id}`");
        let parsed = ObjectId::from_hex(id.as_bytes()).map_err(|error| cannot(&what(), &error))?;
        if parsed.kind() == self.repo.object_hash() {
            return Ok(parsed);
        }
        Err(cannot(
            &what(),
            &format_args!("this repository names its objects by {}", self.repo.object_hash()),
        ))
    }

    pub(super) fn tree_at(&self, commit: &str) -> Result<gix::Tree<'_>, GitError> {
        let object = self.repo.find_object(self.parse(commit)?).map_err(|error| cannot(commit, &error))?;
        object.peel_to_tree().map_err(|error| cannot(commit, &error))
    }

    /// A cache that finds renames by content, without reading the index or attributes.
    fn diff_cache(&self) -> Result<gix::diff::blob::Platform, GitError> {
        let what = "the diff settings";
        let index = gix::index::State::new(self.repo.object_hash());
        let source = gix::worktree::stack::state::attributes::Source::IdMapping;
        let attributes = self.repo.attributes_only(&index, source).map_err(|error| cannot(what, &error))?;
        gix::diff::resource_cache(
            &self.repo,
            gix::diff::blob::pipeline::Mode::ToGit,
            attributes.detach(),
            gix::diff::blob::pipeline::WorktreeRoots::default(),
        )
        .map_err(|error| cannot(what, &error))
    }
}

fn tree_change(change: gix::diff::tree_with_rewrites::ChangeRef<'_>) -> Option<TreeChange> {
    use gix::diff::tree_with_rewrites::ChangeRef;
    let entry =
        |id: ObjectId, mode: gix::objs::tree::EntryMode| TreeEntry { id: id.to_string(), kind: kind(mode) };
    let change = match change {
        ChangeRef::Addition { location, entry_mode, id, .. } => {
            TreeChange { path: location.to_vec(), from: None, old: None, new: Some(entry(id, entry_mode)) }
        }
        ChangeRef::Deletion { location, entry_mode, id, .. } => {
            TreeChange { path: location.to_vec(), from: None, old: Some(entry(id, entry_mode)), new: None }
        }
        ChangeRef::Modification { location, previous_entry_mode, previous_id, entry_mode, id } => {
            TreeChange {
                path: location.to_vec(),
                from: None,
                old: Some(entry(previous_id, previous_entry_mode)),
                new: Some(entry(id, entry_mode)),
            }
        }
        ChangeRef::Rewrite {
            source_location,
            source_entry_mode,
            source_id,
            location,
            entry_mode,
            id,
            ..
        } => TreeChange {
            path: location.to_vec(),
            from: Some(source_location.to_vec()),
            old: Some(entry(source_id, source_entry_mode)),
            new: Some(entry(id, entry_mode)),
        },
    };
    let is_folder = |side: &Option<TreeEntry>| side.as_ref().is_none_or(|e| e.kind == TreeEntryKind::Folder);
    (!(is_folder(&change.old) && is_folder(&change.new))).then_some(change)
}

pub(super) fn kind(mode: gix::objs::tree::EntryMode) -> TreeEntryKind {
    use gix::objs::tree::EntryKind;
    match mode.kind() {
        EntryKind::Blob => TreeEntryKind::File,
        EntryKind::BlobExecutable => TreeEntryKind::Executable,
        EntryKind::Link => TreeEntryKind::Link,
        EntryKind::Commit => TreeEntryKind::Submodule,
        EntryKind::Tree => TreeEntryKind::Folder,
    }
}

pub(super) fn cannot(what: &str, error: &dyn Display) -> GitError {
    GitError::Objects { what: what.to_owned(), message: error.to_string() }
}
