//! `endwell completions`: prints a shell's completion script, generated from the one definition of the command line.
//! Never writes a file: where a completion belongs is the person's choice.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{App, Cli, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;

/// Print the completion script of a shell.
///
/// For bash: `endwell completions bash > ~/.local/share/bash-completion/completions/endwell`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "endwell", &mut script);
    app.ui.raw(&script).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}
