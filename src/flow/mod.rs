//! The use cases, one file each: they open the workbench, let the domains do their part, and join the results.

pub mod check;
pub mod evidence;
pub mod session;
pub mod verify;
pub mod workbench;

pub use workbench::Workbench;
