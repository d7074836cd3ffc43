//! `endwell config`.

use std::fmt::Write as _;

use clap::Args as ClapArgs;
use owo_colors::OwoColorize as _;
use serde_json::Value;

use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::config::{Setting, Source, settings};
use crate::ui::plain;

/// The settings that hold here, and where each comes from.
///
/// Every setting has a default or is detected; `endwell.toml` at the top of the work tree changes it (or the file that
/// `ENDWELL_CONFIG` names).
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Only this setting, or this section: for example `tests.command`, or `tests`.
    key: Option<String>,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let mut settings = settings(&bench)?;
    if let Some(wanted) = &args.key {
        settings.retain(|setting| {
            setting.key == *wanted
                || setting.key.split_once('.').is_some_and(|(section, _)| section == wanted)
        });
        if settings.is_empty() {
            return Err(Failure::usage(format!("no setting is named `{wanted}`"))
                .hint("`endwell config` lists them all."));
        }
    }
    let text = if args.json {
        serde_json::to_string_pretty(&settings).map_err(cannot_print)?
    } else {
        human(&settings)
    };
    app.ui.data(text.trim_end()).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}

/// One line a setting, as it would stand in the file.
fn human(settings: &[Setting]) -> String {
    let lines: Vec<String> = settings
        .iter()
        .map(|setting| plain(&format!("{} = {}", setting.key, shown(&setting.value))))
        .collect();
    let width = lines.iter().map(|line| line.chars().count()).filter(|width| *width <= 44).max().unwrap_or(0);
    let mut text = String::new();
    for (setting, line) in settings.iter().zip(lines) {
        let source = match setting.source {
            Source::Default => "default",
            Source::File => "set",
            Source::Detected => "detected",
        };
        let from = setting.from.as_deref().map(|from| format!(", {}", plain(from))).unwrap_or_default();
        let note = format!("# {source}{from}");
        // writing to a String can't fail
        writeln!(text, "{line:width$}  {}", note.dimmed()).ok();
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        other => other.to_string(),
    }
}
