//! The one status walk of a run, shared by all checks: `git status --porcelain=v2 -z`, parsed into entries.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use super::index::IndexFacts;
use super::{GitError, Repo};

/// What the walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// HEAD's commit; `None` before the first one.
    pub head: Option<String>,
    /// HEAD's branch, short; `None` when detached.
    pub branch: Option<String>,
    pub upstream: Option<String>,
    /// The upstream exists (git could count ahead and behind).
    pub upstream_there: bool,
    /// Number of stash entries.
    pub stashes: u64,
    pub entries: Vec<Entry>,
    /// Ignored paths from the top; a folder that is ignored as a whole ends in `/` and is not looked into.
    pub ignored: Vec<Vec<u8>>,
    /// What the index says beyond the walk, where it was read beside it ([`Repo::facts`] reads it else).
    pub index: Option<IndexFacts>,
}

/// One path that is not as in HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the top, raw bytes. An untracked folder that is a repository of its own ends in `/`.
    pub path: Vec<u8>,
    pub kind: EntryKind,
}

/// What is the matter with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Untracked,
    /// In conflict; the two letters of git, for example `UU`.
    Unmerged {
        code: [u8; 2],
    },
    Changed(Change),
}

/// A tracked path that differs in the index, the work tree, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Index against HEAD: one of `.MADRCT`.
    pub staged: u8,
    /// Work tree against index.
    pub unstaged: u8,
    /// git's submodule field, for example `SCMU`, where it is one.
    pub submodule: Option<[u8; 3]>,
    /// Modes in HEAD, index and work tree, as git writes them (octal).
    pub modes: [String; 3],
    /// The index's object id.
    pub index_id: String,
}

const ARGS: [&str; 13] = [
    // what this machine hides in the top repository and in its submodules is shown all the same
    "-c",
    "status.showUntrackedFiles=all",
    "-c",
    "diff.ignoreSubmodules=none",
    "status",
    "--porcelain=v2",
    "--branch",
    "--show-stash",
    "-z",
    "--untracked-files=all",
    "--ignored=matching",
    "--ignore-submodules=none",
    "--no-renames",
];

/// A walk that is under way.
pub type Walk = std::thread::JoinHandle<Result<Status, GitError>>;

/// Starts a walk before the repository is known, in a folder that is the top of its work tree: git starts its hooks
/// there, and on that path every millisecond is waited for.
pub fn walk_ahead(env: &crate::env::Env) -> Walk {
    start(crate::process::child_env(env, crate::process::Inherit::GitChoices), env.cwd().to_owned())
}

fn start(vars: BTreeMap<OsString, OsString>, top: PathBuf) -> Walk {
    std::thread::spawn(move || parse(&super::call(&vars, &top, &ARGS, None)?.stdout))
}

impl Repo {
    /// Walks the work tree once. Any doubt of git's is an error, never "clean".
    pub fn walk(&self) -> Walk {
        start(self.vars.clone(), self.top.clone())
    }

    /// As [`Repo::walk`], waited for.
    pub fn status(&self) -> Result<Status, GitError> {
        parse(&self.git(&ARGS)?.stdout)
    }

    /// The paths of submodules that differ once the project's own `.gitmodules` is allowed to hide some.
    pub fn submodules_shown(&self) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let args: Vec<&str> = ARGS
            .iter()
            .map(|arg| if *arg == "--untracked-files=all" { "--untracked-files=no" } else { arg })
            .filter(|arg| !arg.starts_with("--ignore"))
            .collect();
        let status = parse(&self.git(&args)?.stdout)?;
        let shown = status.entries.into_iter().filter(Entry::is_submodule).map(|entry| entry.path);
        Ok(shown.collect())
    }
}

impl Entry {
    pub fn is_submodule(&self) -> bool {
        matches!(&self.kind, EntryKind::Changed(change) if change.submodule.is_some())
    }
}

/// Reads porcelain version 2 with NUL ends.
pub fn parse(bytes: &[u8]) -> Result<Status, GitError> {
    let mut status = Status::default();
    let mut records = bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let entry = match record[0] {
            b'#' => {
                header(&mut status, &String::from_utf8_lossy(record));
                continue;
            }
            b'1' => changed(record, 9),
            b'2' => {
                records.next();
                changed(record, 10)
            }
            b'u' => unmerged(record),
            b'?' => record.get(2..).map(|path| Entry { path: path.to_vec(), kind: EntryKind::Untracked }),
            b'!' => {
                status.ignored.extend(record.get(2..).map(<[u8]>::to_vec));
                continue;
            }
            _ => None,
        };
        let form = || GitError::Form(format!("status: {}", String::from_utf8_lossy(record)));
        status.entries.push(entry.ok_or_else(form)?);
    }
    Ok(status)
}

fn header(status: &mut Status, line: &str) {
    let mut words = line.split(' ').skip(1);
    let (name, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match name {
        "branch.oid" if value != "(initial)" => status.head = Some(value.to_owned()),
        "branch.head" if value != "(detached)" => status.branch = Some(value.to_owned()),
        "branch.upstream" => status.upstream = Some(value.to_owned()),
        "branch.ab" => status.upstream_there = true,
        "stash" => status.stashes = value.parse().unwrap_or(0),
        _ => {}
    }
}

fn changed(record: &[u8], fields: usize) -> Option<Entry> {
    let parts: Vec<&[u8]> = record.splitn(fields, |byte| *byte == b' ').collect();
    let [_, xy, sub, head_mode, index_mode, tree_mode, _, index_id, .., path] = parts.as_slice() else {
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let submodule = match sub {
        [b'S', c, m, u] => Some([*c, *m, *u]),
        _ => None,
    };
    Some(Entry {
        path: path.to_vec(),
        kind: EntryKind::Changed(Change {
            staged: *xy.first()?,
            unstaged: *xy.get(1)?,
            submodule,
            modes: [text(head_mode), text(index_mode), text(tree_mode)],
            index_id: text(index_id),
        }),
    })
}

fn unmerged(record: &[u8]) -> Option<Entry> {
    let parts: Vec<&[u8]> = record.splitn(11, |byte| *byte == b' ').collect();
    let (xy, path) = (parts.get(1)?, parts.get(10)?);
    Some(Entry { path: path.to_vec(), kind: EntryKind::Unmerged { code: [*xy.first()?, *xy.get(1)?] } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_newlines_and_raw_bytes_are_kept() {
        let text = b"# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +0 -0\0# stash 2\0\
            1 .M N... 100644 100644 100644 aaa bbb a b\nc\0? caf\xe9.txt\0u UU N... 1 2 3 4 a b c x y\0\
            1 .M SC.U 160000 160000 160000 aaa bbb sub\0";
        let status = parse(text).unwrap();
        assert_eq!(status.head.as_deref(), Some("abc"));
        assert_eq!(status.stashes, 2);
        assert!(status.upstream_there);
        let paths: Vec<&[u8]> = status.entries.iter().map(|entry| entry.path.as_slice()).collect();
        assert_eq!(paths, [&b"a b\nc"[..], b"caf\xe9.txt", b"x y", b"sub"]);
        assert!(status.entries[3].is_submodule());
    }

    #[test]
    fn an_unknown_record_is_an_error_and_not_clean() {
        assert!(parse(b"3 what\0").is_err());
        assert!(parse(b"1 short\0").is_err());
    }
}
