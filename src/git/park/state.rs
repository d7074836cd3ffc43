//! What lies at a path: kind, permission bits, and the id of its raw bytes. No link is followed on the way, and nothing
//! but regular files is opened (a fifo would hang).

use std::fs::Metadata;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::model::park::Lies;

/// Files up to this size are held in memory when they are saved.
pub(super) const SMALL: u64 = 4 * 1024 * 1024;

/// What was seen, with the bytes where they are few.
pub(super) struct Seen {
    pub(super) lies: Lies,
    pub(super) modified: Option<(i64, i64)>,
    /// Of a link, or of a file of at most [`SMALL`] bytes.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Seen {
    const fn nothing() -> Self {
        Self { lies: Lies::Nothing, modified: None, bytes: None }
    }
}

/// A path below a root.
pub(super) fn at(root: &Path, path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    root.join(std::ffi::OsStr::from_bytes(path))
}

/// What lies there. An error where it can't be told, or where it is neither file, link nor folder.
pub(super) fn look(root: &Path, path: &[u8], sha256: bool) -> io::Result<Lies> {
    Ok(see(root, path, sha256)?.lies)
}

/// As [`look`], with bytes and time.
pub(super) fn see(root: &Path, path: &[u8], sha256: bool) -> io::Result<Seen> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    if !parents(path).all(|parent| is_folder(&at(root, parent))) {
        return Ok(Seen::nothing());
    }
    let place = at(root, path);
    let Some(meta) = meta(&place)? else { return Ok(Seen::nothing()) };
    let modified = Some((meta.mtime(), meta.mtime_nsec()));
    if meta.is_dir() {
        return Ok(Seen::nothing());
    }
    if meta.is_symlink() {
        let target = crate::fs::read_link(&place)?;
        let id = blob_id(target.len() as u64, &mut target.as_slice(), sha256)?;
        return Ok(Seen { lies: Lies::Link { id }, modified, bytes: Some(target) });
    }
    if !meta.is_file() {
        let message = format!("`{}` is neither a file, a link nor a folder", place.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let mode = meta.permissions().mode() & 0o7777;
    if meta.len() <= SMALL {
        let bytes = crate::fs::read(&place)?;
        let id = blob_id(bytes.len() as u64, &mut bytes.as_slice(), sha256)?;
        return Ok(Seen { lies: Lies::File { mode, id }, modified, bytes: Some(bytes) });
    }
    let id = blob_id(meta.len(), &mut crate::fs::open(&place)?, sha256)?;
    Ok(Seen { lies: Lies::File { mode, id }, modified, bytes: None })
}

/// The folders that a path lies in, from the top, the top itself left out.
pub(super) fn parents(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let cuts: Vec<usize> =
        path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).collect();
    cuts.into_iter().map(|cut| &path[..cut])
}

/// A real folder, not a link to one.
pub(super) fn is_folder(place: &Path) -> bool {
    place.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// The metadata of what lies there; absence is not an error, anything else is.
pub(super) fn meta(place: &Path) -> io::Result<Option<Metadata>> {
    match place.symlink_metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => {
            Err(io::Error::new(error.kind(), format!("can't look at `{}`: {error}", place.display())))
        }
    }
}

/// The id of raw bytes as a blob, no filter applied.
fn blob_id(length: u64, bytes: &mut dyn io::Read, sha256: bool) -> io::Result<String> {
    let kind = if sha256 { gix::hash::Kind::Sha256 } else { gix::hash::Kind::Sha1 };
    let mut hasher = gix::hash::hasher(kind);
    hasher.update(format!("blob {length}\0").as_bytes());
    let mut buffer = vec![0; 128 * 1024];
    let mut bytes = bytes.take(length);
    loop {
        match bytes.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    hasher.try_finalize().map(|id| id.to_string()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        crate::fs::create_dir_all(&root.join("real/sub")).unwrap();
        crate::fs::create_new(&root.join("real/sub/x"), b"", 0o640).unwrap();
        crate::fs::symlink(b"real", &root.join("link")).unwrap();
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391".to_owned();
        let file = Lies::File { mode: 0o640, id: empty };
        assert_eq!(look(root, b"real/sub/x", false).unwrap(), file);
        assert_eq!(look(root, b"link/sub/x", false).unwrap(), Lies::Nothing, "behind a link lies nothing");
        assert_eq!(look(root, b"real/sub", false).unwrap(), Lies::Nothing, "a folder is no file");
        assert!(matches!(look(root, b"link", false).unwrap(), Lies::Link { .. }));
        assert_eq!(parents(b"a/b/c").collect::<Vec<_>>(), [&b"a"[..], b"a/b"]);
    }
}
