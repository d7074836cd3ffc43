//! What a branch, and the work tree on top of it, added since a base: whole new contents with the lines that are new
//! in them. Net against the base: a line that a commit added and the work tree took back is not added. Reads objects
//! and regular files; never follows a link, never writes.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::objects::{TreeChange, TreeEntry, TreeEntryKind};
use super::{Entry, EntryKind, GitError, Objects, Repo, Status};

/// Contents above this many bytes are not read: they are judged by name and size only.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Everything that differs from the base.
#[derive(Debug, Default)]
pub struct Changes {
    /// Files that are there now and were not the same at the base, by path.
    pub files: Vec<FileChange>,
    /// The trimmed texts of all lines that the difference removes anywhere: a line that reappears has moved.
    pub removed: HashSet<Vec<u8>>,
}

/// One file that is new or changed since the base.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// From the top, raw bytes.
    pub path: Vec<u8>,
    /// The former path of a renamed file.
    pub from: Option<Vec<u8>>,
    pub content: Content,
    /// What the file held at the base, under its former path if it was renamed.
    pub base: Option<Vec<u8>>,
    /// The 1-based lines of the new content that are added; sorted, apart from each other.
    pub added: Vec<Range<u32>>,
    /// Nothing lay at this path at the base.
    pub is_new: bool,
    pub place: Place,
    pub executable: bool,
    /// Size of the new content in bytes.
    pub size: u64,
}

/// The new content, or why it is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(Vec<u8>),
    /// A NUL among the first 8,000 bytes, as git judges; the first bytes.
    Binary([u8; 4]),
    /// More than [`MAX_BYTES`].
    Large,
    /// A symbolic link, or something else without lines.
    NoFile,
}

/// Where a change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the work tree only, unknown to git.
    Untracked,
    /// In a commit or in the index.
    Tracked,
}

impl Changes {
    /// Takes one more file in: finds its added lines, and notes the removed ones.
    pub fn push(&mut self, mut file: FileChange) {
        file.compare(&mut self.removed);
        self.files.push(file);
    }
}

impl FileChange {
    /// A text file, its added lines found by comparing it with its former content.
    pub fn text(path: &[u8], base: Option<&[u8]>, new: &[u8], place: Place) -> Self {
        let mut file = Self {
            path: path.to_vec(),
            from: None,
            content: content_of(new.to_vec()),
            base: base.map(<[u8]>::to_vec),
            added: Vec::new(),
            is_new: base.is_none(),
            place,
            executable: false,
            size: new.len() as u64,
        };
        file.compare(&mut HashSet::new());
        file
    }

    /// Finds the added lines, and hands over the removed ones.
    fn compare(&mut self, removed: &mut HashSet<Vec<u8>>) {
        self.added.clear();
        let old = self.base.as_deref().filter(|bytes| !is_binary(bytes)).unwrap_or_default();
        let Content::Text(new) = &self.content else {
            removed.extend(lines(old).map(trimmed));
            return;
        };
        if old.is_empty() {
            let count = line_number(lines(new).count());
            self.added.extend((count > 0).then_some(1..count + 1));
            return;
        }
        let mut input = gix::diff::blob::InternedInput::default();
        input.update_before(lines(old));
        input.update_after(lines(new));
        let mut diff = gix::diff::blob::Diff::compute(gix::diff::blob::Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        for hunk in diff.hunks() {
            if !hunk.after.is_empty() {
                self.added.push(hunk.after.start + 1..hunk.after.end + 1);
            }
            let gone = hunk.before.start as usize..hunk.before.end as usize;
            let tokens = input.before.get(gone).unwrap_or_default();
            removed.extend(tokens.iter().map(|token| trimmed(input.interner[*token])));
        }
    }
}

/// The lines of a text, without their ends; a last line without an end counts.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let none = bytes.is_empty();
    whole
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(move |_| !none)
}

fn trimmed(line: &[u8]) -> Vec<u8> {
    line.trim_ascii().to_vec()
}

fn line_number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX - 1)
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8000).any(|byte| *byte == 0)
}

fn content_of(bytes: Vec<u8>) -> Content {
    if !is_binary(&bytes) {
        return Content::Text(bytes);
    }
    let mut head = [0; 4];
    for (to, from) in head.iter_mut().zip(&bytes) {
        *to = *from;
    }
    Content::Binary(head)
}

/// What differs between two commits; `None` is the empty tree.
pub fn between(objects: &Objects, base: Option<&str>, tip: &str) -> Result<Changes, GitError> {
    let mut collector = Collector { objects, changes: Changes::default() };
    for change in objects.diff(base, tip)? {
        collector.committed(&change)?;
    }
    Ok(collector.changes)
}

/// What differs between a base commit and the work tree. Without a base, HEAD is the base: only what is not
/// committed counts.
pub fn since(
    repo: &Repo,
    objects: &Objects,
    status: &Status,
    base: Option<&str>,
) -> Result<Changes, GitError> {
    let base = base.or(status.head.as_deref());
    let mut committed: BTreeMap<Vec<u8>, TreeChange> = match &status.head {
        Some(head) if base != Some(head.as_str()) => {
            objects.diff(base, head)?.into_iter().map(|change| (change.path.clone(), change)).collect()
        }
        _ => BTreeMap::new(),
    };
    let mut collector = Collector { objects, changes: Changes::default() };
    for entry in &status.entries {
        let change = committed.remove(&entry.path);
        collector.in_work_tree(repo, base, entry, change)?;
    }
    for change in committed.values() {
        collector.committed(change)?;
    }
    collector.changes.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(collector.changes)
}

struct Collector<'a> {
    objects: &'a Objects,
    changes: Changes,
}

impl Collector<'_> {
    fn committed(&mut self, change: &TreeChange) -> Result<(), GitError> {
        let old = self.blob(change.old.as_ref())?;
        let Some(new) = &change.new else {
            self.gone(old.as_deref());
            return Ok(());
        };
        let (content, size) = match new.kind {
            TreeEntryKind::Submodule | TreeEntryKind::Folder => return Ok(()),
            TreeEntryKind::Link => (Content::NoFile, 0),
            TreeEntryKind::File | TreeEntryKind::Executable => match self.objects.size(&new.id)? {
                size if size > MAX_BYTES => (Content::Large, size),
                size => (content_of(self.objects.blob(&new.id)?), size),
            },
        };
        self.changes.push(FileChange {
            path: change.path.clone(),
            from: change.from.clone(),
            content,
            base: old,
            added: Vec::new(),
            is_new: change.old.is_none() || change.from.is_some(),
            place: Place::Tracked,
            executable: new.kind == TreeEntryKind::Executable,
            size,
        });
        Ok(())
    }

    fn in_work_tree(
        &mut self,
        repo: &Repo,
        base: Option<&str>,
        entry: &Entry,
        change: Option<TreeChange>,
    ) -> Result<(), GitError> {
        if entry.is_submodule() || entry.path.ends_with(b"/") {
            return Ok(());
        }
        let (old, from) = match (change, base) {
            (Some(change), _) => (change.old, change.from),
            (None, Some(base)) => (self.objects.entry_at(base, &entry.path)?, None),
            (None, None) => (None, None),
        };
        let was = self.blob(old.as_ref())?;
        let Some((content, size, executable)) = on_disk(repo, &entry.path)? else {
            self.gone(was.as_deref());
            return Ok(());
        };
        let place = if entry.kind == EntryKind::Untracked { Place::Untracked } else { Place::Tracked };
        self.changes.push(FileChange {
            path: entry.path.clone(),
            is_new: old.is_none() || from.is_some(),
            from,
            content,
            base: was,
            added: Vec::new(),
            place,
            executable,
            size,
        });
        Ok(())
    }

    fn gone(&mut self, old: Option<&[u8]>) {
        let old = old.filter(|bytes| !is_binary(bytes)).unwrap_or_default();
        self.changes.removed.extend(lines(old).map(trimmed));
    }

    /// The former content of a regular file that is not too large to compare.
    fn blob(&self, entry: Option<&TreeEntry>) -> Result<Option<Vec<u8>>, GitError> {
        match entry {
            Some(entry) if entry.kind.is_file() && self.objects.size(&entry.id)? <= MAX_BYTES => {
                self.objects.blob(&entry.id).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// What lies at a path: content, size, executable; `None` where nothing does.
fn on_disk(repo: &Repo, path: &[u8]) -> Result<Option<(Content, u64, bool)>, GitError> {
    use std::os::unix::fs::PermissionsExt as _;
    let place = repo.at(path);
    let Some(meta) = crate::fs::stat(&place) else { return Ok(None) };
    if !meta.is_file() {
        return Ok(Some((Content::NoFile, 0, false)));
    }
    let executable = meta.permissions().mode() & 0o111 != 0;
    if meta.len() > MAX_BYTES {
        return Ok(Some((Content::Large, meta.len(), executable)));
    }
    let read = crate::fs::read_optional(&place).map_err(|error| GitError::Objects {
        what: format!("`{}`", String::from_utf8_lossy(path)),
        message: error.to_string(),
    })?;
    Ok(read.map(|bytes| {
        let size = bytes.len() as u64;
        (content_of(bytes), size, executable)
    }))
}

/// The attributes of paths that say who wrote them and whether they are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `linguist-generated` or `linguist-vendored`.
    pub foreign: bool,
    /// `-endwell-artifact`.
    pub exempt: bool,
}

impl Repo {
    /// Asks git for the attributes of paths, in one call; none for no paths.
    pub fn artifact_attributes(&self, paths: &[&[u8]]) -> Result<BTreeMap<Vec<u8>, Attributes>, GitError> {
        let mut found: BTreeMap<Vec<u8>, Attributes> = BTreeMap::new();
        if paths.is_empty() {
            return Ok(found);
        }
        let names = ["linguist-generated", "linguist-vendored", "endwell-artifact"];
        let mut args = vec!["check-attr", "-z", "--stdin"];
        args.extend(names);
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path);
            input.push(0);
        }
        let output = self.git_with_input(&args, input)?;
        let fields: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
        for triple in fields.chunks_exact(3) {
            let [path, name, value] = triple else { continue };
            let attributes = found.entry(path.to_vec()).or_default();
            match *name {
                b"endwell-artifact" => attributes.exempt |= matches!(*value, b"unset" | b"false"),
                _ => attributes.foreign |= matches!(*value, b"set" | b"true"),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(old: &str, new: &str) -> Vec<Range<u32>> {
        FileChange::text(b"a", Some(old.as_bytes()), new.as_bytes(), Place::Tracked).added
    }

    #[test]
    fn only_new_lines_are_added() {
        assert_eq!(added("a\nb\nc\n", "a\nx\nb\nc\ny\n"), [2..3, 5..6]);
        assert_eq!(added("a\nb\n", "a\nb\n"), []);
        assert_eq!(added("a\r\nb\r\n", "a\nb\n"), [], "line ends are no change");
        assert_eq!(added("a", "a\n"), []);
        let new = FileChange::text(b"a", None, b"x\ny", Place::Untracked);
        assert_eq!((new.added.len(), new.added.first()), (1, Some(&(1..3))));
        assert!(new.is_new);
    }

    #[test]
    fn comment_marks_around_code_are_the_only_added_lines() {
        assert_eq!(added("if a {\n  b;\n}\n", "/*\nif a {\n  b;\n}\n*/\n"), [1..2, 5..6]);
    }

    #[test]
    fn nul_bytes_make_a_file_binary() {
        let file = FileChange::text(b"a", None, b"\x7fELF\0\0", Place::Tracked);
        assert_eq!(file.content, Content::Binary(*b"\x7fELF"));
        assert!(file.added.is_empty());
    }
}
