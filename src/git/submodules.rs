//! Submodules, as the project declares them and as their own repositories know them.

use std::collections::BTreeMap;

use super::{GitError, Repo};

impl Repo {
    /// What `.gitmodules` declares: path to its `ignore` setting (absent, or `none`: nothing is hidden).
    pub fn gitmodules(&self) -> Result<BTreeMap<Vec<u8>, Option<String>>, GitError> {
        let mut declared = BTreeMap::new();
        if !crate::fs::exists(&self.top.join(".gitmodules")) {
            return Ok(declared);
        }
        let args =
            ["config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.(path|ignore)$"];
        let output = self.git_any(&args)?;
        match output.code {
            Some(0) => {}
            Some(1) => return Ok(declared),
            _ => return Err(super::failed("config", &output)),
        }
        let (mut paths, mut ignores) = (BTreeMap::new(), BTreeMap::new());
        for record in output.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let Some(cut) = record.iter().position(|byte| *byte == b'\n') else { continue };
            let key = String::from_utf8_lossy(&record[..cut]).into_owned();
            let value = record[cut + 1..].to_vec();
            if let Some(name) = key.strip_suffix(".path") {
                paths.insert(name.to_owned(), value);
            } else if let Some(name) = key.strip_suffix(".ignore") {
                ignores.insert(name.to_owned(), String::from_utf8_lossy(&value).into_owned());
            }
        }
        for (name, path) in paths {
            declared.insert(path, ignores.remove(&name).filter(|ignore| ignore != "none"));
        }
        Ok(declared)
    }

    /// Whether a submodule's recorded commit is on one of its remotes. A submodule that is not there can't tell, and
    /// one without that commit has it to fetch: both count as yes.
    pub fn submodule_commit_is_pushed(&self, path: &[u8], commit: &str) -> Result<bool, GitError> {
        let dir = self.at(path);
        if !crate::fs::exists(&dir.join(".git")) {
            return Ok(true);
        }
        if !self.git_in(&dir, &["cat-file", "-e", &format!("{commit}^{{commit}}")])?.success() {
            return Ok(true);
        }
        let args = [
            "for-each-ref",
            "--count=1",
            "--format=%(refname)",
            "--contains",
            commit,
            "refs/remotes",
            "refs/tags",
        ];
        let output = self.git_in(&dir, &args)?;
        Ok(!output.success() || !output.stdout.is_empty())
    }
}
