//! `endwell uninstall`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::{Workbench, setup};

/// Hooks out: every file gets back the bytes that were there before `endwell install`.
///
/// Where somebody changed a file since, only endwell's part is taken out. Packets, reports and evidence stay.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The hooks in your own settings of the agents, and nothing of this repository.
    #[arg(long)]
    user: bool,
    /// Show the difference that it would make to every file, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    if args.user {
        return setup::uninstall_user(&app.env, app.ui, args.dry_run);
    }
    setup::uninstall(&Workbench::open(&app.env, app.ui)?, args.dry_run)
}
