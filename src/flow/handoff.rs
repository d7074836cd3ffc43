//! The handoff: judges the session freshly, and writes its packet or says everything that stands against it. All of
//! it happens under one lock in the git dir that the work trees share. An old `[]` is no pass.

use std::path::PathBuf;

use regex::Regex;

use crate::failure::{Failure, Result};
use crate::flow::check::{self, CheckOptions, Judged};
use crate::flow::handoff_inputs::{self as inputs, Gathered};
use crate::flow::packets::{self, Whereabouts};
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, queue, state, trust};
use crate::fs;
use crate::model::Issue;
use crate::model::packet::{Packet, PacketStatus};
use crate::model::queue::QueuedKind;
use crate::model::session::Ending;
use crate::packet::store::{Store, StoreError, Writing};
use crate::packet::{self, Inputs};
use crate::redact::Redactor;

/// What is handed over.
#[derive(Clone, Debug, Default)]
pub struct HandoffOptions {
    /// The session's id, where it is given.
    pub session: Option<String>,
    /// The session died and is finished now: it does not take over from a later session's packet.
    pub late: bool,
    /// How the session ended; absent while it goes on.
    pub ending: Option<Ending>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum Outcome {
    Written(Box<Done>),
    /// The same bytes stood there already.
    Unchanged(Box<Done>),
    Refused(Refused),
    /// Nothing speaks against it, but the git folder can't be written here: the next hook writes it.
    Queued,
}

/// The packet and its files.
#[derive(Clone, Debug)]
pub struct Done {
    pub packet: Packet,
    pub page: String,
    pub json: PathBuf,
    pub markdown: PathBuf,
    pub status: PacketStatus,
}

/// Everything that stands against a packet.
#[derive(Clone, Debug)]
pub struct Refused {
    pub session: String,
    pub reasons: Vec<Reason>,
    /// Some check could not judge: that is exit 3, not 1.
    pub could_not_judge: bool,
    pub issues: Vec<Issue>,
}

/// One reason and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The issue's code, or `no-verdict`, `no-review`, `no-next-action`, `no-commit`.
    pub code: String,
    /// A sentence without a full stop.
    pub text: String,
    /// The one thing to do about it.
    pub mend: String,
}

impl Reason {
    pub fn new(code: &str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into(), mend: mend.into() }
    }

    fn of(issue: &Issue) -> Self {
        let place = issue.path.as_deref().filter(|path| !issue.message.contains(path));
        let place = place.map(|path| format!(" (`{path}`)")).unwrap_or_default();
        Self::new(&issue.code, format!("{}{place}", issue.message.trim_end_matches('.')), &issue.hint)
    }
}

/// Judges and writes, or refuses.
pub fn attempt(bench: &Workbench, options: &HandoffOptions) -> Result<Outcome> {
    attempt_seen(bench, options).map(|(_, outcome)| outcome)
}

/// As [`attempt`], with what was judged.
pub fn attempt_seen(bench: &Workbench, options: &HandoffOptions) -> Result<(Judged, Outcome)> {
    let store = store(bench);
    let _lock = match store.lock() {
        Ok(lock) => lock,
        Err(error) if fs::is_read_only(&error) => return confined(bench, &store, options, error),
        Err(error) => return Err(no_lock(error)),
    };
    store.mend(crate::clock::now()).map_err(kept)?;
    let judged =
        check::judge(bench, &CheckOptions { session: options.session.clone(), ..CheckOptions::default() })?;
    let outcome = match inputs::gather(bench, &store, &judged)? {
        Gathered::Ready(inputs) => write(bench, &store, &judged, &inputs, options)?,
        Gathered::Refused(reasons) => Outcome::Refused(refused(&judged, reasons)),
    };
    Ok((judged, outcome))
}

fn no_lock(error: std::io::Error) -> Failure {
    Failure::broken("can't take the lock for packets")
        .because(error)
        .hint("Wait for the other endwell to end, or make the git folder writable, then try again.")
}

/// In a sandbox that may not write the git folder: judged as ever, and left for the next hook to write.
fn confined(
    bench: &Workbench,
    store: &Store,
    options: &HandoffOptions,
    error: std::io::Error,
) -> Result<(Judged, Outcome)> {
    let judged =
        check::judge(bench, &CheckOptions { session: options.session.clone(), ..CheckOptions::default() })?;
    if let Gathered::Refused(reasons) = inputs::gather(bench, store, &judged)? {
        let outcome = Outcome::Refused(refused(&judged, reasons));
        return Ok((judged, outcome));
    }
    let id = judged.session.id.to_string();
    queue::put(bench, QueuedKind::Handoff, |queued| queued.session_id = id).map_err(|_| no_lock(error))?;
    Ok((judged, Outcome::Queued))
}

/// What would refuse a packet now; nothing is written. For gates that judged already.
pub fn reasons(bench: &Workbench, judged: &Judged) -> Result<Vec<Reason>> {
    Ok(match inputs::gather(bench, &store(bench), judged)? {
        Gathered::Ready(_) => Vec::new(),
        Gathered::Refused(reasons) => reasons,
    })
}

fn refused(judged: &Judged, reasons: Vec<Reason>) -> Refused {
    Refused {
        session: judged.session.id.to_string(),
        reasons,
        could_not_judge: judged.report.could_not_judge(),
        issues: judged.report.blocking().into_iter().cloned().collect(),
    }
}

/// Reasons from the judgement itself.
pub(super) fn blocking(judged: &Judged) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = judged.report.blocking().into_iter().map(Reason::of).collect();
    if judged.report.head.is_none() && !judged.report.could_not_judge() {
        reasons.push(Reason::new(
            "no-commit",
            "there is no commit to hand over",
            "Commit the work: `git commit`.",
        ));
    }
    reasons
}

fn write(
    bench: &Workbench,
    store: &Store,
    judged: &Judged,
    inputs: &Inputs,
    options: &HandoffOptions,
) -> Result<Outcome> {
    let packet = packet::build(inputs).map_err(|missing| {
        Failure::blocked("no handoff").because(missing).hint("Run `endwell note next \"…\"`, then try again.")
    })?;
    let template = template(bench)?;
    let page = packet::markdown(&packet, inputs.limits.max_chars, template.as_deref()).map_err(|error| {
        Failure::broken("can't render `handoff.md`")
            .because(error)
            .hint("Mend the template that `[packet] template` names, or remove the setting.")
    })?;
    let now = crate::clock::now_text();
    let writing = Writing {
        packet: &packet,
        markdown: &page,
        began: judged.session.journal.as_ref().map(|session| session.started_at.as_str()),
        now: &now,
        late: options.late,
        apart: packets::is_apart(bench, &Whereabouts::of(bench)?, &packet.head_commit),
        ending: options.ending,
        changed_since: &[],
    };
    let wrote = store.write(&writing).map_err(kept)?;
    let packet = Packet { status: wrote.status, ..packet };
    let done =
        Box::new(Done { packet, page, json: wrote.json, markdown: wrote.markdown, status: wrote.status });
    Ok(if wrote.changed { Outcome::Written(done) } else { Outcome::Unchanged(done) })
}

/// The store of this repository's packets.
pub fn store(bench: &Workbench) -> Store {
    Store {
        top: bench.repo.top.clone(),
        outputs: bench.output("handoff"),
        shared: bench.repo.shared_dir(),
        key: trust::key(&bench.env),
    }
}

/// A store's failure as a person sees it.
pub fn kept(error: StoreError) -> Failure {
    Failure::broken("can't keep or find the packet")
        .because(error)
        .hint("Make the outputs folder and the git folder writable, or free some space, then try again.")
}

/// The redactor for texts of this work tree.
pub fn redactor(bench: &Workbench) -> Result<Redactor> {
    let settings = &bench.config.redact;
    let patterns = settings.patterns.iter().map(|pattern| {
        Regex::new(pattern).map_err(|error| {
            Failure::broken(format!("`[redact] patterns` holds `{pattern}`, which is no regular expression"))
                .because(error)
                .hint("Mend the pattern in `endwell.toml`; until then nothing can be kept safely.")
        })
    });
    let patterns = patterns.collect::<Result<Vec<Regex>>>()?;
    let home = bench.env.home().and_then(|home| home.to_str().map(str::to_owned));
    Ok(Redactor::new(home.as_deref()).with_patterns(patterns).masking_mail(settings.mail))
}

fn template(bench: &Workbench) -> Result<Option<String>> {
    let Some(path) = &bench.config.packet.template else { return Ok(None) };
    let full = bench.repo.top.join(path);
    let shown = state::shown(bench, &full);
    let failed = |message: &str| {
        Failure::broken(message.to_owned())
            .hint(format!("Put the template at `{shown}`, or remove `[packet] template`."))
    };
    fs::stays_inside(&bench.repo.top, &full)
        .map_err(|error| failed("the template lies outside of the repository").because(error))?;
    match fs::read_text_optional(&full) {
        Ok(Some(text)) => Ok(Some(text)),
        Ok(None) => Err(failed("the template for `handoff.md` is not there")),
        Err(error) => Err(failed("can't read the template for `handoff.md`").because(error)),
    }
}

/// A refusal as a person sees it: every reason, and what mends it.
pub fn failure(refused: &Refused) -> Failure {
    let count = refused.reasons.len();
    let noun = if count == 1 { "1 reason stands" } else { &format!("{count} reasons stand") };
    let mut message = format!("no handoff: {noun} against it");
    for reason in &refused.reasons {
        message.push_str("\n  - ");
        message.push_str(&reason.text);
    }
    let failure = if refused.could_not_judge { Failure::broken(message) } else { Failure::blocked(message) };
    let mut mends: Vec<&str> = Vec::new();
    for reason in &refused.reasons {
        if !reason.mend.is_empty() && !mends.contains(&reason.mend.as_str()) {
            mends.push(&reason.mend);
        }
    }
    mends.into_iter().fold(failure, Failure::hint)
}

/// git's failure while a packet is put together.
pub fn history(error: crate::git::GitError) -> Failure {
    git_failed("can't read the session's history", error)
}
