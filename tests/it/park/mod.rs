//! `endwell park` and `endwell unpark`: every kind of work goes aside and comes back exactly, what can't is refused
//! untouched, and a kill at any point loses nothing.

mod aside;
mod kinds;
mod random;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::common::{Ran, Sandbox};

const NOTE: &str = "half of the parser, waits for review";

/// Everything that must come back: what lies in the work tree, and what the index says of it.
#[derive(PartialEq, Eq)]
pub struct Picture {
    /// Path to kind, permission bits and content.
    files: BTreeMap<Vec<u8>, (char, u32, Vec<u8>)>,
    status: Vec<u8>,
    /// Names, ids, modes, stages, and whether git looks at them.
    entries: Vec<u8>,
    /// The flags of every entry, intent to add among them.
    flags: Vec<String>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "\n");
        for (path, (kind, mode, bytes)) in &self.files {
            writeln!(f, "{kind} {mode:o} {} {:?}", text(path), text(&bytes[..bytes.len().min(40)]))?;
        }
        write!(f, "{}{}{}", text(&self.status), text(&self.entries), self.flags.join(" "))
    }
}

pub fn raw(sandbox: &Sandbox, dir: &str, args: &[&str]) -> Vec<u8> {
    let output = sandbox.prepare("git", dir).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub fn status(sandbox: &Sandbox) -> Vec<u8> {
    let args = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall", "--no-renames"];
    raw(sandbox, "repo", &args)
}

pub fn picture(sandbox: &Sandbox) -> Picture {
    let mut files = BTreeMap::new();
    collect(&sandbox.repo(), Path::new(""), &mut files);
    let debug = raw(sandbox, "repo", &["ls-files", "--debug"]);
    let debug = String::from_utf8_lossy(&debug).into_owned();
    // assume-unchanged, intent to add, skip-worktree; the other bits are git's own business
    let known = |flags: &str| u32::from_str_radix(flags.trim(), 16).unwrap() & 0x6000_8000;
    let flags = debug
        .lines()
        .filter_map(|line| line.split("flags:").nth(1))
        .map(|flags| format!("{:x}", known(flags)));
    Picture {
        files,
        status: status(sandbox),
        entries: raw(sandbox, "repo", &["ls-files", "-s", "-v", "-z"]),
        flags: flags.collect(),
    }
}

fn collect(root: &Path, below: &Path, files: &mut BTreeMap<Vec<u8>, (char, u32, Vec<u8>)>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap().map(|entry| entry.unwrap()) {
        let path = below.join(entry.file_name());
        if path == Path::new(".git") {
            continue;
        }
        let (full, meta) = (entry.path(), entry.metadata().unwrap());
        let key = path.as_os_str().as_bytes().to_vec();
        if meta.is_dir() {
            collect(root, &path, files);
        } else if meta.is_symlink() {
            files.insert(key, ('l', 0, std::fs::read_link(full).unwrap().into_os_string().into_vec()));
        } else {
            let mode = meta.permissions().mode() & 0o7777;
            files.insert(key, ('f', mode, std::fs::read(full).unwrap()));
        }
    }
}

pub fn at(sandbox: &Sandbox, path: &[u8]) -> PathBuf {
    sandbox.repo().join(OsStr::from_bytes(path))
}

pub fn put(sandbox: &Sandbox, path: &[u8], bytes: &[u8]) {
    let full = at(sandbox, path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    std::fs::write(full, bytes).unwrap();
}

pub fn link(sandbox: &Sandbox, path: &str, target: &str) {
    std::fs::remove_file(at(sandbox, path.as_bytes())).ok();
    symlink(target, at(sandbox, path.as_bytes())).unwrap();
}

pub fn chmod(sandbox: &Sandbox, path: &str, mode: u32) {
    std::fs::set_permissions(at(sandbox, path.as_bytes()), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A repository with some files of every kind in its only commit.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    for (path, text) in [("a.txt", "one\ntwo\nthree\n"), ("docs/d.md", "doc\n"), ("src/m.rs", "fn m() {}\n")]
    {
        sandbox.write(path, text);
    }
    sandbox.write("run.sh", "#!/bin/sh\n");
    chmod(&sandbox, "run.sh", 0o755);
    link(&sandbox, "link", "a.txt");
    sandbox.write(".gitignore", "*.log\n");
    sandbox.commit("files");
    sandbox
}

pub fn done(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// The ids of what is parked here.
pub fn parked(sandbox: &Sandbox) -> Vec<String> {
    let list = done(sandbox.endwell(&["park", "--list", "--json"])).json();
    list.as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

pub fn assert_clean(sandbox: &Sandbox) {
    let status = status(sandbox);
    assert!(status.is_empty(), "{}", String::from_utf8_lossy(&status).replace('\0', "\n"));
}

/// Parks, looks that all is clean, brings back, and looks that all is as it was.
pub fn round_trip(sandbox: &Sandbox) {
    let before = picture(sandbox);
    assert!(!before.status.is_empty(), "nothing to park");
    done(sandbox.endwell(&["park", NOTE]));
    assert_clean(sandbox);
    sandbox.git("repo", &["gc", "-q", "--prune=now"]);
    done(sandbox.endwell(&["unpark"]));
    assert_eq!(picture(sandbox), before);
    assert!(parked(sandbox).is_empty());
    assert_eq!(sandbox.git("repo", &["for-each-ref", "refs/endwell"]), "");
    let own = sandbox.repo().join(".git/endwell");
    assert!(!own.join("park").exists() && !own.join("park.json").exists() && !own.join("parked").exists());
    assert!(!sandbox.repo().join(".git/index.lock").exists());
}
