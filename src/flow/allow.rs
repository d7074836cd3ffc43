//! A person's exception for one push that the gate refused. It is bound to the commits and to the findings that the
//! person was shown, is used up by the push that it lets through, and never counts for a packet.

use std::path::PathBuf;

use crate::agent;
use crate::config;
use crate::failure::{Failure, Result};
use crate::flow::{Workbench, handoff, session};
use crate::git::push::PushedRef;
use crate::model::overrides::{KIND, OverriddenIssue, Override, PARKED, RefusedPush, RefusedRef};
use crate::model::session::Session;
use crate::model::{Issue, SCHEMA_VERSION};
use crate::process::owner;
use crate::session::Store;

/// Records an exception for the push that was refused last.
pub fn allow(bench: &Workbench, reason: &str) -> Result<Override> {
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Failure::usage("an exception needs a reason")
            .hint("Say why it may go through: `endwell allow --reason \"why\"`."));
    }
    let agent = speaker(bench)?;
    let refused = refused(bench)?;
    if refused.issues.iter().any(|issue| issue.code == PARKED) {
        return Err(Failure::blocked("the push brings parked work, which is never pushed").hint(
            "Push branches by name, without `--mirror`, or bring the work back first: `endwell unpark`.",
        ));
    }
    let redactor = handoff::redactor(bench)?;
    let exception = Override {
        schema_version: SCHEMA_VERSION,
        kind: KIND.to_owned(),
        id: crate::model::issue::hex(&crate::fs::random().map_err(unkept)?),
        at: crate::clock::now_text(),
        by: name(bench),
        agent,
        reason: redactor.text(reason),
        remote: redactor.text(&refused.remote),
        refs: refused.refs,
        issues: refused.issues,
    };
    let mut line = serde_json::to_vec(&exception).map_err(|error| unkept(error.into()))?;
    line.push(b'\n');
    let log = bench.output("verification").join("overrides.jsonl");
    // on record first: an exception that nobody can read about later is none
    crate::fs::stays_inside(&bench.repo.top, &log).map_err(unkept)?;
    crate::fs::append(&log, &line).map_err(unkept)?;
    crate::fs::write_atomic(&granted_path(bench), &line).map_err(unkept)?;
    Ok(exception)
}

fn unkept(error: std::io::Error) -> Failure {
    Failure::broken("can't record the exception")
        .because(error)
        .hint("Make the outputs folder and the git folder writable, then run it again.")
}

/// The agent in whose session this is said, where it may; `None` for a person at a terminal.
fn speaker(bench: &Workbench) -> Result<Option<String>> {
    match agent_around(bench) {
        Some(agent) if agents_may(bench)? => Ok(Some(agent)),
        Some(agent) => Err(Failure::blocked(format!(
            "this is a session of `{agent}`, and an exception is a person's word"
        ))
        .hint(
            "Mend what the push was refused for, or ask the person to run the command in a terminal of their own.",
        )),
        None if bench.ui.has_person() => Ok(None),
        None => Err(Failure::blocked("an exception is a person's word, given at a terminal")
            .hint("Run the command in a terminal, not in a script or behind a pipe.")),
    }
}

/// The agent whose session this process runs in: named by the environment, or a live session's owner among the
/// ancestors.
pub(super) fn agent_around(bench: &Workbench) -> Option<String> {
    let open = || Store::everywhere(&bench.repo).into_iter().flat_map(|store| store.open_sessions());
    let ours = |session: &Session| session.owner.as_ref().is_some_and(owner::is_ancestor);
    let named = agent::around(&bench.env).map(str::to_owned);
    named.or_else(|| open().find(ours).map(|session| session.agent))
}

/// `allow.agents`, now and in the settings that were committed when the session began: one that an agent has just set
/// does not count.
fn agents_may(bench: &Workbench) -> Result<bool> {
    if !bench.config.allow.agents {
        return Ok(false);
    }
    let Some(baseline) = session::current(bench, None, None)?.baseline else { return Ok(false) };
    let committed = baseline.head.as_deref().and_then(|head| {
        let entry = bench.objects.entry_at(head, config::FILE.as_bytes()).ok()??;
        bench.objects.blob(&entry.id).ok()
    });
    let text = committed.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text
        .and_then(|text| config::parse(config::FILE.as_ref(), &text).ok())
        .is_some_and(|loaded| loaded.config.allow.agents))
}

fn name(bench: &Workbench) -> String {
    let known = bench.repo.config("user.name").ok().flatten().filter(|name| !name.trim().is_empty());
    let name = known.or_else(|| bench.env.text("USER").map(str::to_owned));
    crate::ui::plain(name.as_deref().unwrap_or("somebody without a name"))
}

fn refused_path(bench: &Workbench) -> PathBuf {
    bench.repo.shared_dir().join("refused.json")
}

/// The one place that the gate believes; `overrides.jsonl` lies in the work tree and is for readers.
fn granted_path(bench: &Workbench) -> PathBuf {
    bench.repo.shared_dir().join("allowed.json")
}

fn refused(bench: &Workbench) -> Result<RefusedPush> {
    let bytes = crate::fs::read_optional(&refused_path(bench)).ok().flatten().unwrap_or_default();
    let known = serde_json::from_slice::<RefusedPush>(&bytes).ok();
    known.filter(|refused| refused.schema_version == SCHEMA_VERSION).ok_or_else(|| {
        Failure::blocked("no push was refused here since the last one that went through")
            .hint("Push first (`git push`): an exception is for the findings that the gate then shows.")
    })
}

/// Keeps what a push was refused for, so that an exception can be bound to it. Losing it only costs another push.
pub(super) fn remember(bench: &Workbench, remote: &str, updates: &[PushedRef], issues: &[Issue]) {
    let refused = RefusedPush {
        schema_version: SCHEMA_VERSION,
        at: crate::clock::now_text(),
        remote: remote.to_owned(),
        refs: updates
            .iter()
            .filter_map(|pushed| {
                Some(RefusedRef { name: pushed.remote_ref.clone(), commit: pushed.local_id.clone()? })
            })
            .collect(),
        issues: issues.iter().map(OverriddenIssue::of).collect(),
    };
    if let Ok(bytes) = serde_json::to_vec(&refused) {
        crate::fs::write_atomic(&refused_path(bench), &bytes).ok();
    }
}

/// A push went through: there is nothing to make an exception for any more.
pub(super) fn forget(bench: &Workbench) {
    crate::fs::remove(&refused_path(bench)).ok();
}

/// The exception that lets these findings through, used up by being asked for.
pub(super) fn claim(bench: &Workbench, updates: &[PushedRef], issues: &[Issue]) -> Option<Override> {
    let path = granted_path(bench);
    let bytes = crate::fs::read_optional(&path).ok().flatten()?;
    let exception: Override = serde_json::from_slice(&bytes).ok()?;
    let commits = updates.iter().filter_map(|pushed| pushed.local_id.as_deref());
    if !exception.covers(commits, issues) {
        return None;
    }
    // of two pushes at once, one gets it
    let used = path.with_extension("used");
    crate::fs::rename(&path, &used).ok()?;
    crate::fs::remove(&used).ok();
    Some(exception)
}
