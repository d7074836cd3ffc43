//! Where things stand, on one screen: what lies here, what is recorded about it, the packet, the sessions, what is put
//! aside, and the one next step. Looks, with one walk of the work tree at most; writes nothing and judges nothing anew.

use serde::Serialize;

use crate::board;
use crate::failure::Result;
use crate::flow::evidence::{self, LazyContent};
use crate::flow::topic::Topic;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, handoff, park, recover, state};
use crate::fs;
use crate::git::Status;
use crate::githook::mark;
use crate::model::board::Board;
use crate::model::clean::{CheckStatus, CleanReport};
use crate::model::packet::{ContextUse, PacketStatus};
use crate::model::report::{SuiteStanding, TestStanding};
use crate::model::session::{Phase, Session};
use crate::model::state::AgentState;
use crate::model::{CheckId, SCHEMA_VERSION, Severity};
use crate::packet::store::Receipt;
use crate::session::Store;

/// Everything that `endwell status` tells.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    pub schema_version: u32,
    /// This person installed endwell here.
    pub installed: bool,
    pub branch: Option<String>,
    pub head: Option<String>,
    /// Paths that are not as in HEAD, endwell's own left out.
    pub uncommitted: usize,
    /// The last judgement; absent where there was none.
    pub checks: Option<LastCheck>,
    pub tests: Tests,
    /// The active packet of this branch.
    pub packet: Option<PacketState>,
    /// Other packets that nobody ever loaded.
    pub unread_packets: usize,
    /// Sessions that have not ended, and the last one that ended without a packet.
    pub sessions: Vec<SessionState>,
    pub parked: Vec<ParkedState>,
    pub next_action: Option<String>,
    pub next_step: String,
}

/// What the last `endwell check`, hook or handoff found.
#[derive(Clone, Debug, Serialize)]
pub struct LastCheck {
    pub clean: bool,
    pub blocking: usize,
    pub warnings: usize,
    /// The checks that block, or that could not judge.
    pub failing: Vec<CheckId>,
    /// It was about the commit and the branch that are checked out now.
    pub of_this_commit: bool,
}

/// What is recorded about the tests of exactly this content.
#[derive(Clone, Debug, Serialize)]
pub struct Tests {
    /// `green`, `red`, `stale`, `missing`, `none` or `unknown`.
    pub state: &'static str,
    pub detail: String,
}

/// A packet, without its content.
#[derive(Clone, Debug, Serialize)]
pub struct PacketState {
    pub session_id: String,
    pub topic: String,
    pub head: String,
    pub of_this_commit: bool,
    pub written_at: String,
    /// Sessions that loaded it.
    pub loaded_by: Vec<String>,
}

/// A session, alive or dead.
#[derive(Clone, Debug, Serialize)]
pub struct SessionState {
    pub session_id: String,
    pub agent: String,
    pub began: String,
    pub heard_at: String,
    /// `at work`, `at rest`, `dead` or `refused`.
    pub state: &'static str,
    pub wrapping_up: bool,
    pub context: Option<ContextUse>,
    /// Why it has no packet, as its last turn's end found.
    pub refused: Vec<String>,
}

/// One piece of parked work.
#[derive(Clone, Debug, Serialize)]
pub struct ParkedState {
    pub id: String,
    pub note: String,
    pub parked_at: String,
}

/// Looks.
pub fn standing(bench: &Workbench) -> Result<Standing> {
    let status = bench.repo.status().map_err(|error| git_failed("can't look at the work tree", error))?;
    let installed = mark::installed_here(&bench.env, &bench.repo);
    let content = LazyContent::new(bench, &status);
    let tests = tests(&evidence::standing(bench, &status, &content));
    let receipts = handoff::store(bench).receipts();
    let board = board::find_and_read(&bench.repo.top, &bench.config);
    let active = board.board().and_then(Board::active_id);
    // a state that can't be read is the check's to tell
    let state = state::read(bench).map(|read| read.state).unwrap_or_default();
    let topic = Topic::of(&state, active, status.branch.as_deref());
    let packet = packet(bench, &status, &topic);
    let unread = receipts.iter().filter(|receipt| {
        receipt.loaded.is_empty()
            && receipt.status == PacketStatus::Active
            && packet.as_ref().is_none_or(|packet| packet.session_id != receipt.session_id)
    });
    let uncommitted = status.entries.iter().filter(|entry| !bench.config.is_own(&entry.path)).count();
    let mut standing = Standing {
        schema_version: SCHEMA_VERSION,
        installed,
        branch: status.branch.clone(),
        head: status.head.clone(),
        uncommitted,
        checks: last_check(bench, &status),
        tests,
        unread_packets: unread.count(),
        packet,
        sessions: sessions(bench, &receipts),
        parked: parked(bench)?,
        next_action: next_action(bench, state)?,
        next_step: String::new(),
    };
    standing.next_step = next_step(&standing);
    Ok(standing)
}

/// The agent's words, which may have been written by hand.
fn next_action(bench: &Workbench, state: AgentState) -> Result<Option<String>> {
    let said = state.next_action.filter(|text| !text.trim().is_empty());
    let redactor = handoff::redactor(bench)?.keeping_folders();
    Ok(said.map(|text| redactor.text(&text)))
}

fn last_check(bench: &Workbench, status: &Status) -> Option<LastCheck> {
    let bytes = fs::read_optional(&bench.output("clean_report.json")).ok()??;
    let report: CleanReport = serde_json::from_slice(&bytes).ok()?;
    let count = |severity| report.issues.iter().filter(|issue| issue.severity == severity).count();
    let fails = |status| matches!(status, CheckStatus::Block | CheckStatus::CouldNotCheck);
    Some(LastCheck {
        clean: report.clean,
        blocking: count(Severity::Block),
        warnings: count(Severity::Warn),
        failing: report.checks.iter().filter(|one| fails(one.status)).map(|one| one.check).collect(),
        of_this_commit: report.head == status.head,
    })
}

fn tests(standing: &TestStanding) -> Tests {
    let (state, detail) = match standing {
        TestStanding::Green(evidence) => ("green", shell_words::join(&evidence.run.command)),
        TestStanding::Red(evidence) if evidence.run.failing.is_empty() => {
            ("red", shell_words::join(&evidence.run.command))
        }
        TestStanding::Red(evidence) => ("red", evidence.run.failing.join(", ")),
        TestStanding::Stale { changed } => ("stale", format!("changed since: {}", changed.join(", "))),
        TestStanding::Missing { command, .. } => ("missing", command.clone()),
        TestStanding::NoCommand => ("none", "no test command is configured or detected".to_owned()),
        TestStanding::Below(below) => ("none", format!("only below: {}", below.folders.join(", "))),
        TestStanding::Suites(suites) => {
            let of = |suite: &SuiteStanding| (tests(&suite.standing).state, suite.name.clone());
            let suites: Vec<(&'static str, String)> = suites.iter().map(of).collect();
            let worst = ["unknown", "red", "missing", "stale", "none"];
            let state = worst.into_iter().find(|state| suites.iter().any(|(one, _)| one == state));
            let each: Vec<String> = suites.iter().map(|(state, name)| format!("{name} {state}")).collect();
            (state.unwrap_or("green"), each.join(", "))
        }
        TestStanding::Unclear { why, .. } | TestStanding::Unbound { why } => ("unknown", why.clone()),
    };
    Tests { state, detail }
}

/// The active packet of this branch: the topic's own, else the newest one.
fn packet(bench: &Workbench, status: &Status, topic: &Topic) -> Option<PacketState> {
    let mut active = handoff::store(bench).active(status.branch.as_deref());
    let receipt = match active.iter().position(|receipt| receipt.topic == topic.name) {
        Some(place) => active.swap_remove(place),
        None => active.pop()?,
    };
    Some(PacketState {
        of_this_commit: status.head.as_ref() == Some(&receipt.head_commit),
        session_id: receipt.session_id,
        topic: receipt.topic,
        head: receipt.head_commit,
        written_at: receipt.written_at,
        loaded_by: receipt.loaded.into_iter().map(|loaded| loaded.session).collect(),
    })
}

fn sessions(bench: &Workbench, receipts: &[Receipt]) -> Vec<SessionState> {
    let all = Store::of(&bench.repo).sessions();
    let has_packet =
        |session: &Session| receipts.iter().any(|receipt| receipt.session_id == session.id.as_str());
    let last_ended = all.iter().rfind(|session| session.phase == Phase::Ended);
    let refused =
        last_ended.filter(|session| session.refusal.is_some() && !has_packet(session)).map(|one| &one.id);
    all.iter()
        .filter(|session| session.phase != Phase::Ended || Some(&session.id) == refused)
        .filter(|session| session.agent != "manual")
        .map(session_state)
        .collect()
}

fn session_state(session: &Session) -> SessionState {
    let state = match session.phase {
        Phase::Ended => "refused",
        _ if recover::is_gone(session) => "dead",
        Phase::Busy => "at work",
        Phase::Idle => "at rest",
    };
    SessionState {
        session_id: session.id.to_string(),
        agent: session.agent.clone(),
        began: session.started_at.clone(),
        heard_at: session.heard_at.clone(),
        state,
        wrapping_up: session.wrapping_up,
        context: session.context.clone(),
        refused: session.refusal.as_ref().map(|refusal| refusal.reasons.clone()).unwrap_or_default(),
    }
}

fn parked(bench: &Workbench) -> Result<Vec<ParkedState>> {
    let records = park::here(bench)?.into_iter().map(|parked| parked.record);
    Ok(records
        .map(|record| ParkedState { id: record.id, note: record.note, parked_at: record.parked_at })
        .collect())
}

/// The one thing to do.
fn next_step(standing: &Standing) -> String {
    let text = if !standing.installed {
        "Run `endwell install`: nothing fires by itself here yet."
    } else if standing.head.is_none() {
        "Make the first commit."
    } else if standing.uncommitted > 0 {
        "Commit what is not committed, or put it aside (`endwell park \"what and why\"`)."
    } else if matches!(standing.tests.state, "missing" | "stale") {
        "Run `endwell verify`."
    } else if standing.tests.state == "red" {
        "Mend the tests, or name each failure as a risk (`endwell note risk --test NAME \"…\"`), then run `endwell verify`."
    } else if standing.checks.as_ref().is_none_or(|last| !last.clean || !last.of_this_commit) {
        "Run `endwell check`: it says what still blocks."
    } else if standing.next_action.is_none() {
        "Say the first concrete step for the next session: `endwell note next \"…\"`."
    } else if standing.packet.as_ref().is_none_or(|packet| !packet.of_this_commit) {
        "Run `endwell handoff`, or let the agent's session end."
    } else {
        "Nothing: the next session can begin."
    };
    text.to_owned()
}
