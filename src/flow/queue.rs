//! The queue of commands that may not write the git folder (an agent's sandbox, whose hooks are outside of it): they leave
//! their record in the work tree, and the next hook takes it over. A test run from there is never believed, since
//! whoever wrote it could have written anything.

use std::io;
use std::path::PathBuf;

use crate::evidence::Store as EvidenceStore;
use crate::flow::handoff::{self, HandoffOptions, Outcome};
use crate::flow::session::kept;
use crate::flow::{Workbench, diary, evidence, safe, session};
use crate::fs;
use crate::model::issue::sha256_hex;
use crate::model::queue::{Queued, QueuedKind};
use crate::model::report::Evidence;
use crate::model::{SCHEMA_VERSION, SessionId};
use crate::packet::store::Loaded;
use crate::session::Store;

/// The folder below the outputs.
pub const FOLDER: &str = ".endwell-queue";
/// More records than this are no command's.
const MOST: usize = 64;
/// A larger file is none of ours.
const LARGEST: u64 = 1 << 20;

/// Leaves a record of the session that runs here for the next hook.
pub fn put(bench: &Workbench, kind: QueuedKind, change: impl FnOnce(&mut Queued)) -> io::Result<()> {
    let head = bench.objects.commit_named("HEAD").ok();
    let current =
        session::current(bench, head.as_deref(), None).map_err(|why| io::Error::other(why.chain()))?;
    let mut queued = Queued {
        schema_version: SCHEMA_VERSION,
        kind,
        session_id: current.id.to_string(),
        queued_at: crate::clock::now_text(),
        evidence: None,
        packet: None,
    };
    change(&mut queued);
    let mut bytes = serde_json::to_vec_pretty(&queued)?;
    bytes.push(b'\n');
    // one file for each thing that is said, however often
    let run = queued.evidence.as_ref().map(|evidence| (&evidence.tree, &evidence.run.command, &evidence.cwd));
    let digest = sha256_hex(&serde_json::to_vec(&(&queued.session_id, &queued.packet, run))?);
    let name = format!("{}-{}.json", kind.name(), &digest[..16]);
    fs::write_inside(&bench.repo.top, &bench.output(FOLDER).join(name), &bytes)
}

/// Takes over whatever waits. What can't be taken over stands in endwell's own log, and is gone all the same: it would
/// be met at every event.
pub fn take_over(bench: &Workbench) {
    for (path, queued) in waiting(bench) {
        let taken = match &queued {
            Some(queued) => take(bench, queued),
            None => Err(crate::failure::Failure::broken("it is no record of this version")),
        };
        if let Err(failure) = taken {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            diary::note(&bench.env, format!("`{name}` of the queue was not taken over: {}", failure.chain()));
        }
        if let Err(error) = fs::remove(&path) {
            diary::note(&bench.env, format!("a record stays in the queue: {error}"));
        }
    }
}

/// What test runs of exactly this content and command said of themselves, whether or not a hook took them over.
pub fn claims(bench: &Workbench, tree: &str, argv: &[String]) -> Vec<Evidence> {
    let taken = claimed(bench).by_tree(tree).unwrap_or_default();
    let here =
        waiting(bench).into_iter().filter_map(|(_, queued)| queued?.evidence).map(|evidence| *evidence);
    here.chain(taken).filter(|claim| claim.tree == tree && claim.run.command == argv).collect()
}

/// Runs that nobody believes, apart from those that are evidence.
fn claimed(bench: &Workbench) -> EvidenceStore {
    evidence::store(bench).claimed()
}

/// The records that wait, in order of their names; `None` where one can't be read.
fn waiting(bench: &Workbench) -> Vec<(PathBuf, Option<Queued>)> {
    let folder = bench.output(FOLDER);
    // a link out of the repository would have us read, and remove, what is not ours
    if fs::stays_inside(&bench.repo.top, &folder.join("x")).is_err() {
        return Vec::new();
    }
    let mut paths = fs::list(&folder).unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.truncate(MOST);
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

fn read(path: &std::path::Path) -> Option<Queued> {
    fs::stat(path).filter(|meta| meta.is_file() && meta.len() <= LARGEST)?;
    let queued: Queued = serde_json::from_slice(&fs::read_optional(path).ok()??).ok()?;
    (queued.schema_version == SCHEMA_VERSION).then_some(queued)
}

fn take(bench: &Workbench, queued: &Queued) -> crate::failure::Result<()> {
    let id = SessionId::parse(&queued.session_id)
        .map_err(|error| crate::failure::Failure::broken("it names no session").because(error))?;
    match queued.kind {
        QueuedKind::Evidence => {
            let Some(evidence) = &queued.evidence else { return Ok(()) };
            let store = claimed(bench);
            let evidence = safe::evidence((**evidence).clone(), &handoff::redactor(bench)?);
            let kept = store.write(&evidence).and_then(|()| store.prune(Default::default));
            kept.map_err(|error| crate::failure::Failure::broken("it can't be kept").because(error))
        }
        QueuedKind::WrapUp => {
            let store = Store::of(&bench.repo);
            let _held = store.lock().map_err(kept)?;
            if let Some(mut journal) = store.session(&id).filter(|journal| !journal.wrapping_up) {
                journal.wrapping_up = true;
                store.save(&journal).map_err(kept)?;
            }
            Ok(())
        }
        QueuedKind::Handoff => {
            let options = HandoffOptions { session: Some(id.to_string()), ..HandoffOptions::default() };
            if let Outcome::Refused(refused) = handoff::attempt(bench, &options)? {
                return Err(handoff::failure(&refused));
            }
            Ok(())
        }
        QueuedKind::Loaded => {
            let Some(packet) = queued.packet.as_deref().filter(|packet| SessionId::parse(packet).is_ok())
            else {
                return Ok(());
            };
            let store = handoff::store(bench);
            let _held = store.lock().map_err(|error| handoff::kept(error.into()))?;
            let loaded = Loaded { at: queued.queued_at.clone(), session: id.to_string() };
            store.loaded(packet, loaded).map_err(handoff::kept)
        }
    }
}
