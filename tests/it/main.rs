//! The integration tests: one binary, one module a command or subject, real git below them.
#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(clippy::disallowed_types, reason = "tests open files directly")]
#![expect(clippy::disallowed_methods, reason = "tests start the program and look at its files directly")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod board;
mod cannot_commit;
mod check;
mod cmd;
mod common;
mod config;
mod discover;
mod doctor;
mod gate;
mod handoff;
mod hook;
mod install;
mod installer;
mod kills;
mod main_job;
mod moved;
mod note;
mod packets;
mod park;
mod prepush;
mod queue;
mod readme;
mod redaction;
mod resume;
mod run;
mod runners;
mod schema;
mod sessions;
mod smoke;
mod states;
mod status;
mod suites;
mod temp_artifacts;
mod tidy;
mod transcripts;
mod tree_id;
mod trust;
mod turn_end;
mod verify;
mod wiring;
