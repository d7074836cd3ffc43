//! Conflict markers, in text files of any kind. Both ends of a conflict must be added; the edit format of several
//! agents looks alike and is none.

use super::{Added, Found};
use crate::git::changes::lines;
use crate::model::Severity;

const OPEN: &[u8] = b"<<<<<<< ";
const CLOSE: &[u8] = b">>>>>>> ";

/// The conflicts of a file, each at its opening line.
pub(super) fn find(text: &[u8], added: &Added<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if memchr::memmem::find(text, OPEN).is_none() || memchr::memmem::find(text, CLOSE).is_none() {
        return found;
    }
    let mut open = None;
    for (number, line) in lines(text).enumerate() {
        if let Some(label) = line.strip_prefix(OPEN) {
            let edit = is_word(label, &[b"SEARCH", b"ORIGINAL"]);
            open = (added.is_raw(number) && !edit).then_some(number);
        } else if let Some(label) = line.strip_prefix(CLOSE) {
            let edit = is_word(label, &[b"REPLACE", b"UPDATED"]);
            if added.is_raw(number)
                && !edit
                && let Some(start) = open.take()
            {
                let hint = "Decide the conflict: keep what is right and delete the three marker lines.";
                let message = "A merge conflict is left in the file";
                let issue = Found::new("conflict-marker", Severity::Block, start, message, hint);
                found.push(Found { last: number, ..issue });
            }
        }
    }
    found
}

fn is_word(label: &[u8], words: &[&[u8]]) -> bool {
    let first = label.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
    words.contains(&first)
}
