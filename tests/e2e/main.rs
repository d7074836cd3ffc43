//! Real agents against a stand-in for their model: what endwell's hooks do to them, and what reaches the model. Slow,
//! and in need of an installed client, so never part of a plain `cargo test`; never passes without having looked.
#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(clippy::disallowed_methods, reason = "tests start the program and look at its files directly")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "the sandbox is shared with the integration tests, which use more of it")]
#[path = "../it/common/mod.rs"]
mod common;

mod across;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod hermes;
mod kit;
mod opencode;
mod qwen;
mod table;
