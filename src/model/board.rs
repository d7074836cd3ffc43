//! The feature board as it was read, whatever its shape: entries, words, rules, and what was odd about the file.
