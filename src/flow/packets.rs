//! Looking after kept packets: which are over, which are old enough to go, and which one a person means.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::check::branch::default_branch;
use crate::clock;
use crate::failure::{Failure, Result};
use crate::flow::{Workbench, handoff};
use crate::fs;
use crate::git::Refs;
use crate::model::packet::{Packet, PacketStatus};
use crate::model::{SCHEMA_VERSION, SessionId};
use crate::packet;
use crate::packet::store::{Receipt, Store, Stored, Writing};

/// HEAD's commit and branch, and the refs around it.
pub struct Whereabouts {
    pub head: Option<String>,
    pub branch: Option<String>,
    pub refs: Refs,
}

impl Whereabouts {
    /// Asks git.
    pub fn of(bench: &Workbench) -> Result<Self> {
        let refs = Refs::read(&bench.repo, &bench.objects).map_err(handoff::history)?;
        let output =
            bench.repo.git_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]).map_err(handoff::history)?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let branch = Some(name).filter(|name| output.success() && !name.is_empty());
        Ok(Self { head: bench.objects.commit_named("HEAD").ok(), branch, refs })
    }
}

/// Archives packets of branches that are merged or gone, and lets go of old ones. Never touches an active one.
pub fn tend(bench: &Workbench, here: &Whereabouts) -> Result<()> {
    let store = handoff::store(bench);
    let over = |receipt: &Receipt| is_over(bench, here, receipt);
    let due = |receipt: &Receipt| receipt.status != PacketStatus::Archived && over(receipt);
    let settings = &bench.config.packet;
    let old = store.outdated(settings.keep, settings.keep_days, clock::now());
    if old.is_empty() && !store.needs_mending(clock::now()) && !store.receipts().iter().any(due) {
        return Ok(());
    }
    let _lock = store.lock().map_err(|error| handoff::kept(error.into()))?;
    store.mend(clock::now()).map_err(handoff::kept)?;
    store.archive(over).map_err(handoff::kept)?;
    for receipt in old {
        store.forget(&receipt).map_err(handoff::kept)?;
    }
    Ok(())
}

/// Whether a commit of this branch is one that the default branch lacks.
pub fn is_apart(bench: &Workbench, here: &Whereabouts, head: &str) -> bool {
    match default_branch(&bench.repo, &here.refs, &bench.config) {
        Ok(Some((name, id))) => {
            here.branch.as_ref() != Some(&name)
                && bench.objects.is_ancestor(head, &id).is_ok_and(|inside| !inside)
        }
        _ => false,
    }
}

/// Whether a packet's branch is gone, or merged into the default branch and not checked out. A branch without a commit
/// of its own was never merged: its work has yet to begin.
fn is_over(bench: &Workbench, here: &Whereabouts, receipt: &Receipt) -> bool {
    let Some(branch) = &receipt.branch else { return false };
    if here.branch.as_ref() == Some(branch) {
        return false;
    }
    let Some(tip) = here.refs.id(&format!("refs/heads/{branch}")) else { return true };
    match default_branch(&bench.repo, &here.refs, &bench.config) {
        Ok(Some((name, id))) if name != *branch => {
            (receipt.apart || tip != receipt.head_commit)
                && bench.objects.is_ancestor(tip, &id).unwrap_or(false)
        }
        _ => false,
    }
}

/// The active packet of this branch: the topic's own, else the newest one. One from elsewhere is none.
pub fn active(store: &Store, branch: Option<&str>, topic: &str) -> Result<Option<Stored>> {
    let mut found = store.active(branch);
    found.retain(|receipt| store.knows(receipt));
    let own = found.iter().position(|receipt| receipt.topic == topic);
    let receipt = match own {
        Some(at) => Some(found.swap_remove(at)),
        None => found.pop(),
    };
    match receipt {
        Some(receipt) => store.load(&receipt.session_id).map_err(handoff::kept),
        None => Ok(None),
    }
}

/// A packet that this person's endwell did not write: tracked, synced or copied in.
#[derive(Clone, Debug)]
pub struct Stranger {
    pub packet: Packet,
    pub path: PathBuf,
}

/// The packets from elsewhere that are about this branch.
pub fn strangers(bench: &Workbench, branch: Option<&str>) -> Vec<Stranger> {
    let mut found = all_strangers(bench);
    found.retain(|stranger| {
        stranger.packet.branch.as_deref() == branch && stranger.packet.status == PacketStatus::Active
    });
    found
}

fn all_strangers(bench: &Workbench) -> Vec<Stranger> {
    let store = handoff::store(bench);
    let known: BTreeSet<String> = store
        .receipts()
        .into_iter()
        .filter(|receipt| store.knows(receipt))
        .map(|receipt| receipt.session_id)
        .collect();
    let mut found: Vec<Stranger> = Vec::new();
    for place in [store.outputs.clone(), store.shared.join("packets")] {
        for folder in fs::list(&place).unwrap_or_default() {
            let path = folder.join("handoff.json");
            let bytes = fs::read_optional(&path).ok().flatten().unwrap_or_default();
            let Ok(packet) = serde_json::from_slice::<Packet>(&bytes) else { continue };
            let id = &packet.session_id;
            let is_new = !found.iter().any(|other| other.packet.session_id == *id);
            if packet.schema_version <= SCHEMA_VERSION
                && SessionId::parse(id).is_ok()
                && !known.contains(id)
                && is_new
            {
                found.push(Stranger { packet, path });
            }
        }
    }
    found
}

/// The packet from elsewhere that a person means.
pub fn stranger(bench: &Workbench, id: &str) -> Result<Stranger> {
    all_strangers(bench).into_iter().find(|stranger| stranger.packet.session_id == id).ok_or_else(|| {
        Failure::usage(format!("no packet from elsewhere waits under `{id}`")).hint(
            "`endwell resume` names those that wait; `endwell trust --list` lists commands and settings.",
        )
    })
}

/// Makes a packet from elsewhere one of this machine's own.
pub fn take_over(bench: &Workbench, stranger: &Stranger) -> Result<()> {
    let packet = &stranger.packet;
    if !bench.objects.has(&packet.head_commit) {
        let commit = packet.head_commit.get(..12).unwrap_or(&packet.head_commit);
        return Err(Failure::blocked(format!("its commit {commit} is not in this repository"))
            .hint("Fetch what it speaks of (`git fetch`), then trust it."));
    }
    let store = handoff::store(bench);
    let _lock = store.lock().map_err(|error| handoff::kept(error.into()))?;
    let page = packet::markdown(packet, bench.config.packet.max_chars, None)
        .map_err(|error| handoff::kept(error.into()))?;
    let now = clock::now_text();
    let apart = is_apart(bench, &Whereabouts::of(bench)?, &packet.head_commit);
    let writing = Writing {
        packet,
        markdown: &page,
        began: None,
        now: &now,
        late: false,
        apart,
        ending: None,
        changed_since: &[],
    };
    store.write(&writing).map_err(handoff::kept)?;
    Ok(())
}

/// The packet that a person means: a session's id, or the beginning of exactly one.
pub fn named(store: &Store, id: &str) -> Result<Stored> {
    let receipts = store.receipts();
    let exact = receipts.iter().find(|receipt| receipt.session_id == id);
    let mut begun = receipts.iter().filter(|receipt| receipt.session_id.starts_with(id));
    let receipt = match (exact, begun.next(), begun.next()) {
        (Some(receipt), ..) | (None, Some(receipt), None) => receipt,
        (None, None, _) => return Err(unknown(format!("there is no packet of a session `{id}`"))),
        (None, Some(_), Some(_)) => return Err(unknown(format!("more than one session begins with `{id}`"))),
    };
    store
        .load(&receipt.session_id)
        .map_err(handoff::kept)?
        .ok_or_else(|| unknown(format!("the packet of `{id}` is gone")))
}

fn unknown(message: String) -> Failure {
    Failure::usage(message).hint("`endwell log` lists the sessions and their packets.")
}
