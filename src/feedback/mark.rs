//! How far a growing file was read, and whether it is still that file: the length, and a digest of what stood in front
//! of it. The digest looks at both ends of that part only, since transcripts grow to hundreds of megabytes.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fs;
use crate::model::issue::sha256_hex;

/// Bytes of each end that the digest covers.
const END: u64 = 4096;

/// A place in a file that only grows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub offset: u64,
    /// Of the bytes before it.
    pub digest: String,
}

impl Mark {
    /// The place at `offset`.
    pub fn at(path: &Path, offset: u64) -> io::Result<Self> {
        Ok(Self { offset, digest: digest(path, offset)? })
    }

    /// The end of the file; `None` where there is none.
    pub fn at_end(path: &Path) -> Option<Self> {
        let length = fs::stat(path)?.len();
        Self::at(path, length).ok()
    }

    /// Whether the file still begins as it did: it was not cut, moved aside or written anew.
    pub fn holds(&self, path: &Path) -> bool {
        digest(path, self.offset).is_ok_and(|digest| digest == self.digest)
    }
}

fn digest(path: &Path, offset: u64) -> io::Result<String> {
    let mut file = fs::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(END.min(offset)).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(offset.saturating_sub(END)))?;
    let wanted = END.min(offset);
    let got = file.take(wanted).read_to_end(&mut bytes)?;
    if got as u64 != wanted {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
    }
    Ok(sha256_hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_only_grew_is_read_on_and_any_other_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let long = "x".repeat(20_000);
        fs::write_atomic(&path, long.as_bytes()).unwrap();
        let mark = Mark::at_end(&path).unwrap();
        fs::append(&path, b"more").unwrap();
        assert!(mark.holds(&path));
        for other in [&long[..19_999], &long.replacen('x', "y", 1), "", &format!("{}y", &long[..19_999])] {
            fs::write_atomic(&path, other.as_bytes()).unwrap();
            assert!(!mark.holds(&path), "{} bytes", other.len());
        }
        assert!(Mark::at(&path, 0).unwrap().holds(&path));
    }
}
