//! `endwell wrap-up`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::wrap_up::{self, Marked};

/// From now on this agent's session is wrapping up.
///
/// Its next turn end is blocked, once for each distinct set of reasons, while something would refuse the packet.
#[derive(Debug, ClapArgs)]
pub struct Args;

pub fn run(_args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    match wrap_up::wrap_up(&bench)? {
        Marked::Now(id) => app.ui.say(format_args!("Session `{id}` is wrapping up.")),
        Marked::Queued(id) => app.ui.say(format_args!(
            "The git folder can't be written here: the next hook marks session `{id}` as wrapping up."
        )),
    }
    app.ui.hint("`endwell check` says what stands against its packet now.");
    Ok(ExitStatus::Done)
}
