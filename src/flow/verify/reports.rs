//! Reports that the project's own tools wrote during a run: test reports and coverage. One that is older than the run
//! is none of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::evidence::runners::Told;
use crate::evidence::{coverage, junit};
use crate::model::report::Coverage;

/// A report above this size is not read.
const LARGEST: u64 = 32 << 20;
/// So many test reports are read at most.
const MOST: usize = 2000;

/// Milliseconds.
const LAG: i64 = 20;

/// What the test reports of the run tell.
pub(super) fn tests(top: &Path, since: Timestamp) -> Option<Told> {
    let paths: BTreeSet<PathBuf> =
        junit::PLACES.iter().flat_map(|place| xml_files(&top.join(place))).collect();
    let mut texts = Vec::new();
    let mut budget = LARGEST;
    for path in paths {
        let Some(size) = fresh(&path, since) else { continue };
        budget = budget.checked_sub(size)?;
        texts.push(crate::fs::read_text_optional(&path).ok()??);
    }
    (texts.len() <= MOST).then(|| junit::read(&texts)).flatten()
}

/// The coverage that the run reported.
pub(super) fn covered(top: &Path, since: Timestamp) -> Option<Coverage> {
    coverage::PLACES.iter().find_map(|place| {
        let path = top.join(place);
        fresh(&path, since)?;
        coverage::read(place, &crate::fs::read_text_optional(&path).ok()??)
    })
}

fn xml_files(place: &Path) -> Vec<PathBuf> {
    if !place.is_dir() {
        return vec![place.to_owned()];
    }
    let mut files = crate::fs::list(place).unwrap_or_default();
    files.retain(|path| path.extension().is_some_and(|end| end == "xml"));
    files
}

/// The size of a regular file that was written since.
fn fresh(path: &Path, since: Timestamp) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = crate::fs::stat(path).filter(std::fs::Metadata::is_file)?;
    // a kernel stamps files by a clock that may lag by some milliseconds; some file systems keep whole seconds only
    let written = meta.mtime() * 1000 + meta.mtime_nsec() / 1_000_000 + LAG;
    let is_new =
        written >= since.as_millisecond() || (meta.mtime_nsec() == 0 && meta.mtime() >= since.as_second());
    (is_new && meta.len() <= LARGEST).then_some(meta.len())
}
