//! The journal in the work tree's own folder, and our hold on `index.lock`. The lock's content is our own word, put
//! there in one step, so that a lock of ours is known after a kill and another's is never removed.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use super::{Bench, ParkError, index, io};
use crate::clock::Stopwatch;
use crate::fs;
use crate::model::SCHEMA_VERSION;
use crate::model::park::{ParkJournal, Work};

/// How long a git that outlived its endwell gets to end. It holds these locks for milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

impl Bench<'_> {
    pub(super) fn journal_path(&self) -> PathBuf {
        self.repo.own_dir().join("park.json")
    }

    pub(super) fn write_journal(&self, journal: &ParkJournal) -> Result<(), ParkError> {
        let bytes = io("write the journal", serde_json::to_vec(journal).map_err(Into::into))?;
        io("write the journal", fs::write_atomic(&self.journal_path(), &bytes))
    }

    pub(super) fn read_journal(&self) -> Result<Option<ParkJournal>, ParkError> {
        let path = self.journal_path();
        let Some(bytes) = io("read the journal", fs::read_optional(&path))? else { return Ok(None) };
        let journal: Option<ParkJournal> = serde_json::from_slice(&bytes).ok();
        match journal {
            Some(journal) if journal.schema_version <= SCHEMA_VERSION => Ok(Some(journal)),
            _ => Err(ParkError::Form(format!("`{}`", path.display()))),
        }
    }

    /// Held while work is parked, brought back or recovered.
    pub(super) fn lock(&self) -> Result<fs::Lock, ParkError> {
        io("take the lock for parked work", fs::lock(&self.repo.own_dir().join("park.lock")))
    }

    fn index_lock(&self) -> PathBuf {
        self.repo.git_dir.join("index.lock")
    }

    /// Takes git's lock of the index, or finds that it is ours already.
    pub(super) fn hold_index(&self, nonce: &str) -> Result<(), ParkError> {
        if self.holds_index(nonce) {
            return Ok(());
        }
        let token = self.scratch("token");
        io("write the lock of the index", fs::write_atomic(&token, word(nonce).as_bytes()))?;
        let linked = match fs::hard_link(&token, &self.index_lock()) {
            // a file system without second names: two steps, which a kill may part
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
                fs::create_new(&self.index_lock(), word(nonce).as_bytes(), 0o644)
            }
            other => other,
        };
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ParkError::refused(
                format!("another git process holds `{}`", self.index_lock().display()),
                "Wait for it to end; if none is running, remove that file. Then try again.",
            )),
            other => io("take the lock of the index", other),
        }
    }

    fn holds_index(&self, nonce: &str) -> bool {
        fs::read_optional(&self.index_lock())
            .ok()
            .flatten()
            .is_some_and(|bytes| bytes == word(nonce).as_bytes())
    }

    /// Gives the lock of the index back, if it is ours.
    pub(super) fn release_index(&self, nonce: &str) -> Result<(), ParkError> {
        if self.holds_index(nonce) {
            io("release the index", fs::remove(&self.index_lock()))?;
        }
        Ok(())
    }

    /// Removes locks that a git of ours left when it was killed: on the ref of the journal, on what holds all refs, and on
    /// the index where git itself was applying. A lock that is older than the journal, or that moves, is another's.
    pub(super) fn free_locks(&self, journal: &ParkJournal) -> Result<(), ParkError> {
        let common = &self.repo.common_dir;
        let mut locks = vec![
            common.join(format!("{}.lock", journal.record.reference)),
            common.join("packed-refs.lock"),
            common.join("reftable/tables.list.lock"),
        ];
        if journal.work == Work::Apply {
            locks.push(self.index_lock());
        }
        let begun = index::modified(&self.journal_path())?;
        for lock in locks.iter().filter(|lock| fs::exists(lock)) {
            let seen = index::modified(lock).ok();
            let still_there = || seen.is_some() && index::modified(lock).ok() == seen;
            let clock = Stopwatch::start();
            while clock.elapsed() < PATIENCE && still_there() {
                std::thread::sleep(Duration::from_millis(20));
            }
            if seen.is_some_and(|seen| seen >= begun) && still_there() {
                io("remove a lock that a killed git left", fs::remove(lock))?;
            }
        }
        Ok(())
    }

    /// Ends what was begun: lock, journal and temporary files go.
    pub(super) fn close(&self, journal: &ParkJournal) -> Result<(), ParkError> {
        let done = ParkJournal { done: true, steps: Vec::new(), folders: Vec::new(), ..journal.clone() };
        self.write_journal(&done)?;
        self.release_index(&journal.nonce)?;
        io("remove the journal", fs::remove(&self.journal_path()))?;
        self.sweep()
    }

    /// Removes temporary files of an earlier run.
    pub(super) fn sweep(&self) -> Result<(), ParkError> {
        io("remove temporary files", fs::remove_own_tree(&self.scratch("")))
    }
}

fn word(nonce: &str) -> String {
    format!("endwell park {nonce}\n")
}
