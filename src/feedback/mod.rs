//! The feedback log: appending what ran, and reading it back. Nothing is written here that did not go through the
//! redactor, and nothing here runs a command.

mod lines;
pub mod log;
pub mod mark;
pub mod record;
pub mod scan;
pub mod transcript;

pub use log::{LogPlace, append};
pub use mark::Mark;
pub use record::keep_safe;
pub use scan::{Numbered, Reading, Wanted, scan};
