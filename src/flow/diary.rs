//! endwell's own log in this person's state folder: what a hook met and must not say to the client. Bounded.

use std::fmt::Display;

use crate::env::Env;
use crate::fs;

/// Bytes at which the log is put aside, once.
const LIMIT: u64 = 256 * 1024;

/// Writes a line. A log that can't be written is no reason to disturb a session.
pub fn note(env: &Env, text: impl Display) {
    let Some(dir) = env.state_dir() else { return };
    let path = dir.join("endwell.log");
    if fs::stat(&path).is_some_and(|meta| meta.len() > LIMIT) {
        fs::rename(&path, &dir.join("endwell.log.1")).ok();
    }
    let line = format!("{} {}\n", crate::clock::now_text(), crate::ui::plain(&text.to_string()));
    fs::append(&path, line.as_bytes()).ok();
}
