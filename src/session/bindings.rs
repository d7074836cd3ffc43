//! Which work tree a client's session belongs to: written at its first event, in this person's state folder, so that
//! a later change of folder (into a submodule, another repository) doesn't move the session.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::fs;
use crate::model::SessionId;

fn path(env: &Env, agent: &str, id: &SessionId) -> Option<PathBuf> {
    Some(env.state_dir()?.join("sessions").join(format!("{agent}-{id}")))
}

/// The top of the work tree that the session was bound to.
pub fn bound(env: &Env, agent: &str, id: &SessionId) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let bytes = fs::read_optional(&path(env, agent, id)?).ok()??;
    Some(std::ffi::OsString::from_vec(bytes).into()).filter(|top: &PathBuf| top.is_absolute())
}

/// Binds a session. Without a state folder the events' own folder decides each time.
pub fn bind(env: &Env, agent: &str, id: &SessionId, top: &Path) {
    use std::os::unix::ffi::OsStrExt as _;
    if let Some(path) = path(env, agent, id) {
        fs::write_atomic(&path, top.as_os_str().as_bytes()).ok();
    }
}
