//! Edits that git was told not to look at: compared as git would, never opened before `lstat` says what lies there (a
//! fifo would hang).

use super::index::{IndexFacts, Unwatched};
use super::objects::TreeEntryKind;
use super::{GitError, Objects, Repo};

/// What became of a path that git does not look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Something else lies there than the index has, or it can't be compared.
    Edited,
    /// Nothing lies there.
    Gone,
    /// A submodule at its recorded commit; what is dirty in it can't be seen from here.
    Submodule,
}

impl Repo {
    /// Every unwatched path that is not surely as in the index; paths that `own` claims are left out.
    pub fn hidden<'f>(
        &self,
        objects: &Objects,
        facts: &'f IndexFacts,
        own: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<(&'f Unwatched, Hidden)>, GitError> {
        let (mut found, mut files) = (Vec::new(), Vec::new());
        for entry in facts.unwatched.iter().filter(|entry| !own(&entry.path)) {
            let place = self.at(&entry.path);
            let Some(meta) = crate::fs::stat(&place) else {
                found.push((entry, Hidden::Gone));
                continue;
            };
            match entry.kind {
                TreeEntryKind::File | TreeEntryKind::Executable if meta.is_file() => files.push(entry),
                TreeEntryKind::Link if meta.is_symlink() => {
                    let target =
                        place.read_link().map(|target| target.as_os_str().as_encoded_bytes().to_vec());
                    let same =
                        target.is_ok_and(|target| objects.blob_id(&target).as_ref() == Some(&entry.id));
                    found.extend((!same).then_some((entry, Hidden::Edited)));
                }
                TreeEntryKind::Submodule if meta.is_dir() => {
                    let head = self.git_in(&place, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
                    let moved = head.success() && String::from_utf8_lossy(&head.stdout).trim() != entry.id;
                    found.push((entry, if moved { Hidden::Edited } else { Hidden::Submodule }));
                }
                // another kind of thing than the index has
                _ => found.push((entry, Hidden::Edited)),
            }
        }
        let paths: Vec<&[u8]> = files.iter().map(|entry| entry.path.as_slice()).collect();
        let ids = self.blob_ids(&paths)?;
        for (index, entry) in files.into_iter().enumerate() {
            if ids.as_ref().is_none_or(|ids| ids[index] != entry.id) {
                found.push((entry, Hidden::Edited));
            }
        }
        Ok(found)
    }
}
