//! `endwell wrap-up`: from now on the session is wrapping up, so that its next turn end names what would refuse the
//! packet.

use crate::failure::{Failure, Result};
use crate::flow::session::{self, kept};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, queue};
use crate::model::SessionId;
use crate::model::queue::QueuedKind;
use crate::session::Store;

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    Now(SessionId),
    /// The git folder can't be written here: the next hook marks it.
    Queued(SessionId),
}

/// Marks the agent's session that runs here.
pub fn wrap_up(bench: &Workbench) -> Result<Marked> {
    let head = bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?;
    let current = session::current(bench, head.as_deref(), None)?;
    let store = Store::of(&bench.repo);
    let held = match store.lock() {
        Ok(held) => Some(held),
        Err(error) if error.is_read_only() => None,
        Err(error) => return Err(kept(error)),
    };
    let Some(mut journal) = store.session(&current.id).filter(|journal| journal.agent != "manual") else {
        return Err(Failure::blocked("no agent's session is open here")
            .hint("Run it inside the agent's session, or write the packet yourself: `endwell handoff`."));
    };
    if held.is_none() {
        queue::put(bench, QueuedKind::WrapUp, |_| ()).map_err(|error| {
            Failure::broken("can't leave a note for the next hook")
                .because(error)
                .hint("Make the outputs folder writable, then try again.")
        })?;
        return Ok(Marked::Queued(current.id));
    }
    journal.wrapping_up = true;
    store.save(&journal).map_err(kept)?;
    Ok(Marked::Now(current.id))
}
