//! `endwell wrap-up`: from now on the session is wrapping up, so that its next turn end names what would refuse the
//! packet.

use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::session::{self, kept};
use crate::flow::workbench::git_failed;
use crate::model::SessionId;
use crate::session::Store;

/// Marks the agent's session that runs here; returns its id.
pub fn wrap_up(bench: &Workbench) -> Result<SessionId> {
    let head = bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?;
    let current = session::current(bench, head.as_deref(), None)?;
    let store = Store::of(&bench.repo);
    let _held = store.lock().map_err(kept)?;
    let Some(mut journal) = store.session(&current.id).filter(|journal| journal.agent != "manual") else {
        return Err(Failure::blocked("no agent's session is open here")
            .hint("Run it inside the agent's session, or write the packet yourself: `endwell handoff`."));
    };
    journal.wrapping_up = true;
    store.save(&journal).map_err(kept)?;
    Ok(current.id)
}
