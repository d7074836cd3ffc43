//! `endwell park`.

use std::fmt::Write as _;

use clap::Args as ClapArgs;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::{Workbench, park};
use crate::model::park::ParkedRecord;
use crate::ui::plain;

/// Put unfinished work aside, untracked files included, where nothing else can take it.
///
/// The work goes to a private ref of this work tree and session; `endwell unpark` brings it back exactly, index included.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// What it is and why it is unfinished; eight letters at least.
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    note: Option<String>,
    /// List what is parked in this work tree.
    #[arg(long)]
    list: bool,
    /// With `--list`: also what other work trees have parked.
    #[arg(long, requires = "list")]
    all: bool,
    /// With `--list`: print as JSON.
    #[arg(long, requires = "list")]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    park::recover(&bench)?;
    let Some(note) = &args.note else { return list(args, app, &bench) };
    let Some(put) = park::put_aside(&bench, note)? else {
        app.ui.say("There is nothing to park: the work tree is clean.");
        return Ok(ExitStatus::Done);
    };
    let (id, count) = (&put.record.id, put.record.paths);
    let paths = if count == 1 { "1 path is".to_owned() } else { format!("{count} paths are") };
    app.ui.say(format_args!("{paths} parked as `{id}`."));
    park::say_left(&bench, id, &put.left);
    app.ui.hint(format_args!("`endwell unpark {id}` brings it back."));
    app.ui.data(id).map_err(cannot_print)?;
    Ok(if put.left.is_empty() { ExitStatus::Done } else { ExitStatus::Blocked })
}

fn list(args: &Args, app: &App, bench: &Workbench) -> Result<ExitStatus> {
    let listing = park::list(bench, args.all)?;
    for name in &listing.unreadable {
        app.ui.warn(format_args!("`{}` can't be read as parked work", plain(name)));
    }
    let records: Vec<&ParkedRecord> = listing.parked.iter().map(|parked| &parked.record).collect();
    if args.json {
        let text = serde_json::to_string_pretty(&records).map_err(cannot_print)?;
        app.ui.data(text).map_err(cannot_print)?;
        return Ok(ExitStatus::Done);
    }
    if records.is_empty() {
        app.ui.say("Nothing is parked here.");
        return Ok(ExitStatus::Done);
    }
    let mut text = String::new();
    for record in &records {
        // writing to a String can't fail
        writeln!(text, "{}", human(record, args.all)).ok();
    }
    app.ui.data(text.trim_end()).map_err(cannot_print)?;
    app.ui.hint("`endwell unpark ID` brings one back.");
    Ok(ExitStatus::Done)
}

fn human(record: &ParkedRecord, all: bool) -> String {
    let at = record.parked_at.get(..16).unwrap_or(&record.parked_at).replace('T', " ");
    let id = if all { format!("{}/{}", record.worktree, record.id) } else { record.id.clone() };
    let branch = record.branch.as_deref().unwrap_or("detached HEAD");
    let head = record.head.get(..8).unwrap_or(&record.head);
    let paths = if record.paths == 1 { "1 path".to_owned() } else { format!("{} paths", record.paths) };
    plain(&format!("{at}  {id}  {branch} {head}  {paths}  {}", record.note))
}
