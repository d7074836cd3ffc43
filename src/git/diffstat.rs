//! How many lines a change added and removed, from the object store.

use gix::diff::blob::{Algorithm, Diff, InternedInput};

use super::objects::{TreeChange, TreeEntry};
use super::{GitError, Objects};

/// Larger blobs are not compared line by line.
const MAX_BLOB: u64 = 8 * 1024 * 1024;

/// Git looks so far for a NUL to tell a binary file.
const BINARY_LOOK: usize = 8_000;

impl Objects {
    /// Lines added and removed by one change; `None` for binary or very large files, links and submodules.
    pub fn line_counts(&self, change: &TreeChange) -> Result<Option<(u64, u64)>, GitError> {
        let (Some(old), Some(new)) = (self.text_of(change.old.as_ref())?, self.text_of(change.new.as_ref())?)
        else {
            return Ok(None);
        };
        if old == new {
            return Ok(Some((0, 0)));
        }
        let input = InternedInput::new(old.as_slice(), new.as_slice());
        let diff = Diff::compute(Algorithm::Histogram, &input);
        Ok(Some((u64::from(diff.count_additions()), u64::from(diff.count_removals()))))
    }

    /// A side's bytes: empty where there is nothing, `None` where lines mean nothing.
    fn text_of(&self, entry: Option<&TreeEntry>) -> Result<Option<Vec<u8>>, GitError> {
        let Some(entry) = entry else { return Ok(Some(Vec::new())) };
        if !entry.kind.is_file() || self.size(&entry.id)? > MAX_BLOB {
            return Ok(None);
        }
        let bytes = self.blob(&entry.id)?;
        let look = &bytes[..bytes.len().min(BINARY_LOOK)];
        Ok(if look.contains(&0) { None } else { Some(bytes) })
    }
}
