//! Sessions and packets over time: what the journals of this work tree and the packets of the repository say.

use serde::Serialize;

use crate::failure::Result;
use crate::flow::packets::{self, Whereabouts};
use crate::flow::{Workbench, handoff};
use crate::model::packet::PacketStatus;
use crate::model::session::{Phase, Session};
use crate::packet::store::Receipt;
use crate::session::Store;

/// One session, with its packet where it left one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    pub session_id: String,
    pub agent: String,
    /// RFC 3339.
    pub began: String,
    /// `active`, `superseded` or `archived` for a packet; `refused`, `open` or `ended` for a session without one.
    pub state: String,
    pub branch: Option<String>,
    pub topic: Option<String>,
    pub head: Option<String>,
    /// How often its packet was loaded.
    pub loaded: usize,
    /// Why there is no packet.
    pub refused: Vec<String>,
}

/// All of them, newest first.
pub fn lines(bench: &Workbench) -> Result<Vec<Line>> {
    packets::tend(bench, &Whereabouts::of(bench)?)?;
    let receipts = handoff::store(bench).receipts();
    let without =
        |session: &Session| !receipts.iter().any(|receipt| receipt.session_id == session.id.as_str());
    let sessions = Store::of(&bench.repo).sessions();
    let mut lines: Vec<Line> = sessions.iter().filter(|session| without(session)).map(of_session).collect();
    lines.extend(receipts.iter().map(of_receipt));
    let at = |line: &Line| line.began.parse::<jiff::Timestamp>().ok();
    lines.sort_by(|one, two| (at(two), &two.session_id).cmp(&(at(one), &one.session_id)));
    Ok(lines)
}

fn of_receipt(receipt: &Receipt) -> Line {
    let state = match receipt.status {
        PacketStatus::Active => "active",
        PacketStatus::Superseded => "superseded",
        PacketStatus::Archived => "archived",
    };
    Line {
        session_id: receipt.session_id.clone(),
        agent: receipt.agent.clone(),
        began: receipt.began.clone(),
        state: state.to_owned(),
        branch: receipt.branch.clone(),
        topic: Some(receipt.topic.clone()),
        head: Some(receipt.head_commit.clone()),
        loaded: receipt.loaded.len(),
        refused: Vec::new(),
    }
}

fn of_session(session: &Session) -> Line {
    let state = match (&session.refusal, session.phase) {
        (Some(_), _) => "refused",
        (None, Phase::Ended) => "ended",
        (None, _) => "open",
    };
    Line {
        session_id: session.id.to_string(),
        agent: session.agent.clone(),
        began: session.started_at.clone(),
        state: state.to_owned(),
        branch: session.baseline.branch.clone(),
        topic: None,
        head: session.baseline.head.clone(),
        loaded: 0,
        refused: session.refusal.as_ref().map(|refusal| refusal.reasons.clone()).unwrap_or_default(),
    }
}
