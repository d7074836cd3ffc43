//! The part that changes the work tree, and that a later command takes up where a killed one stopped: files, index, ref,
//! lock, journal, in this order. Running it again does what is left.

use std::collections::HashSet;
use std::time::Duration;

use super::state::at;
use super::steps::{Run, shown};
use super::{Bench, ParkError, index, io};
use crate::fs;
use crate::model::issue::sha256_hex;
use crate::model::park::{Lies, ParkJournal, Work};
use crate::model::session::path_of_key;

/// What was found half-done, and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// A park that was killed before it took anything away: nothing happened.
    Nothing,
    Parked {
        id: String,
        left: Vec<String>,
    },
    Unparked {
        id: String,
        left: Vec<String>,
    },
    /// git was killed while it applied the work to another HEAD: the work is still parked.
    HalfApplied {
        id: String,
    },
}

/// Goes on with what a killed command began. One look at a file where there is nothing.
pub fn recover(bench: &Bench<'_>) -> Result<Option<Recovered>, ParkError> {
    if !fs::exists(&bench.journal_path()) {
        return Ok(None);
    }
    let _held = bench.lock()?;
    recover_held(bench)
}

/// As [`recover`], with the lock held.
pub(super) fn recover_held(bench: &Bench<'_>) -> Result<Option<Recovered>, ParkError> {
    let Some(journal) = bench.read_journal()? else { return Ok(None) };
    if journal.done {
        bench.close(&journal)?;
        return Ok(None);
    }
    bench.free_locks(&journal)?;
    let there = bench.ref_now(&journal.record.reference)?.as_deref() == Some(&journal.commit);
    let id = journal.record.id.clone();
    match journal.work {
        Work::Park if !there => {
            abandon(bench, &journal)?;
            Ok(Some(Recovered::Nothing))
        }
        Work::Park => {
            restage(bench, &journal)?;
            let left = again(bench, &journal)?;
            Ok(Some(Recovered::Parked { id, left }))
        }
        Work::Unpark => {
            // the ref goes after everything else: without it all is done
            let left =
                if there { again(bench, &journal)? } else { finish(bench, &journal).map(|()| Vec::new())? };
            Ok(Some(Recovered::Unparked { id, left }))
        }
        Work::Apply => {
            bench.close(&journal)?;
            if !there {
                bench.forget_record(&journal.record)?;
                return Ok(None);
            }
            Ok(Some(Recovered::HalfApplied { id }))
        }
    }
}

fn again(bench: &Bench<'_>, journal: &ParkJournal) -> Result<Vec<String>, ParkError> {
    bench.hold_index(&journal.nonce)?;
    Run::new(bench, journal).sweep();
    forward(bench, journal)
}

/// Takes back what was prepared; the work tree was not touched.
pub(super) fn abandon(bench: &Bench<'_>, journal: &ParkJournal) -> Result<(), ParkError> {
    if bench.ref_now(&journal.record.reference)?.is_none() {
        bench.forget_record(&journal.record)?;
    }
    bench.close(journal)
}

/// Does everything from the files on. Returns the paths that were left as they are.
pub(super) fn forward(bench: &Bench<'_>, journal: &ParkJournal) -> Result<Vec<String>, ParkError> {
    let left = Run::new(bench, journal).go();
    let index_kept = put_index(bench, journal)?;
    let mut left: Vec<String> = left.iter().map(|path| shown(path)).collect();
    if !index_kept {
        left.push("the index".to_owned());
    }
    if journal.work == Work::Unpark && left.is_empty() {
        bench.delete_ref(&journal.record.reference, &journal.commit)?;
        finish(bench, journal)?;
    } else {
        bench.close(journal)?;
    }
    Ok(left)
}

fn finish(bench: &Bench<'_>, journal: &ParkJournal) -> Result<(), ParkError> {
    bench.forget_record(&journal.record)?;
    bench.close(journal)
}

/// Puts the prepared index in its place. `false`: somebody else changed the index, so it stays.
fn put_index(bench: &Bench<'_>, journal: &ParkJournal) -> Result<bool, ParkError> {
    let next = bench.scratch("next");
    io("remove a lock of our own", fs::remove(&bench.scratch("next.lock")))?;
    if !fs::exists(&next) {
        return Ok(true);
    }
    let now = io("read the index", fs::read_optional(&bench.index_path()))?.map(|bytes| sha256_hex(&bytes));
    if now != journal.index_before {
        return Ok(false);
    }
    let refreshed = bench.git_any(&next, &["update-index", "--unmerged", "--refresh"], Vec::new())?;
    if journal.work == Work::Park && !refreshed.success() {
        settle(bench, journal)?;
    }
    io("put the index in its place", fs::rename(&next, &bench.index_path()))?;
    Ok(true)
}

/// Files whose committed content is not what git would commit now (mixed line ends, say) count as modified until git
/// has checked them out itself and knows their time stamps.
fn settle(bench: &Bench<'_>, journal: &ParkJournal) -> Result<(), ParkError> {
    let next = bench.scratch("next");
    let placed = journal.steps.iter().filter(|step| step.after != Lies::Nothing).filter_map(|step| {
        let path = path_of_key(&step.path);
        let now = super::state::look(&bench.repo.top, &path, bench.repo.sha256).ok()?;
        (now == step.after).then_some(path)
    });
    let placed: HashSet<Vec<u8>> = placed.collect();
    let differing = bench.git(&next, &["diff-files", "--name-only", "-z"], Vec::new())?;
    let ours = differing.split(|byte| *byte == 0).filter(|path| placed.contains(*path));
    let names = index::names(ours);
    if !names.is_empty() {
        bench.git(&next, &["checkout-index", "-f", "-u", "-z", "--stdin"], names)?;
        // an index of the same second as its files counts for nothing: git would look into them again
        let part = u64::try_from(crate::clock::now().subsec_millisecond()).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(1_010_u64.saturating_sub(part)));
        let now = crate::clock::now();
        let time = (now.as_second(), i64::from(now.subsec_nanosecond()));
        io("date the index", fs::set_modified(&next, time))?;
    }
    Ok(())
}

/// Lets git check out paths of the prepared index beside the work tree, so that its own attributes hold there.
pub(super) fn stage(bench: &Bench<'_>, paths: &[&[u8]]) -> Result<(), ParkError> {
    let stage = bench.scratch("stage");
    io("make a folder", fs::create_dir_all(&stage))?;
    if paths.is_empty() {
        return Ok(());
    }
    let names = index::names(paths.iter().copied());
    let args = ["checkout-index", "-f", "-z", "--stdin"];
    Ok(bench.git_elsewhere((&bench.scratch("next"), &stage), &args, names)?)
}

/// Checks out again what a killed run has not put in its place.
fn restage(bench: &Bench<'_>, journal: &ParkJournal) -> Result<(), ParkError> {
    let stage_dir = bench.scratch("stage");
    let wanted = journal.steps.iter().filter(|step| step.after != Lies::Nothing);
    let missing: Vec<Vec<u8>> = wanted
        .map(|step| path_of_key(&step.path))
        .filter(|path| !fs::exists(&at(&stage_dir, path)))
        .collect();
    if !fs::exists(&bench.scratch("next")) || missing.is_empty() {
        return Ok(());
    }
    let paths: Vec<&[u8]> = missing.iter().map(Vec::as_slice).collect();
    stage(bench, &paths)
}
