//! Sessions that died: their client is gone and never told of an end. They are finished now, by the next start or push
//! in their work tree, so that each leaves a packet or a refusal. Nothing is concluded from silence alone before half a day.

use jiff::{Timestamp, ToSpan as _};

use crate::failure::Result;
use crate::flow::gate::{self, Standing};
use crate::flow::session::kept;
use crate::flow::{Workbench, hook};
use crate::model::SessionId;
use crate::model::session::{Ending, Owner, Phase, Session};
use crate::process::owner::{Alive, alive};
use crate::session::Store;

/// Hours of silence after which a session whose owner can't be told counts as dead.
const SILENCE: i64 = 12;

/// Finishes every session of this work tree whose owner is gone. `newer` is the session that starts now, and its owner:
/// an owner that starts another session has left the one before.
pub fn finish_dead(bench: &Workbench, newer: Option<(&SessionId, Option<&Owner>)>) -> Result<()> {
    let store = Store::of(&bench.repo);
    for session in store.open_sessions() {
        if newer.is_some_and(|(id, _)| *id == session.id)
            || !is_dead(&session, newer.and_then(|(_, owner)| owner))
        {
            continue;
        }
        finish(bench, &store, &session)?;
    }
    Ok(())
}

fn is_dead(session: &Session, newer: Option<&Owner>) -> bool {
    match session.owner.as_ref().map(|owner| (alive(owner), owner)) {
        Some((Alive::No, _)) => true,
        Some((Alive::Yes, owner)) => newer == Some(owner),
        Some((Alive::Unknown, _)) | None => is_silent(session),
    }
}

fn is_silent(session: &Session) -> bool {
    let heard = if session.heard_at.is_empty() { &session.started_at } else { &session.heard_at };
    let limit = crate::clock::now().checked_sub(SILENCE.hours());
    matches!((heard.parse::<Timestamp>(), limit), (Ok(heard), Ok(limit)) if heard < limit)
}

/// At rest, the last turn end has left its packet or its refusal already; in the middle of a turn, the bench is judged
/// as it is.
fn finish(bench: &Workbench, store: &Store, session: &Session) -> Result<()> {
    let mut refusal = session.refusal.clone();
    if session.phase == Phase::Busy {
        refusal = match gate::standing_late(bench, &session.id)? {
            Standing::HandedOver => None,
            Standing::Refused(refused) => Some(hook::refusal(&refused)),
        };
    }
    let _held = store.lock().map_err(kept)?;
    // it may have spoken again meanwhile
    let Some(mut now) = store.session(&session.id).filter(|now| now.heard_at == session.heard_at) else {
        return Ok(());
    };
    now.ending =
        Some(if session.phase == Phase::Busy { Ending::RecoveredMidTurn } else { Ending::RecoveredAtRest });
    now.phase = Phase::Ended;
    now.refusal = refusal;
    store.save(&now).map_err(kept)
}
