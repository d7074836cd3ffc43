//! `endwell resume`.

use std::fmt::Write as _;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::resume::{self, Freshness, Resumed};
use crate::packet;
use crate::ui::plain;

/// Where to begin: the active packet of this branch, with every claim checked again.
///
/// Each claim holds, changed, or speaks of something that is gone. Leaves a receipt that the packet was read.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Print the packet and the claims as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let Some(resumed) = resume::resume(&bench)? else {
        if args.json {
            app.ui.data("null").map_err(cannot_print)?;
        }
        app.ui.say("There is no packet for this branch.");
        match resume::strangers(&bench)? {
            Some(text) => app.ui.hint(text),
            None => app.ui.hint("`endwell handoff` writes one; `endwell log` lists those of other branches."),
        }
        return Ok(ExitStatus::Done);
    };
    let text = if args.json {
        serde_json::to_string_pretty(&json!(resumed)).map_err(cannot_print)?
    } else {
        human(&bench, &resumed)?
    };
    app.ui.data(text.trim_end()).map_err(cannot_print)?;
    if let Some(text) = resume::strangers(&bench)? {
        app.ui.hint(text);
    }
    resume::loaded_here(&bench, &resumed)?;
    Ok(ExitStatus::Done)
}

fn human(bench: &Workbench, resumed: &Resumed) -> Result<String> {
    let state = match resumed.state {
        Freshness::Fresh => "fresh: every claim holds",
        Freshness::Stale => "stale: not every claim holds any more",
        Freshness::Superseded => "superseded by a later session's packet",
        Freshness::Archived => "archived: its branch is merged or gone",
    };
    let mut text = format!("Packet of session {}, {state}\n", resumed.session_id);
    if let Some(place) = &resumed.made_in {
        // writing to a String can't fail
        writeln!(text, "Made in another work tree: {}", plain(place)).ok();
    }
    for claim in &resumed.claims {
        let detail = if claim.detail.is_empty() { String::new() } else { format!(" ({})", claim.detail) };
        let line = plain(&format!("{}{detail}", claim.what));
        writeln!(text, "  {:7} {line}", claim.state.name()).ok();
    }
    let page = packet::markdown(&resumed.packet, bench.config.packet.max_chars, None).map_err(|error| {
        Failure::broken("can't show the packet").because(error).hint("Use `endwell resume --json`.")
    })?;
    Ok(format!("{text}\n{page}"))
}
