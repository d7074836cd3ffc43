//! Parked work onto another HEAD: git applies it as a stash entry, whose shape the parked commit has. The ref goes only
//! when all of it came.

use super::steps::shown;
use super::{Bench, Came, ParkError, Parked};
use crate::git::EntryKind;
use crate::model::SCHEMA_VERSION;
use crate::model::park::{ParkJournal, Work};

pub(super) fn apply(bench: &Bench<'_>, parked: &Parked) -> Result<Came, ParkError> {
    let journal = ParkJournal {
        schema_version: SCHEMA_VERSION,
        work: Work::Apply,
        nonce: String::new(),
        commit: parked.commit.clone(),
        record: parked.record.clone(),
        index_before: None,
        done: false,
        steps: Vec::new(),
        folders: Vec::new(),
    };
    bench.write_journal(&journal)?;
    let index = bench.index_path();
    let mut staged = true;
    let mut output = bench.git_any(&index, &["stash", "apply", "--index", &parked.commit], Vec::new())?;
    // git tries the index before it touches a file: another try without it starts from the same clean tree
    if !output.success() && String::from_utf8_lossy(&output.stderr).contains("without --index") {
        staged = false;
        output = bench.git_any(&index, &["stash", "apply", &parked.commit], Vec::new())?;
    }
    if output.success() {
        bench.delete_ref(&parked.record.reference, &parked.commit)?;
        bench.forget_record(&parked.record)?;
        bench.close(&journal)?;
        return Ok(Came::Merged { staged });
    }
    bench.close(&journal)?;
    let status = bench.repo.status()?;
    let unmerged = status.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::Unmerged { .. }));
    let conflicts = unmerged.map(|entry| shown(&entry.path)).collect();
    Ok(Came::WithConflicts { said: output.first_error_line(), conflicts })
}
