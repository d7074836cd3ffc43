//! `endwell run`: a command with its streams passed through, recorded. The command runs whatever becomes of its record;
//! endwell's own commands are not recorded.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use crate::clock;
use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::flow::{Workbench, record, session};
use crate::model::feedback::FeedbackRecord;
use crate::process::stream::{Ended, Group, Keep, Stdin, Supervised, Tee};
use crate::process::{Inherit, child_env};
use crate::ui::Ui;

/// A command to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub command: Vec<String>,
    pub note: Option<String>,
    /// The id of the record that this one retries or belongs to.
    pub parent: Option<String>,
}

/// What the shell says for a command that is not there, and for one that can't be started.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// Runs the command with its streams passed through, and records it.
pub fn run(env: &Env, ui: Ui, options: &RunOptions) -> Result<ExitStatus> {
    let Some((program, args)) = options.command.split_first() else {
        return Err(Failure::usage("there is no command to run")
            .hint("Give it after `--`: `endwell run -- make test`."));
    };
    let started_at = clock::now_text();
    let supervised = Supervised {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        dir: env.cwd().to_owned(),
        env: child_env(env, Inherit::NoGit),
        timeout: None,
        tee: if io::stdout().is_terminal() && io::stderr().is_terminal() {
            Tee::Terminal
        } else {
            Tee::Through
        },
        stdin: Stdin::Inherited,
        group: Group::Shared,
        keep: Keep::RECORD,
    };
    let ended = supervised.run();
    let exit = exit_of(&ended);
    if let Err(error) = &ended {
        ui.failure(&not_started(program, error));
    }
    if !is_own_program(env, program) {
        let record = record_of(options, &ended, exit, started_at);
        if let Err(failure) = keep(env, ui, record) {
            ui.warn(format_args!("the command was not recorded: {}", failure.chain()));
        }
    }
    Ok(ExitStatus::Child(exit))
}

fn exit_of(ended: &io::Result<Ended>) -> u8 {
    match ended {
        Ok(ended) => {
            let code = ended.code.or_else(|| ended.signal.map(|signal| 128 + signal)).unwrap_or(1);
            u8::try_from(code & 0xff).unwrap_or(1)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => NOT_FOUND,
        Err(_) => NOT_EXECUTABLE,
    }
}

fn not_started(program: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::broken(format!("`{program}` was not found"))
            .hint("Check its spelling and PATH; shell syntax needs a shell: `endwell run -- sh -c '…'`.");
    }
    Failure::broken(format!("`{program}` can't be started: {error}")).hint("Make it executable: `chmod +x`.")
}

fn record_of(
    options: &RunOptions,
    ended: &io::Result<Ended>,
    exit: u8,
    started_at: String,
) -> FeedbackRecord {
    let mut record = FeedbackRecord {
        command: options.command.clone(),
        exit_code: Some(i64::from(exit)),
        command_id: Some(format!("run-{}-{}", started_at.replace([':', '-', '.'], ""), std::process::id())),
        started_at: Some(started_at),
        agent_note: options.note.clone(),
        parent_command_id: options.parent.clone(),
        ..FeedbackRecord::default()
    };
    let Ok(ended) = ended else {
        let word = if exit == NOT_FOUND { "not-found" } else { "not-executable" };
        record.error = Some(word.to_owned());
        return record;
    };
    record.duration_ms = u64::try_from(ended.duration.as_millis()).ok();
    record.error = ended.error.map(|why| why.name().to_owned());
    for (name, stream) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if stream.omitted > 0 {
            record.truncations.insert(name.to_owned(), stream.omitted);
        }
    }
    record.stdout_tail = ended.stdout.text();
    record.stderr_tail = ended.stderr.text();
    record
}

/// Appends a record of the session that runs here.
fn keep(env: &Env, ui: Ui, mut record: FeedbackRecord) -> Result<()> {
    let bench = Workbench::open(env, ui)?;
    let head = bench.objects.commit_named("HEAD").ok();
    let current = session::current(&bench, head.as_deref(), None)?;
    // a person's commands belong to whichever session is judged next
    record.session_id = (current.agent != "manual").then(|| current.id.to_string());
    record.cwd = Some(record::folder(&bench, env.cwd()));
    record::append(&bench, record)
}

fn is_own_program(env: &Env, program: &str) -> bool {
    let path = Path::new(program);
    path.file_name().is_some_and(|name| name == "endwell") || env.exe().is_some_and(|exe| exe == path)
}
