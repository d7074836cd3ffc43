//! Work that an agent may not commit: whether it can, and what the end of its session does with it. A person's own work
//! is never touched.

use crate::config::CannotCommit;
use crate::flow::gate::Standing;
use crate::flow::session::in_force;
use crate::flow::{Workbench, diary, park};
use crate::git::Entry;
use crate::model::session::{Session, path_key};
use crate::model::{CheckId, Issue};

/// Whether the session's agent can commit: by its client's word, else by the setting.
pub(super) fn can_commit(bench: &Workbench, session: &Session) -> bool {
    let settings = in_force(&session.baseline, &bench.config).gate;
    session.can_commit.or(settings.can_commit).unwrap_or(true)
}

/// Puts the session's own work aside that its agent could not commit, where the project wants that. What lay there
/// before the session is a person's, and then nothing is touched.
pub(super) fn puts_aside(bench: &Workbench, session: &Session, standing: &Standing) -> bool {
    let settings = in_force(&session.baseline, &bench.config).gate;
    let wanted = settings.cannot_commit == CannotCommit::Park;
    let judged = &standing.judged;
    let is_dirt = |issue: &Issue| issue.check == CheckId::WorkingTree && issue.blocks();
    if !wanted || can_commit(bench, session) || !judged.report.issues.iter().any(is_dirt) {
        return false;
    }
    let was_dirty = |entry: &Entry| session.baseline.dirty.contains_key(&path_key(&entry.path));
    // touched by the session since or not: it holds a person's work
    if judged.status.as_ref().is_none_or(|status| status.entries.iter().any(was_dirty)) {
        return false;
    }
    let note = format!("Left by session {} ({}), which could not commit", session.id, session.agent);
    match park::put_aside_of(bench, &note, Some(&session.id)) {
        Ok(put) => put.is_some(),
        Err(failure) => {
            diary::note(&bench.env, format_args!("session {}: {}", session.id, failure.chain()));
            false
        }
    }
}
