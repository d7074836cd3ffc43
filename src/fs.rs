//! The one door to files. Errors name the path; writes are atomic (temp file in the same folder, fsync, rename) and
//! never follow a symbolic link out of the repository; locks are released by the kernel when a process dies.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Stopwatch;

/// How long a lock is waited for before the command gives up.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// The most bytes that an input (settings, state, board, report) may have.
const MAX_INPUT: u64 = 128 * 1024 * 1024;

/// The whole file. Only regular files are opened: a pipe would hang, a device never end.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    regular(path)?;
    fs_err::read(path)
}

/// The whole file, or `None` where there is none. For inputs: a file too large to be one is an error.
pub fn read_optional(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let read = || {
        if regular(path)?.len() > MAX_INPUT {
            let message = format!("`{}` is larger than {} MiB", path.display(), MAX_INPUT >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        fs_err::read(path)
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The facts of a regular file, links followed; an error for anything else.
fn regular(path: &Path) -> io::Result<std::fs::Metadata> {
    let meta = fs_err::metadata(path)?;
    if meta.is_file() {
        return Ok(meta);
    }
    let message = format!("`{}` is no regular file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// The whole file as UTF-8, or `None` where there is none.
pub fn read_text_optional(path: &Path) -> io::Result<Option<String>> {
    let Some(bytes) = read_optional(path)? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("`{}` is not UTF-8", path.display())))
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// At most the last `limit` bytes of a file, or `None` where there is none.
pub fn tail(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = match regular(path).and_then(|_| fs_err::File::open(path)) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a regular file for reading in pieces.
pub fn open(path: &Path) -> io::Result<fs_err::File> {
    regular(path)?;
    fs_err::File::open(path)
}

/// Bytes that nobody can guess, from the kernel.
pub fn random() -> io::Result<[u8; 16]> {
    use std::io::Read as _;
    let mut bytes = [0; 16];
    fs_err::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Whether something lies there, a dangling link included.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The kind and size of what lies there, without following a link; `None` where there is nothing.
pub fn stat(path: &Path) -> Option<std::fs::Metadata> {
    path.symlink_metadata().ok()
}

/// A regular file with an executable bit (links followed).
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether a write was refused because of where it goes: by the mode bits, a read-only mount, or a sandbox.
pub fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether a file can be opened for writing; it is made where it is not there. Only by trying: a sandbox may forbid
/// what the mode bits allow.
pub fn can_be_written(path: &Path) -> bool {
    let open = || fs_err::OpenOptions::new().create(true).append(true).open(path);
    fs_err::create_dir_all(parent(path)).and_then(|()| open()).is_ok()
}

/// Writes the whole file or nothing: the former content stays until the new one is complete. Makes parent folders.
/// Keeps the mode of a file that was there.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mode = path.metadata().ok().map(|meta| meta.permissions());
    write_with(path, bytes, mode)
}

/// As [`write_atomic`], with the given Unix mode.
pub fn write_atomic_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    write_with(path, bytes, Some(std::fs::Permissions::from_mode(mode)))
}

fn write_with(path: &Path, bytes: &[u8], mode: Option<std::fs::Permissions>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = parent(path);
    fs_err::create_dir_all(dir)?;
    let mut temp = tempfile::Builder::new()
        .prefix(".endwell-")
        .suffix(".tmp")
        .permissions(mode.unwrap_or_else(|| std::fs::Permissions::from_mode(0o644)))
        .tempfile_in(dir)
        .map_err(|error| named(&error, "write in", dir))?;
    temp.write_all(bytes)
        .and_then(|()| temp.as_file().sync_all())
        .map_err(|error| named(&error, "write", path))?;
    temp.persist(path).map_err(|error| named(&error.error, "replace", path))?;
    Ok(())
}

/// Writes a file of a temporary folder of our own: neither atomic nor synced.
pub fn write_plain(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs_err::write(path, bytes)
}

/// Copies a file into a temporary folder of our own, with its time of change; `false` where there is none.
pub fn copy_with_time(from: &Path, to: &Path) -> io::Result<bool> {
    let Some(meta) = stat(from) else { return Ok(false) };
    let Some(bytes) = read_optional(from)? else { return Ok(false) };
    write_plain(to, &bytes)?;
    let copy = fs_err::OpenOptions::new().write(true).open(to)?;
    copy.file().set_modified(meta.modified()?)?;
    Ok(true)
}

/// As [`write_atomic`], but refuses a place that lies outside of `root` once links are followed.
pub fn write_inside(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    stays_inside(root, path)?;
    write_atomic(path, bytes)
}

/// An error unless `path`'s deepest existing folder lies in `root` once links are followed.
pub fn stays_inside(root: &Path, path: &Path) -> io::Result<()> {
    let root = fs_err::canonicalize(root)?;
    let mut folder = parent(path);
    let real = loop {
        match folder.canonicalize() {
            Ok(real) => break real,
            Err(_) if exists(folder) => break PathBuf::new(),
            Err(_) => match folder.parent() {
                Some(up) => folder = up,
                None => break PathBuf::new(),
            },
        }
    };
    let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
    if real.starts_with(&root) && !climbs {
        return Ok(());
    }
    let message = format!("`{}` leads out of `{}` through a link", path.display(), root.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Appends bytes in one write and syncs nothing: a torn last line is tolerated by every reader.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs_err::create_dir_all(parent(path))?;
    if exists(path) {
        regular(path)?;
    }
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(bytes)
}

/// Removes a file; nothing there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Removes a folder if it is empty; anything else is left as it is.
pub fn remove_empty_dir(path: &Path) {
    std::fs::remove_dir(path).ok();
}

/// Moves a file.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::rename(from, to)
}

pub fn create_dir_all(path: &Path) -> io::Result<()> {
    fs_err::create_dir_all(path)
}

/// The names in a folder, sorted; none where there is no folder.
pub fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Makes one folder.
pub fn create_dir(path: &Path) -> io::Result<()> {
    fs_err::create_dir(path)
}

/// Makes a file that must not be there yet, with exactly this content and mode. Neither atomic nor synced.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    set_mode(path, mode)
}

/// Sets the permission bits, whatever the process's mask says.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Sets the time of the last change (seconds and nanoseconds); a link itself, not what it leads to.
pub fn set_modified(path: &Path, (seconds, nanoseconds): (i64, i64)) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT};
    let omitted = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let modified = Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps { last_access: omitted, last_modification: modified };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| named(&error.into(), "set the time of", path))
}

/// The target of a link, as bytes.
pub fn read_link(path: &Path) -> io::Result<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(fs_err::read_link(path)?.into_os_string().into_vec())
}

/// Makes a link to a target that needs not exist.
pub fn symlink(target: &[u8], path: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    fs_err::os::unix::fs::symlink(Path::new(std::ffi::OsStr::from_bytes(target)), path)
}

/// Gives a file a second name, which must not be there yet.
pub fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::hard_link(from, to)
}

/// Removes a folder of our own with all that is in it; nothing there is fine.
pub fn remove_own_tree(path: &Path) -> io::Result<()> {
    match fs_err::remove_dir_all(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// An exclusive lock, held until dropped (or until the process dies).
#[derive(Debug)]
pub struct Lock {
    _file: fs_err::File,
}

/// Takes the lock of a file in a state folder, waiting for at most [`LOCK_PATIENCE`].
pub fn lock(path: &Path) -> io::Result<Lock> {
    fs_err::create_dir_all(parent(path))?;
    let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
    let clock = Stopwatch::start();
    loop {
        match file.file().try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) if clock.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let message = format!("another endwell holds `{}`", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(named(&error, "lock", path)),
        }
    }
}

/// Takes a lock at once, or tells that somebody holds it.
pub fn try_lock(path: &Path) -> io::Result<Option<Lock>> {
    fs_err::create_dir_all(parent(path))?;
    let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
    match file.file().try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(named(&error, "lock", path)),
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

fn named(error: &io::Error, what: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("can't {what} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_never_follow_a_link_out_of_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        let outside = dir.path().join("outside");
        create_dir_all(&root.join("in")).unwrap();
        create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
        std::os::unix::fs::symlink("in", root.join("within")).unwrap();
        assert!(write_inside(&root, &root.join("out/x"), b"x").is_err());
        assert!(write_inside(&root, &root.join("out/new/x"), b"x").is_err());
        assert!(write_inside(&root, &root.join("../outside/x"), b"x").is_err());
        assert!(list(&outside).unwrap().is_empty());
        write_inside(&root, &root.join("within/deep/x"), b"x").unwrap();
        assert_eq!(read(&root.join("in/deep/x")).unwrap(), b"x");
    }

    #[test]
    fn only_regular_files_of_a_sane_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (endless, huge) = (dir.path().join("endless"), dir.path().join("huge"));
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        fs_err::File::create(&huge).unwrap().set_len(MAX_INPUT + 1).unwrap();
        for path in [endless.as_path(), dir.path()] {
            assert!(
                read(path).is_err() && read_optional(path).is_err() && open(path).is_err(),
                "{}",
                path.display()
            );
        }
        assert!(read_optional(&huge).is_err());
        assert!(read_optional(&dir.path().join("nothing")).unwrap().is_none());
    }

    #[test]
    fn a_failed_write_leaves_the_former_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_atomic(&path, b"old").unwrap();
        create_dir_all(&dir.path().join("folder/full")).unwrap();
        assert!(write_atomic(&dir.path().join("folder"), b"new").is_err());
        assert_eq!(read(&path).unwrap(), b"old");
        assert_eq!(list(dir.path()).unwrap().len(), 2, "no temporary file stays");
    }
}
