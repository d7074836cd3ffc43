//! The use cases, one file each: they open the workbench, let the domains do their part, and join the results.

pub mod allow;
pub mod board;
pub mod bypass;
pub mod check;
pub mod config;
pub mod diary;
pub mod doctor;
pub mod evidence;
pub mod gate;
pub mod handoff;
mod handoff_inputs;
pub mod hook;
pub mod log;
pub mod note;
pub mod packets;
pub mod park;
pub mod push;
pub mod queue;
pub mod record;
pub mod recover;
mod reports;
pub mod resume;
pub mod run;
mod safe;
pub mod session;
pub mod setup;
pub mod state;
pub mod status;
pub mod topic;
mod transcript;
pub mod trust;
mod turn_end;
pub mod verify;
pub mod workbench;
pub mod wrap_up;

pub use workbench::Workbench;
