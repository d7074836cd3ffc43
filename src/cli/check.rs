//! `endwell check`.

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::check::{CheckOptions, look, write};
use crate::flow::{Workbench, bypass};
use crate::model::CheckId;
use crate::report;

/// Is the workbench safe to leave? Runs the cleanliness phase.
///
/// Five checks: working tree, temp artifacts, tests (by recorded evidence, nothing is run), feature board, branch.
/// Exits with 0 when nothing blocks, 1 when something does, 3 when a check could not judge.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Run only these checks, separated by commas. Writes no report.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check_id)]
    only: Vec<CheckId>,
    /// Judge lines and files added since this revision.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// How the result is shown.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// Everything, in endwell's own shape.
    Json,
    /// SARIF 2.1.0, for code scanning services.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
}

fn check_id(text: &str) -> std::result::Result<CheckId, String> {
    CheckId::ALL.into_iter().find(|id| id.name() == text).ok_or_else(|| {
        let names: Vec<&str> = CheckId::ALL.iter().map(|id| id.name()).collect();
        format!("the checks are {}", names.join(", "))
    })
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let (bench, walk) = Workbench::open_walking(&app.env, app.ui)?;
    let options = CheckOptions { only: args.only.clone(), base: args.base.clone(), session: None };
    let judged = look(&bench, &options, Some(walk))?;
    let report = judged.report;
    if let Some(baseline) = judged.session.baseline.filter(|_| options.only.is_empty()) {
        for told in bypass::told(&bench, &baseline.taken_at) {
            app.ui.warn(told);
        }
    }
    let format = if args.json { Format::Json } else { args.format };
    let text = match format {
        Format::Human => report::human::render(&report),
        Format::Json => serde_json::to_string_pretty(&report).map_err(super::cannot_print)?,
        Format::Sarif => format!("{:#}", report::sarif::render(&report)),
        Format::Github => report::github::render(&report),
    };
    app.ui.data(text).map_err(super::cannot_print)?;
    if options.only.is_empty() {
        write(&bench, &report)?;
    }
    Ok(match (report.could_not_judge(), report.clean) {
        (true, _) => ExitStatus::CouldNotJudge,
        (false, true) => ExitStatus::Done,
        (false, false) => ExitStatus::Blocked,
    })
}
