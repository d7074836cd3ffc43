//! Changing one status in place: only the bytes of that value change, so order, spacing, comments and line ends stay.
//! The result is parsed and compared with what was there before anybody may write it. Never touches files that are
//! not UTF-8, not JSON, or not read as a board.

use super::text::decode;
use super::tree;
use super::words::{normal, status_of, word_for};
use crate::model::board::{Board, Feature, Status};

/// A board's new bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub bytes: Vec<u8>,
    /// Where the first change begins.
    pub offset: usize,
    pub old: String,
    pub new: String,
}

/// A status as somebody asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub status: Status,
    /// The word, where the board itself knows it; absent: the board's word for the meaning.
    word: Option<String>,
}

/// Why a status can't be changed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EditError {
    #[error("the board has no entry `{0}`")]
    NoSuchId(String),
    #[error("the board has several entries `{id}` (lines {lines})")]
    Ambiguous { id: String, lines: String },
    #[error("`{path}` is not written: {why}")]
    ReadOnly { path: String, why: &'static str, line: u32 },
    #[error("`{id}` has no status that can be changed in place")]
    NoStatus { id: String, line: u32 },
    #[error("this board only knows whether a feature passes, so `{id}` can be todo or done")]
    OnlySwitch { id: String },
    #[error("the file changed since it was read, or the edit would have changed more than one status")]
    NotTheSame,
}

/// What a word means on this board; nothing where neither the board nor the field knows it. A native word stands for
/// its meaning, whichever word the board has for it; any other word of the board is written as it is.
pub fn target(board: &Board, word: &str) -> Option<Target> {
    let wanted = normal(word);
    let same = |known: &&String| normal(known) == wanted;
    let used = board.features.iter().filter(|feature| feature.worded).map(|feature| &feature.word).find(same);
    let native = matches!(wanted.as_str(), "todo" | "in_progress" | "done" | "blocked");
    let listed = board.legend.iter().find(same).filter(|_| !native);
    let status = status_of(word);
    let own = used.or(listed).cloned();
    (status != Status::Unknown || own.is_some()).then_some(Target { status, word: own })
}

/// The one entry with this id.
pub fn entry<'b>(board: &'b Board, id: &str) -> Result<&'b Feature, EditError> {
    let found: Vec<&Feature> = board.features.iter().filter(|feature| feature.id == id).take(10).collect();
    match found.as_slice() {
        [] => Err(EditError::NoSuchId(id.to_owned())),
        [one] => Ok(one),
        several => {
            let lines: Vec<String> = several.iter().map(|feature| feature.line.to_string()).collect();
            Err(EditError::Ambiguous { id: id.to_owned(), lines: lines.join(", ") })
        }
    }
}

/// The word that would be written.
pub fn word_of(board: &Board, id: &str, target: &Target) -> String {
    target.word.clone().unwrap_or_else(|| word_for(board, target.status, id))
}

/// The file's bytes with the status of one entry changed. `bytes` are those that the board was read from.
pub fn set_status(bytes: &[u8], board: &Board, id: &str, target: &Target) -> Result<Edited, EditError> {
    let feature = entry(board, id)?;
    if let Some(why) = board.read_only {
        return Err(EditError::ReadOnly { path: board.path.clone(), why, line: feature.line });
    }
    let Some(first) = feature.spots.first() else {
        return Err(EditError::NoStatus { id: id.to_owned(), line: feature.line });
    };
    if first.switch && !matches!(target.status, Status::Done | Status::Todo) {
        return Err(EditError::OnlySwitch { id: id.to_owned() });
    }
    let word = serde_json::Value::String(word_of(board, id, target)).to_string();
    let literal =
        |switch: bool| if switch { (target.status == Status::Done).to_string() } else { word.clone() };
    let mut spots = feature.spots.clone();
    spots.sort_by_key(|spot| spot.range.start);
    let mut changed = bytes.to_vec();
    for spot in spots.iter().rev() {
        if changed.get(spot.range.clone()).is_none() {
            return Err(EditError::NotTheSame);
        }
        changed.splice(spot.range.clone(), literal(spot.switch).into_bytes());
    }
    let places: Vec<usize> = spots.iter().map(|spot| spot.range.start).collect();
    if !differs_only_at(bytes, &changed, &places) {
        return Err(EditError::NotTheSame);
    }
    let old = bytes
        .get(first.range.clone())
        .map(|old| String::from_utf8_lossy(old).into_owned())
        .unwrap_or_default();
    Ok(Edited { bytes: changed, offset: first.range.start, old, new: literal(first.switch) })
}

fn differs_only_at(before: &[u8], after: &[u8], places: &[usize]) -> bool {
    let (before, after) = (decode(before), decode(after));
    let places: Vec<usize> = places.iter().filter_map(|place| place.checked_sub(before.offset)).collect();
    match (tree::parse(&before.text), tree::parse(&after.text)) {
        (Ok((before, _)), Ok((after, _))) => tree::same_but_for(&before, &after, &places),
        _ => false,
    }
}
