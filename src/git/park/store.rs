//! Writes the objects of parked work: blobs in packs, then trees and commits. git itself writes them, so that they are
//! on the disk, readable by whoever shares the repository, and named by its hash.

use std::io;

use super::{Bench, GitError, ParkError};

/// Bytes that go to git in one piece.
const BATCH: usize = 64 * 1024 * 1024;

/// Collects blobs and writes them in packs.
pub(super) struct Blobs<'a> {
    bench: &'a Bench<'a>,
    stream: Vec<u8>,
    /// Paths (from the top) of files that are too large to be held.
    large: Vec<Vec<u8>>,
    /// Their ids.
    expected: Vec<String>,
}

impl<'a> Blobs<'a> {
    pub(super) const fn new(bench: &'a Bench<'a>) -> Self {
        Self { bench, stream: Vec::new(), large: Vec::new(), expected: Vec::new() }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), GitError> {
        self.stream.extend(format!("blob\ndata {}\n", bytes.len()).into_bytes());
        self.stream.extend_from_slice(bytes);
        self.stream.push(b'\n');
        if self.stream.len() > BATCH { self.flush() } else { Ok(()) }
    }

    pub(super) fn add_large(&mut self, path: &[u8], id: &str) {
        self.large.push(path.to_vec());
        self.expected.push(id.to_owned());
    }

    fn flush(&mut self) -> Result<(), GitError> {
        let stream = std::mem::take(&mut self.stream);
        if stream.is_empty() {
            return Ok(());
        }
        let args =
            ["-c", "pack.compression=1", "-c", "core.compression=1", "fast-import", "--quiet", "--depth=0"];
        self.bench.git(&self.bench.index_path(), &args, stream).map(|_| ())
    }

    /// Writes what is left. An error where a large file has changed since it was looked at.
    pub(super) fn finish(mut self) -> Result<(), ParkError> {
        self.flush()?;
        if self.large.is_empty() {
            return Ok(());
        }
        let mut input = Vec::new();
        for path in &self.large {
            input.extend(crate::git::index::quoted(path));
            input.push(b'\n');
        }
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let output = self.bench.git(&self.bench.index_path(), &args, input)?;
        let ids: Vec<String> = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
        if ids == self.expected { Ok(()) } else { Err(changed_meanwhile()) }
    }
}

/// Something else writes here.
pub(super) fn changed_meanwhile() -> ParkError {
    ParkError::refused(
        "something else changed the work tree meanwhile",
        "Let it end (an editor, a build, another agent), then try again.",
    )
}

/// Writes a flat tree of blobs.
pub(super) fn tree(bench: &Bench<'_>, mut files: Vec<(String, String)>) -> Result<String, ParkError> {
    files.sort();
    files.dedup();
    let mut bytes = Vec::new();
    for (name, id) in &files {
        bytes.extend(format!("100644 {name}\0").into_bytes());
        let id = gix::ObjectId::from_hex(id.as_bytes()).map_err(|error| ParkError::Io {
            what: format!("read the object id `{id}`"),
            source: io::Error::other(error),
        })?;
        bytes.extend_from_slice(id.as_slice());
    }
    object(bench, "tree", bytes)
}

/// What a commit says.
pub(super) struct Words<'a> {
    pub(super) message: &'a str,
    /// Seconds since the epoch.
    pub(super) at: i64,
}

/// Writes a commit. It is endwell's, so that it works without a configured name and goes nowhere under a person's.
pub(super) fn commit(
    bench: &Bench<'_>,
    tree: &str,
    parents: &[&str],
    words: &Words<'_>,
) -> Result<String, ParkError> {
    let parents: String = parents.iter().flat_map(|parent| ["parent ", parent, "\n"]).collect();
    let who = format!("endwell <endwell@localhost> {} +0000", words.at);
    let text = format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{}\n", words.message);
    object(bench, "commit", text.into_bytes())
}

/// Writes a blob.
pub(super) fn blob(bench: &Bench<'_>, bytes: Vec<u8>) -> Result<String, ParkError> {
    object(bench, "blob", bytes)
}

fn object(bench: &Bench<'_>, kind: &str, bytes: Vec<u8>) -> Result<String, ParkError> {
    let output = bench.git(&bench.index_path(), &["hash-object", "-w", "-t", kind, "--stdin"], bytes)?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}
