//! The name of what lies in the work tree: the tree that `git add -A` would give; and of parts of it. No index, ref or
//! object of the repository is written: the tree is made in memory, or, where only git itself can tell, by git on a
//! copy of the index with a throw-away object folder.

use std::ffi::OsString;
use std::path::Path;

use super::objects::{TreeEntry, TreeEntryKind};
use super::status::{Change, Entry, EntryKind, Status};
use super::tree_edit::Edited;
use super::{GitError, Objects, Repo, call};
use crate::model::issue::sha256_hex;

/// What lies in the work tree, as far as a tree can name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Named {
        tree: String,
        /// Nothing but endwell's own artifacts differs from HEAD.
        clean: bool,
    },
    /// No tree stands for it: nothing may be recorded about it, nor taken from a record.
    Unnamed { why: String },
}

/// What lies in the whole work tree, and in parts of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub whole: Content,
    /// One for each part that was asked for, `None` where nothing lies there. Its `tree` is a digest of what lies at the part's paths, which is no id of
    /// git's: an edit anywhere else does not change it.
    pub parts: Vec<Option<Content>>,
}

/// Paths from the top of the work tree that belong together; the empty path is the top itself.
pub type Part = Vec<String>;

/// The tree of the work tree, wherever its objects are.
enum Made {
    Stored(String),
    Edited(Edited),
    Scratch { tree: String, scratch: Scratch },
}

impl Repo {
    /// Names the content that `status` has walked. Paths that `own` claims count as they are in HEAD.
    pub fn content(
        &self,
        objects: &Objects,
        status: &Status,
        own: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Content, GitError> {
        Ok(self.contents(objects, status, own, &[])?.whole)
    }

    /// As [`Repo::content`], with parts. What can't be named elsewhere is no matter of a part.
    pub fn contents(
        &self,
        objects: &Objects,
        status: &Status,
        own: &dyn Fn(&[u8]) -> bool,
        parts: &[Part],
    ) -> Result<Contents, GitError> {
        let facts = self.facts(status)?;
        // gone, edited, or a submodule that can't be looked into: in each case no tree stands for what lies here
        let hidden = self.hidden(objects, &facts, own)?;
        let mut nameless: Vec<(&[u8], String)> = hidden
            .iter()
            .map(|(entry, _)| {
                let why = format!("`{}` may hold edits that git was told not to look at", shown(&entry.path));
                (entry.path.as_slice(), why)
            })
            .collect();
        let (own, others): (Vec<&Entry>, Vec<&Entry>) =
            status.entries.iter().partition(|entry| own(&entry.path));
        let mut dirty = Vec::with_capacity(others.len());
        for entry in others {
            match unnamed(entry) {
                Some(why) => nameless.push((&entry.path, why)),
                None => dirty.push(entry),
            }
        }
        if let (Some((_, why)), true) = (nameless.first(), parts.is_empty()) {
            return Ok(Contents { whole: Content::Unnamed { why: why.clone() }, parts: Vec::new() });
        }
        let made = match self.made(objects, status, (&own, &dirty), facts.skips) {
            Ok(made) => made,
            Err(GitError::Failed { message, .. }) => {
                let unnamed = Content::Unnamed { why: format!("git can't take it in: {message}") };
                return Ok(Contents { parts: vec![Some(unnamed.clone()); parts.len()], whole: unnamed });
            }
            Err(error) => return Err(error),
        };
        let whole = match nameless.first() {
            Some((_, why)) => Content::Unnamed { why: why.clone() },
            None => Content::Named { tree: made.id().to_owned(), clean: dirty.is_empty() },
        };
        let name = |part: &Part| -> Result<Option<Content>, GitError> {
            if let Some((_, why)) = nameless.iter().find(|(path, _)| touches(part, path)) {
                return Ok(Some(Content::Unnamed { why: why.clone() }));
            }
            let clean = !dirty.iter().any(|entry| touches(part, &entry.path));
            Ok(self.name_of(objects, &made, part)?.map(|tree| Content::Named { tree, clean }))
        };
        Ok(Contents { whole, parts: parts.iter().map(name).collect::<Result<_, _>>()? })
    }

    /// The name of a part of a commit's tree; `None` where nothing lies at its paths.
    pub fn part_of_tree(
        &self,
        objects: &Objects,
        tree: &str,
        part: &Part,
    ) -> Result<Option<String>, GitError> {
        self.name_of(objects, &Made::Stored(tree.to_owned()), part)
    }

    fn made(
        &self,
        objects: &Objects,
        status: &Status,
        (own, dirty): (&[&Entry], &[&Entry]),
        skips: bool,
    ) -> Result<Made, GitError> {
        let head = status.head.as_deref();
        if dirty.is_empty() {
            let tree = head.map_or_else(|| Ok(objects.empty_tree()), |head| objects.tree_of(head))?;
            return Ok(Made::Stored(tree));
        }
        // what is not checked out may hold attributes that only the index knows
        if !skips && let Some(edited) = self.edited_tree(objects, head, dirty)? {
            return Ok(Made::Edited(edited));
        }
        let scratch = Scratch::new(self)?;
        let tree = self.tree_with(objects, status, (own, dirty), &scratch)?;
        Ok(Made::Scratch { tree, scratch })
    }

    /// The sure way, whatever lies there.
    #[cfg(test)]
    pub(super) fn tree_by_git(&self, objects: &Objects, status: &Status) -> Result<String, GitError> {
        let dirty: Vec<&Entry> = status.entries.iter().collect();
        self.tree_with(objects, status, (&[], &dirty), &Scratch::new(self)?)
    }

    fn name_of(&self, objects: &Objects, made: &Made, part: &Part) -> Result<Option<String>, GitError> {
        let mut paths: Vec<&str> = part.iter().map(String::as_str).collect();
        paths.sort_unstable();
        paths.dedup();
        let (mut texts, mut something) = (Vec::new(), false);
        for path in paths {
            let found = if path.is_empty() {
                Some(TreeEntry { id: made.id().to_owned(), kind: TreeEntryKind::Folder })
            } else {
                match made {
                    Made::Stored(tree) => objects.entry_in(tree, path.as_bytes())?,
                    Made::Edited(edited) => objects.entry_in_edited(edited, path.as_bytes())?,
                    Made::Scratch { tree, scratch } => scratch.entry_in(self, tree, path)?,
                }
            };
            something |= found.is_some();
            let found = found.map(|entry| format!("{} {}", mode(entry.kind), entry.id)).unwrap_or_default();
            texts.push(format!("{path}\0{found}\0"));
        }
        Ok(something.then(|| sha256_hex(texts.concat().as_bytes())))
    }

    fn tree_with(
        &self,
        objects: &Objects,
        status: &Status,
        (own, dirty): (&[&Entry], &[&Entry]),
        scratch: &Scratch,
    ) -> Result<String, GitError> {
        let mut settled = own_as_in_head(objects, status.head.as_deref(), own)?;
        let mut names = Vec::new();
        for entry in dirty {
            if is_gone(entry) {
                // asked to look there, git would stumble over the folder or link that lies in its place now
                settled
                    .extend_from_slice(format!("0 {}\t", "0".repeat(objects.empty_tree().len())).as_bytes());
                settled.extend_from_slice(&entry.path);
                settled.push(0);
            } else {
                names.extend_from_slice(&entry.path);
                names.push(0);
            }
        }
        if !settled.is_empty() {
            scratch.git(self, &["update-index", "-z", "--index-info"], settled)?;
        }
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        scratch.git(self, &args, names)?;
        let written = scratch.git(self, &["write-tree", "--missing-ok"], Vec::new())?;
        Ok(String::from_utf8_lossy(&written).trim().to_owned())
    }
}

impl Made {
    fn id(&self) -> &str {
        match self {
            Self::Stored(tree) | Self::Scratch { tree, .. } => tree,
            Self::Edited(edited) => &edited.tree,
        }
    }
}

/// Whether a path lies in a part, or holds one of its paths.
fn touches(part: &Part, path: &[u8]) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let below = |inner: &[u8], outer: &[u8]| {
        outer.is_empty()
            || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    part.iter().any(|own| below(path, own.as_bytes()) || below(own.as_bytes(), path))
}

const fn mode(kind: TreeEntryKind) -> &'static str {
    match kind {
        TreeEntryKind::File => "100644",
        TreeEntryKind::Executable => "100755",
        TreeEntryKind::Link => "120000",
        TreeEntryKind::Submodule => "160000",
        TreeEntryKind::Folder => "040000",
    }
}

/// Not in the work tree any more.
fn is_gone(entry: &Entry) -> bool {
    matches!(&entry.kind, EntryKind::Changed(change) if change.modes[2] == "000000")
}

/// Why no tree can stand for this entry.
fn unnamed(entry: &Entry) -> Option<String> {
    let path = shown(&entry.path);
    match &entry.kind {
        EntryKind::Untracked if entry.path.ends_with(b"/") => {
            Some(format!("`{path}` is a repository of its own, whose content no tree of this one names"))
        }
        EntryKind::Changed(Change { submodule: Some([_, modified, untracked]), .. })
            if *modified != b'.' || *untracked != b'.' =>
        {
            Some(format!("the submodule `{path}` holds work that is not committed in it"))
        }
        EntryKind::Untracked | EntryKind::Unmerged { .. } | EntryKind::Changed(_) => None,
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).escape_debug().to_string()
}

/// Input for `update-index --index-info` that puts own paths back to what HEAD holds.
fn own_as_in_head(objects: &Objects, head: Option<&str>, own: &[&Entry]) -> Result<Vec<u8>, GitError> {
    let mut input = Vec::new();
    for entry in own.iter().filter(|entry| !matches!(entry.kind, EntryKind::Untracked)) {
        let there = head.map_or(Ok(None), |head| objects.entry_at(head, &entry.path))?;
        let line = match (&there, &entry.kind) {
            (Some(there), EntryKind::Changed(change)) => format!("{} {}\t", change.modes[0], there.id),
            (Some(there), _) => format!("100644 {}\t", there.id),
            (None, _) => format!("0 {}\t", "0".repeat(objects.empty_tree().len())),
        };
        input.extend_from_slice(line.as_bytes());
        input.extend_from_slice(&entry.path);
        input.push(0);
    }
    Ok(input)
}

/// A copy of the index and a throw-away object folder, outside of the repository.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new(repo: &Repo) -> Result<Self, GitError> {
        let prepare = || -> std::io::Result<Self> {
            let folder = tempfile::Builder::new().prefix("endwell-tree-").tempdir()?;
            let mut alternates =
                std::os::unix::ffi::OsStrExt::as_bytes(repo.objects_dir().as_os_str()).to_vec();
            alternates.push(b'\n');
            crate::fs::create_dir_all(&folder.path().join("objects/info"))?;
            crate::fs::write_plain(&folder.path().join("objects/info/alternates"), &alternates)?;
            // by the index's own time git tells which entries were written too late to be believed by their stat
            crate::fs::copy_with_time(&repo.git_dir.join("index"), &folder.path().join("index"))?;
            Ok(Self { folder })
        };
        prepare().map_err(|error| GitError::Objects {
            what: "the work tree's content".to_owned(),
            message: format!("no temporary copy of the index: {error}"),
        })
    }

    fn git(&self, repo: &Repo, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let at = |path: &str| -> OsString { self.folder.path().join(path).into() };
        let mut vars = repo.vars.clone();
        vars.insert("GIT_INDEX_FILE".into(), at("index"));
        vars.insert("GIT_OBJECT_DIRECTORY".into(), at("objects"));
        // a split index would write its shared part into the repository; syncing what is thrown away is waste
        let mut all =
            vec!["-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "core.fsync=none"];
        all.extend(args);
        Ok(call(&vars, &repo.top, &all, Some(input))?.stdout)
    }

    fn entry_in(&self, repo: &Repo, tree: &str, path: &str) -> Result<Option<TreeEntry>, GitError> {
        let listed = self.git(
            repo,
            &["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", path],
            Vec::new(),
        )?;
        let text = String::from_utf8_lossy(&listed).into_owned();
        let Some((head, _)) = text.split_once('\t') else { return Ok(None) };
        let kind = match head.split(' ').next().unwrap_or_default() {
            "100755" => TreeEntryKind::Executable,
            "120000" => TreeEntryKind::Link,
            "160000" => TreeEntryKind::Submodule,
            "040000" => TreeEntryKind::Folder,
            _ => TreeEntryKind::File,
        };
        let id = head.rsplit(' ').next().unwrap_or_default().to_owned();
        Ok(Some(TreeEntry { id, kind }))
    }
}

impl Repo {
    /// Where the repository's objects lie: git has no other place for them once `GIT_OBJECT_DIRECTORY` is scrubbed.
    fn objects_dir(&self) -> std::path::PathBuf {
        Path::join(&self.common_dir, "objects")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_repositories_and_dirt_in_submodules_have_no_name() {
        let untracked = |path: &[u8]| Entry { path: path.to_vec(), kind: EntryKind::Untracked };
        assert!(unnamed(&untracked(b"nested/")).is_some());
        assert!(unnamed(&untracked(b"file")).is_none());
        let submodule = |field: &[u8; 3]| Entry {
            path: b"sub".to_vec(),
            kind: EntryKind::Changed(Change {
                staged: b'.',
                unstaged: b'M',
                submodule: Some(*field),
                modes: ["160000".to_owned(), "160000".to_owned(), "160000".to_owned()],
                index_id: String::new(),
            }),
        };
        assert!(unnamed(&submodule(b"CM.")).is_some());
        assert!(unnamed(&submodule(b"..U")).is_some());
        assert!(unnamed(&submodule(b"C..")).is_none());
    }
}
