//! The commands that only a session's transcript tells of, into the feedback log: read on at each turn's end from where
//! the last reading stopped. What a hook saw already is not recorded again. A transcript that can't be read costs its
//! commands, never the session.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::failure::Result;
use crate::feedback::transcript::{self, Call, Progress, read_on};
use crate::flow::{Workbench, diary, record};
use crate::fs;
use crate::model::SessionId;
use crate::model::issue::sha256_hex;
use crate::model::session::Session;

/// The most calls that a journal remembers as recorded.
const MAX_RECORDED: usize = 2_000;

/// Why a transcript is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The session goes on: a command without an end gets one more turn.
    TurnEnd,
    /// Nobody will write on.
    End,
}

/// How the journal names a call that its client gave no id.
pub(super) fn unnamed(command: &str) -> String {
    format!("={}", &sha256_hex(command.as_bytes())[..16])
}

/// Whether the commands of this client are left to its transcript, since its hook does not tell how they end.
pub(super) fn tells(bench: &Workbench, agent: &str, path: Option<&Path>) -> bool {
    transcript::of_client(agent).is_some() && path.is_some_and(|path| is_fit(bench, path) && path.is_file())
}

/// Appends what is new to the log; the journal learns which calls are in it.
pub(super) fn take_over(bench: &Workbench, session: &mut Session, until: Until) {
    if let Err(failure) = take(bench, session, until) {
        diary::note(
            &bench.env,
            format_args!("session {}: can't take over its commands: {}", session.id, failure.chain()),
        );
    }
}

fn take(bench: &Workbench, session: &mut Session, until: Until) -> Result<()> {
    let (Some(path), Some(format)) =
        (session.transcript.as_ref().map(PathBuf::from), transcript::of_client(&session.agent))
    else {
        return Ok(());
    };
    if !is_fit(bench, &path) {
        diary::note(&bench.env, format_args!("`{}` is no place for a transcript", path.display()));
        return Ok(());
    }
    let kept = place(bench, &session.id);
    let mut progress: Progress = fs::read_optional(&kept)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let before = progress.clone();
    if let Err(error) = read_on(&path, format, &mut progress) {
        diary::note(&bench.env, format_args!("session {}: its transcript: {error}", session.id));
    }
    if progress.passed_over > before.passed_over {
        diary::note(
            &bench.env,
            format_args!(
                "session {}: {} bytes of its transcript were passed over: too much to read in one go",
                session.id,
                progress.passed_over - before.passed_over
            ),
        );
    }
    if until == Until::TurnEnd {
        progress.calls.settle_waiting();
    }
    let calls = progress.calls.take(until == Until::End);
    let new: Vec<Call> = calls.into_iter().filter(|call| is_new(session, call)).collect();
    record::append_calls(bench, &session.id, &new)?;
    session.recorded_calls.extend(new.into_iter().map(|call| call.id));
    let surplus = session.recorded_calls.len().saturating_sub(MAX_RECORDED);
    session.recorded_calls.drain(..surplus);
    if progress != before {
        keep(bench, &kept, &progress);
    }
    Ok(())
}

/// A command of this session that is not in the log yet.
fn is_new(session: &mut Session, call: &Call) -> bool {
    if call.session.as_ref().is_some_and(|id| id != session.id.as_str()) {
        return false;
    }
    let at = |text: &str| text.parse::<Timestamp>().ok();
    // what ran before endwell knew the session is part of no baseline
    let begun = call.started_at.as_deref().and_then(at).zip(at(&session.started_at));
    if begun.is_some_and(|(call, session)| call < session) || session.recorded_calls.contains(&call.id) {
        return false;
    }
    let unnamed = unnamed(&call.command);
    match session.recorded_calls.iter().position(|known| *known == unnamed) {
        Some(place) => {
            session.recorded_calls.remove(place);
            session.recorded_calls.push(call.id.clone());
            false
        }
        None => true,
    }
}

fn keep(bench: &Workbench, path: &Path, progress: &Progress) {
    let wrote = serde_json::to_vec(progress)
        .map_err(std::io::Error::from)
        .and_then(|bytes| fs::write_atomic(path, &bytes));
    if let Err(error) = wrote {
        diary::note(&bench.env, format_args!("can't keep how far a transcript was read: {error}"));
    }
}

fn place(bench: &Workbench, session: &SessionId) -> PathBuf {
    bench.repo.own_dir().join("transcripts").join(format!("{session}.json"))
}

/// The path comes from outside: a client keeps its transcripts in its own folder, never in the repository, where a
/// clone could bring one along.
fn is_fit(bench: &Workbench, path: &Path) -> bool {
    let inside = |root: &Path| fs::stays_inside(root, path).is_ok();
    path.is_absolute() && !inside(&bench.repo.top) && !inside(&bench.repo.common_dir)
}
