//! Which session a command belongs to: the one that is named, the agent's whose environment it runs in, the only one
//! that is open here, else the person's own.

use crate::config::{Config, gates};
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::workbench::git_failed;
use crate::git::Refs;
use crate::model::SessionId;
use crate::model::session::{Baseline, Session};
use crate::session::{Store, baseline};

/// The session that is judged.
#[derive(Clone, Debug)]
pub struct CurrentSession {
    pub id: SessionId,
    /// The client's name, or `manual`.
    pub agent: String,
    /// Absent where nothing was installed and no session was begun.
    pub baseline: Option<Baseline>,
    /// The journal, where the session has one.
    pub journal: Option<Session>,
}

impl CurrentSession {
    /// Whether an agent's session is judged, and not a person's work since the installation.
    pub fn is_agents(&self) -> bool {
        self.journal.as_ref().is_some_and(|session| session.agent != "manual")
    }

    /// The keys of settings that ask for less than they did at the baseline.
    pub fn loosened(&self, config: &Config) -> Vec<&'static str> {
        self.baseline.as_ref().map(|baseline| loosened(baseline, config)).unwrap_or_default()
    }

    /// The settings that count: in an agent's session, what was loosened since its start is as it was. A person's own
    /// change counts at once, and is told.
    pub fn in_force(&self, config: &Config) -> Config {
        match self.baseline.as_ref().filter(|_| self.is_agents()) {
            Some(baseline) => in_force(baseline, config),
            None => config.clone(),
        }
    }
}

fn settings(baseline: &Baseline) -> Option<Config> {
    Config::of_value(baseline.settings.as_ref()?)
}

/// The keys of settings that ask for less than they did at a baseline.
pub fn loosened(baseline: &Baseline, config: &Config) -> Vec<&'static str> {
    settings(baseline).map(|was| gates::loosened(&was, config)).unwrap_or_default()
}

/// The settings with what was loosened since an agent's baseline as it was.
pub fn in_force(baseline: &Baseline, config: &Config) -> Config {
    settings(baseline).map_or_else(|| config.clone(), |was| gates::put_back(&was, config))
}

/// Variables by which agents name their session to the commands that they run.
const SESSION_VARIABLES: [(&str, &str); 6] = [
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SESSION_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("HERMES_SESSION_ID", "hermes"),
    ("ENDWELL_SESSION_ID", "manual"),
];

/// Finds the session. `head` is HEAD's commit, `explicit` an id from the command line.
pub fn current(bench: &Workbench, head: Option<&str>, explicit: Option<&str>) -> Result<CurrentSession> {
    let store = Store::of(&bench.repo);
    if let Some(text) = explicit {
        let id = SessionId::parse(text).map_err(|error| {
            Failure::usage("that is no session").because(error).hint("`endwell log` lists the sessions.")
        })?;
        return Ok(known(&store, id, "manual"));
    }
    for (variable, agent) in SESSION_VARIABLES {
        if let Some(id) = bench.env.text(variable).and_then(|text| SessionId::parse(text).ok()) {
            return Ok(known(&store, id, agent));
        }
    }
    let mut open = store.open_sessions();
    if open.len() == 1
        && let Some(session) = open.pop()
    {
        return Ok(CurrentSession {
            id: session.id.clone(),
            agent: session.agent.clone(),
            baseline: Some(session.baseline.clone()),
            journal: Some(session),
        });
    }
    Ok(known(&store, SessionId::manual(head), "manual"))
}

fn known(store: &Store, id: SessionId, agent: &str) -> CurrentSession {
    let journal = store.session(&id);
    let baseline =
        journal.as_ref().map(|session| session.baseline.clone()).or_else(|| store.install_baseline());
    let agent = journal.as_ref().map_or_else(|| agent.to_owned(), |session| session.agent.clone());
    CurrentSession { id, agent, baseline, journal }
}

/// Takes a baseline of what is there now.
pub fn take_baseline(bench: &Workbench) -> Result<Baseline> {
    let status = bench.repo.status().map_err(|error| git_failed("can't look at the work tree", error))?;
    let refs =
        Refs::read(&bench.repo, &bench.objects).map_err(|error| git_failed("can't read the refs", error))?;
    let mut status = status;
    status.entries.retain(|entry| !bench.config.is_own(&entry.path));
    let board = crate::flow::board::baseline(bench);
    let taken = baseline::take(&bench.repo, &refs, &status, board, crate::clock::now_text())
        .map_err(|error| git_failed("can't take a baseline", error))?;
    Ok(Baseline { settings: bench.config.to_value(), ..taken })
}

/// Takes the installation's baseline and keeps it; one that is there already stays.
pub fn take_install_baseline(bench: &Workbench) -> Result<()> {
    let store = Store::of(&bench.repo);
    if store.install_baseline().is_some() {
        return Ok(());
    }
    store.save_install_baseline(&take_baseline(bench)?).map_err(kept)
}

/// A store's failure as a person sees it.
pub fn kept(error: crate::session::StoreError) -> Failure {
    Failure::broken("can't keep the session's records")
        .because(error)
        .hint("Make the git folder writable, or free some space, then try again.")
}
