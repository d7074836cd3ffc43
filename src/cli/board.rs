//! `endwell board`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Args as ClapArgs, Subcommand};
use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use crate::board::commands::acceptance;
use crate::board::{Lookup, next_feature};
use crate::cli::{App, cannot_print};
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::board::{self as flow, Seen, Wanted};
use crate::flow::evidence::LazyContent;
use crate::flow::workbench::git_failed;
use crate::model::board::{Board, BoardReading, Feature, Proof, Status};
use crate::model::{Issue, SCHEMA_VERSION};
use crate::ui::plain;

/// So many rows are shown of a long board.
const ROWS: usize = 40;
/// So many characters of a goal, and of evidence.
const GOAL: usize = 60;
const EVIDENCE: usize = 36;

/// The feature board: what there is, what is at work, what is proven.
///
/// Reads every shape that boards are written in (`feature_list.json`, Task Master, prd.json, beads, spec-kit), and
/// runs nothing.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// As JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Every entry of a long board.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// The first concrete step by the board.
    Next,
    /// Change the status of one entry, in place: no other byte of the file changes.
    ///
    /// The board's own words are kept (`passing`, `not-started`). Done needs proof: a recorded green run of the
    /// entry's command (`endwell verify`), or evidence on the board; or else a reason, which is recorded.
    Set {
        /// The entry's id, as `endwell board` shows it.
        id: String,
        /// One of `todo`, `in_progress`, `done`, `blocked`, or a word of the board.
        status: String,
        /// Why it is done without proof.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    match &args.action {
        Some(Action::Set { id, status, reason }) => set(&bench, args, id, status, reason.as_deref()),
        Some(Action::Next) => next(&bench, args),
        None => list(&bench, args),
    }
}

fn set(bench: &Workbench, args: &Args, id: &str, status: &str, reason: Option<&str>) -> Result<ExitStatus> {
    let done = flow::set(bench, id, status, reason)?;
    let path = plain(&done.path);
    if args.json {
        let value = json!({"schema_version": SCHEMA_VERSION, "path": done.path, "id": id, "old": done.old, "new": done.new});
        print(bench, &value)?;
    } else if done.old == done.new {
        bench
            .ui
            .data(format_args!("`{}` is {} already", plain(id), plain(&done.new)))
            .map_err(cannot_print)?;
    } else {
        let (id, old, new) = (plain(id), plain(&done.old), plain(&done.new));
        bench.ui.data(format_args!("`{id}`: {old} → {new} in `{path}`")).map_err(cannot_print)?;
    }
    if let Some(pointer) = done.pointer {
        bench.ui.hint(format_args!(
            "`{}` of `{path}` still names `{}`: point it at the next feature, or at null.",
            plain(&pointer),
            plain(id)
        ));
    }
    Ok(ExitStatus::Done)
}

fn next(bench: &Workbench, args: &Args) -> Result<ExitStatus> {
    let board = flow::needed(bench)?;
    let proofs = proofs(bench, &board)?;
    let action = flow::next_action(bench, &board, &proofs);
    if args.json {
        let feature = board.active().or_else(|| next_feature(&board)).map(|feature| feature.id.as_str());
        print(
            bench,
            &json!({"schema_version": SCHEMA_VERSION, "path": board.path, "next_action": action, "feature": feature}),
        )?;
    } else {
        let text =
            action.map_or_else(|| "Nothing is open that could be begun.".to_owned(), |action| plain(&action));
        bench.ui.data(text).map_err(cannot_print)?;
    }
    Ok(ExitStatus::Done)
}

fn list(bench: &Workbench, args: &Args) -> Result<ExitStatus> {
    let reading = flow::read(bench);
    let findings = reading.findings();
    if let (BoardReading::None, false) = (&reading, args.json) {
        bench.ui.data("There is no feature board here.").map_err(cannot_print)?;
        bench.ui.hint("Begin one as `feature_list.json`: an object with `features`, each with `id`, `status`, `goal`, `done_when`.");
        return Ok(ExitStatus::Done);
    }
    let exit = if matches!(reading, BoardReading::Unreadable(_)) {
        ExitStatus::CouldNotJudge
    } else {
        ExitStatus::Done
    };
    let proofs = reading.board().map(|board| proofs(bench, board)).transpose()?.unwrap_or_default();
    if args.json {
        let lookup = Lookup::new(&bench.env, &bench.repo.top);
        print(bench, &as_json(&reading, &proofs, &lookup))?;
        return Ok(exit);
    }
    if let Some(board) = reading.board() {
        bench.ui.data(table(board, &proofs, args.all)).map_err(cannot_print)?;
    }
    for issue in &findings {
        bench.ui.say(format_args!(
            "{}: {} [{}]",
            crate::ui::severity(issue.severity),
            plain(&issue.message),
            issue.code
        ));
        bench.ui.hint(plain(&issue.hint));
    }
    Ok(exit)
}

fn proofs(bench: &Workbench, board: &Board) -> Result<BTreeMap<String, Proof>> {
    let status = bench.repo.status().map_err(|error| git_failed("can't look at the work tree", error))?;
    Ok(flow::proofs(
        bench,
        &Seen { status: &status, content: &LazyContent::new(bench, &status) },
        board,
        &Wanted::default(),
    ))
}

fn print(bench: &Workbench, value: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(cannot_print)?;
    bench.ui.data(text).map_err(cannot_print)
}

fn as_json(reading: &BoardReading, proofs: &BTreeMap<String, Proof>, lookup: &Lookup<'_>) -> Value {
    let board = reading.board();
    let features = board.map_or(&[][..], |board| &board.features);
    let features: Vec<Value> = features
        .iter()
        .map(|feature| {
            let acceptance = acceptance(feature, lookup);
            let commands: Vec<String> = acceptance.commands.into_iter().map(|command| command.line).collect();
            let people: Vec<String> = acceptance.left_to_people.into_iter().chain(acceptance.prose).collect();
            json!({
                "id": feature.id, "status": feature.status.name(), "word": feature.word, "goal": feature.goal,
                "line": feature.line, "commands": commands, "for_people": people, "evidence": feature.evidence,
                "dependencies": feature.dependencies, "proof": proofs.get(&feature.id).map(proof_word),
            })
        })
        .collect();
    json!({
        "schema_version": SCHEMA_VERSION, "path": reading.path(), "format": board.map(|board| board.format),
        "project": board.and_then(|board| board.project.as_deref()), "active": board.and_then(Board::active_id),
        "features": features, "issues": reading.findings() as Vec<Issue>,
    })
}

fn proof_word(proof: &Proof) -> &'static str {
    match proof {
        Proof::Passed { .. } => "passes",
        Proof::Failed { .. } => "fails",
        Proof::NotRun { .. } => "not run",
        Proof::Excused { .. } => "by reason",
    }
}

fn table(board: &Board, proofs: &BTreeMap<String, Proof>, all: bool) -> String {
    let mut text = heading(board);
    let shown = rows(board, all);
    let cells: Vec<[String; 4]> = shown.iter().map(|feature| cells(feature, proofs)).collect();
    let width = |column: usize, title: &str| {
        cells.iter().map(|row| row[column].chars().count()).chain([title.len()]).max().unwrap_or(0)
    };
    let (ids, statuses, goals) = (width(0, "id"), width(1, "status"), width(2, "goal"));
    // writing to a String can't fail
    write!(text, "\n\n{:ids$}  {:statuses$}  {:goals$}  evidence", "id", "status", "goal").ok();
    for (feature, [id, status, goal, evidence]) in shown.iter().zip(&cells) {
        let status = coloured(feature.status, &format!("{status:statuses$}"));
        let line = format!("{id:ids$}  {status}  {goal:goals$}  {evidence}");
        write!(text, "\n{}", line.trim_end()).ok();
    }
    let hidden = board.features.len() - shown.len();
    if hidden > 0 {
        write!(text, "\n… and {hidden} more: `endwell board --all`").ok();
    }
    if !board.rules.sentences.is_empty() {
        let rules: Vec<String> =
            board.rules.sentences.iter().map(|rule| format!("\n- {}", plain(rule))).collect();
        write!(text, "\n\nThe board's own rules:{}", rules.concat()).ok();
    }
    text
}

fn heading(board: &Board) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for feature in &board.features {
        *counts.entry(feature.status.name()).or_default() += 1;
    }
    let order = ["in_progress", "todo", "blocked", "unknown", "done", "closed"];
    let parts: Vec<String> = order
        .iter()
        .filter_map(|name| counts.get(name).map(|count| format!("{count} {}", name.replace('_', " "))))
        .collect();
    let counted = if parts.is_empty() { "no entries".to_owned() } else { parts.join(", ") };
    let active = board.active_id().map(|id| format!("; active: {}", plain(id))).unwrap_or_default();
    format!("{} ({}): {counted}{active}", plain(&board.path), board.format.name())
}

/// All entries of a short board; of a long one those that are under way, then what comes next.
fn rows(board: &Board, all: bool) -> Vec<&Feature> {
    if all || board.features.len() <= ROWS {
        return board.features.iter().collect();
    }
    let rank = |feature: &Feature| match feature.status {
        Status::InProgress | Status::Waiting => 0,
        Status::Blocked | Status::Unknown => 1,
        Status::Todo => 2,
        Status::Done | Status::Closed => 3,
    };
    let mut chosen: Vec<(usize, &Feature)> = board.features.iter().enumerate().collect();
    chosen.sort_by_key(|(at, feature)| (rank(feature), *at));
    chosen.truncate(ROWS);
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, feature)| feature).collect()
}

fn cells(feature: &Feature, proofs: &BTreeMap<String, Proof>) -> [String; 4] {
    let name = feature.status.name();
    let word = plain(&feature.word);
    let status = if feature.worded && crate::board::words::normal(&feature.word) != name {
        format!("{name} ({word})")
    } else {
        name.to_owned()
    };
    let evidence = match (proofs.get(&feature.id), feature.evidence.first()) {
        (Some(proof), _) => proof_word(proof).to_owned(),
        (None, Some(evidence)) => cut(&plain(evidence), EVIDENCE),
        (None, None) => "-".to_owned(),
    };
    [cut(&plain(&feature.id), GOAL), cut(&status, EVIDENCE), cut(&plain(&feature.goal), GOAL), evidence]
}

/// At most so many characters, and an ellipsis where something was left out.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

fn coloured(status: Status, text: &str) -> String {
    match status {
        Status::Done => text.green().to_string(),
        Status::InProgress => text.yellow().bold().to_string(),
        Status::Waiting => text.yellow().to_string(),
        Status::Blocked | Status::Unknown => text.red().to_string(),
        Status::Closed => text.dimmed().to_string(),
        Status::Todo => text.to_owned(),
    }
}
