//! Unfinished work aside and back: which session and which work tree it belongs to, and what a person is told. The
//! plumbing is `git::park`; nothing here touches files.

use crate::failure::{Failure, FailureKind, Result};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, session};
use crate::git::park::{self, Asked, Bench, Came, Listing, ParkError, Parked, Put, Recovered};
use crate::git::stash::says_nothing;
use crate::model::park::ParkedRecord;
use crate::model::{SCHEMA_VERSION, SessionId};
use crate::redact::Redactor;
use crate::ui::plain;

/// Puts all uncommitted work aside under a note; `None` where there is none.
pub fn put_aside(bench: &Workbench, note: &str) -> Result<Option<Put>> {
    put_aside_of(bench, note, None)
}

/// As [`put_aside`], as the work of a session.
pub fn put_aside_of(bench: &Workbench, note: &str, session: Option<&SessionId>) -> Result<Option<Put>> {
    if says_nothing(note) {
        return Err(Failure::usage(format!(
            "the note “{}” says too little: eight letters at least",
            plain(note)
        ))
        .hint("Say what it is and why it is unfinished: `endwell park \"what and why\"`."));
    }
    let head = bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?;
    let current = session::current(bench, head.as_deref(), session.map(SessionId::as_str))?;
    let (id, reference) = park::free_id(&bench.repo, &current.id)
        .map_err(|error| git_failed("can't list the parked work", error))?;
    let now = crate::clock::now();
    let record = ParkedRecord {
        schema_version: SCHEMA_VERSION,
        id,
        worktree: park::worktree_name(&bench.repo),
        reference,
        session_id: current.id,
        branch: None,
        head: String::new(),
        note: note.trim().to_owned(),
        parked_at: now.to_string(),
        paths: 0,
    };
    with(bench, |place| park::park(place, Asked { record, at: now.as_second() })).map_err(not_parked)
}

/// Brings parked work back: the one that is named, else the only one of this work tree, else this session's newest.
pub fn bring_back(bench: &Workbench, id: Option<&str>) -> Result<(Parked, Came)> {
    recover(bench)?;
    let parked = chosen(bench, id)?;
    let came = with(bench, |place| park::unpark(place, &parked)).map_err(not_unparked)?;
    Ok((parked, came))
}

/// Everything that is parked, oldest first; without `all` only what is this work tree's.
pub fn list(bench: &Workbench, all: bool) -> Result<Listing> {
    let mut listing = park::list(&bench.repo, &bench.objects)
        .map_err(|error| git_failed("can't list the parked work", error))?;
    if !all {
        let here = park::worktree_name(&bench.repo);
        listing.parked.retain(|parked| parked.record.worktree == here);
        listing.unreadable.retain(|name| name.split('/').nth(3) == Some(here.as_str()));
    }
    Ok(listing)
}

/// This work tree's parked work; asks git only where something was ever parked.
pub fn here(bench: &Workbench) -> Result<Vec<Parked>> {
    if !park::has_records(&bench.repo) {
        return Ok(Vec::new());
    }
    Ok(list(bench, false)?.parked)
}

/// What a packet says of it: work of whatever session, since the next one must know of it.
pub fn inputs(bench: &Workbench, redactor: &Redactor) -> Result<Vec<crate::packet::Parked>> {
    let records = here(bench)?.into_iter().map(|parked| parked.record);
    let input = |record: ParkedRecord| crate::packet::Parked {
        note: redactor.text(&record.note),
        id: full_id(&record),
    };
    Ok(records.map(input).collect())
}

/// Whether the work that a packet names is still parked.
pub fn is_parked(bench: &Workbench, id: &str) -> Result<bool> {
    if !park::has_records(&bench.repo) {
        return Ok(false);
    }
    Ok(list(bench, true)?.parked.iter().any(|parked| full_id(&parked.record) == id))
}

/// The id with its work tree: the next session may run in another one.
fn full_id(record: &ParkedRecord) -> String {
    format!("{}/{}", record.worktree, record.id)
}

/// Goes on with a park or unpark that was killed, and says so; whether there was one. Costs one look at a file where
/// there was none.
pub fn recover(bench: &Workbench) -> Result<bool> {
    let found = with(bench, park::recover).map_err(|error| {
        failed("can't finish the `endwell park` or `endwell unpark` that was interrupted", error)
    })?;
    if let Some(found) = &found {
        say_recovered(bench, found);
    }
    Ok(found.is_some())
}

fn with<T>(
    bench: &Workbench,
    act: impl FnOnce(&Bench<'_>) -> std::result::Result<T, ParkError>,
) -> std::result::Result<T, ParkError> {
    let own = |path: &[u8]| bench.config.is_own(path);
    act(&Bench { repo: &bench.repo, objects: &bench.objects, own: &own, cwd: bench.env.cwd() })
}

fn say_recovered(bench: &Workbench, found: &Recovered) {
    let (id, left) = match found {
        Recovered::Nothing => {
            bench
                .ui
                .warn("an `endwell park` was interrupted before it took anything away: nothing is parked");
            return;
        }
        Recovered::HalfApplied { id } => {
            bench.ui.warn(format_args!(
                "an `endwell unpark {id}` was interrupted while git applied it: look at `git status`; the work is still \
                 parked as a whole"
            ));
            return;
        }
        Recovered::Parked { id, left } => {
            bench.ui.warn(format_args!(
                "an interrupted `endwell park` was finished: the work is parked as `{id}`"
            ));
            (id, left)
        }
        Recovered::Unparked { id, left } => {
            bench.ui.warn(format_args!("an interrupted `endwell unpark {id}` was finished"));
            (id, left)
        }
    };
    say_left(bench, id, left);
}

/// Names the paths that changed in the last moment and were left as they are.
pub fn say_left(bench: &Workbench, id: &str, left: &[String]) {
    if left.is_empty() {
        return;
    }
    let names: Vec<String> = left.iter().map(|path| format!("`{}`", plain(path))).collect();
    bench.ui.warn(format_args!(
        "left as they are, since they changed meanwhile: {}; as they were before they are in the parked work `{id}`",
        names.join(", ")
    ));
}

fn chosen(bench: &Workbench, id: Option<&str>) -> Result<Parked> {
    let listing = list(bench, true)?;
    let here = park::worktree_name(&bench.repo);
    let Some(id) = id else { return choose(bench, listing.parked, &here) };
    let named = |parked: &&Parked| {
        let record = &parked.record;
        (record.worktree == here && record.id == id) || full_id(record) == id || record.reference == id
    };
    let Some(found) = listing.parked.iter().find(named) else {
        return Err(Failure::usage(format!("nothing is parked as `{}`", plain(id)))
            .hint("`endwell park --list` shows what is."));
    };
    let other = &found.record.worktree;
    if *other != here && park::has_worktree(&bench.repo, other) {
        return Err(Failure::blocked(format!(
            "`{}` is parked work of the work tree `{}`",
            plain(id),
            plain(other)
        ))
        .hint("Run `endwell unpark` there (`git worktree list` says where it is)."));
    }
    Ok(found.clone())
}

fn choose(bench: &Workbench, parked: Vec<Parked>, here: &str) -> Result<Parked> {
    let mut mine: Vec<Parked> = parked.into_iter().filter(|parked| parked.record.worktree == here).collect();
    if mine.len() > 1 {
        let head = bench.repo.head_commit().map_err(|error| git_failed("can't tell HEAD", error))?;
        let session = session::current(bench, head.as_deref(), None)?.id;
        if let Some(newest) = mine.iter().rposition(|parked| parked.record.session_id == session) {
            return Ok(mine.swap_remove(newest));
        }
        return Err(Failure::usage(format!(
            "{} pieces of work are parked here, of other sessions",
            mine.len()
        ))
        .hint("Name one: `endwell park --list` shows them, `endwell unpark ID` brings one back."));
    }
    mine.pop().ok_or_else(|| {
        Failure::blocked("nothing is parked in this work tree")
            .hint("`endwell park --list --all` shows what other work trees have parked.")
    })
}

fn not_parked(error: ParkError) -> Failure {
    failed("can't park the work; nothing was taken away", error)
}

fn not_unparked(error: ParkError) -> Failure {
    failed("can't bring the parked work back; it is still parked", error)
}

fn failed(what: &str, error: ParkError) -> Failure {
    match error {
        ParkError::Refused { message, hint } => {
            Failure::new(FailureKind::Blocked, format!("{what}: {message}")).hint(hint)
        }
        ParkError::Git(error) => git_failed(what, error),
        error @ ParkError::Io { .. } => Failure::broken(what)
            .because(error)
            .hint("Make the git folder and the work tree writable, or free some space, then try again."),
        error @ ParkError::Form(_) => Failure::broken(what)
            .because(error)
            .hint("A newer endwell may have written it: use that one, or look at it by hand."),
    }
}
