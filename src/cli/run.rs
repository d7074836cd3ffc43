//! `endwell run`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::run::{self, RunOptions};

/// Run a command and record it: what ran, how it ended, and the end of its output.
///
/// Output passes through live, and the exit code is the command's own (127 where it is not found, 126 where it can't
/// be started, 128 and the signal's number where a signal ended it). The record goes to `feedback_record.jsonl`.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Why it is run, in a few words.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The id of the recorded command that this one retries.
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<String>,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let options =
        RunOptions { command: args.command.clone(), note: args.note.clone(), parent: args.parent.clone() };
    run::run(&app.env, app.ui, &options)
}
