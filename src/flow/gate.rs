//! The turn-end gate: what would refuse the packet, whether the agent may be stopped for it, and in which words. It has
//! its own budget, so that no client is ever caught in a loop.

use std::fmt::Write as _;

use crate::config::TurnEnd;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::check::Judged;
use crate::flow::handoff::{self, HandoffOptions, Outcome, Reason, Refused};
use crate::model::issue::{COULD_NOT_CHECK, sha256_hex};
use crate::model::packet::ContextUse;
use crate::model::session::{Ending, Refusal, Session};
use crate::model::{CheckId, Issue, SessionId};

/// At most this many blocks in a session, whatever the client's own cap.
const MAX_BLOCKS: usize = 3;
/// At most this many characters reach the agent.
const MAX_TEXT: usize = 1_900;
/// Said where the rest is cut off.
const MORE: &str = "- … more: run `endwell check`.\n";
/// At most so many findings of one kind are spelled out, with so many characters each; where that is too much, fewer.
const SHOWN: [(usize, usize); 4] = [(4, 300), (3, 200), (2, 140), (1, 100)];
/// Reasons that are no finding: the packet itself lacks something.
const OF_THE_PACKET: [&str; 4] = ["no-verdict", "no-review", "no-next-action", "no-commit"];

/// Said before a compaction.
pub const KEEP_IN_SUMMARY: &str = "Keep in the summary: the task at hand and its id, what was tried and failed and why, \
    tests that are red by name, what is not committed, and the next concrete step (note it with `endwell note next \"…\"`).";

/// Said once, when the context is filling.
pub fn filling(context: &ContextUse) -> String {
    let window = context.window.unwrap_or(0).max(1);
    let percent = context.tokens.saturating_mul(100) / window;
    let assumed = if context.window_assumed { ", which is assumed" } else { "" };
    format!(
        "The context is {percent} % full ({} of {window} tokens{assumed}): this is the time to wrap up. Finish the step at \
         hand, commit it or put it aside (`endwell park \"what and why\"`), run `endwell verify`, and note what comes \
         next: `endwell note next \"…\"`.",
        context.tokens
    )
}

/// A session's standing: what was judged, and what became of its packet.
pub struct Standing {
    pub judged: Judged,
    pub outcome: Outcome,
}

impl Standing {
    /// What speaks against a packet; `None` where it is written, or was already.
    pub const fn refused(&self) -> Option<&Refused> {
        match &self.outcome {
            Outcome::Refused(refused) => Some(refused),
            Outcome::Written(_) | Outcome::Unchanged(_) | Outcome::Queued => None,
        }
    }
}

/// Judges the session freshly, and writes its packet if nothing speaks against it. `ending` is absent while the session
/// goes on.
pub fn standing(bench: &Workbench, id: &SessionId, ending: Option<Ending>) -> Result<Standing> {
    // one that died does not take over from a later session's packet
    let late = matches!(ending, Some(Ending::RecoveredAtRest | Ending::RecoveredMidTurn));
    let options = HandoffOptions { session: Some(id.to_string()), late, ending };
    let (judged, outcome) = handoff::attempt_seen(bench, &options)?;
    Ok(Standing { judged, outcome })
}

/// What an agent can be asked to mend. One that can't commit is not asked for what needs a commit.
pub fn askable(refused: &Refused, can_commit: bool) -> Refused {
    if can_commit {
        return refused.clone();
    }
    let needs_git = |issue: &Issue| {
        matches!(issue.check, CheckId::WorkingTree | CheckId::Branch) && issue.code != COULD_NOT_CHECK
    };
    let mut beyond: Vec<&str> =
        refused.issues.iter().filter(|issue| needs_git(issue)).map(|issue| issue.code.as_str()).collect();
    if !beyond.is_empty() {
        // a verdict is about a commit
        beyond.push("no-verdict");
    }
    beyond.push("no-commit");
    Refused {
        session: refused.session.clone(),
        reasons: refused.reasons.iter().filter(|one| !beyond.contains(&one.code.as_str())).cloned().collect(),
        could_not_judge: refused.could_not_judge,
        issues: refused.issues.iter().filter(|issue| !needs_git(issue)).cloned().collect(),
    }
}

/// Whether this turn's end is blocked, and if so counts it: once for each distinct set of reasons.
pub fn may_block(session: &mut Session, turn_end: TurnEnd, refused: &Refused) -> bool {
    let wanted = match turn_end {
        TurnEnd::Never => false,
        TurnEnd::Always => true,
        TurnEnd::WrappingUp => session.wrapping_up,
    };
    let set = digest(refused);
    if !wanted || session.blocked_for.len() >= MAX_BLOCKS || session.blocked_for.contains(&set) {
        return false;
    }
    session.blocked_for.push(set);
    true
}

/// The same whatever the order, the lines and the counts of the findings.
fn digest(refused: &Refused) -> String {
    let reasons = refused.reasons.iter().map(|reason| reason.code.as_str());
    let issues = refused.issues.iter().map(|issue| issue.fingerprint.as_str());
    let mut keys: Vec<&str> = reasons.chain(issues).collect();
    keys.sort_unstable();
    keys.dedup();
    sha256_hex(keys.join("\n").as_bytes())[..16].to_owned()
}

/// The reasons as the agent reads them: each with what mends it, behind a word on the context where there is one. Whatever
/// the room, what the packet itself lacks is named.
pub fn text_for_agent(reasons: &[Reason], hint: Option<&str>) -> String {
    let mut start = hint.map(|hint| format!("{hint}\n\n")).unwrap_or_default();
    start.push_str(
        "This session can't be handed over yet. Mend the following, then end the turn again. If something can't be \
         mended, say so to the person and end the turn.\n",
    );
    let (own, found): (Vec<_>, Vec<_>) =
        kinds(reasons).into_iter().partition(|kind| OF_THE_PACKET.contains(&kind[0].code.as_str()));
    let mut end = own.iter().map(|kind| of_kind(kind, SHOWN[0])).collect::<String>();
    end.push_str("`endwell check` lists everything.");
    let room = MAX_TEXT.saturating_sub(end.chars().count());
    // fewer of each kind rather than not all kinds
    let whole = |shown| start.clone() + &found.iter().map(|kind| of_kind(kind, shown)).collect::<String>();
    let fits = SHOWN.iter().map(|shown| whole(*shown)).find(|text| text.chars().count() <= room);
    fits.unwrap_or_else(|| cut(&whole(SHOWN[SHOWN.len() - 1]), room)) + &end
}

fn of_kind(kind: &[&Reason], (count, length): (usize, usize)) -> String {
    let mut text = String::new();
    for reason in kind.iter().take(count) {
        // writing to a String can't fail
        writeln!(text, "- {} ({})", shortened(&reason.text, length), reason.code).ok();
    }
    if kind.len() > count {
        writeln!(text, "- … and {} more of that kind", kind.len() - count).ok();
    }
    writeln!(text, "  Fix: {}", shortened(&kind[0].mend, length.max(200))).ok();
    text
}

/// A long sentence loses its middle: how it begins and ends says more.
fn shortened(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return text.to_owned();
    }
    let start: String = text.chars().take(length / 3).collect();
    let end: String = text.chars().skip(count - (length - length / 3)).collect();
    format!("{start}…{end}")
}

/// Reasons of one code, in order of their first appearance.
fn kinds(reasons: &[Reason]) -> Vec<Vec<&Reason>> {
    let mut kinds: Vec<Vec<&Reason>> = Vec::new();
    for reason in reasons {
        match kinds.iter_mut().find(|kind| kind[0].code == reason.code) {
            Some(kind) => kind.push(reason),
            None => kinds.push(vec![reason]),
        }
    }
    kinds
}

/// What the session before left undone, for the next one.
pub fn text_for_next(session: &Session, refusal: &Refusal) -> String {
    let mut text = format!(
        "The last session here ({}, {}) ended without a handoff packet. What spoke against it then (reference, not an order; \
         `endwell check` says what still holds):\n",
        session.agent, session.id
    );
    for reason in &refusal.reasons {
        // writing to a String can't fail
        writeln!(text, "- {}", shortened(reason, SHOWN[0].1)).ok();
    }
    cut(&text, MAX_TEXT)
}

/// At a line's end, so that nothing is cut in the middle.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut room = room.saturating_sub(MORE.chars().count());
    for line in text.lines() {
        let length = line.chars().count() + 1;
        if length > room {
            break;
        }
        room -= length;
        out.push_str(line);
        out.push('\n');
    }
    out + MORE
}

/// What another session of the same work tree has to be told of, where there is one.
pub fn others_here(others: &[Session]) -> Option<String> {
    let names: Vec<String> =
        others.iter().map(|other| format!("{} ({})", other.id, other.agent)).take(SHOWN[0].0).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Another session is open in this work tree: {}. Its changes and commits show up here as well; what lay here \
             before this session is not yours to mend.",
            names.join(", ")
        )
    })
}

/// HEAD is not where the session left it.
pub fn head_moved(from: &str, to: &str) -> String {
    let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    format!(
        "HEAD moved while this session was at rest, from {} to {}: somebody else committed or switched here. Look at it \
         before you go on: `git log --oneline {}..{}`.",
        short(from),
        short(to),
        short(from),
        short(to)
    )
}
