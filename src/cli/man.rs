//! `endwell man`: prints the manual page, generated from the one definition of the command line. Never starts a pager.

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::{App, Cli, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};

/// Print the manual page of endwell or of one of its commands.
///
/// To read it: `endwell man check | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command; none: the page of endwell itself.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let mut all = Cli::command();
    all.build();
    let page = match &args.command {
        None => all,
        Some(name) => {
            all.find_subcommand(name).filter(|command| !command.is_hide_set()).cloned().ok_or_else(|| {
                Failure::usage(format!("endwell has no command `{name}`"))
                    .hint("Run `endwell help` to see them all.")
            })?
        }
    };
    let mut bytes = Vec::new();
    Man::new(page).render(&mut bytes).map_err(|error| {
        Failure::broken("can't write the manual page").because(error).hint("Report this as a bug.")
    })?;
    app.ui.raw(&bytes).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}
