//! The packet: what a session leaves for the next one. It is computed by a pure function from [`Inputs`] and rendered
//! by another; only `store` touches files. Nothing here looks at a clock, a repository or the environment.

mod attempts;
mod build;
mod commands;
mod inputs;
mod markdown;
mod mend;
mod receipt;
mod render;
mod retention;
mod risks;
mod seal;
pub mod store;
mod summary;
mod trim;
mod why;

pub use build::{Missing, build};
pub use inputs::{BoardInput, Inputs, Limits, LogInput, Parked, Receipts, StashInput};
pub use render::{RenderError, markdown, pull_request_body};
