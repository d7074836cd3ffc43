//! The feature board as it was read, whatever its shape: entries, words, rules, and what was odd about the file.

/// What was found where a board may stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BoardReading {
    /// No board: the check is clean.
    #[default]
    None,
}
