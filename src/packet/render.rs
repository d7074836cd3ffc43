//! `handoff.md` from the packet, by a template. It fits a number of characters: fields are shortened in a fixed order,
//! outputs first and risks last, each with a word about what was left out and where it stands.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::markdown::{code, fenced, prose};
use crate::model::Severity;
use crate::model::packet::{
    ChangeKind, ChangedFile, CommandRun, FailedAttempt, Packet, PacketStatus, Prerequisite, PrerequisiteKind,
    TailEntry,
};
use crate::redact::{clip, tail_lines};

const HANDOFF: &str = include_str!("../../templates/packet/handoff.md");
const PULL_REQUEST: &str = include_str!("../../templates/packet/pull_request.md");

/// Why a template gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("the template `{name}` can't be rendered: {message}")]
pub struct RenderError {
    name: String,
    message: String,
}

/// How much of each part is shown.
#[derive(Clone, Copy, Debug)]
struct Caps {
    outputs: usize,
    output_lines: usize,
    commands: usize,
    files: usize,
    attempts: usize,
    assumptions: usize,
    prerequisites: usize,
    questions: usize,
    risks: usize,
    /// Characters of one entry.
    text: usize,
}

const FULL: Caps = Caps {
    outputs: 3,
    output_lines: 12,
    commands: 40,
    files: 60,
    attempts: 30,
    assumptions: 40,
    prerequisites: 30,
    questions: 30,
    risks: 60,
    text: 400,
};

/// The fixed order in which fields are shortened.
const STEPS: [fn(&mut Caps); 20] = [
    |caps| caps.output_lines = 6,
    |caps| caps.outputs = 1,
    |caps| caps.commands = 20,
    |caps| caps.files = 30,
    |caps| caps.commands = 8,
    |caps| caps.attempts = 12,
    |caps| caps.outputs = 0,
    |caps| caps.files = 15,
    |caps| caps.text = 240,
    |caps| caps.commands = 3,
    |caps| caps.assumptions = 12,
    |caps| caps.attempts = 6,
    |caps| caps.prerequisites = 12,
    |caps| caps.risks = 25,
    |caps| caps.files = 8,
    |caps| caps.text = 140,
    |caps| caps.questions = 10,
    |caps| (caps.attempts, caps.assumptions, caps.commands) = (3, 5, 0),
    |caps| (caps.risks, caps.prerequisites, caps.questions) = (12, 6, 5),
    |caps| (caps.files, caps.text, caps.risks) = (3, 90, 6),
];

/// `handoff.md`, at most `max_chars` characters long; `template` instead of the built-in one.
pub fn markdown(packet: &Packet, max_chars: usize, template: Option<&str>) -> Result<String, RenderError> {
    fitting(packet, max_chars, "handoff.md", template.unwrap_or(HANDOFF))
}

/// The same as a pull request's body: without what only a machine needs.
pub fn pull_request_body(packet: &Packet, max_chars: usize) -> Result<String, RenderError> {
    fitting(packet, max_chars, "pull_request.md", PULL_REQUEST)
}

fn fitting(packet: &Packet, max_chars: usize, name: &str, template: &str) -> Result<String, RenderError> {
    let wrong = |error: minijinja::Error| RenderError { name: name.to_owned(), message: error.to_string() };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.add_template(name, template).map_err(wrong)?;
    let template = environment.get_template(name).map_err(wrong)?;
    let mut caps = FULL;
    let mut text = template.render(Serde(View::of(packet, &caps))).map_err(wrong)?;
    for step in STEPS {
        if text.chars().count() < max_chars {
            break;
        }
        step(&mut caps);
        text = template.render(Serde(View::of(packet, &caps))).map_err(wrong)?;
    }
    Ok(cut_lines(&format!("{}\n", text.trim()), max_chars))
}

/// The last resort: whole lines from the start, and a word about the rest.
fn cut_lines(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let pointer = "\nThe rest is in `handoff.json`.\n";
    let room = max_chars.saturating_sub(pointer.chars().count());
    let mut out = String::new();
    let mut used = 0;
    for line in text.lines() {
        used += line.chars().count() + 1;
        if used > room {
            break;
        }
        out.push_str(line);
        out.push('\n');
    }
    // a heading without what it heads is no help
    let kept = out.trim_end_matches('\n');
    let last = kept.rsplit('\n').next().unwrap_or_default();
    let kept = if last.starts_with('#') { kept[..kept.len() - last.len()].trim_end() } else { kept };
    format!("{kept}\n{pointer}")
}

/// A part of the page.
#[derive(Serialize)]
struct Part {
    shown: bool,
    /// The entries and what is more, as a list.
    list: String,
    items: Vec<String>,
    more: String,
}

impl Part {
    fn of<T>(all: &[T], cap: usize, show: impl Fn(&T) -> String) -> Self {
        Self::from(all.iter().take(cap).map(show).collect(), all.len().saturating_sub(cap))
    }

    /// The last ones instead of the first.
    fn last<T>(all: &[T], cap: usize, show: impl Fn(&T) -> String) -> Self {
        let left_out = all.len().saturating_sub(cap);
        Self::from(all[left_out..].iter().map(show).collect(), left_out)
    }

    fn from(items: Vec<String>, left_out: usize) -> Self {
        let more = match (left_out, items.is_empty()) {
            (0, _) => String::new(),
            (count, true) => format!("{count} in `handoff.json`"),
            (count, false) => format!("… and {count} more in `handoff.json`"),
        };
        let lines = items.iter().chain(Some(&more).filter(|more| !more.is_empty()));
        let list = lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
        Self { shown: !list.is_empty(), list, items, more }
    }
}

/// What a template sees; every text is Markdown already.
#[derive(Serialize)]
struct View {
    topic: String,
    notice: String,
    summary: String,
    next_action: String,
    derived: bool,
    prerequisites: Part,
    risks: Part,
    questions: Part,
    assumptions: Part,
    attempts: Part,
    files: Part,
    commands: Part,
    outputs: Part,
    receipts: Part,
    packet: serde_json::Value,
}

impl View {
    fn of(packet: &Packet, caps: &Caps) -> Self {
        let entry = |text: &str| prose(&clip(text, caps.text));
        let failures = told_once(
            &packet.feedback_tail.iter().filter(|entry| is_open(entry, packet)).collect::<Vec<_>>(),
        );
        Self {
            topic: prose(&clip(&packet.topic, 120)),
            notice: notice(packet.status),
            summary: prose(&packet.summary),
            next_action: prose(&packet.next_action.text),
            derived: packet.next_action.derived,
            prerequisites: Part::of(&packet.prerequisites, caps.prerequisites, |need| {
                prerequisite(need, caps)
            }),
            risks: Part::of(&packet.open_risks, caps.risks, |risk| {
                format!("**{}** {}", severity(risk.severity), entry(&risk.detail))
            }),
            questions: Part::of(&packet.questions_for_human, caps.questions, |question| {
                let blocking = if question.blocking { "**blocking** " } else { "" };
                format!("{blocking}{}", entry(&question.text))
            }),
            assumptions: Part::of(&packet.assumptions_to_validate, caps.assumptions, |text| entry(text)),
            attempts: Part::last(&packet.failed_attempts, caps.attempts, |attempt| failed(attempt, caps)),
            files: Part::of(&packet.changed_files, caps.files, changed),
            commands: Part::last(&packet.commands_run, caps.commands, |run| command(run, caps)),
            outputs: Part::last(&failures, caps.outputs, |entry| output(entry, caps)),
            receipts: Part::from(receipts(packet), 0),
            packet: serde_json::to_value(packet).unwrap_or_default(),
        }
    }
}

fn notice(status: PacketStatus) -> String {
    match status {
        PacketStatus::Active => String::new(),
        PacketStatus::Superseded => "Superseded: a later session left a newer packet.".to_owned(),
        PacketStatus::Archived => "Archived: its branch is merged or gone.".to_owned(),
    }
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => "block",
        Severity::Warn => "warn",
        Severity::Info => "info",
    }
}

fn prerequisite(need: &Prerequisite, caps: &Caps) -> String {
    let kind = match need.kind {
        PrerequisiteKind::File => "Read",
        PrerequisiteKind::Parked => "Parked",
        PrerequisiteKind::Stash => "Stash",
        PrerequisiteKind::Command => "Run",
    };
    format!("{kind} {}: {}", code(&clip(&need.what, caps.text)), prose(&clip(&need.why, caps.text)))
}

fn ending(exit_code: Option<i64>, error: Option<&str>) -> String {
    match (exit_code, error) {
        (Some(code), None) => format!("exit {code}"),
        (Some(code), Some(error)) => format!("exit {code}, {}", prose(error)),
        (None, Some(error)) => prose(error),
        (None, None) => "exit unknown".to_owned(),
    }
}

fn times(times: u64) -> String {
    if times > 1 { format!(", {times} times") } else { String::new() }
}

fn failed(attempt: &FailedAttempt, caps: &Caps) -> String {
    let resolved = if attempt.resolved { "; worked later" } else { "" };
    let ended = ending(attempt.exit_code, attempt.error.as_deref());
    let line = code(&clip(&attempt.command, caps.text));
    format!("{line} ({ended}{}): {}{resolved}", times(attempt.times), code(&clip(&attempt.why, caps.text)))
}

fn changed(file: &ChangedFile) -> String {
    let word = match file.status {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Renamed => "renamed",
        ChangeKind::TypeChanged => "type changed",
    };
    let from = file.from.as_deref().map(|from| format!(" from {}", code(from))).unwrap_or_default();
    let lines = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!(" (+{added} −{removed})"),
        _ => String::new(),
    };
    format!("{} {word}{from}{lines}", code(&file.path))
}

fn command(run: &CommandRun, caps: &Caps) -> String {
    let ended = ending(run.exit_code, run.error.as_deref());
    format!("{} ({ended}{})", code(&clip(&run.command, caps.text)), times(run.times))
}

/// A failure that said something and that nothing resolved since: of the others, the one line that says why is enough.
fn is_open(entry: &TailEntry, packet: &Packet) -> bool {
    let failed = entry.error.is_some() || entry.exit_code.is_some_and(|code| code != 0);
    let same = |attempt: &&FailedAttempt| {
        (&attempt.command, attempt.exit_code, &attempt.error)
            == (&entry.command, entry.exit_code, &entry.error)
    };
    let mut attempts = packet.failed_attempts.iter().filter(same).peekable();
    let resolved = attempts.peek().is_some() && attempts.all(|attempt| attempt.resolved);
    failed && !resolved && !(entry.stdout_tail.trim().is_empty() && entry.stderr_tail.trim().is_empty())
}

/// Of entries that say the same, the last one.
fn told_once<'a>(entries: &[&'a TailEntry]) -> Vec<&'a TailEntry> {
    let same = |one: &TailEntry, two: &TailEntry| {
        one.command == two.command && one.stdout_tail == two.stdout_tail && one.stderr_tail == two.stderr_tail
    };
    let again = |at: usize| entries[at + 1..].iter().any(|later| same(later, entries[at]));
    (0..entries.len()).filter(|at| !again(*at)).map(|at| entries[at]).collect()
}

fn output(entry: &TailEntry, caps: &Caps) -> String {
    let streams = [entry.stdout_tail.trim_end(), entry.stderr_tail.trim_end()];
    let both = streams.iter().filter(|stream| !stream.is_empty()).copied().collect::<Vec<_>>().join("\n");
    let tail = tail_lines(&both, caps.output_lines, 1_500);
    format!("{}\n\n{}", code(&clip(&entry.command, caps.text)), fenced(&tail))
}

fn receipts(packet: &Packet) -> Vec<String> {
    let short = |id: &str| code(id.get(..12).unwrap_or(id));
    let mut lines = vec![format!(
        "Session {} ({}), head {}",
        code(&packet.session_id),
        prose(&packet.agent),
        short(&packet.head_commit)
    )];
    if let Some(good) = &packet.last_known_good_commit {
        lines.push(format!("Last known good commit {}", short(good)));
    }
    let verdict = &packet.verdict_pointer;
    lines.push(format!(
        "Verdict {} (sha256 {})",
        code(&verdict.verification.path),
        short(&verdict.verification.sha256)
    ));
    if let Some(review) = &verdict.review {
        lines.push(format!("Review {} (sha256 {})", code(&review.path), short(&review.sha256)));
    }
    if let Some(omitted) = &packet.feedback_omitted {
        lines.push(format!("{} more failures in {}", omitted.failures, code(&omitted.log)));
    }
    if let Some(context) = &packet.context {
        let window = context.window.map(|window| format!(" of {window}")).unwrap_or_default();
        let assumed = if context.window_assumed { " (assumed)" } else { "" };
        lines.push(format!("Context {} tokens{window}{assumed}", context.tokens));
    }
    lines
}
