//! The use cases, one file each: they open the workbench, let the domains do their part, and join the results.

pub mod board;
pub mod check;
pub mod evidence;
pub mod handoff;
mod handoff_inputs;
pub mod note;
pub mod session;
pub mod setup;
pub mod state;
pub mod topic;
pub mod verify;
pub mod workbench;

pub use workbench::Workbench;
