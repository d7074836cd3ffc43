//! Inputs to packet, purely. What a person could object to is settled before: an input without a next action gives no
//! packet at all.

use super::inputs::Inputs;
use super::{attempts, commands, risks, summary};
use crate::model::SCHEMA_VERSION;
use crate::model::packet::{
    CheckResult, CleanState, NextAction, Packet, PacketStatus, Prerequisite, PrerequisiteKind,
    QuestionForHuman, VerdictPointer,
};
use crate::redact::{clean, clip};

/// What a packet can't be without.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("there is no next action: it would be a status report, not a handoff")]
    NextAction,
}

/// A reviewed assumption that scored more than this needs no second look.
const VALIDATED: f64 = 1.0;

/// The longest next action, in characters.
const MAX_ACTION: usize = 600;

/// Computes the packet. Its status is `active`: the store decides that.
pub fn build(inputs: &Inputs) -> Result<Packet, Missing> {
    let next_action = inputs.next_action.as_ref().filter(|action| !action.text.trim().is_empty());
    let Some(action) = next_action else { return Err(Missing::NextAction) };
    let resolved = attempts::resolutions(&inputs.log.records);
    let flags: Vec<bool> = resolved.iter().map(Option::is_some).collect();
    let (feedback_tail, feedback_omitted) = commands::tail(&inputs.log, &inputs.limits, &flags);
    let attempts = attempts::failed(&inputs.log.records, &resolved);
    let unresolved = attempts.iter().filter(|attempt| !attempt.resolved).count() as u64;
    let mut packet = Packet {
        schema_version: SCHEMA_VERSION,
        session_id: inputs.session_id.clone(),
        agent: inputs.agent.clone(),
        task_id: inputs.task_id.clone(),
        topic: inputs.topic.clone(),
        branch: inputs.branch.clone(),
        head_commit: inputs.head_commit.clone(),
        last_known_good_commit: inputs.last_known_good_commit.clone(),
        status: PacketStatus::Active,
        supersedes: inputs.supersedes.clone(),
        summary: String::new(),
        changed_files: inputs.changed_files.clone(),
        commands_run: commands::run(&inputs.log),
        failed_attempts: attempts::to_limit(attempts, inputs.limits.entries),
        open_risks: risks::all(inputs),
        next_action: NextAction { text: clip(action.text.trim(), MAX_ACTION), derived: action.derived },
        verdict_pointer: VerdictPointer {
            verification: inputs.receipts.verification_file.clone(),
            review: inputs.receipts.review_file.clone(),
        },
        feedback_tail,
        feedback_omitted,
        assumptions_to_validate: assumptions(inputs),
        questions_for_human: questions(inputs),
        prerequisites: prerequisites(inputs),
        clean_state: clean_state(inputs),
        context: inputs.context.clone(),
        inputs_digest: inputs.digest(),
    };
    packet.summary = clean(&summary::summary(inputs, &packet, unresolved));
    Ok(packet)
}

fn assumptions(inputs: &Inputs) -> Vec<String> {
    let open = |assumption: &&crate::model::state::Assumption| {
        assumption.review_score.is_none_or(|score| score <= VALIDATED)
    };
    inputs.state.assumptions.iter().filter(open).map(|assumption| assumption.text.clone()).collect()
}

fn questions(inputs: &Inputs) -> Vec<QuestionForHuman> {
    let mut open: Vec<QuestionForHuman> = inputs
        .state
        .questions
        .iter()
        .filter(|question| question.answer.is_none())
        .map(|question| QuestionForHuman { text: question.text.clone(), blocking: question.blocking })
        .collect();
    open.sort_by_key(|question| !question.blocking);
    open
}

fn prerequisites(inputs: &Inputs) -> Vec<Prerequisite> {
    let parked = inputs.parked.iter().map(|parked| Prerequisite {
        kind: PrerequisiteKind::Parked,
        what: parked.id.clone(),
        sha256: None,
        why: format!("{}: bring it back with `endwell unpark {}`", parked.note, parked.id),
    });
    let stashed = inputs.stashes.iter().map(|stash| Prerequisite {
        kind: PrerequisiteKind::Stash,
        what: stash.commit.clone(),
        sha256: None,
        why: format!("{}: bring it back with `git stash apply {}`", stash.note, stash.commit),
    });
    inputs.files_to_load.iter().cloned().chain(parked).chain(stashed).collect()
}

fn clean_state(inputs: &Inputs) -> CleanState {
    let checks = inputs.clean.checks.iter();
    CleanState {
        tree: inputs.clean.tree.clone(),
        checks: checks.map(|outcome| CheckResult { check: outcome.check, status: outcome.status }).collect(),
    }
}
