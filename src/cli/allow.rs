//! `endwell allow`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::{Workbench, allow};
use crate::ui::plain;

/// Let the push that was refused last go through once, with a reason on record.
///
/// For a person at a terminal. It holds for the commits and the findings of that push and for nothing more, is written to
/// `outputs/verification/overrides.jsonl` with name and time, and the next packet lists it. A packet needs a clean
/// workbench all the same.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Why it may go through.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let exception = allow::allow(&bench, &args.reason)?;
    for pushed in &exception.refs {
        let commit = pushed.commit.get(..12).unwrap_or(&pushed.commit);
        app.ui.say(format_args!(
            "The next push of `{}` at {commit} goes through once, although:",
            plain(&pushed.name)
        ));
    }
    for issue in &exception.issues {
        app.ui.say(format_args!("  {} ({})", issue.message, issue.code));
    }
    app.ui.hint(
        "Push again. `outputs/verification/overrides.jsonl` has it on record, and the next packet lists it.",
    );
    Ok(ExitStatus::Done)
}
