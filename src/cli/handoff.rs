//! `endwell handoff`.

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::handoff::{self, Done, HandoffOptions, Outcome};
use crate::flow::state::shown;
use crate::model::packet::PacketStatus;
use crate::packet;

/// Hand over: writes the packet that the next session starts from.
///
/// Judges the workbench freshly and refuses while anything blocks, without a verification report for this tree, or
/// without a next action. Writes `outputs/handoff/SESSION/handoff.json` and `handoff.md`, and keeps a copy in the git
/// folder. Run twice, it changes no byte.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The session; else known from the agent's environment, the journal, or HEAD.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print the packet as a pull request's body.
    #[arg(long, conflicts_with_all = ["print", "json"])]
    pr_body: bool,
    /// Print `handoff.md`.
    #[arg(long, conflicts_with = "json")]
    print: bool,
    /// Print `handoff.json`.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let options = HandoffOptions { session: args.session.clone(), ..HandoffOptions::default() };
    let (done, word) = match handoff::attempt(&bench, &options)? {
        Outcome::Refused(refused) => return Err(handoff::failure(&refused)),
        Outcome::Written(done) => (done, "Written"),
        Outcome::Unchanged(done) => (done, "Unchanged"),
        Outcome::Queued => {
            app.ui.say("The git folder can't be written here: nothing speaks against the packet, and the next hook writes it.");
            return Ok(ExitStatus::Done);
        }
    };
    app.ui.data(output(args, &bench, &done)?.trim_end()).map_err(cannot_print)?;
    app.ui.say(format_args!("{word}: the packet of session `{}`.", done.packet.session_id));
    if done.status != PacketStatus::Active {
        app.ui.hint("A later session's packet is the active one: `endwell log` lists both.");
    }
    Ok(ExitStatus::Done)
}

fn output(args: &Args, bench: &Workbench, done: &Done) -> Result<String> {
    if args.json {
        return serde_json::to_string_pretty(&done.packet).map_err(cannot_print);
    }
    if args.pr_body {
        return packet::pull_request_body(&done.packet, bench.config.packet.max_chars).map_err(|error| {
            Failure::broken("can't render the pull request's body")
                .because(error)
                .hint("Use `endwell handoff --print`: it holds the same.")
        });
    }
    Ok(if args.print { done.page.clone() } else { shown(bench, &done.markdown) })
}
