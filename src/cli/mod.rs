//! The command line: one file a subcommand, an args struct whose doc comment is the help and one function.

use std::ffi::OsString;

pub mod allow;
pub mod board;
pub mod check;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod handoff;
pub mod hook;
pub mod install;
pub mod log;
pub mod man;
pub mod note;
pub mod park;
pub mod resume;
pub mod run;
pub mod schema;
pub mod show;
pub mod status;
pub mod trust;
pub mod uninstall;
pub mod unpark;
pub mod verify;
pub mod wrap_up;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::ui::{Ui, Verbosity};

/// Coding-agent sessions that end clean and start informed.
#[derive(Debug, Parser)]
#[command(name = "endwell", version, max_term_width = 100)]
struct Cli {
    /// Run as if started in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Option<PathBuf>,
    /// Say nothing but data and failures.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more.
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Args),
    Uninstall(uninstall::Args),
    Check(check::Args),
    Verify(verify::Args),
    Handoff(handoff::Args),
    Resume(resume::Args),
    Show(show::Args),
    Log(log::Args),
    Status(status::Args),
    Note(note::Args),
    Run(run::Args),
    Park(park::Args),
    Unpark(unpark::Args),
    Board(board::Args),
    Trust(trust::Args),
    Allow(allow::Args),
    #[command(name = "wrap-up")]
    WrapUp(wrap_up::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Hook(hook::Args),
}

/// What every command gets.
pub struct App {
    pub env: Env,
    pub ui: Ui,
}

/// Parses the process's arguments and runs the command. A panic is a failure like any other; towards an agent's
/// client everything ends with 0.
pub fn main() -> ExitStatus {
    let words: Vec<OsString> = std::env::args_os().collect();
    let status = std::panic::catch_unwind(|| start(&words)).unwrap_or(ExitStatus::CouldNotJudge);
    if is_for_client(&words) { ExitStatus::Done } else { status }
}

/// `hook … --client …`: the caller is an agent's client, which may read any other code as a refusal.
fn is_for_client(words: &[OsString]) -> bool {
    let texts = || words.iter().skip(1).filter_map(|word| word.to_str());
    texts().any(|word| word == "hook")
        && texts().any(|word| word == "--client" || word.starts_with("--client="))
}

fn start(words: &[OsString]) -> ExitStatus {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // clap's own text, help included; a closed pipe is not an error
            error.print().ok();
            return if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done };
        }
    };
    let verbosity = match (cli.quiet, cli.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let ui = Ui { verbosity };
    run(cli, ui).unwrap_or_else(|failure| {
        ui.failure(&failure);
        failure.exit()
    })
}

fn run(cli: Cli, ui: Ui) -> Result<ExitStatus> {
    let mut env = Env::of_process().map_err(|error| {
        Failure::broken("can't tell the current folder")
            .because(error)
            .hint("Change to a folder that exists.")
    })?;
    if let Some(dir) = cli.directory {
        env = env.in_dir(&dir);
        if !env.cwd().is_dir() {
            let message = format!("`{}` is no folder", env.cwd().display());
            return Err(Failure::usage(message).hint("Give an existing folder to `-C`."));
        }
    }
    let app = App { env, ui };
    match &cli.command {
        Command::Install(args) => install::run(args, &app),
        Command::Uninstall(args) => uninstall::run(args, &app),
        Command::Check(args) => check::run(args, &app),
        Command::Verify(args) => verify::run(args, &app),
        Command::Handoff(args) => handoff::run(args, &app),
        Command::Resume(args) => resume::run(args, &app),
        Command::Show(args) => show::run(args, &app),
        Command::Log(args) => log::run(args, &app),
        Command::Status(args) => status::run(args, &app),
        Command::Note(args) => note::run(args, &app),
        Command::Run(args) => run::run(args, &app),
        Command::Park(args) => park::run(args, &app),
        Command::Unpark(args) => unpark::run(args, &app),
        Command::Board(args) => board::run(args, &app),
        Command::Trust(args) => trust::run(args, &app),
        Command::Allow(args) => allow::run(args, &app),
        Command::WrapUp(args) => wrap_up::run(args, &app),
        Command::Doctor(args) => doctor::run(args, &app),
        Command::Config(args) => config::run(args, &app),
        Command::Schema(args) => schema::run(args, &app),
        Command::Completions(args) => completions::run(args, &app),
        Command::Man(args) => man::run(args, &app),
        Command::Hook(args) => hook::run(args, &app),
    }
}

/// Output that can't be written.
fn cannot_print(error: impl Into<anyhow::Error>) -> Failure {
    Failure::broken("can't write the output")
        .because(error)
        .hint("Free some space where the output goes, then try again.")
}
