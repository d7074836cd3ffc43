//! `endwell unpark`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::{Workbench, park};
use crate::git::park::{Came, Parked};

/// Bring parked work back, index included, into a clean work tree.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Which one, as `endwell park --list` shows it; else the only one here, or this session's newest.
    id: Option<String>,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let (parked, came) = park::bring_back(&bench, args.id.as_deref())?;
    let id = &parked.record.id;
    match came {
        Came::Exactly => app.ui.say(format_args!("`{id}` is back, as it was.")),
        Came::Merged { staged: true } => {
            app.ui.say(format_args!("`{id}` is back, merged into another commit than it was parked on."));
        }
        Came::Merged { staged: false } => {
            app.ui.say(format_args!(
                "`{id}` is back, merged into another commit than it was parked on; what was staged is not staged any more."
            ));
        }
        Came::InPart { left } => {
            park::say_left(&bench, id, &left);
            return Err(still_parked(&parked, format!("`{id}` came back in part")));
        }
        Came::WithConflicts { said, conflicts } if conflicts.is_empty() => {
            return Err(still_parked(&parked, format!("git could not apply `{id}`: {said}")));
        }
        Came::WithConflicts { conflicts, .. } => {
            let names: Vec<String> = conflicts.iter().map(|path| format!("`{path}`")).collect();
            return Err(still_parked(
                &parked,
                format!("`{id}` came back with conflicts: {}", names.join(", ")),
            ));
        }
    }
    Ok(ExitStatus::Done)
}

fn still_parked(parked: &Parked, message: String) -> Failure {
    let (reference, commit) = (&parked.record.reference, &parked.commit);
    Failure::blocked(message).hint(format!(
        "All of it is still parked. Finish by hand what `git status` names (`git show {reference}` shows the work), then \
         let go of it: `git update-ref -d {reference} {commit}`."
    ))
}
