//! `endwell note`.

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::note::{Note, Noted, add};
use crate::model::Severity;

/// Note where the work stands, in your own words: the packet carries them to the next session.
///
/// Writes `agent_state.json`. The same words are not added twice.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// The first concrete step for the next session; replaces the former one.
    Next(Words),
    /// What could bite next.
    Risk {
        /// The failing test that this risk accounts for.
        #[arg(long, value_name = "NAME")]
        test: Option<String>,
        /// How much it weighs.
        #[arg(long, value_enum, default_value_t = Weight::Warn)]
        severity: Weight,
        #[command(flatten)]
        words: Words,
    },
    /// Something that was taken for granted.
    Assumption(Words),
    /// A question to a person.
    Question {
        /// Nothing can go on without the answer.
        #[arg(long)]
        blocking: bool,
        #[command(flatten)]
        words: Words,
    },
    /// The answer to the newest open question.
    Answer {
        /// Answer this question instead: its text, or its number from 1.
        #[arg(long, value_name = "TEXT|NUMBER")]
        question: Option<String>,
        #[command(flatten)]
        words: Words,
    },
    /// What keeps the work from going on.
    Blocker(Words),
}

#[derive(Debug, ClapArgs)]
struct Words {
    /// The text.
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Weight {
    Info,
    Warn,
    Block,
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let (note, words) = match &args.kind {
        Kind::Next(words) => (Note::Next, words),
        Kind::Risk { test, severity, words } => {
            let severity = match severity {
                Weight::Info => Severity::Info,
                Weight::Warn => Severity::Warn,
                Weight::Block => Severity::Block,
            };
            (Note::Risk { severity, test: test.clone() }, words)
        }
        Kind::Assumption(words) => (Note::Assumption, words),
        Kind::Question { blocking, words } => (Note::Question { blocking: *blocking }, words),
        Kind::Answer { question, words } => (Note::Answer { question: question.clone() }, words),
        Kind::Blocker(words) => (Note::Blocker, words),
    };
    match add(&bench, &note, &words.words.join(" "))? {
        Noted::Added => app.ui.say("Noted."),
        Noted::Known => app.ui.say("Noted before: nothing changed."),
    }
    Ok(ExitStatus::Done)
}
