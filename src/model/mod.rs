//! Plain types of the formats that endwell reads and writes. No I/O, no git, no clock: everything here is data and
//! pure functions on it. Formats are contracts: a change needs a new `schema_version` and a test with old data.

pub mod board;
pub mod clean;
pub mod doctor;
pub mod event;
pub mod feedback;
pub mod ids;
pub mod install;
pub mod issue;
pub mod overrides;
pub mod packet;
pub mod park;
pub mod plan;
pub mod queue;
pub mod report;
pub mod session;
pub mod state;
pub mod trust;

pub use ids::{SessionId, slug};
pub use issue::{CheckId, Issue, Owner, Severity};

/// The version that every file owned by endwell carries.
pub const SCHEMA_VERSION: u32 = 1;
