//! The fast way to the name of what lies in the work tree: HEAD's tree with the dirty paths put in, in memory, after one
//! call of `git hash-object`. It declines wherever that could differ from what `git add` would do; then git itself does
//! the work on a copy of the index. Nothing is written.

use std::collections::HashMap;
use std::io::Read as _;

use gix::ObjectId;
use gix::objs::tree::{Editor, EntryKind as Kind};
use gix::objs::{Tree, WriteTo as _};

use super::objects::{TreeEntry, cannot, kind};
use super::status::{Change, Entry, EntryKind};
use super::{GitError, Objects, Repo};

/// A tree that is in no store, with those of its folders that aren't either.
pub(super) struct Edited {
    pub(super) tree: String,
    made: HashMap<ObjectId, Tree>,
}

/// What becomes of the dirty paths.
#[derive(Default)]
struct Plan<'a> {
    removed: Vec<&'a [u8]>,
    links: Vec<&'a [u8]>,
    files: Vec<(&'a [u8], Kind)>,
}

impl Repo {
    /// HEAD's tree with the dirty paths as they lie there; `None` where only git itself can tell.
    pub(super) fn edited_tree(
        &self,
        objects: &Objects,
        head: Option<&str>,
        dirty: &[&Entry],
    ) -> Result<Option<Edited>, GitError> {
        let trusts_modes = objects.repo.config_snapshot().boolean("core.fileMode") == Some(true);
        let Some(plan) = self.plan(dirty, trusts_modes) else { return Ok(None) };
        let paths: Vec<&[u8]> = plan.files.iter().map(|(path, _)| *path).collect();
        let Some(ids) = self.blob_ids(&paths)? else { return Ok(None) };
        let mut put = Vec::with_capacity(ids.len() + plan.links.len());
        for ((path, kind), id) in plan.files.iter().zip(&ids) {
            put.push((*path, *kind, objects.parse(id)?));
        }
        for path in &plan.links {
            let target = crate::fs::read_link(&self.at(path)).ok();
            let Some(id) = target.and_then(|target| objects.blob_id(&target)) else { return Ok(None) };
            put.push((*path, Kind::Link, objects.parse(&id)?));
        }
        objects.edit(head, &plan.removed, &put).map(Some)
    }

    fn plan<'a>(&self, dirty: &[&'a Entry], trusts_modes: bool) -> Option<Plan<'a>> {
        let mut plan = Plan::default();
        for entry in dirty {
            let path = entry.path.as_slice();
            // what an attribute file says here and in the index may differ, and git asks both
            if path == b".gitattributes" || path.ends_with(b"/.gitattributes") {
                return None;
            }
            let there = crate::fs::stat(&self.at(path));
            let (is_file, is_link) = there.as_ref().map_or((false, false), |m| (m.is_file(), m.is_symlink()));
            match &entry.kind {
                EntryKind::Untracked if is_link => plan.links.push(path),
                EntryKind::Untracked if is_file => {
                    let executable = crate::fs::is_executable(&self.at(path));
                    if executable && !trusts_modes {
                        return None;
                    }
                    plan.files.push((path, if executable { Kind::BlobExecutable } else { Kind::Blob }));
                }
                EntryKind::Unmerged { .. } | EntryKind::Untracked => return None,
                EntryKind::Changed(change) => match change.modes[2].as_str() {
                    "000000" => plan.removed.push(path),
                    "120000" if is_link => plan.links.push(path),
                    mode @ ("100644" | "100755") if is_file && !self.may_keep_line_ends(path, change) => {
                        plan.files
                            .push((path, if mode == "100755" { Kind::BlobExecutable } else { Kind::Blob }));
                    }
                    _ => return None,
                },
            }
        }
        Some(plan)
    }

    /// Whether git would look into the index before it turns the line ends of a file: `hash-object` does not. A file
    /// that can't be read counts as one.
    fn may_keep_line_ends(&self, path: &[u8], change: &Change) -> bool {
        change.modes[1] != "000000" && holds_crlf(&self.at(path)).unwrap_or(true)
    }
}

fn holds_crlf(path: &std::path::Path) -> std::io::Result<bool> {
    let mut file = crate::fs::open(path)?;
    let mut buffer = vec![0; 64 << 10];
    let mut after_return = false;
    loop {
        let count = file.read(&mut buffer)?;
        let bytes = &buffer[..count];
        if count == 0 {
            return Ok(false);
        }
        let followed = |at: usize| bytes.get(at + 1) == Some(&b'\n');
        if (after_return && bytes[0] == b'\n') || memchr::memchr_iter(b'\r', bytes).any(followed) {
            return Ok(true);
        }
        after_return = bytes[count - 1] == b'\r';
    }
}

impl Objects {
    /// A commit's tree, or the empty one, without the removed paths and with the given ones.
    fn edit(
        &self,
        head: Option<&str>,
        removed: &[&[u8]],
        put: &[(&[u8], Kind, ObjectId)],
    ) -> Result<Edited, GitError> {
        let what = "the tree of the work tree";
        let root = match head {
            Some(commit) => {
                let tree = self.tree_at(commit)?;
                Tree::from(tree.decode().map_err(|error| cannot(commit, &error))?)
            }
            None => Tree::empty(),
        };
        let hash = self.repo.object_hash();
        let mut editor = Editor::new(root, &self.repo.objects, hash);
        for path in removed {
            editor.remove(parts(path)).map_err(|error| cannot(what, &error))?;
        }
        for (path, kind, id) in put {
            editor.upsert(parts(path), *kind, *id).map_err(|error| cannot(what, &error))?;
        }
        let mut made = HashMap::new();
        let tree = editor.write(|tree| -> Result<ObjectId, GitError> {
            let mut bytes = Vec::new();
            tree.write_to(&mut bytes).map_err(|error| cannot(what, &error))?;
            let id = gix::objs::compute_hash(hash, gix::objs::Kind::Tree, &bytes)
                .map_err(|error| cannot(what, &error))?;
            made.insert(id, tree.clone());
            Ok(id)
        })?;
        Ok(Edited { tree: tree.to_string(), made })
    }

    /// What a tree holds at a path; `None` where there is nothing.
    pub(super) fn entry_in(&self, tree: &str, path: &[u8]) -> Result<Option<TreeEntry>, GitError> {
        self.entry_below(self.parse(tree)?, &mut parts(path))
    }

    /// As [`Objects::entry_in`], of a tree that is in no store.
    pub(super) fn entry_in_edited(
        &self,
        edited: &Edited,
        path: &[u8],
    ) -> Result<Option<TreeEntry>, GitError> {
        let mut id = self.parse(&edited.tree)?;
        let mut rest = parts(path).peekable();
        while let Some(tree) = edited.made.get(&id) {
            let Some(name) = rest.next() else { return Ok(None) };
            let Some(entry) = tree.entries.iter().find(|entry| entry.filename == name) else {
                return Ok(None);
            };
            if rest.peek().is_none() {
                return Ok(Some(TreeEntry { id: entry.oid.to_string(), kind: kind(entry.mode) }));
            }
            if !entry.mode.is_tree() {
                return Ok(None);
            }
            id = entry.oid;
        }
        self.entry_below(id, &mut rest)
    }

    /// The topmost paths of a tree that neither lie in one of the given paths nor hold one, sorted.
    pub fn outside(&self, tree: &str, covered: &[String]) -> Result<Vec<String>, GitError> {
        let below = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            outer.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut found = Vec::new();
        let mut folders = vec![(self.parse(tree)?, String::new())];
        while let Some((id, folder)) = folders.pop() {
            let tree = self.repo.find_tree(id).map_err(|error| cannot(&id.to_string(), &error))?;
            for entry in tree.iter() {
                let entry = entry.map_err(|error| cannot(&id.to_string(), &error))?;
                let path = format!("{folder}{}", entry.filename());
                if covered.iter().any(|own| below(&path, own)) {
                    continue;
                }
                if entry.mode().is_tree() && covered.iter().any(|own| below(own, &path)) {
                    folders.push((entry.object_id(), format!("{path}/")));
                } else {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn entry_below(
        &self,
        tree: ObjectId,
        parts: &mut dyn Iterator<Item = &gix::bstr::BStr>,
    ) -> Result<Option<TreeEntry>, GitError> {
        let found = self.repo.find_tree(tree).map_err(|error| cannot(&tree.to_string(), &error))?;
        let names: Vec<&[u8]> = parts.map(AsRef::as_ref).collect();
        let entry = found.lookup_entry(names).map_err(|error| cannot(&tree.to_string(), &error))?;
        Ok(entry.map(|entry| TreeEntry { id: entry.object_id().to_string(), kind: kind(entry.mode()) }))
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = &gix::bstr::BStr> {
    path.split(|byte| *byte == b'/').map(gix::bstr::BStr::new)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::env::Env;
    use crate::git::{Content, Status};
    use crate::process::Captured;

    fn shell(dir: &Path, script: &str) {
        let path = Env::of_process().unwrap().os("PATH").map(ToOwned::to_owned).unwrap();
        let vars = [
            ("PATH", path),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("HOME", dir.into()),
        ];
        let ran = Captured {
            program: "sh".into(),
            args: vec!["-ec".into(), script.into()],
            dir: dir.to_owned(),
            env: vars.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            stdin: None,
        };
        let ran = ran.run().unwrap();
        assert!(ran.success(), "{script}: {}", ran.first_error_line());
    }

    const START: &str = "git init -q .; git config user.name t; git config user.email t@example.invalid; \
        mkdir -p d/e d.x; for f in a d/b d/e/c d.x/f d-y; do echo $f > $f; done; ln -s a l; chmod +x d/b; \
        git add -A; git commit -qm start";

    fn opened(dir: &Path) -> (Repo, Objects, Status) {
        let path = Env::of_process().unwrap().os("PATH").map(ToOwned::to_owned).unwrap();
        let vars =
            [("PATH", path), ("GIT_CONFIG_NOSYSTEM", "1".into()), ("GIT_CONFIG_GLOBAL", "/dev/null".into())];
        let repo = Repo::discover(&Env::made_of(dir, vars)).unwrap();
        let (objects, status) = (Objects::open(&repo).unwrap(), repo.status().unwrap());
        (repo, objects, status)
    }

    /// One edit of the work tree or the index; the second word is a path.
    fn edit() -> impl Strategy<Value = String> {
        let path = prop::sample::select(vec![
            "a", "d/b", "d/e/c", "d.x/f", "d-y", "l", "n", "d/n", "d/e", "new/x/y",
        ]);
        let act = prop::sample::select(vec![
            "rm -rf P; mkdir -p $(dirname P); echo new > P",
            "rm -rf P",
            "rm -rf P; mkdir -p P; echo in > P/in",
            "rm -rf P; mkdir -p $(dirname P); ln -s d P",
            "test ! -f P || chmod +x P",
            "test ! -f P || chmod -x P",
            "git add -A -- P 2>/dev/null || true",
            "git rm -rq --cached --ignore-unmatch -- P",
            "test -e P && git add -N -- P || true",
        ]);
        // a parent that is no folder makes an edit impossible, which is no edit
        (act, path).prop_map(|(act, path)| format!("({}) 2>/dev/null || true", act.replace('P', path)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn both_ways_name_the_same_tree(edits in prop::collection::vec(edit(), 1..8)) {
            let dir = tempfile::tempdir().unwrap();
            shell(dir.path(), &format!("{START}; {}", edits.join("; ")));
            let (repo, objects, status) = opened(dir.path());
            let dirty: Vec<&Entry> = status.entries.iter().collect();
            let fast = repo.edited_tree(&objects, status.head.as_deref(), &dirty).unwrap().unwrap();
            let sure = repo.tree_by_git(&objects, &status).unwrap();
            prop_assert_eq!(&fast.tree, &sure, "{:?}", edits);
            shell(dir.path(), "git add -A");
            let (repo, objects, status) = opened(dir.path());
            let Content::Named { tree, .. } = repo.content(&objects, &status, &|_| false).unwrap() else { panic!() };
            prop_assert_eq!(&tree, &sure, "staged: {:?}", edits);
        }
    }

    #[test]
    fn it_declines_what_only_git_can_tell() {
        for (script, taken) in [
            ("echo x >> a", true),
            ("printf 'x\\r\\n' >> a", false),
            ("printf 'x\\r\\n' > new", true),
            ("echo '* text' > .gitattributes", false),
            ("echo '* text' > d/.gitattributes; git add d; rm d/.gitattributes", false),
            ("git config core.fileMode false; echo x > new; chmod +x new", false),
            (
                "git switch -qc s; echo s > a; git commit -qam s; git switch -q -; echo m > a; git commit -qam m; git merge -q s || true",
                false,
            ),
            (
                "git init -q sub; git -C sub -c user.name=t -c user.email=t@e commit -q --allow-empty -m e; git add sub 2>/dev/null",
                false,
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            shell(dir.path(), &format!("{START}; {script}"));
            let (repo, objects, status) = opened(dir.path());
            let dirty: Vec<&Entry> = status.entries.iter().collect();
            assert!(!dirty.is_empty(), "{script}");
            let fast = repo.edited_tree(&objects, status.head.as_deref(), &dirty).unwrap();
            assert_eq!(fast.is_some(), taken, "{script}");
        }
    }

    #[test]
    fn a_line_end_is_found_across_two_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut bytes = vec![b'x'; (64 << 10) - 1];
        bytes.extend(b"\r\n");
        crate::fs::write_plain(&path, &bytes).unwrap();
        assert!(holds_crlf(&path).unwrap());
        crate::fs::write_plain(&path, b"a\rb\nc").unwrap();
        assert!(!holds_crlf(&path).unwrap());
    }
}
