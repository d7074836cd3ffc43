//! `endwell show`.

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::packets::{self, Whereabouts};
use crate::flow::{Workbench, handoff};
use crate::packet;

/// Show a packet: a session's, else the newest active one of this branch.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The session's id, or its beginning.
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Print `handoff.json`.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let store = handoff::store(&bench);
    let stored = if let Some(id) = &args.id {
        packets::named(&store, id)?
    } else {
        let here = Whereabouts::of(&bench)?;
        packets::active(&store, here.branch.as_deref(), "")?.ok_or_else(|| {
            Failure::usage("there is no packet for this branch").hint("`endwell log` lists all packets.")
        })?
    };
    if !stored.known {
        app.ui.warn("This packet is not one that this machine wrote: read it with care.");
    } else if !stored.intact {
        app.ui.warn("This packet was changed after endwell kept it: read it with care.");
    }
    let text = if args.json {
        serde_json::to_string_pretty(&stored.packet).map_err(cannot_print)?
    } else {
        packet::markdown(&stored.packet, bench.config.packet.max_chars, None).map_err(|error| {
            Failure::broken("can't show the packet").because(error).hint("Use `endwell show --json`.")
        })?
    };
    app.ui.data(text.trim_end()).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}
