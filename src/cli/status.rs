//! `endwell status`.

use std::fmt::Write as _;

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::status::{LastCheck, PacketState, SessionState, Standing, standing};
use crate::ui::plain;

/// At most this many lines of one kind.
const SHOWN: usize = 6;

/// Where things stand, on one screen.
///
/// What lies here, what is recorded about it, the packet and whether anyone loaded it, the sessions, what is put aside, and
/// the next step. Judges nothing anew: `endwell check` does.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let standing = standing(&bench)?;
    let text = if args.json {
        serde_json::to_string_pretty(&standing).map_err(cannot_print)?
    } else {
        human(&standing).trim_end().to_owned()
    };
    app.ui.data(text).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}

fn human(standing: &Standing) -> String {
    let mut text = String::new();
    let mut line = |name: &str, rest: &str| {
        // writing to a String can't fail
        writeln!(text, "{name:9} {}", plain(rest)).ok();
    };
    let branch = standing.branch.as_ref().map_or("detached HEAD".to_owned(), |name| format!("`{name}`"));
    let head = standing.head.as_deref().map_or("no commit yet", short);
    let dirt = match standing.uncommitted {
        0 => "nothing uncommitted".to_owned(),
        1 => "1 path not committed".to_owned(),
        count => format!("{count} paths not committed"),
    };
    line("Bench", &format!("{branch} at {head}, {dirt}"));
    line("Checks", &standing.checks.as_ref().map_or("never run here".to_owned(), checks));
    line("Tests", &tests(standing));
    line("Packet", &standing.packet.as_ref().map_or("none on this branch".to_owned(), packet));
    if standing.unread_packets > 0 {
        line("", &format!("{} more that nobody loaded (`endwell log`)", standing.unread_packets));
    }
    for (index, session) in standing.sessions.iter().rev().take(SHOWN).enumerate() {
        line(if index == 0 { "Sessions" } else { "" }, &self::session(session));
    }
    if standing.sessions.len() > SHOWN {
        line("", &format!("… and {} more", standing.sessions.len() - SHOWN));
    }
    for (index, parked) in standing.parked.iter().rev().take(SHOWN).enumerate() {
        let rest = format!("{}: {} (`endwell unpark {0}`)", parked.id, parked.note);
        line(if index == 0 { "Parked" } else { "" }, &rest);
    }
    if let Some(next) = &standing.next_action {
        line("Noted", &crate::redact::clip(next.trim(), 200));
    }
    line("Next", &standing.next_step);
    text
}

fn checks(last: &LastCheck) -> String {
    let names: Vec<&str> = last.failing.iter().map(|check| check.name()).collect();
    let said = match (last.clean, last.blocking) {
        (true, _) if last.warnings == 0 => "clean".to_owned(),
        (true, _) => format!("clean, {} to look at", last.warnings),
        (false, 1) => format!("1 blocking issue ({})", names.join(", ")),
        (false, count) => format!("{count} blocking issues ({})", names.join(", ")),
    };
    if last.of_this_commit { format!("{said}, when last run") } else { format!("{said}, on another commit") }
}

fn tests(standing: &Standing) -> String {
    let detail = &standing.tests.detail;
    match standing.tests.state {
        "green" => format!("green for exactly this (`{detail}`)"),
        "missing" => format!("not run on this content (`{detail}`)"),
        "none" | "unknown" => detail.clone(),
        state => format!("{state}: {detail}"),
    }
}

fn packet(packet: &PacketState) -> String {
    let of = if packet.of_this_commit { "of this commit" } else { "of another commit" };
    let loaded = match packet.loaded_by.len() {
        0 => "nobody has loaded it".to_owned(),
        1 => "loaded once".to_owned(),
        count => format!("loaded {count} times"),
    };
    format!("session {}, {} {of}, {loaded}", packet.session_id, short(&packet.head))
}

fn session(session: &SessionState) -> String {
    let state = match session.state {
        "dead" => "its client is gone: the next start or push finishes it",
        "refused" => "ended without a packet",
        state => state,
    };
    let mut text = format!("{} ({}): {state}", session.session_id, session.agent);
    if session.wrapping_up && session.state != "refused" {
        text.push_str(", wrapping up");
    }
    if let Some((context, window)) = session.context.as_ref().and_then(|used| Some((used, used.window?))) {
        let assumed = if context.window_assumed { " (assumed window)" } else { "" };
        // writing to a String can't fail
        write!(text, ", context {} % full{assumed}", context.tokens.saturating_mul(100) / window.max(1)).ok();
    }
    if let Some(reason) = session.refused.first() {
        let more = session.refused.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        write!(text, "; {}{more}", crate::redact::clip(reason, 120)).ok();
    }
    text
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
