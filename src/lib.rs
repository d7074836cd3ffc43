//! endwell: coding-agent sessions that end clean and start informed. This file is the table of contents, by layer;
//! a module names only lower rows (`tests/it/tidy.rs` enforces it).

// the command line
pub mod cli;

// the use cases
pub mod flow;

// the domains; they don't import each other, flows join them
pub mod agent;
pub mod board;
pub mod check;
pub mod evidence;
pub mod feedback;
pub mod githook;
pub mod packet;
pub mod report;
pub mod session;

// the repository and its settings
pub mod config;
pub mod git;

// one door each to the outside
pub mod clock;
pub mod env;
pub mod exit;
pub mod failure;
pub mod fs;
pub mod process;
pub mod redact;
pub mod ui;

// the formats
pub mod model;
