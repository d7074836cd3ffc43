//! The name of what lies in the work tree: the tree that `git add -A` would give. No index, ref or object of the
//! repository is written; git does the work on a copy of the index, with a throw-away object folder.

use std::ffi::OsString;
use std::path::Path;

use super::status::{Change, Entry, EntryKind, Status};
use super::{GitError, Objects, Repo, call};

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

impl Repo {
    /// Names the content that `status` has walked. Paths that `own` claims count as they are in HEAD.
    pub fn content(
        &self,
        objects: &Objects,
        status: &Status,
        own: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Content, GitError> {
        // gone, edited, or a submodule that can't be looked into: in each case no tree stands for what lies here
        if let Some((entry, _)) = self.hidden(objects, &*self.facts(status)?, own)?.first() {
            let why = format!("`{}` may hold edits that git was told not to look at", shown(&entry.path));
            return Ok(Content::Unnamed { why });
        }
        let (own, dirty): (Vec<&Entry>, Vec<&Entry>) =
            status.entries.iter().partition(|entry| own(&entry.path));
        if let Some(why) = dirty.iter().find_map(|entry| unnamed(entry)) {
            return Ok(Content::Unnamed { why });
        }
        if dirty.is_empty() {
            let tree = status
                .head
                .as_deref()
                .map_or_else(|| Ok(objects.empty_tree()), |head| objects.tree_of(head))?;
            return Ok(Content::Named { tree, clean: true });
        }
        match self.tree_with(objects, status, &own, &dirty) {
            Ok(tree) => Ok(Content::Named { tree, clean: false }),
            Err(GitError::Failed { message, .. }) => {
                Ok(Content::Unnamed { why: format!("git can't take it in: {message}") })
            }
            Err(error) => Err(error),
        }
    }

    fn tree_with(
        &self,
        objects: &Objects,
        status: &Status,
        own: &[&Entry],
        dirty: &[&Entry],
    ) -> Result<String, GitError> {
        let scratch = Scratch::new(self)?;
        let settled = own_as_in_head(objects, status.head.as_deref(), own)?;
        if !settled.is_empty() {
            scratch.git(self, &["update-index", "-z", "--index-info"], settled)?;
        }
        let mut names = Vec::new();
        for entry in dirty {
            names.extend_from_slice(&entry.path);
            names.push(0);
        }
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        scratch.git(self, &args, names)?;
        let written = scratch.git(self, &["write-tree", "--missing-ok"], Vec::new())?;
        Ok(String::from_utf8_lossy(&written).trim().to_owned())
    }
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
