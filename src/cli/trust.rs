//! `endwell trust`.

use std::io::BufRead as _;

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::trust::{self, Waiting, What};
use crate::flow::{Workbench, packets};
use crate::ui::plain;

/// Agree to a changed command, a loosened setting, or a packet from elsewhere.
///
/// Commands of `endwell.toml` and of the board that changed since you last saw them are not run before. Without WHAT,
/// everything but packets. For a person at a terminal; an agent can't give its own consent.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// `commands`, `settings`, or the session of a packet that this machine did not write.
    #[arg(value_name = "WHAT")]
    what: Option<String>,
    /// Only list what waits.
    #[arg(long, conflicts_with = "yes")]
    list: bool,
    /// Agree without being asked, where there is no terminal.
    #[arg(long)]
    yes: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    match args.what.as_deref() {
        Some(id) if id != "commands" && id != "settings" => return packet(args, app, &bench, id),
        _ => {}
    }
    let mut waiting = trust::waiting(&bench)?;
    let is_meant = |what: &What| match args.what.as_deref() {
        Some("commands") => matches!(what, What::Command(_)),
        Some("settings") => matches!(what, What::Loosened(_)),
        _ => true,
    };
    waiting.retain(|one| is_meant(&one.what));
    if waiting.is_empty() {
        app.ui.say("Nothing waits for your consent.");
        return Ok(ExitStatus::Done);
    }
    for one in &waiting {
        app.ui.data(line(one)).map_err(cannot_print)?;
    }
    if args.list {
        return Ok(ExitStatus::Done);
    }
    trust::persons_word(&bench, args.yes)?;
    if !args.yes && !agreed(app, "Agree to all of it?")? {
        return Err(refused());
    }
    trust::consent(&bench, &waiting)?;
    app.ui.say("Trusted.");
    Ok(ExitStatus::Done)
}

fn packet(args: &Args, app: &App, bench: &Workbench, id: &str) -> Result<ExitStatus> {
    let stranger = packets::stranger(bench, id)?;
    let page = crate::packet::markdown(&stranger.packet, bench.config.packet.max_chars, None);
    let page = page.map_err(|error| {
        Failure::broken("can't show the packet").because(error).hint("Read its `handoff.json`.")
    })?;
    app.ui.data(page.trim_end()).map_err(cannot_print)?;
    if args.list {
        return Ok(ExitStatus::Done);
    }
    trust::persons_word(bench, args.yes)?;
    if !args.yes && !agreed(app, "Take this packet over?")? {
        return Err(refused());
    }
    packets::take_over(bench, &stranger)?;
    app.ui.say(format_args!("Trusted: the packet of session `{}`.", plain(&stranger.packet.session_id)));
    Ok(ExitStatus::Done)
}

fn line(one: &Waiting) -> String {
    match &one.what {
        What::Command(argv) => plain(&format!("{}: {}", one.place, shell_words::join(argv))),
        What::Loosened(_) => format!("{}: asks for less than it did", one.place),
    }
}

fn refused() -> Failure {
    Failure::blocked("nothing was trusted").hint("Run `endwell trust` again when you have looked at it.")
}

fn agreed(app: &App, question: &str) -> Result<bool> {
    app.ui.say(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|error| {
        Failure::broken("can't read your answer").because(error).hint("Say so: `endwell trust --yes`.")
    })?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
