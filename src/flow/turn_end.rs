//! What a turn's end leaves in the session's journal, so that a session that dies at rest ends as it would have ended
//! then: the packet's own bytes, and what lay around it. What happened since is told beside the packet, never in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::board;
use crate::config;
use crate::failure::{Failure, Result};
use crate::feedback::Mark;
use crate::flow::check::Judged;
use crate::flow::handoff::{self, Done, Outcome};
use crate::flow::packets::{self, Whereabouts};
use crate::flow::{Workbench, diary};
use crate::fs;
use crate::git::{Entry, Status};
use crate::model::board::Board;
use crate::model::issue::sha256_hex;
use crate::model::packet::Packet;
use crate::model::session::{Ending, RenderedPacket, Session, TurnEnd, path_key};
use crate::packet::store::Writing;

/// What the journal keeps of a judgement and its packet.
pub(super) fn of(bench: &Workbench, judged: &Judged, outcome: &Outcome) -> Result<TurnEnd> {
    let packet = match outcome {
        Outcome::Written(done) | Outcome::Unchanged(done) => Some(rendered(done)?),
        Outcome::Refused(_) | Outcome::Queued => None,
    };
    let log = Mark::at_end(&bench.feedback_path());
    Ok(TurnEnd {
        at: crate::clock::now_text(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts: judged
            .status
            .as_ref()
            .map(|status| facts(bench, status, judged.board.reading.board()))
            .unwrap_or_default(),
        log_bytes: log.as_ref().map(|log| log.offset),
        log_digest: log.map(|log| log.digest),
        packet,
    })
}

fn rendered(done: &Done) -> Result<RenderedPacket> {
    let json = serde_json::to_string_pretty(&done.packet).map_err(|error| {
        Failure::broken("can't keep the packet in the session's journal")
            .because(error)
            .hint("Run `endwell handoff`: it says what is the matter with the packet.")
    })?;
    Ok(RenderedPacket { json, markdown: done.page.clone() })
}

/// Keeps a commit from being collected. A ref that can't be written costs the commit's safety, not the session.
pub(super) fn pin(bench: &Workbench, session: &Session, turn_end: &TurnEnd) -> Option<String> {
    let head = turn_end.facts.get("head")?;
    if session.pinned.as_ref() != Some(head)
        && let Err(error) = bench.repo.pin(&session.id, head)
    {
        diary::note(&bench.env, format_args!("can't keep {head} for session {}: {error}", session.id));
        return None;
    }
    Some(head.clone())
}

/// Lets the session's commit go.
pub(super) fn unpin(bench: &Workbench, session: &Session) {
    if let Err(error) = bench.repo.unpin(&session.id) {
        diary::note(&bench.env, format_args!("can't remove the ref of session {}: {error}", session.id));
    }
}

/// Finishes a session that died at rest: its packet is the one that its last turn's end left, byte for byte. `false`
/// where these bytes can't be read any more.
pub(super) fn finish(bench: &Workbench, session: &Session, turn_end: &TurnEnd) -> Result<bool> {
    let Some(kept) = &turn_end.packet else { return Ok(true) };
    let Ok(packet) = serde_json::from_str::<Packet>(&kept.json) else { return Ok(false) };
    let changed = changed_since(bench, turn_end);
    let store = handoff::store(bench);
    let _lock = store.lock().map_err(|error| handoff::kept(error.into()))?;
    store.mend(crate::clock::now()).map_err(handoff::kept)?;
    let ending = Ending::RecoveredAtRest;
    let by_hand = store.load(session.id.as_str()).ok().flatten().is_some_and(|stored| {
        let later = |one: &str, other: &str| {
            matches!((one.parse::<jiff::Timestamp>(), other.parse()), (Ok(one), Ok(other)) if one > other)
        };
        // a person handed the session over since: that is the later word
        later(&stored.receipt.written_at, &turn_end.at) && stored.packet.inputs_digest != packet.inputs_digest
    });
    if by_hand {
        store.ended(session.id.as_str(), ending, &changed).map_err(handoff::kept)?;
        return Ok(true);
    }
    let writing = Writing {
        packet: &packet,
        markdown: &kept.markdown,
        began: Some(&session.started_at),
        now: &turn_end.at,
        late: true,
        apart: packets::is_apart(bench, &Whereabouts::of(bench)?, &packet.head_commit),
        ending: Some(ending),
        changed_since: &changed,
    };
    store.write(&writing).map_err(handoff::kept)?;
    Ok(true)
}

/// What is no longer as it was, by name.
fn changed_since(bench: &Workbench, turn_end: &TurnEnd) -> Vec<String> {
    let board = board::find_and_read(&bench.repo.top, &bench.config);
    let now = bench.repo.status().map(|status| facts(bench, &status, board.board())).unwrap_or_default();
    let before = &turn_end.facts;
    let mut changed: Vec<String> = before
        .keys()
        .chain(now.keys().filter(|name| !before.contains_key(*name)))
        .filter(|name| before.get(*name) != now.get(*name))
        .cloned()
        .collect();
    let log = turn_end.log_bytes.zip(turn_end.log_digest.clone());
    let log = log.map(|(offset, digest)| Mark { offset, digest });
    if Mark::at_end(&bench.feedback_path()) != log {
        changed.push("log".to_owned());
    }
    changed.sort();
    changed
}

/// What lies here now.
fn facts(bench: &Workbench, status: &Status, board: Option<&Board>) -> BTreeMap<String, String> {
    let digest =
        |path: &std::path::Path| fs::read_optional(path).ok().flatten().map(|bytes| sha256_hex(&bytes));
    let own = |entry: &Entry| bench.config.is_own(&entry.path);
    let clean = status.head.as_deref().filter(|_| status.entries.iter().all(own));
    let found = [
        ("head", status.head.clone()),
        ("branch", status.branch.clone()),
        ("work-tree", Some(work_tree(bench, status))),
        ("state", digest(&bench.state_path())),
        ("tree", clean.and_then(|head| bench.objects.tree_of(head).ok())),
        ("board", board.map(|board| board.sha256.clone())),
        ("reports", reports(bench)),
        ("settings", digest(&bench.repo.top.join(config::FILE))),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Every path that is not as in HEAD, with what lies there.
fn work_tree(bench: &Workbench, status: &Status) -> String {
    let mut lines = String::new();
    for entry in status.entries.iter().filter(|entry| !bench.config.is_own(&entry.path)) {
        lines.push_str(&path_key(&entry.path));
        lines.push('\0');
        lines.push_str(&bench.repo.content_digest(entry));
        lines.push('\n');
    }
    sha256_hex(lines.as_bytes())
}

/// All verification and review reports.
fn reports(bench: &Workbench) -> Option<String> {
    let folders = [bench.output("verification"), bench.output("review")];
    let files = folders.iter().flat_map(|folder| fs::list(folder).unwrap_or_default());
    let mut lines = String::new();
    for path in files {
        if let Ok(Some(bytes)) = fs::read_optional(&path) {
            // writing to a String can't fail
            writeln!(lines, "{}\0{}", path.display(), sha256_hex(&bytes)).ok();
        }
    }
    (!lines.is_empty()).then(|| sha256_hex(lines.as_bytes()))
}
