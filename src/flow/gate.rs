//! The turn-end gate: what would refuse the packet, whether the agent may be stopped for it, and in which words. It has
//! its own budget, so that no client is ever caught in a loop.

use std::fmt::Write as _;

use crate::config::TurnEnd;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::handoff::{self, HandoffOptions, Outcome, Reason, Refused};
use crate::model::SessionId;
use crate::model::issue::sha256_hex;
use crate::model::packet::ContextUse;
use crate::model::session::{Refusal, Session};

/// At most this many blocks in a session, whatever the client's own cap.
const MAX_BLOCKS: usize = 3;
/// At most this many characters reach the agent.
const MAX_TEXT: usize = 1_900;
/// At most this many findings of one kind are spelled out.
const SHOWN: usize = 4;

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

/// Whether the session could be handed over as it is.
pub enum Standing {
    /// The packet is written, or was already.
    HandedOver,
    /// What speaks against it.
    Refused(Box<Refused>),
}

/// Judges the session freshly, and writes its packet if nothing speaks against it.
pub fn standing(bench: &Workbench, id: &SessionId) -> Result<Standing> {
    attempt(bench, &HandoffOptions { session: Some(id.to_string()), ..HandoffOptions::default() })
}

/// As [`standing`], for a session that died: its packet does not take over from a later session's.
pub fn standing_late(bench: &Workbench, id: &SessionId) -> Result<Standing> {
    attempt(bench, &HandoffOptions { session: Some(id.to_string()), late: true })
}

fn attempt(bench: &Workbench, options: &HandoffOptions) -> Result<Standing> {
    Ok(match handoff::attempt(bench, options)? {
        Outcome::Refused(refused) => Standing::Refused(Box::new(refused)),
        Outcome::Written(_) | Outcome::Unchanged(_) | Outcome::Queued => Standing::HandedOver,
    })
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

/// The reasons as the agent reads them: each with what mends it.
pub fn text_for_agent(reasons: &[Reason]) -> String {
    let mut text = String::from(
        "This session can't be handed over yet. Mend the following, then end the turn again. If something can't be \
         mended, say so to the person and end the turn.\n",
    );
    for kind in kinds(reasons) {
        for reason in kind.iter().take(SHOWN) {
            // writing to a String can't fail
            writeln!(text, "- {} ({})", reason.text, reason.code).ok();
        }
        if kind.len() > SHOWN {
            writeln!(text, "- … and {} more of that kind", kind.len() - SHOWN).ok();
        }
        writeln!(text, "  Fix: {}", kind[0].mend).ok();
    }
    text.push_str("`endwell check` lists everything.");
    cut(text)
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
        writeln!(text, "- {reason}").ok();
    }
    cut(text)
}

/// At a line's end, so that nothing is cut in the middle.
fn cut(text: String) -> String {
    if text.chars().count() <= MAX_TEXT {
        return text;
    }
    let mut out = String::new();
    let mut room = MAX_TEXT - 60;
    for line in text.lines() {
        let length = line.chars().count() + 1;
        if length > room {
            out.push_str("- … more: run `endwell check`.\n");
            break;
        }
        room -= length;
        out.push_str(line);
        out.push('\n');
    }
    out
}
