//! Edits that git itself can't see: paths marked assume-unchanged or skip-worktree that differ from the index. Where
//! one exists, no status and no tree id tells what really lies in the work tree.

use std::path::Path;

use super::{GitError, Objects, Repo};

/// A marked path, as `git ls-files -v -s -z` lists it.
#[derive(Debug, PartialEq, Eq)]
struct Marked {
    /// `S` is skip-worktree, a lower-case letter assume-unchanged, `s` both.
    tag: u8,
    mode: String,
    id: String,
    path: Vec<u8>,
}

impl Repo {
    /// Paths from the top whose edits a mark hides from git. Spawns git only where the index holds a mark.
    pub fn hidden_edits(&self, objects: &Objects) -> Result<Vec<Vec<u8>>, GitError> {
        if !self.index_may_hide(objects) {
            return Ok(Vec::new());
        }
        let mut marked = listed(&self.git(&["ls-files", "-v", "-s", "-z"])?.stdout)?;
        if marked.iter().any(|entry| entry.tag == b'S') && self.is_sparse()? {
            marked.retain(|entry| entry.tag != b'S');
        }
        self.that_differ(marked)
    }

    /// Whether some entry of the index carries a mark. What gix can't read may: then git is asked.
    fn index_may_hide(&self, objects: &Objects) -> bool {
        use gix::index::entry::Flags;
        let path = self.git_dir.join("index");
        if !crate::fs::exists(&path) {
            return false;
        }
        let options = gix::index::decode::Options::default();
        gix::index::File::at(&path, objects.hash_kind(), true, options).map_or(true, |index| {
            let marks = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE;
            index.entries().iter().any(|entry| entry.flags.intersects(marks))
        })
    }

    fn is_sparse(&self) -> Result<bool, GitError> {
        let value = self.config("core.sparseCheckout")?.unwrap_or_default().to_ascii_lowercase();
        Ok(matches!(value.as_str(), "true" | "yes" | "on" | "1"))
    }

    fn that_differ(&self, marked: Vec<Marked>) -> Result<Vec<Vec<u8>>, GitError> {
        let mut hidden = Vec::new();
        let mut to_hash = Vec::new();
        for entry in marked {
            match kind_of(&self.at(&entry.path)) {
                Kind::Gone if entry.tag.eq_ignore_ascii_case(&b'S') => {}
                // git reads names by lines here, so one with a line break can't be compared: taken as edited
                Kind::File if is_file_mode(&entry.mode) && !entry.path.contains(&b'\n') => {
                    to_hash.push(entry);
                }
                Kind::Folder if entry.mode == "160000" => {}
                _ => hidden.push(entry.path),
            }
        }
        if !to_hash.is_empty() {
            let mut names = Vec::new();
            for entry in &to_hash {
                names.extend_from_slice(&entry.path);
                names.push(b'\n');
            }
            let output = self.git_with_input(&["hash-object", "--stdin-paths"], names)?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let ids: Vec<&str> = text.lines().collect();
            if ids.len() != to_hash.len() {
                return Err(GitError::Form("hash-object".to_owned()));
            }
            let differ = to_hash.into_iter().zip(ids).filter(|(entry, id)| entry.id != *id);
            hidden.extend(differ.map(|(entry, _)| entry.path));
        }
        hidden.sort();
        Ok(hidden)
    }
}

enum Kind {
    Gone,
    File,
    Folder,
    Other,
}

fn kind_of(path: &Path) -> Kind {
    match crate::fs::stat(path) {
        None => Kind::Gone,
        Some(meta) if meta.is_file() => Kind::File,
        Some(meta) if meta.is_dir() => Kind::Folder,
        Some(_) => Kind::Other,
    }
}

fn is_file_mode(mode: &str) -> bool {
    mode.starts_with("100")
}

/// The marked entries of the listing: `TAG MODE ID STAGE<tab>PATH`.
fn listed(bytes: &[u8]) -> Result<Vec<Marked>, GitError> {
    let mut marked = Vec::new();
    for record in bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let form = || GitError::Form(format!("ls-files: {}", String::from_utf8_lossy(record)));
        let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(form)?;
        let fields = String::from_utf8_lossy(&record[..tab]).into_owned();
        let [tag, mode, id, _stage] = fields.split(' ').collect::<Vec<_>>()[..] else { return Err(form()) };
        let tag = tag.bytes().next().ok_or_else(form)?;
        if tag == b'S' || tag.is_ascii_lowercase() {
            let path = record[tab + 1..].to_vec();
            marked.push(Marked { tag, mode: mode.to_owned(), id: id.to_owned(), path });
        }
    }
    Ok(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_entries_are_listed_and_odd_output_is_an_error() {
        let text = b"H 100644 aa 0\ta\0h 100644 bb 0\tb c\0S 100755 cc 0\td\nd\0s 100644 dd 0\te\0";
        let listed = listed(text).unwrap();
        let paths: Vec<&[u8]> = listed.iter().map(|entry| entry.path.as_slice()).collect();
        assert_eq!(paths, [&b"b c"[..], b"d\nd", b"e"]);
        assert!(super::listed(b"H 100644\0").is_err());
    }
}
