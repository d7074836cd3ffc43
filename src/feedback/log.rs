//! Appending to the log: one record is one line in one write, under a lock, and a log that grew too long is moved
//! aside. Never rewrites a line, and never follows a link out of the repository.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::record::keep_safe;
use crate::fs;
use crate::model::feedback::FeedbackRecord;
use crate::redact::Redactor;

/// A log longer than this is moved to `.1` before the next record.
const ROTATE_AT: u64 = 1024 * 1024;

/// How many moved logs are kept.
pub const KEPT: u32 = 5;

/// Where a log lies and what guards it.
#[derive(Clone, Debug)]
pub struct LogPlace {
    /// The work tree that the log must not leave.
    pub root: PathBuf,
    pub log: PathBuf,
    /// A file in a git dir.
    pub lock: PathBuf,
}

/// Why a record could not be appended.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("can't append to the feedback log")]
    Io(#[from] io::Error),
    #[error("`{0}` holds no records, so it is another tool's file")]
    Foreign(String),
    #[error("can't put the record into words")]
    Form(#[from] serde_json::Error),
}

/// Appends a record, redacted.
pub fn append(place: &LogPlace, redactor: &Redactor, record: FeedbackRecord) -> Result<(), LogError> {
    let mut line = serde_json::to_vec(&keep_safe(redactor, record))?;
    line.push(b'\n');
    fs::stays_inside(&place.root, &place.log)?;
    refuse_link(&place.log)?;
    refuse_foreign(&place.log)?;
    let _lock = fs::lock(&place.lock)?;
    rotate(&place.log, line.len() as u64)?;
    if !ends_with_newline(&place.log)? {
        // a writer died in the middle of its line: that line stays torn, ours begins a new one
        line.insert(0, b'\n');
    }
    fs::append(&place.log, &line)?;
    Ok(())
}

/// The log's files that are there, oldest first.
pub fn files(log: &Path) -> Vec<PathBuf> {
    let moved = (1..=KEPT).rev().map(|number| numbered(log, number));
    moved.chain([log.to_owned()]).filter(|path| fs::exists(path)).collect()
}

/// A moved log's name.
fn numbered(log: &Path, number: u32) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// A record is a JSON object a line; a file that begins with anything else is nothing to append to.
fn refuse_foreign(log: &Path) -> Result<(), LogError> {
    if !fs::exists(log) {
        return Ok(());
    }
    let mut head = Vec::new();
    fs::open(log)?.take(4096).read_to_end(&mut head)?;
    match head.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None | Some(b'{') => Ok(()),
        Some(_) => Err(LogError::Foreign(log.display().to_string())),
    }
}

fn refuse_link(log: &Path) -> io::Result<()> {
    match fs::stat(log) {
        Some(meta) if !meta.is_file() => {
            let message = format!("`{}` is no regular file", log.display());
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        _ => Ok(()),
    }
}

fn rotate(log: &Path, more: u64) -> io::Result<()> {
    let length = fs::stat(log).map_or(0, |meta| meta.len());
    if length == 0 || length + more <= ROTATE_AT {
        return Ok(());
    }
    for number in (1..KEPT).rev() {
        let from = numbered(log, number);
        if fs::exists(&from) {
            fs::rename(&from, &numbered(log, number + 1))?;
        }
    }
    fs::rename(log, &numbered(log, 1))
}

fn ends_with_newline(log: &Path) -> io::Result<bool> {
    if fs::stat(log).is_none_or(|meta| meta.len() == 0) {
        return Ok(true);
    }
    let mut file = fs::open(log)?;
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::{Wanted, scan};

    fn place(dir: &Path) -> LogPlace {
        LogPlace { root: dir.to_owned(), log: dir.join("log.jsonl"), lock: dir.join("lock") }
    }

    fn record(text: &str) -> FeedbackRecord {
        FeedbackRecord { command: vec![text.to_owned()], exit_code: Some(0), ..FeedbackRecord::default() }
    }

    #[test]
    fn a_torn_last_line_does_not_swallow_the_next_record() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        fs::append(&place.log, b"{\"command\":\"to").unwrap();
        append(&place, &Redactor::default(), record("ls")).unwrap();
        let reading = scan(&files(&place.log), &Wanted { last: 9, session: None }).unwrap();
        assert_eq!((reading.records.len(), reading.unreadable), (1, 1));
        assert_eq!(reading.records[0].record.command, ["ls"]);
    }

    #[test]
    fn a_long_log_is_moved_aside_and_read_on() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        let filler = vec![b'\n'; usize::try_from(ROTATE_AT).unwrap()];
        for text in ["a", "b", "c"] {
            append(&place, &Redactor::default(), record(text)).unwrap();
            fs::append(&place.log, &filler).unwrap();
        }
        assert_eq!(files(&place.log).len(), 3);
        let reading = scan(&files(&place.log), &Wanted { last: 9, session: None }).unwrap();
        let commands: Vec<String> = reading.records.iter().map(|found| found.record.command_line()).collect();
        assert_eq!(commands, ["a", "b", "c"]);
        for _ in 0..8 {
            append(&place, &Redactor::default(), record("d")).unwrap();
            fs::append(&place.log, &filler).unwrap();
        }
        assert_eq!(files(&place.log).len(), 6, "no more than five are kept beside the log");
    }

    #[test]
    fn many_writers_lose_no_line() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    for n in 0..20 {
                        append(place, &Redactor::default(), record(&format!("{writer} {n}"))).unwrap();
                    }
                });
            }
        });
        let reading = scan(&files(&place.log), &Wanted { last: 999, session: None }).unwrap();
        assert_eq!((reading.records.len(), reading.unreadable), (160, 0));
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        let other = dir.path().join("other");
        fs::append(&other, b"x").unwrap();
        std::os::unix::fs::symlink(&other, &place.log).unwrap();
        assert!(append(&place, &Redactor::default(), record("ls")).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"x");
    }
}
