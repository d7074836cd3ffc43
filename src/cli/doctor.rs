//! `endwell doctor`.

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::{Workbench, doctor};
use crate::report;

/// What is installed but does not fire, with the fix.
///
/// Looks at the git hook (there, executable, first, of this version, and started by git in a dry push to a scratch
/// repository), at the agents' hooks (complete, trusted, last heard), and at PATH. Exits with 1 when something is wrong.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let diagnosis = doctor::examine(&bench)?;
    let text = if args.json {
        serde_json::to_string_pretty(&diagnosis).map_err(cannot_print)?
    } else {
        report::doctor::render(&diagnosis)
    };
    app.ui.data(text).map_err(cannot_print)?;
    Ok(if diagnosis.healthy { ExitStatus::Done } else { ExitStatus::Blocked })
}
