//! Sessions: the baseline that is taken at their start, and their journal. Both lie in the work tree's own git dir,
//! so that two work trees never see each other's.

pub mod baseline;
pub mod bindings;
pub mod store;

pub use store::{Store, StoreError};
