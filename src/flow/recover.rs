//! Sessions that died: their client is gone and never told of an end. They are finished now, by the next start or push
//! in their work tree, so that each leaves a packet or a refusal. Nothing is concluded from silence alone before half a day.

use jiff::{Timestamp, ToSpan as _};

use crate::failure::Result;
use crate::flow::session::kept as kept_error;
use crate::flow::transcript::{self, Until};
use crate::flow::{Workbench, diary, gate, hook, turn_end};
use crate::model::SessionId;
use crate::model::session::{Ending, Owner, Phase, Session};
use crate::process::owner::{Alive, alive};
use crate::session::Store;

/// Hours of silence after which a session whose owner can't be told counts as dead.
const SILENCE: i64 = 12;

/// Finishes every session of this work tree whose owner is gone. `newer` is the session that starts now, and its owner:
/// an owner that starts another session has left the one before. One that can't be finished now is left for the next
/// time, and does not keep the others from it.
pub fn finish_dead(bench: &Workbench, newer: Option<(&SessionId, Option<&Owner>)>) {
    let store = Store::of(&bench.repo);
    for session in store.open_sessions() {
        if newer.is_some_and(|(id, _)| *id == session.id)
            || !is_dead(&session, newer.and_then(|(_, owner)| owner))
        {
            continue;
        }
        if let Err(failure) = finish(bench, &store, &session) {
            diary::note(&bench.env, format_args!("can't finish session {}: {}", session.id, failure.chain()));
        }
    }
}

/// Whether a session's client is gone, as far as can be told.
pub fn is_gone(session: &Session) -> bool {
    is_dead(session, None)
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

/// At rest, what the last turn's end left is what counts; in the middle of a turn, the bench is judged as it is.
fn finish(bench: &Workbench, store: &Store, session: &Session) -> Result<()> {
    let at_rest = session.turn_end.as_ref().filter(|_| session.phase == Phase::Idle);
    let kept = match at_rest {
        Some(turn_end) => turn_end::finish(bench, session, turn_end)?,
        None => false,
    };
    let (ending, refusal) = if kept {
        (Ending::RecoveredAtRest, session.refusal.clone())
    } else {
        let mut session = session.clone();
        transcript::take_over(bench, &mut session, Until::End);
        let standing = gate::standing(bench, &session.id, Some(Ending::RecoveredMidTurn))?;
        (Ending::RecoveredMidTurn, standing.refused().map(hook::refusal))
    };
    {
        let _held = store.lock().map_err(kept_error)?;
        // it may have spoken again meanwhile
        let Some(mut now) = store.session(&session.id).filter(|now| now.heard_at == session.heard_at) else {
            return Ok(());
        };
        now.ending = Some(ending);
        now.phase = Phase::Ended;
        now.refusal = refusal;
        now.turn_end = None;
        now.pinned = None;
        store.save(&now).map_err(kept_error)?;
    }
    turn_end::unpin(bench, session);
    Ok(())
}
