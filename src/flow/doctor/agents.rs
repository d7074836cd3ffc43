//! The agents' hooks: complete, trusted, heard, and able to find endwell where a client from the desktop starts them.

use std::path::{Path, PathBuf};

use super::{note, wrong};
use crate::agent::trust::{Trust, standing};
use crate::agent::{self, Agent, settings};
use crate::flow::Workbench;
use crate::fs;
use crate::model::doctor::{AgentHealth, Symptom, TrustWord};
use crate::model::plan::Change;
use crate::session::Store;

/// Where programs look that were not started from a shell.
const BARE_PATH: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/bin", "/opt/homebrew/bin"];

/// Looks at every client that is in use or has hooks here.
pub(super) fn examine(bench: &Workbench, findings: &mut Vec<Symptom>) -> Vec<AgentHealth> {
    let mut all = Vec::new();
    for agent in agent::ALL {
        let files = calling(bench, agent, findings);
        if files.is_empty() {
            if agent.is_used(&bench.env, &bench.repo.top) {
                let message = format!("{} seems to be in use, and has no hooks of endwell here.", agent.name);
                let fix = format!("Run `endwell install --agent {}` if it is to be looked after.", agent.id);
                findings.push(note(agent.id, "agent-without-hooks", message, fix));
                all.push(health(bench, agent, &files, TrustWord::Unknown));
            }
            continue;
        }
        complete(bench, agent, &files, findings);
        if let Some(look) = agent.obstacle
            && let Some(obstacle) = look(&bench.repo.top).unwrap_or_else(Some)
        {
            findings.push(wrong(
                agent.id,
                "agent-obstacle",
                obstacle,
                format!("Mend {}'s settings.", agent.name),
            ));
        }
        let trust = trust(bench, agent, &files[0], findings);
        all.push(health(bench, agent, &files, trust));
    }
    if all.iter().any(|agent| !agent.files.is_empty()) {
        on_path(bench, findings);
    }
    all
}

/// The settings files that call endwell.
fn calling(bench: &Workbench, agent: &Agent, findings: &mut Vec<Symptom>) -> Vec<PathBuf> {
    let project = [agent.own_settings, agent.shared_settings].into_iter().flatten();
    let mut places: Vec<PathBuf> = project.map(|place| bench.repo.top.join(place)).collect();
    places.extend(agent.user_settings(&bench.env));
    places.dedup();
    let mut files = Vec::new();
    for path in places {
        match fs::read_optional(&path) {
            Ok(bytes) if bytes.as_deref().is_some_and(|bytes| !events(agent, &path, bytes).is_empty()) => {
                files.push(path);
            }
            Ok(_) => {}
            Err(error) => findings.push(wrong(
                agent.id,
                "agent-settings",
                format!("`{}` can't be read: {error}", named(bench, &path)),
                format!("Mend `{}`, then run `endwell install --agent {}`.", named(bench, &path), agent.id),
            )),
        }
    }
    files
}

/// The events for which a file calls endwell; a plugin of ours stands for all.
fn events(agent: &Agent, path: &Path, bytes: &[u8]) -> Vec<String> {
    match (agent.change)(false) {
        Change::Hooks(_) => settings::covered(path, bytes, agent.id),
        Change::Whole(whole) => {
            let is_ours = whole.mark.is_some_and(|mark| agent::edit::has_mark(bytes, mark));
            is_ours.then(|| "all".to_owned()).into_iter().collect()
        }
        Change::Block { .. } => Vec::new(),
    }
}

fn complete(bench: &Workbench, agent: &Agent, files: &[PathBuf], findings: &mut Vec<Symptom>) {
    let read = |path: &PathBuf| fs::read_optional(path).ok().flatten().unwrap_or_default();
    let fix = format!("Run `endwell install --agent {}`.", agent.id);
    let is_old = match (agent.change)(false) {
        Change::Hooks(hooks) => {
            let there: Vec<String> = files.iter().flat_map(|path| events(agent, path, &read(path))).collect();
            let lacks: Vec<&str> = hooks
                .entries
                .iter()
                .map(|entry| entry.event)
                .filter(|event| !there.iter().any(|known| known == event))
                .collect();
            if !lacks.is_empty() {
                let message =
                    format!("{}'s settings do not call endwell at `{}`.", agent.name, lacks.join("`, `"));
                findings.push(wrong(agent.id, "agent-incomplete", message, fix));
            }
            return;
        }
        Change::Whole(whole) => files.iter().any(|path| read(path) != whole.bytes),
        Change::Block { .. } => false,
    };
    if is_old {
        let shown = files.iter().map(|path| named(bench, path)).collect::<Vec<_>>().join("`, `");
        findings.push(wrong(
            agent.id,
            "agent-old",
            format!("`{shown}` is of another version of endwell."),
            fix,
        ));
    }
}

fn trust(bench: &Workbench, agent: &Agent, settings: &Path, findings: &mut Vec<Symptom>) -> TrustWord {
    // Codex keeps to the main work tree's file wherever it is started
    let main = bench.repo.common_dir.parent().filter(|_| bench.repo.common_dir.ends_with(".git"));
    let top = main.unwrap_or(&bench.repo.top);
    let settings = match settings.strip_prefix(&bench.repo.top) {
        Ok(below) => top.join(below),
        Err(_) => settings.to_owned(),
    };
    match standing(agent, &bench.env, top, &settings) {
        Trust::NotNeeded => TrustWord::NotNeeded,
        Trust::Trusted => TrustWord::Trusted,
        Trust::Missing { why, fix, silent } => {
            let symptom = if silent { wrong } else { note };
            findings.push(symptom(agent.id, "agent-untrusted", format!("{why}."), fix.to_owned()));
            TrustWord::Untrusted
        }
        Trust::Unknown(why) => {
            let fix = format!("Start {} here once, and see whether it asks for trust.", agent.name);
            findings.push(note(
                agent.id,
                "agent-trust-unknown",
                format!("Whether {} trusts these hooks can't be told: {why}.", agent.name),
                fix,
            ));
            TrustWord::Unknown
        }
    }
}

fn health(bench: &Workbench, agent: &Agent, files: &[PathBuf], trust: TrustWord) -> AgentHealth {
    let sessions = Store::everywhere(&bench.repo).into_iter().flat_map(|store| store.sessions());
    let heard = sessions.filter(|session| session.agent == agent.id).map(|session| session.heard_at);
    AgentHealth {
        id: agent.id.to_owned(),
        name: agent.name.to_owned(),
        files: files.iter().map(|path| named(bench, path)).collect(),
        trust,
        last_event: heard.filter(|at| !at.is_empty()).max(),
    }
}

/// Agents' hooks look for `endwell` on PATH.
fn on_path(bench: &Workbench, findings: &mut Vec<Symptom>) {
    let Some(found) = bench.env.which("endwell") else {
        findings.push(wrong(
            "agents",
            "not-on-path",
            "`endwell` is not on PATH, where the agents' hooks look for it.",
            "Put its folder on PATH in the shell's start files.",
        ));
        return;
    };
    let real = |path: &Path| path.canonicalize().ok();
    if bench.env.exe().is_some_and(|exe| real(exe) != real(&found)) {
        let message = format!("The `endwell` on PATH is `{}`, not this program.", found.display());
        findings.push(note("agents", "another-program", message, "Keep one of them."));
    }
    let folder = found.parent().unwrap_or(&found);
    if !BARE_PATH.iter().any(|bare| Path::new(bare) == folder) {
        findings.push(note(
            "agents",
            "not-on-desktop-path",
            format!("Agents that are started from the desktop may not look into `{}`, so their hooks find no endwell.", folder.display()),
            format!("Run `ln -s {} /usr/local/bin/endwell`.", shell_words::quote(&found.display().to_string())),
        ));
    }
}

fn named(bench: &Workbench, path: &Path) -> String {
    path.strip_prefix(&bench.repo.top).unwrap_or(path).display().to_string()
}
