//! What reflogs tell afterwards: pushes, by the entries of tracking branches that git made for a push and not for a
//! fetch; and moves of HEAD that no command of the work tree's own made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Repo;

/// One update of a tracking branch by a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Below `refs/remotes/`, for example `origin/main`.
    pub tracking: String,
    pub commit: String,
    /// Seconds since 1970.
    pub at: i64,
}

impl Repo {
    /// Every push that stands behind the given ends of the reflogs (by name below `refs/remotes/`), as far as reflogs in
    /// files tell: not pushes by URL, of tags, or of branches that were deleted since, and nothing where git keeps no
    /// reflog or keeps it in a reftable.
    pub fn pushes_behind(&self, ends: &BTreeMap<String, u64>) -> Vec<Pushed> {
        let mut found = Vec::new();
        for (name, path) in self.tracking_reflogs() {
            let Ok(Some(bytes)) = crate::fs::read_optional(&path) else { continue };
            let end = ends.get(&name).and_then(|end| usize::try_from(*end).ok()).unwrap_or(0);
            // one that is shorter now was rewritten (`git reflog expire`): all of it may be new
            let text = String::from_utf8_lossy(bytes.get(end..).unwrap_or(&bytes)).into_owned();
            found.extend(text.lines().filter_map(|line| entry(line, &name)));
        }
        found.sort_by(|a, b| (a.at, &a.tracking).cmp(&(b.at, &b.tracking)));
        found
    }

    /// How long each reflog of a tracking branch is now.
    pub fn reflog_ends(&self) -> BTreeMap<String, u64> {
        let logs = self.tracking_reflogs().into_iter();
        logs.filter_map(|(name, path)| Some((name, crate::fs::stat(&path)?.len()))).collect()
    }

    /// The reflogs of tracking branches: name below `refs/remotes/`, and file.
    fn tracking_reflogs(&self) -> Vec<(String, PathBuf)> {
        let root = self.common_dir.join("logs/refs/remotes");
        let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for path in crate::fs::list(&folder).unwrap_or_default() {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
                    found.push((name, path));
                }
            }
        }
        found
    }
}

/// HEAD was moved from one commit to another, by no command that works on a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub from: String,
    pub to: String,
}

impl Repo {
    /// Moves of HEAD since a time (seconds since 1970) that were made from outside: its branch was set by plumbing, which
    /// leaves no message, or from another work tree, which leaves no entry here. `head` is HEAD's commit now.
    pub fn moved_from_outside(&self, head: &str, since: i64) -> Vec<Moved> {
        let log =
            crate::fs::read_optional(&self.git_dir.join("logs/HEAD")).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&log).into_owned();
        let mut found = Vec::new();
        let mut last = None;
        for line in text.lines() {
            let (ids, message) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = ids.split(' ');
            let (Some(from), Some(to)) = (words.next(), words.next()) else { continue };
            let at = ids.rsplit(' ').nth(1).and_then(|at| at.parse::<i64>().ok());
            if message.trim().is_empty() && from != to && at.is_some_and(|at| at >= since) {
                found.push(Moved { from: from.to_owned(), to: to.to_owned() });
            }
            last = Some(to.to_owned());
        }
        if let Some(last) = last.filter(|last| last != head) {
            found.push(Moved { from: last, to: head.to_owned() });
        }
        found.retain(|moved| moved.from.bytes().any(|byte| byte != b'0'));
        found
    }
}

/// `OLD NEW NAME <MAIL> SECONDS ZONE<TAB>MESSAGE`.
fn entry(line: &str, tracking: &str) -> Option<Pushed> {
    let (head, message) = line.split_once('\t')?;
    if message != "update by push" {
        return None;
    }
    let commit = head.split(' ').nth(1)?.to_owned();
    let at = head.rsplit(' ').nth(1)?.parse().ok()?;
    commit.bytes().any(|byte| byte != b'0').then(|| Pushed { tracking: tracking.to_owned(), commit, at })
}
