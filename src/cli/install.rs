//! `endwell install`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::setup::{self, InstallOptions};

/// Hooks in: the git push gate, and the session hooks of the coding agents in use.
///
/// Writes only what git does not track, and leaves the work tree as clean as it was. A hook or a settings file that is
/// there already is kept and goes on working. `endwell uninstall` gives back the same bytes.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Hooks for this agent only, whether it seems to be in use or not; can be given more than once.
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,
    /// Hooks in your own settings of the agents, for every project; they act where you install endwell in the repository.
    #[arg(long, conflicts_with = "shared")]
    user: bool,
    /// Write what a team commits: `endwell.toml`, and the agents' shared settings.
    #[arg(long)]
    shared: bool,
    /// Write no git hook; print what to put into the hook script that you keep yourself.
    #[arg(long)]
    external: bool,
    /// Join this hook manager in the way that it wants: a block in the script that the project keeps (husky, script), an
    /// entry to paste (lefthook, simple-git-hooks), or endwell's hook in front of its own (the others).
    #[arg(long, value_name = "MANAGER", conflicts_with = "external")]
    via: Option<String>,
    /// Show the difference that it would make to every file, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    if args.user {
        let done = setup::install_user(&app.env, app.ui, &args.agents, args.dry_run)?;
        if done != ExitStatus::Done || !Workbench::is_here(&app.env) {
            return Ok(done);
        }
    }
    let bench = Workbench::open(&app.env, app.ui)?;
    let options = InstallOptions {
        agents: args.agents.clone(),
        shared: args.shared,
        external: args.external,
        via: args.via.clone(),
        dry_run: args.dry_run,
    };
    setup::install(&bench, &options)
}
