//! Refs: read with gix where they lie in files, by the git binary where they lie in a reftable.

use std::collections::BTreeMap;

use super::{GitError, Objects, Repo};

/// A snapshot of the refs that endwell judges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refs {
    /// Full name to the id that it points to (tags not peeled); symbolic refs are followed.
    pub all: BTreeMap<String, String>,
    /// Symbolic refs: full name to full name.
    pub symbolic: BTreeMap<String, String>,
}

impl Refs {
    /// Reads `refs/heads`, `refs/remotes`, `refs/replace` and `refs/stash`; tags are left out, there can be many.
    pub fn read(repo: &Repo, objects: &Objects) -> Result<Self, GitError> {
        if repo.ref_files { objects.refs() } else { Self::ask(repo) }
    }

    fn ask(repo: &Repo) -> Result<Self, GitError> {
        let output = repo.git(&[
            "for-each-ref",
            "--format=%(refname)%00%(objectname)%00%(symref)",
            "refs/heads",
            "refs/remotes",
            "refs/replace",
            "refs/stash",
        ])?;
        let mut refs = Self::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let mut fields = line.split('\0');
            let (Some(name), Some(id)) = (fields.next(), fields.next()) else { continue };
            refs.all.insert(name.to_owned(), id.to_owned());
            if let Some(target) = fields.next().filter(|target| !target.is_empty()) {
                refs.symbolic.insert(name.to_owned(), target.to_owned());
            }
        }
        Ok(refs)
    }

    /// The id of a full ref name.
    pub fn id(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(String::as_str)
    }

    /// Local branches: short name and id.
    pub fn branches(&self) -> impl Iterator<Item = (&str, &str)> {
        self.under("refs/heads/")
    }

    /// Remote-tracking branches: name below `refs/remotes/` and id, symbolic ones left out.
    pub fn tracking(&self) -> impl Iterator<Item = (&str, &str)> {
        self.under("refs/remotes/")
            .filter(|(name, _)| !self.symbolic.contains_key(&format!("refs/remotes/{name}")))
    }

    /// Whether replacement objects are in force.
    pub fn has_replacements(&self) -> bool {
        self.under("refs/replace/").next().is_some()
    }

    fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all
            .range(prefix.to_owned()..)
            .take_while(move |(name, _)| name.starts_with(prefix))
            .map(move |(name, id)| (&name[prefix.len()..], id.as_str()))
    }
}
