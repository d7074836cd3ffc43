//! `endwell schema`: prints the JSON Schema of a format, generated from the types that read and write it. Never a
//! schema by hand: `templates/schema/` holds the same texts, and a test compares them.

use clap::ValueEnum;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{App, cannot_print};
use crate::config::Config;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::model::Issue;
use crate::model::clean::CleanReport;
use crate::model::doctor::Diagnosis;
use crate::model::feedback::FeedbackRecord;
use crate::model::overrides::Override;
use crate::model::packet::Packet;
use crate::model::report::{ReviewReport, VerificationReport};
use crate::model::state::AgentState;

/// Print the JSON Schema (2020-12) of a file that endwell reads or writes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which format.
    #[arg(value_name = "NAME")]
    name: Format,
}

/// A format with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// `agent_state.json`.
    AgentState,
    /// A line of `feedback_record.jsonl`.
    FeedbackRecord,
    /// `outputs/verification/<task>.json`.
    VerificationReport,
    /// `outputs/review/<task>.json`.
    ReviewReport,
    /// A line of `outputs/verification/overrides.jsonl`.
    Override,
    /// `outputs/clean_report.json`, and what `endwell check --format json` prints.
    CleanReport,
    /// An entry of `outputs/clean_state.json`.
    Issue,
    /// `outputs/handoff/<session>/handoff.json`.
    Handoff,
    /// What `endwell doctor --json` prints.
    Doctor,
    /// `endwell.toml`, as JSON.
    Config,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let text = serde_json::to_string_pretty(&schema(args.name)).map_err(|error| {
        Failure::broken("can't write the schema as JSON").because(error).hint("Report this as a bug.")
    })?;
    app.ui.data(text).map_err(cannot_print)?;
    Ok(ExitStatus::Done)
}

fn schema(format: Format) -> Schema {
    match format {
        Format::AgentState => of::<AgentState>(),
        Format::FeedbackRecord => of::<FeedbackRecord>(),
        Format::VerificationReport => of::<VerificationReport>(),
        Format::ReviewReport => of::<ReviewReport>(),
        Format::Override => of::<Override>(),
        Format::CleanReport => of::<CleanReport>(),
        Format::Issue => of::<Issue>(),
        Format::Handoff => of::<Packet>(),
        Format::Doctor => of::<Diagnosis>(),
        Format::Config => of::<Config>(),
    }
}

fn of<T: JsonSchema>() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<T>()
}
