//! What lies at a dirty path, as one digest: raw bytes, mode and git's own letters, so that "unchanged since the
//! baseline" means exactly that. Regular files are read only after `lstat` says that they are regular.

use super::{Entry, EntryKind, Repo};
use crate::model::issue::sha256_hex;

/// Files above this size are known by size and time stamp instead of their bytes.
const LARGE: u64 = 64 * 1024 * 1024;

impl Repo {
    /// A digest of an entry's state: what the index holds, and what lies in the work tree.
    pub fn content_digest(&self, entry: &Entry) -> String {
        let index = match &entry.kind {
            EntryKind::Untracked => "untracked".to_owned(),
            EntryKind::Unmerged { code } => format!("unmerged {}", String::from_utf8_lossy(code)),
            EntryKind::Changed(change) => {
                format!("{} {} {}", change.staged as char, change.modes[1], change.index_id)
            }
        };
        let place = self.at(&entry.path);
        let there = match crate::fs::stat(&place) {
            None => "nothing".to_owned(),
            Some(meta) if meta.is_file() => {
                format!("file {:o} {}", mode(&meta) & 0o111, bytes_of(&place, &meta))
            }
            Some(meta) if meta.is_symlink() => {
                let target = place.read_link().map(|target| target.as_os_str().as_encoded_bytes().to_vec());
                format!("link {}", target.map_or_else(|error| error.to_string(), |bytes| sha256_hex(&bytes)))
            }
            Some(meta) if meta.is_dir() => self.folder_digest(entry, &place),
            Some(_) => "special".to_owned(),
        };
        sha256_hex(format!("{index}\n{there}").as_bytes())
    }

    /// A submodule or a repository of its own: its HEAD and its own status.
    fn folder_digest(&self, entry: &Entry, place: &std::path::Path) -> String {
        let letters = match &entry.kind {
            EntryKind::Changed(change) => {
                change.submodule.map(|field| String::from_utf8_lossy(&field).into_owned())
            }
            _ => None,
        };
        let inner = Self { top: place.to_owned(), ..self.clone() };
        let own = match inner.status() {
            Ok(status) => {
                let entries = status.entries.iter().map(|entry| {
                    format!("{} {}", String::from_utf8_lossy(&entry.path), inner.content_digest(entry))
                });
                format!("{:?}\n{}", status.head, entries.collect::<Vec<_>>().join("\n"))
            }
            Err(error) => error.to_string(),
        };
        format!("folder {letters:?} {}", sha256_hex(own.as_bytes()))
    }
}

fn mode(meta: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode()
}

fn bytes_of(place: &std::path::Path, meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    if meta.len() > LARGE {
        return format!("{} bytes, {}.{:09}", meta.len(), meta.mtime(), meta.mtime_nsec());
    }
    // unreadable twice in the same way is unchanged as far as can be told
    crate::fs::read(place).map_or_else(|error| error.kind().to_string(), |bytes| sha256_hex(&bytes))
}
