//! What happens when an agent's client calls a hook: one function a moment. Nothing here fails towards the client: a
//! session goes on whatever endwell meets, and what went wrong stands in endwell's own log.

use std::cell::RefCell;
use std::path::PathBuf;

use crate::agent::{self, context};
use crate::env::Env;
use crate::failure::Result;
use crate::flow::handoff::{Reason, Refused};
use crate::flow::session::{in_force, kept, take_baseline_seen};
use crate::flow::transcript::{self, Until};
use crate::flow::{Workbench, aside, bypass, diary, gate, park, queue, record, recover, resume, turn_end};
use crate::git::Status;
use crate::githook::mark;
use crate::model::event::{Answer, Event, Moment};
use crate::model::packet::ContextUse;
use crate::model::session::{Ending, Phase, Refusal, Session};
use crate::model::{SCHEMA_VERSION, SessionId};
use crate::process::owner;
use crate::session::{Store, bindings};
use crate::ui::Ui;

/// Characters that every client passes on whole (one cuts at about 10,000).
const MAX_INJECTED: usize = 9_400;

/// Acts on one event of a client and says what to answer. Quietly does nothing where this person installed nothing.
pub fn on_event(env: &Env, ui: Ui, agent: &str, event: &Event) -> Result<Answer> {
    if event.subagent {
        return Ok(Answer::Nothing);
    }
    let Some(id) = event.session_id.as_deref().and_then(|text| SessionId::parse(text).ok()) else {
        return Ok(Answer::Nothing);
    };
    let Some(bench) = bench_of(env, ui, agent, &id, event)? else { return Ok(Answer::Nothing) };
    park::recover(&bench)?;
    queue::take_over(&bench);
    let store = Store::of(&bench.repo);
    let hook = Hook {
        bench: &bench,
        store: &store,
        agent,
        id: &id,
        event,
        context: context_of(&bench, &store, (agent, &id), event),
        status: RefCell::new(None),
    };
    match event.moment {
        Moment::Start => hook.start(),
        Moment::Prompt => hook.prompt(),
        Moment::Tool => hook.tool(),
        Moment::Stop => hook.stop(),
        Moment::Compact => hook.compact(),
        Moment::End => hook.end(),
    }
}

/// The workbench that the session was bound to at its first event; a later `cd` changes nothing.
fn bench_of(env: &Env, ui: Ui, agent: &str, id: &SessionId, event: &Event) -> Result<Option<Workbench>> {
    let bound = bindings::bound(env, agent, id).filter(|top| top.is_dir());
    let from: PathBuf = bound.clone().or_else(|| event.cwd.clone()).unwrap_or_else(|| env.cwd().to_owned());
    if !from.is_dir() {
        return Ok(None);
    }
    let Ok(repo) = crate::git::Repo::discover(&env.clone().in_dir(&from)) else { return Ok(None) };
    if !mark::installed_here(env, &repo) {
        return Ok(None);
    }
    if bound.is_none() {
        bindings::bind(env, agent, id, &repo.top);
    }
    let top = repo.top.clone();
    Workbench::of(&env.clone().in_dir(&top), ui, repo).map(Some)
}

struct Hook<'a> {
    bench: &'a Workbench,
    store: &'a Store,
    agent: &'a str,
    id: &'a SessionId,
    event: &'a Event,
    /// How full the context is, where the client tells.
    context: Option<ContextUse>,
    /// The walk that a new baseline was taken from.
    status: RefCell<Option<Status>>,
}

impl Hook<'_> {
    /// The session's journal, begun now if its start was never told.
    fn journal(&self) -> Result<Session> {
        if let Some(session) = self.store.session(self.id) {
            return Ok(session);
        }
        let (baseline, status) = take_baseline_seen(self.bench)?;
        self.status.replace(Some(status));
        Ok(Session {
            schema_version: SCHEMA_VERSION,
            id: self.id.clone(),
            agent: self.agent.to_owned(),
            started_at: crate::clock::now_text(),
            baseline,
            phase: Phase::Idle,
            owner: owner::of_this_process(),
            heard_at: String::new(),
            ending: None,
            wrapping_up: false,
            can_commit: None,
            context: None,
            hinted: false,
            blocked_for: Vec::new(),
            refusal: None,
            recorded_calls: Vec::new(),
            transcript: None,
            turn_end: None,
            pinned: None,
        })
    }

    /// Reads the journal, changes it, and writes it, under the work tree's lock.
    fn update<T>(&self, change: impl FnOnce(&mut Session) -> T) -> Result<T> {
        let _held = self.store.lock().map_err(kept)?;
        let mut session = self.journal()?;
        self.learn(&mut session);
        let outcome = change(&mut session);
        self.store.save(&session).map_err(kept)?;
        Ok(outcome)
    }

    /// What the event itself tells of the session.
    fn learn(&self, session: &mut Session) {
        session.wrapping_up |= self.event.headless;
        session.heard_at = crate::clock::now_text();
        if let Some(path) = self.event.transcript_path.as_ref().and_then(|path| path.to_str()) {
            session.transcript = Some(path.to_owned());
        }
        session.can_commit = self.event.can_commit.or(session.can_commit);
        session.ending = (self.event.moment == Moment::End).then_some(Ending::Told);
        if let Some(context) = &self.context {
            session.wrapping_up |= self.is_filling(context);
            session.context = Some(context.clone());
        }
    }

    /// Takes the baseline, and answers with the active packet, or with what the last session left undone.
    fn start(&self) -> Result<Answer> {
        let owner = owner::of_this_process();
        recover::finish_dead(self.bench, Some((self.id, owner.as_ref())));
        let left = self.left();
        self.update(|session| {
            // near events of a client come in any order: a prompt that the same client told first is under way
            let overtaken = session.phase == Phase::Busy && owner.is_some() && session.owner == owner;
            if self.event.begins_turn || overtaken {
                session.phase = Phase::Busy;
            } else if self.event.cause.as_deref() != Some("compact") {
                // a compaction in the middle of a turn is told as a start
                session.phase = Phase::Idle;
            }
            // resumed by another process, it belongs to that one
            session.owner = owner;
        })?;
        let packet =
            resume::text_for_start(self.bench, self.id, self.status.take()).unwrap_or_else(|failure| {
                // a packet that was tampered with is not shown, and that is no reason to say nothing at all
                diary::note(&self.bench.env, failure.chain());
                None
            });
        let mut text = packet.unwrap_or_default();
        for more in [left, self.others()].into_iter().flatten() {
            if text.chars().count() + more.chars().count() < MAX_INJECTED {
                let gap = if text.is_empty() { "" } else { "\n" };
                text = format!("{text}{gap}{more}");
            }
        }
        Ok(if text.is_empty() { Answer::Nothing } else { Answer::Inject(text) })
    }

    /// That another session is open in this work tree.
    fn others(&self) -> Option<String> {
        let mut others = self.store.open_sessions();
        others.retain(|other| other.id != *self.id && !recover::is_gone(other));
        gate::others_here(&others)
    }

    /// A new prompt; says once that the context is filling.
    fn prompt(&self) -> Result<Answer> {
        let (left_at, hint) = self.update(|session| {
            let left_at = session.turn_end.as_ref().and_then(|end| end.facts.get("head").cloned());
            begin_turn(session);
            (left_at, self.hint(session))
        })?;
        let head = left_at.as_ref().and_then(|_| self.bench.objects.commit_named("HEAD").ok());
        let moved = left_at.zip(head).filter(|(from, to)| from != to);
        let moved = moved.map(|(from, to)| gate::head_moved(&from, &to));
        let parts: Vec<String> = [moved, hint].into_iter().flatten().collect();
        Ok(if parts.is_empty() { Answer::Nothing } else { Answer::Inject(parts.join("\n\n")) })
    }

    /// That the context is filling, once.
    fn hint(&self, session: &mut Session) -> Option<String> {
        let filling = session.context.as_ref().filter(|context| self.is_filling(context));
        let text = filling.filter(|_| !session.hinted).map(gate::filling)?;
        session.hinted = true;
        Some(text)
    }

    fn is_filling(&self, context: &ContextUse) -> bool {
        let percent = u64::from(self.bench.config.context.wrap_up_at);
        context
            .window
            .is_some_and(|window| context.tokens.saturating_mul(100) >= window.saturating_mul(percent))
    }

    /// Records a command that the agent ran, once.
    fn tool(&self) -> Result<Answer> {
        let Some(call) = &self.event.tool else { return Ok(Answer::Nothing) };
        let path = self.event.transcript_path.as_deref();
        // the client's hook does not tell how it ended, its transcript does
        let left_to_transcript = call.id.is_some()
            && call.error.as_deref() == Some("exit-unknown")
            && transcript::tells(self.bench, self.agent, path);
        let new = self.update(|session| {
            begin_turn(session);
            if left_to_transcript {
                return false;
            }
            let seen = call.id.as_ref().is_some_and(|id| session.recorded_calls.contains(id));
            let name = call.id.clone().unwrap_or_else(|| transcript::unnamed(&call.command));
            session.recorded_calls.extend(Some(name).filter(|_| !seen));
            !seen
        })?;
        if new {
            record::record_call(self.bench, self.id, call, self.event.cwd.as_deref())?;
        }
        Ok(Answer::Nothing)
    }

    /// A turn's end: the packet if nothing speaks against it; else, while wrapping up, one block for each distinct set
    /// of reasons.
    fn stop(&self) -> Result<Answer> {
        self.hear()?;
        let standing = gate::standing(self.bench, self.id, None)?;
        let turn_end = turn_end::of(self.bench, &standing.judged, &standing.outcome)?;
        let pinned = turn_end::pin(self.bench, &self.journal()?, &turn_end);
        let block = self.update(|session| {
            let mode = in_force(&session.baseline, &self.bench.config).gate.turn_end;
            session.refusal = standing.refused().map(refusal);
            let can_commit = aside::can_commit(self.bench, session);
            let asked = standing.refused().map(|refused| gate::askable(refused, can_commit));
            let asked = asked.filter(|asked| !asked.reasons.is_empty());
            let block = asked.filter(|asked| !self.event.is_deaf && gate::may_block(session, mode, asked));
            // where a client takes no word at a prompt, this is the place for it
            let hint = block.as_ref().and_then(|_| self.hint(session));
            let block = block.map(|asked| gate::text_for_agent(&asked.reasons, hint.as_deref()));
            // a turn that is sent back goes on: what lies here is then not what it ends with
            session.phase = if block.is_some() { Phase::Busy } else { Phase::Idle };
            session.turn_end = block.is_none().then_some(turn_end);
            session.pinned = pinned;
            block
        })?;
        Ok(block.map_or(Answer::Nothing, Answer::Block))
    }

    /// Journals what the packet is about to say: how full the context is, which commands ran.
    fn hear(&self) -> Result<()> {
        let _held = self.store.lock().map_err(kept)?;
        let mut session = self.journal()?;
        self.learn(&mut session);
        if session.phase == Phase::Ended {
            // it speaks again
            session.phase = Phase::Busy;
        }
        transcript::take_over(self.bench, &mut session, Until::TurnEnd);
        let former = self.store.session(self.id);
        let heard_at = former.as_ref().map(|former| former.heard_at.clone()).unwrap_or_default();
        if former == Some(Session { heard_at, ..session.clone() }) {
            // when it was heard is written at the turn's end
            return Ok(());
        }
        self.store.save(&session).map_err(kept)
    }

    /// Before a compaction: what the summary should keep, since the words of the session are about to go.
    fn compact(&self) -> Result<Answer> {
        self.hear()?;
        // a packet that can't be written yet is no matter here: the turn's end says so
        if let Err(failure) = gate::standing(self.bench, self.id, None) {
            self.bench.ui.detail(failure.chain());
        }
        Ok(Answer::Inject(gate::KEEP_IN_SUMMARY.to_owned()))
    }

    /// The session's end: the packet, or a recorded refusal. Runs no tests and can't block. Until it is through, the
    /// journal says what the last turn's end left, so that a client's time limit costs nothing.
    fn end(&self) -> Result<Answer> {
        let former = self.journal()?;
        if former.phase == Phase::Ended && former.ending == Some(Ending::Told) {
            // some clients tell it twice
            return Ok(Answer::Nothing);
        }
        self.update(|session| transcript::take_over(self.bench, session, Until::End))?;
        let mut standing = gate::standing(self.bench, self.id, Some(Ending::Told))?;
        if aside::puts_aside(self.bench, &former, &standing) {
            standing = gate::standing(self.bench, self.id, Some(Ending::Told))?;
        }
        self.update(|session| {
            session.phase = Phase::Ended;
            session.refusal = standing.refused().map(refusal);
            session.turn_end = None;
            session.pinned = None;
        })?;
        if former.pinned.is_some() {
            turn_end::unpin(self.bench, &former);
        }
        Ok(Answer::Nothing)
    }

    /// What the session before left behind: why it has no packet, and pushes that passed no gate.
    fn left(&self) -> Option<String> {
        let since = self.store.sessions().into_iter().rev().find(|session| session.id != *self.id);
        let since = since.map(|session| session.started_at);
        let since = since.or_else(|| self.store.install_baseline().map(|baseline| baseline.taken_at));
        let pushes = since.map(|since| bypass::told(self.bench, &since)).unwrap_or_default();
        let pushes = (!pushes.is_empty()).then(|| format!("Pushes to know of: {}.\n", pushes.join(". ")));
        match (self.last_refusal(), pushes) {
            (Some(refusal), Some(pushes)) => Some(format!("{refusal}{pushes}")),
            (refusal, pushes) => refusal.or(pushes),
        }
    }

    /// What the newest session that ended here without a packet left undone.
    fn last_refusal(&self) -> Option<String> {
        let sessions = self.store.sessions();
        let last =
            sessions.iter().rev().find(|session| session.id != *self.id && session.phase == Phase::Ended)?;
        last.refusal.as_ref().map(|refusal| gate::text_for_next(last, refusal))
    }
}

/// From here on what the last turn's end left counts no more.
fn begin_turn(session: &mut Session) {
    session.phase = Phase::Busy;
    session.turn_end = None;
}

/// A refusal as the journal keeps it.
pub(super) fn refusal(refused: &Refused) -> Refusal {
    let sentence = |reason: &Reason| format!("{}. {}", reason.text, reason.mend);
    Refusal {
        at: crate::clock::now_text(),
        reasons: refused.reasons.iter().map(sentence).collect(),
        issues: refused.issues.clone(),
    }
}

/// How full the context is, at the moments at which a client can tell. Some name their transcript only now and then.
fn context_of(
    bench: &Workbench,
    store: &Store,
    (agent, id): (&str, &SessionId),
    event: &Event,
) -> Option<ContextUse> {
    if matches!(event.moment, Moment::Tool | Moment::Start) {
        return None;
    }
    let agent = agent::find(agent)?;
    let journalled = || store.session(id)?.transcript.map(PathBuf::from);
    let path = match (&event.transcript_path, agent.context_in) {
        (Some(path), _) => Some(path.clone()),
        (None, Some(_)) => journalled(),
        (None, None) => None,
    };
    let used = context::used(agent, event, path.as_deref())?;
    let window = used.window.unwrap_or(bench.config.context.window);
    Some(ContextUse { tokens: used.tokens, window: Some(window), window_assumed: used.window.is_none() })
}
