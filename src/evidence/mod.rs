//! Tests as evidence: which command runs them, what in the environment could change their result, what a runner's
//! output says, and the store of recorded runs. Nothing here starts a process or judges a work tree: flows do.

pub mod coverage;
pub mod detect;
pub mod environment;
pub mod junit;
pub mod runners;
pub mod store;

pub use store::{Key, Store};
