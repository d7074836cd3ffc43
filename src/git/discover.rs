//! Where the repository around a folder lies, without asking git: a process less on every hook's path. It answers for
//! the ordinary cases only, where git's answer is beyond doubt; for every other one it says nothing, and git is asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Repo;

/// Words of a repository's configuration that change where things lie or how they are kept. A branch that is named so
/// costs the short cut, never the right answer.
const TELLING: [&str; 4] = ["extensions", "worktree", "include", "bare"];

/// The repository around `from`; `None` where only git can tell.
pub(super) fn quickly(from: &Path, vars: &BTreeMap<OsString, OsString>) -> Option<Repo> {
    if vars.keys().any(|name| name == "GIT_CEILING_DIRECTORIES" || name == "GIT_DISCOVERY_ACROSS_FILESYSTEM")
    {
        return None;
    }
    let start = from.canonicalize().ok()?;
    let device = crate::fs::stat(&start)?.dev();
    let (top, dot_git) = start.ancestors().find_map(|folder| {
        let dot_git = folder.join(".git");
        crate::fs::stat(&dot_git).map(|meta| (folder, (dot_git, meta)))
    })?;
    let (dot_git, meta) = dot_git;
    // a git folder on the way up is a repository itself, and git stops at the border of a file system
    let between = start.ancestors().take_while(|folder| folder.starts_with(top));
    for folder in between {
        if crate::fs::exists(&folder.join("HEAD")) || crate::fs::stat(folder)?.dev() != device {
            return None;
        }
    }
    let git_dir = if meta.is_dir() {
        dot_git.clone()
    } else if meta.is_file() {
        let target = pointed_at(&dot_git, b"gitdir: ")?;
        top.join(target).canonicalize().ok()?
    } else {
        return None;
    };
    let common_dir = match crate::fs::read_optional(&git_dir.join("commondir")).ok()? {
        Some(_) => git_dir.join(pointed_at(&git_dir.join("commondir"), b"")?).canonicalize().ok()?,
        None => git_dir.clone(),
    };
    let whole = crate::fs::stat(&common_dir.join("objects"))?.is_dir()
        && crate::fs::stat(&common_dir.join("refs"))?.is_dir()
        && crate::fs::exists(&git_dir.join("HEAD"));
    let ours = [top, &dot_git, &git_dir].into_iter().all(is_ours);
    if !whole || !ours || !is_ordinary(&common_dir.join("config"))? {
        return None;
    }
    Some(Repo {
        top: top.to_owned(),
        shallow: crate::fs::exists(&common_dir.join("shallow")),
        git_dir,
        common_dir,
        // both need an extension to be otherwise
        ref_files: true,
        sha256: false,
        vars: vars.clone(),
    })
}

/// The one line of a file that names a folder.
fn pointed_at(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = crate::fs::read(file).ok()?;
    let line = bytes.strip_prefix(prefix)?;
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let odd = line.is_empty() || line.contains(&b'\n') || line.contains(&b'\r');
    (!odd).then(|| PathBuf::from(OsString::from_vec(line.to_vec())))
}

/// git refuses what belongs to somebody else, unless it is told to trust it.
fn is_ours(path: &Path) -> bool {
    crate::fs::stat(path).is_some_and(|meta| meta.uid() == crate::process::user())
}

/// Whether the configuration says nothing about where things lie, and is of a version that every git reads.
fn is_ordinary(config: &Path) -> Option<bool> {
    let text = crate::fs::read(config).ok()?.to_ascii_lowercase();
    let text = String::from_utf8_lossy(&text).replace("bare = false", "");
    let known = !text.contains("repositoryformatversion") || text.contains("repositoryformatversion = 0\n");
    Some(known && !TELLING.iter().any(|word| text.contains(word)))
}
