//! Gathers everything that a packet is computed from. Whatever stands against a packet is collected, all of it, so
//! that one round of mending is enough. Texts are redacted here, on their way in.

use crate::config;
use crate::failure::Result;
use crate::feedback::{self, Wanted};
use crate::flow::check::Judged;
use crate::flow::handoff::{Reason, blocking, history, redactor};
use crate::flow::reports::{review, verdict};
use crate::flow::state::{self, ReadState, shown};
use crate::flow::topic::Topic;
use crate::flow::{Workbench, bypass, evidence, park, safe};
use crate::fs;
use crate::git::stash::{StashEntry, StashNote};
use crate::model::Severity;
use crate::model::board::Board;
use crate::model::issue::{lossy_path, sha256_hex};
use crate::model::packet::{ChangeKind, ChangedFile, NextAction, OpenRisk, Prerequisite, PrerequisiteKind};
use crate::model::state::AgentState;
use crate::packet::store::Store;
use crate::packet::{BoardInput, Inputs, Limits, LogInput, Receipts, StashInput};
use crate::redact::Redactor;

/// Commands that a packet lists at most; older ones are in the log.
const MAX_COMMANDS: usize = 2_000;

/// Commits that are counted at most.
const MAX_COMMITS: usize = 10_000;

/// How far back a commit with green evidence is looked for.
const MAX_LOOK_BACK: usize = 100;

/// Notes that other tools leave for the next session: named, never parsed.
const OTHER_NOTES: [&str; 2] = ["claude-progress.txt", "HANDOFF.md"];

/// The inputs, or everything that stands against a packet.
pub(super) enum Gathered {
    Ready(Box<Inputs>),
    Refused(Vec<Reason>),
}

/// Gathers.
pub(super) fn gather(bench: &Workbench, store: &Store, judged: &Judged) -> Result<Gathered> {
    let mut reasons = blocking(judged);
    let read = state::read(bench)?;
    let branch = judged.status.as_ref().and_then(|status| status.branch.clone());
    let board = judged.board.reading.board();
    let topic = Topic::of(&read.state, board.and_then(Board::active_id), branch.as_deref());
    let head = judged.report.head.clone();
    let tree = head.as_deref().map(|head| bench.objects.tree_of(head)).transpose().map_err(history)?;
    let key = judged.status.as_ref().map(|status| evidence::task(bench, status)).unwrap_or_default();
    let verdict = tree.as_deref().and_then(|tree| keep(verdict(bench, &topic, &key, tree), &mut reasons));
    let found_review = review(bench, &topic);
    if judged.session.in_force(&bench.config).review.required
        && let Some(text) = found_review.lacking()
    {
        let mend = format!(
            "Have it reviewed: the report goes to `{}`.",
            shown(bench, &bench.review_path(topic.report_key()))
        );
        reasons.push(Reason::new("no-review", format!("{text}, and `[review] required` asks for one"), mend));
    }
    let next_action = next_action(bench, &read.state, judged);
    if next_action.is_none() {
        let text = "there is no next action: it would be a status report, not a handoff";
        reasons.push(Reason::new(
            "no-next-action",
            text,
            "Say the first concrete step: `endwell note next \"Run …\"`.",
        ));
    }
    let (Some(head), Some((verification, verification_file))) = (head, verdict) else {
        return Ok(Gathered::Refused(reasons));
    };
    if !reasons.is_empty() {
        return Ok(Gathered::Refused(reasons));
    }
    let redactor = redactor(bench)?.relative_to(&bench.repo.top.to_string_lossy());
    let (review, review_file) = found_review.report.unzip();
    let receipts = Receipts { verification, verification_file, review, review_file };
    let parts =
        Parts { read, topic, branch, head, receipts, next_action, unreadable: found_review.unreadable };
    Ok(Gathered::Ready(Box::new(assemble(bench, store, judged, parts, &redactor)?)))
}

fn keep<T>(found: Result<T, Reason>, reasons: &mut Vec<Reason>) -> Option<T> {
    found.map_err(|reason| reasons.push(reason)).ok()
}

/// What was found before anything was refused.
struct Parts {
    read: ReadState,
    topic: Topic,
    branch: Option<String>,
    head: String,
    receipts: Receipts,
    next_action: Option<NextAction>,
    /// Review reports that could not be read, and why.
    unreadable: Vec<String>,
}

fn assemble(
    bench: &Workbench,
    store: &Store,
    judged: &Judged,
    parts: Parts,
    redactor: &Redactor,
) -> Result<Inputs> {
    let session = &judged.session;
    let base = match &session.baseline {
        Some(baseline) => baseline.head.clone(),
        // nothing was installed: what the checks judged is the next best bound
        None => judged.report.base.clone(),
    };
    let base = base.filter(|base| bench.objects.has(base));
    let began = session.journal.as_ref().map(|journal| journal.started_at.clone());
    let settings = &bench.config.packet;
    let (log, mut found_risks) = log(bench, session.id.as_str(), redactor);
    found_risks.extend(parts.read.remarks.iter().map(|remark| info(remark)));
    found_risks.extend(parts.unreadable.iter().map(|why| OpenRisk {
        severity: Severity::Warn,
        detail: why.clone(),
        source: "review".to_owned(),
    }));
    if let Some(baseline) = &session.baseline {
        found_risks.extend(bypass::risks(bench, &baseline.taken_at));
    }
    found_risks.extend(gates_changed(bench, judged));
    for risk in &mut found_risks {
        risk.detail = redactor.text(&risk.detail);
    }
    let green = parts.receipts.verification.tests.as_ref().is_some_and(|run| run.exit_code == Some(0));
    let commits =
        bench.objects.commits_since(base.as_deref(), &parts.head, MAX_COMMITS).map_err(history)?.len() as u64;
    let clean = safe::clean(judged.report.clone(), redactor);
    let mut session_id = session.id.to_string();
    if session.journal.is_none() && session_id.starts_with("manual-") {
        session_id = store.manual_id(&session_id, parts.branch.as_deref(), &parts.topic.name);
    }
    Ok(Inputs {
        agent: session.agent.clone(),
        supersedes: store.earlier(parts.branch.as_deref(), &parts.topic.name, &session_id, began.as_deref()),
        session_id,
        changed_files: changed_files(bench, base.as_deref(), &parts.head)?,
        commits,
        base_commit: base,
        last_known_good_commit: last_good(bench, &parts.head, green)?,
        state: safe::state(parts.read.state, redactor),
        board: board_input(judged, parts.topic.task_id.as_deref(), redactor),
        receipts: redacted_receipts(parts.receipts, redactor),
        log,
        clean,
        next_action: parts
            .next_action
            .map(|action| NextAction { text: redactor.text(&action.text), ..action }),
        parked: park::inputs(bench, redactor)?,
        stashes: stashes(bench, judged, redactor)?,
        found_risks,
        files_to_load: files_to_load(bench, judged.board.reading.board()),
        started_at: began,
        context: session.journal.as_ref().and_then(|journal| journal.context.clone()),
        limits: Limits { tail: settings.tail, max_chars: settings.max_chars, ..Limits::default() },
        task_id: parts.topic.task_id,
        topic: parts.topic.name,
        branch: parts.branch,
        head_commit: parts.head,
    })
}

/// Settings that ask for less than they did at the baseline.
fn gates_changed(bench: &Workbench, judged: &Judged) -> Vec<OpenRisk> {
    let counts =
        if judged.session.is_agents() { "what it was still counts where it can" } else { "it counts" };
    let risk = |key: &str| OpenRisk {
        severity: Severity::Warn,
        detail: format!("`{key}` in `{}` was loosened since the session's baseline; {counts}", config::FILE),
        source: "gate-changed".to_owned(),
    };
    judged.session.loosened(&bench.config).into_iter().map(risk).collect()
}

/// The feature that the packet is about, by the board: the active one, else the active task's, else one that this
/// session has finished.
fn board_input(judged: &Judged, task: Option<&str>, redactor: &Redactor) -> Option<BoardInput> {
    let board = judged.board.reading.board()?;
    let feature = board
        .active()
        .or_else(|| board.feature(task?))
        .or_else(|| judged.board.newly_done().last().copied())?;
    let word = if feature.worded { feature.word.as_str() } else { feature.status.name() };
    Some(BoardInput {
        feature: feature.id.clone(),
        status: word.to_owned(),
        goal: Some(redactor.text(&feature.goal)).filter(|goal| !goal.is_empty()),
    })
}

/// The newest commit at or before HEAD whose tree has green evidence.
fn last_good(bench: &Workbench, head: &str, green: bool) -> Result<Option<String>> {
    if green {
        return Ok(Some(head.to_owned()));
    }
    let commits = bench.objects.commits_since(None, head, MAX_LOOK_BACK).map_err(history)?;
    let records = evidence::Recorded::of(bench);
    Ok(commits.into_iter().find(|commit| {
        let tree = bench.objects.tree_of(commit);
        tree.is_ok_and(|tree| records.is_green(&tree))
    }))
}

fn info(detail: &str) -> OpenRisk {
    OpenRisk { severity: Severity::Info, detail: detail.to_owned(), source: "state".to_owned() }
}

/// The agent's words, else what the board says comes next.
fn next_action(bench: &Workbench, state: &AgentState, judged: &Judged) -> Option<NextAction> {
    let said = state.next_action.clone().map(|text| NextAction { text, derived: false });
    said.or_else(|| {
        let board = judged.board.reading.board()?;
        let text = crate::flow::board::next_action(bench, board, &judged.board.proofs)?;
        Some(NextAction { text, derived: true })
    })
}

fn changed_files(bench: &Workbench, base: Option<&str>, head: &str) -> Result<Vec<ChangedFile>> {
    let changes = bench.objects.diff(base, head).map_err(history)?;
    let mut files = Vec::with_capacity(changes.len());
    for change in changes.iter().filter(|change| !bench.config.is_own(&change.path)) {
        let counts = bench.objects.line_counts(change).map_err(history)?;
        let status = match (&change.old, &change.new, &change.from) {
            (_, _, Some(_)) => ChangeKind::Renamed,
            (None, _, _) => ChangeKind::Added,
            (_, None, _) => ChangeKind::Deleted,
            (Some(old), Some(new), _) if old.kind.is_file() != new.kind.is_file() => ChangeKind::TypeChanged,
            _ => ChangeKind::Modified,
        };
        files.push(ChangedFile {
            path: lossy_path(&change.path).0,
            status,
            added: counts.map(|(added, _)| added),
            removed: counts.map(|(_, removed)| removed),
            from: change.from.as_ref().map(|from| lossy_path(from).0),
        });
    }
    Ok(files)
}

/// The session's records. A log that can't be read is a risk, not a refusal: it is nobody's gate.
fn log(bench: &Workbench, session: &str, redactor: &Redactor) -> (LogInput, Vec<OpenRisk>) {
    let path = bench.feedback_path();
    let shown = shown(bench, &path);
    let files = feedback::log::files(&path);
    let wanted = Wanted { last: MAX_COMMANDS, session: Some(session) };
    match feedback::scan(&files, &wanted) {
        Ok(reading) => {
            let recent_from =
                reading.records.iter().position(|found| found.recent).unwrap_or(reading.records.len());
            let records =
                reading.records.into_iter().map(|found| feedback::keep_safe(redactor, found.record));
            let input = LogInput {
                records: records.collect(),
                recent_from,
                more: reading.more,
                unreadable: reading.unreadable,
                dropped: reading.dropped,
                path: shown,
            };
            (input, Vec::new())
        }
        Err(error) => {
            let detail = format!("The feedback log `{shown}` could not be read: {error}");
            let risk = OpenRisk { severity: Severity::Warn, detail, source: "log".to_owned() };
            (LogInput { path: shown, ..LogInput::default() }, vec![risk])
        }
    }
}

/// The stash entries that this session made.
fn stashes(bench: &Workbench, judged: &Judged, redactor: &Redactor) -> Result<Vec<StashInput>> {
    if judged.status.as_ref().is_none_or(|status| status.stashes == 0) {
        return Ok(Vec::new());
    }
    let before =
        judged.session.baseline.as_ref().map(|baseline| baseline.stashes.as_slice()).unwrap_or_default();
    let entries = bench.repo.stash_entries().map_err(history)?;
    let new = entries.into_iter().filter(|entry| !before.contains(&entry.commit));
    Ok(new.map(|entry| StashInput { note: redactor.text(&note(&entry)), commit: entry.commit }).collect())
}

fn note(entry: &StashEntry) -> String {
    match &entry.note {
        StashNote::Own(note) | StashNote::Empty(note) => note.clone(),
        StashNote::None => "without a note".to_owned(),
    }
}

fn files_to_load(bench: &Workbench, board: Option<&Board>) -> Vec<Prerequisite> {
    let board = board.map(|board| Prerequisite {
        kind: PrerequisiteKind::File,
        what: board.path.clone(),
        sha256: Some(board.sha256.clone()),
        why: "the feature board".to_owned(),
    });
    let named = OTHER_NOTES.iter().filter_map(|name| {
        let bytes = fs::read_optional(&bench.repo.top.join(name)).ok()??;
        Some(Prerequisite {
            kind: PrerequisiteKind::File,
            what: (*name).to_owned(),
            sha256: Some(sha256_hex(&bytes)),
            why: "notes that were left for the next session".to_owned(),
        })
    });
    board.into_iter().chain(named).collect()
}

fn redacted_receipts(receipts: Receipts, redactor: &Redactor) -> Receipts {
    let mut verification = safe::verification(receipts.verification, redactor);
    let suites = verification.suites.iter_mut().map(|suite| &mut suite.tests);
    for run in verification.tests.iter_mut().chain(suites) {
        // endwell's own timing: the same tests give the same packet however long they took
        run.duration_ms = 0;
    }
    let review = receipts.review.map(|review| safe::review(review, redactor));
    Receipts { verification, review, ..receipts }
}
