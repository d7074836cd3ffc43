//! `endwell hook`: what git and the agents' clients call. Towards a client it exits 0 whatever happens, usage errors
//! and panics included: a client may read any other code as "block".

use std::ffi::OsString;
use std::io::Read as _;

use clap::Args as ClapArgs;

use crate::agent;
use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::{diary, hook, push};
use crate::model::event::Moment;
use crate::process::owner;

/// Called by hooks; not for people.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// `pre-push`, or an agent's event: start, prompt, tool, stop, compact, end.
    event: String,
    /// The client whose event it is.
    #[arg(long)]
    client: Option<String>,
    /// git's own arguments: the remote's name and URL.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    if let Some(client) = &args.client {
        client_event(args, client, app);
        return Ok(ExitStatus::Done);
    }
    if args.event != "pre-push" {
        return Err(Failure::usage(format!("`{}` is no hook of git's that endwell answers", args.event))
            .hint("Hooks call `endwell hook pre-push`, or `endwell hook EVENT --client NAME`."));
    }
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input).map_err(|error| {
        Failure::broken("can't read what git wants to push")
            .because(error)
            .hint("Run `git push` again; `endwell doctor` is not needed for this.")
    })?;
    push::judge(&app.env, app.ui, &args.rest, &input)
}

/// One event of a client; whatever goes wrong is written into endwell's own log.
fn client_event(args: &Args, client: &str, app: &App) {
    let Some(moment) = Moment::parse(&args.event) else {
        return diary::note(&app.env, format_args!("{client}: no event `{}`", args.event));
    };
    let Some(agent) = agent::find(client) else {
        return diary::note(&app.env, format_args!("no client `{client}`"));
    };
    let value = agent::read_value(std::io::stdin().lock());
    let mut event = (agent.read_event)(moment, &value, &app.env);
    event.headless |= event.moment == Moment::Start && agent.runs_one_prompt(&owner::arguments());
    match hook::on_event(&app.env, app.ui, client, &event) {
        Ok(answer) => {
            let reply = (agent.answer)(event.moment, &answer);
            // a client that no longer listens needs no answer
            app.ui.raw(reply.stdout.as_bytes()).ok();
        }
        Err(failure) => diary::note(&app.env, format_args!("{client} {}: {}", args.event, failure.chain())),
    }
}
