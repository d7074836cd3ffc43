//! `endwell log`.

use std::fmt::Write as _;

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::log::{Line, lines};
use crate::ui::plain;

/// Sessions and their packets over time, newest first.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let lines = lines(&bench)?;
    if args.json {
        let text = serde_json::to_string_pretty(&lines).map_err(cannot_print)?;
        app.ui.data(text).map_err(cannot_print)?;
        return Ok(ExitStatus::Done);
    }
    if lines.is_empty() {
        app.ui.say("There is no session and no packet here yet.");
        app.ui.hint("`endwell handoff` writes the first packet.");
        return Ok(ExitStatus::Done);
    }
    let mut text = String::new();
    for line in &lines {
        // writing to a String can't fail
        writeln!(text, "{}", human(line)).ok();
    }
    app.ui.data(text.trim_end()).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}

fn human(line: &Line) -> String {
    let began = line.began.get(..16).unwrap_or(&line.began).replace('T', " ");
    let branch = line.branch.as_deref().unwrap_or("-");
    let topic = line.topic.as_deref().filter(|topic| *topic != branch).map(|topic| format!(" {topic}"));
    let head = line.head.as_deref().and_then(|head| head.get(..8)).unwrap_or("-");
    let read = if line.loaded > 0 { format!(", read {} times", line.loaded) } else { String::new() };
    let text = format!(
        "{began}  {:10}  {}  {} {branch}{} {head}{read}",
        line.state,
        line.session_id,
        line.agent,
        topic.unwrap_or_default()
    );
    plain(&text)
}
