//! The other work trees of the repository, and which branches they have checked out.

use super::{GitError, Repo};

impl Repo {
    /// Makes a work tree of a commit, on no branch. Runs none of the repository's hooks.
    pub fn add_detached_worktree(&self, path: &std::path::Path, commit: &str) -> Result<(), GitError> {
        let path = path.as_os_str();
        let args = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--force", "--detach"];
        let mut args: Vec<&std::ffi::OsStr> = args.iter().map(std::ffi::OsStr::new).collect();
        args.extend([path, std::ffi::OsStr::new(commit)]);
        self.git(&args).map(drop)
    }

    /// Removes a work tree with all that is in it, also where its folder is gone already.
    pub fn remove_worktree(&self, path: &std::path::Path) -> Result<(), GitError> {
        let args = ["worktree", "remove", "--force", "--force"];
        let mut args: Vec<&std::ffi::OsStr> = args.iter().map(std::ffi::OsStr::new).collect();
        args.push(path.as_os_str());
        self.git(&args).map(drop)
    }

    /// The branches of all other work trees, short; `None` for a detached one. Asks git only where there are any.
    pub fn other_worktrees(&self) -> Result<Vec<Option<String>>, GitError> {
        let linked = crate::fs::list(&self.common_dir.join("worktrees")).unwrap_or_default();
        if linked.is_empty() {
            return Ok(Vec::new());
        }
        let output = self.git(&["worktree", "list", "--porcelain", "-z"])?;
        let mut others = Vec::new();
        let mut here = false;
        let mut branch = None;
        // each work tree is a block of attributes that ends in an empty one
        for field in output.stdout.split(|byte| *byte == 0) {
            let text = String::from_utf8_lossy(field);
            if let Some(path) = text.strip_prefix("worktree ") {
                here = std::path::Path::new(path) == self.top;
                branch = None;
            } else if let Some(name) = text.strip_prefix("branch refs/heads/") {
                branch = Some(name.to_owned());
            } else if text.is_empty() && !here {
                others.push(branch.take());
                here = true;
            }
        }
        Ok(others)
    }
}

impl Repo {
    /// Whether this work tree's own HEAD has ever moved to a branch, as far as its reflog tells: with several work trees
    /// a branch that never was here belongs to another one.
    pub fn was_checked_out_here(&self, branch: &str) -> bool {
        let log =
            crate::fs::read_optional(&self.git_dir.join("logs/HEAD")).ok().flatten().unwrap_or_default();
        let end = format!(" to {branch}");
        String::from_utf8_lossy(&log)
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .any(|(_, message)| message.starts_with("checkout: moving from ") && message.ends_with(&end))
    }
}
