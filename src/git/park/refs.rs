//! The refs of parked work and the records beside them. The ref is the truth: a record without one stands for nothing,
//! and one that is missing is read from the parked commit itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Bench, ParkError, io};
use crate::fs;
use crate::git::{GitError, Objects, Repo};
use crate::model::issue::sha256_hex;
use crate::model::park::{ParkedManifest, ParkedRecord};
use crate::model::{SCHEMA_VERSION, SessionId, slug};

const PREFIX: &str = "refs/endwell/parked/";

/// The main work tree's part of a ref; git uses the same word for it.
const MAIN: &str = "main-worktree";

/// One piece of parked work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    pub record: ParkedRecord,
    /// The parked commit.
    pub commit: String,
}

/// Everything that is parked.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Oldest first.
    pub parked: Vec<Parked>,
    /// Refs whose commit can't be read as parked work.
    pub unreadable: Vec<String>,
}

/// A name as one part of a ref.
pub fn ref_part(name: &str) -> String {
    let slug = slug(name);
    if slug.contains("..") || slug.ends_with('.') || slug.to_ascii_lowercase().ends_with(".lock") {
        return format!("{}-{}", slug.replace('.', "-"), &sha256_hex(name.as_bytes())[..8]);
    }
    slug
}

/// This work tree's part of a ref.
pub fn worktree_name(repo: &Repo) -> String {
    if repo.git_dir == repo.common_dir {
        return MAIN.to_owned();
    }
    linked_name(&repo.git_dir)
}

fn linked_name(git_dir: &Path) -> String {
    let name = git_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match ref_part(&name) {
        part if part == MAIN => format!("{MAIN}-{}", &sha256_hex(name.as_bytes())[..8]),
        part => part,
    }
}

/// Whether a work tree of that part of a ref is still there.
pub fn has_worktree(repo: &Repo, part: &str) -> bool {
    if part == MAIN {
        return true;
    }
    let linked = fs::list(&repo.common_dir.join("worktrees")).unwrap_or_default();
    linked.iter().any(|folder| linked_name(folder) == part)
}

/// Whether any work tree ever parked something here that may still be parked. One look at a folder; no git.
pub fn has_records(repo: &Repo) -> bool {
    fs::exists(&records(repo))
}

fn records(repo: &Repo) -> PathBuf {
    repo.shared_dir().join("parked")
}

/// All parked work of the repository.
pub fn list(repo: &Repo, objects: &Objects) -> Result<Listing, GitError> {
    let mut listing = Listing::default();
    for (reference, commit) in refs_below(repo, PREFIX)? {
        match record_of(repo, objects, &reference, &commit) {
            Some(record) => listing.parked.push(Parked { record, commit }),
            None => listing.unreadable.push(reference),
        }
    }
    let order = |parked: &Parked| (parked.record.parked_at.clone(), parked.record.reference.clone());
    listing.parked.sort_by_key(order);
    Ok(listing)
}

fn refs_below(repo: &Repo, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
    let output = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", prefix])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect())
}

/// The first id that is free for a session in this work tree, and its ref.
pub fn free_id(repo: &Repo, session: &SessionId) -> Result<(String, String), GitError> {
    let part = ref_part(session.as_str());
    let prefix = format!("{PREFIX}{}/", worktree_name(repo));
    let taken: BTreeSet<String> = refs_below(repo, &prefix)?.into_iter().map(|(name, _)| name).collect();
    let ids = std::iter::once(part.clone()).chain((2_u64..).map(|n| format!("{part}-{n}")));
    let found = ids.map(|id| (format!("{prefix}{id}"), id)).find(|(reference, _)| !taken.contains(reference));
    let (reference, id) = found.ok_or_else(|| GitError::Form("for-each-ref".to_owned()))?;
    Ok((id, reference))
}

fn record_path(repo: &Repo, record: &ParkedRecord) -> PathBuf {
    records(repo).join(&record.worktree).join(format!("{}.json", record.id))
}

fn record_of(repo: &Repo, objects: &Objects, reference: &str, commit: &str) -> Option<ParkedRecord> {
    let (worktree, id) = reference.strip_prefix(PREFIX)?.split_once('/')?;
    let path = records(repo).join(worktree).join(format!("{id}.json"));
    let kept: Option<ParkedRecord> =
        fs::read_optional(&path).ok().flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let known =
        |record: &ParkedRecord| record.reference == reference && record.schema_version <= SCHEMA_VERSION;
    kept.filter(known).or_else(|| {
        let record = manifest(objects, commit).ok()?.record;
        // a ref that was copied or renamed by hand is known by its name
        Some(ParkedRecord {
            reference: reference.to_owned(),
            worktree: worktree.to_owned(),
            id: id.to_owned(),
            ..record
        })
    })
}

/// The manifest in a parked commit.
pub(super) fn manifest(objects: &Objects, commit: &str) -> Result<ParkedManifest, ParkError> {
    let form = || ParkError::Form(format!("parked commit `{commit}`"));
    let blob = exact(objects, commit, "manifest.json")?.ok_or_else(form)?;
    let manifest: ParkedManifest = serde_json::from_slice(&objects.blob(&blob)?).map_err(|_| form())?;
    if manifest.schema_version > SCHEMA_VERSION {
        return Err(form());
    }
    Ok(manifest)
}

/// The id of a file in the part of a parked commit that holds the exact data.
pub(super) fn exact(objects: &Objects, commit: &str, name: &str) -> Result<Option<String>, ParkError> {
    let commit = objects.commit_named(&format!("{commit}^4"))?;
    Ok(objects.entry_at(&commit, name.as_bytes())?.map(|entry| entry.id))
}

impl Bench<'_> {
    pub(super) fn write_record(&self, record: &ParkedRecord) -> Result<(), ParkError> {
        let bytes =
            io("write the record of parked work", serde_json::to_vec_pretty(record).map_err(Into::into))?;
        io("write the record of parked work", fs::write_atomic(&record_path(self.repo, record), &bytes))
    }

    /// Removes the record, and the folders that it leaves empty.
    pub(super) fn forget_record(&self, record: &ParkedRecord) -> Result<(), ParkError> {
        let path = record_path(self.repo, record);
        io("remove the record of parked work", fs::remove(&path))?;
        for folder in path.ancestors().skip(1).take(2) {
            fs::remove_empty_dir(folder);
        }
        Ok(())
    }

    /// The commit that a ref names now.
    pub(super) fn ref_now(&self, reference: &str) -> Result<Option<String>, GitError> {
        let below = refs_below(self.repo, reference)?;
        Ok(below.into_iter().find(|(name, _)| name == reference).map(|(_, id)| id))
    }

    /// Makes a ref that must not be there yet.
    pub(super) fn create_ref(&self, reference: &str, commit: &str) -> Result<(), GitError> {
        let zero = "0".repeat(commit.len());
        let args = ["update-ref", "--no-deref", "-m", "endwell: park", reference, commit, &zero];
        self.git(&self.index_path(), &args, Vec::new()).map(|_| ())
    }

    /// Deletes a ref if it still names this commit.
    pub(super) fn delete_ref(&self, reference: &str, commit: &str) -> Result<(), GitError> {
        let args = ["update-ref", "--no-deref", "-d", reference, commit];
        self.git(&self.index_path(), &args, Vec::new()).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_valid_parts_of_a_ref() {
        assert_eq!(ref_part("ses_abc"), "ses_abc");
        for bad in ["a..b", "x.lock", "x.LOCK", "end.", "a b~^:?*[\\", "@{", "a/b"] {
            let part = ref_part(bad);
            assert!(!part.contains("..") && !part.to_ascii_lowercase().ends_with(".lock"), "{part}");
            assert!(part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{part}");
            assert!(!part.ends_with('.') && !part.is_empty(), "{part}");
        }
        assert_ne!(ref_part("a..b"), ref_part("a--b"));
    }
}
