//! `endwell run`, and the commands that agents' hooks report: into the feedback log. The command runs whatever becomes
//! of its record; endwell's own commands are not recorded.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use crate::clock;
use crate::env::Env;
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::feedback::{self, LogPlace};
use crate::flow::{Workbench, handoff, session, state};
use crate::model::SessionId;
use crate::model::event::ToolCall;
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

/// Ends of calls that say nothing about the result: unknown, not failed.
const UNKNOWN_ENDS: [&str; 3] = ["exit-unknown", "background", "running"];

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
    match ended {
        Ok(ended) => {
            record.duration_ms = u64::try_from(ended.duration.as_millis()).ok();
            record.error = ended.error.map(|why| why.name().to_owned());
            for (name, stream) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
                if stream.omitted > 0 {
                    record.truncations.insert(name.to_owned(), stream.omitted);
                }
            }
            record.stdout_tail = ended.stdout.text();
            record.stderr_tail = ended.stderr.text();
        }
        Err(_) => {
            let word = if exit == NOT_FOUND { "not-found" } else { "not-executable" };
            record.error = Some(word.to_owned());
        }
    }
    record
}

/// Appends a record of the session that runs here.
fn keep(env: &Env, ui: Ui, mut record: FeedbackRecord) -> Result<()> {
    let bench = Workbench::open(env, ui)?;
    let head = bench.objects.commit_named("HEAD").ok();
    let current = session::current(&bench, head.as_deref(), None)?;
    // a person's commands belong to whichever session is judged next
    record.session_id = (current.agent != "manual").then(|| current.id.to_string());
    record.cwd = Some(folder(&bench, env.cwd()));
    append(&bench, record)
}

/// A command that an agent's client reports.
pub fn record_call(
    bench: &Workbench,
    session: &SessionId,
    call: &ToolCall,
    cwd: Option<&Path>,
) -> Result<()> {
    if call.command.trim().is_empty() || is_own_line(&call.command) {
        return Ok(());
    }
    let unknown =
        call.exit_code.is_none() && call.error.as_deref().is_some_and(|error| UNKNOWN_ENDS.contains(&error));
    let error = call.error.clone().filter(|_| !unknown);
    let note = call.note.clone().or_else(|| call.error.clone().filter(|_| unknown));
    let mut record = FeedbackRecord {
        command: vec![call.command.clone()],
        cwd: cwd.map(|cwd| folder(bench, cwd)),
        exit_code: call.exit_code,
        stdout_tail: call.stdout.clone(),
        stderr_tail: call.stderr.clone(),
        duration_ms: call.duration_ms,
        started_at: Some(clock::now_text()),
        agent_note: note,
        command_id: call.id.clone(),
        session_id: Some(session.to_string()),
        error,
        benign: call.benign.then_some(true),
        ..FeedbackRecord::default()
    };
    if call.truncated {
        // by how much, the client does not tell
        record.truncations.insert("stdout".to_owned(), 1);
    }
    append(bench, record)
}

fn append(bench: &Workbench, record: FeedbackRecord) -> Result<()> {
    let place = LogPlace {
        root: bench.repo.top.clone(),
        log: bench.feedback_path(),
        lock: state::lock_path(bench, "feedback"),
    };
    feedback::append(&place, &handoff::redactor(bench)?, record).map_err(|error| {
        Failure::broken(format!("can't append to `{}`", state::shown(bench, &place.log)))
            .because(error)
            .hint("Make the file and its folder writable, or free some space.")
    })
}

/// A folder from the top of the work tree.
fn folder(bench: &Workbench, cwd: &Path) -> String {
    match cwd.strip_prefix(&bench.repo.top) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => cwd.display().to_string(),
    }
}

fn is_own_program(env: &Env, program: &str) -> bool {
    let path = Path::new(program);
    path.file_name().is_some_and(|name| name == "endwell") || env.exe().is_some_and(|exe| exe == path)
}

/// Whether a shell line does nothing but call endwell, with what people put around a call.
fn is_own_line(line: &str) -> bool {
    const AROUND: [&str; 9] = ["cd", "tail", "head", "cat", "echo", "true", "grep", "sed", ":"];
    let mut own = false;
    for part in line.split(['\n', ';', '|', '&']) {
        let word = part
            .split_whitespace()
            .find(|word| !is_assignment(word) && !word.starts_with(['>', '<', '1', '2']));
        let Some(word) = word else { continue };
        if Path::new(word).file_name().is_some_and(|name| name == "endwell") {
            own = true;
        } else if !AROUND.contains(&word) {
            return false;
        }
    }
    own
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_are_all_endwell_are_left_out() {
        for own in [
            "endwell check",
            "cd sub && endwell verify 2>&1 | tail -5",
            "A=1 ./target/debug/endwell note next x",
        ] {
            assert!(is_own_line(own), "{own}");
        }
        for other in
            ["pytest -q", "endwell check && git commit -m x", "echo endwell", "grep endwell README.md"]
        {
            assert!(!is_own_line(other), "{other}");
        }
    }
}
