//! `failed_attempts`: what was tried and did not work, why, and whether a later run did. A later run belongs to an
//! attempt if it is the same command in the same folder, or if it names the attempt as its parent.

use std::collections::HashMap;

use super::commands::shown;
use super::why::why;
use crate::model::feedback::{FeedbackRecord, Outcome};
use crate::model::packet::FailedAttempt;

/// For each record: the place of the later run that succeeded, for failures that one followed.
pub(super) fn resolutions(records: &[FeedbackRecord]) -> Vec<Option<usize>> {
    // from the end: the earliest success behind a place is the last one noted
    let mut by_command: HashMap<(String, Option<&str>), usize> = HashMap::new();
    let mut by_parent: HashMap<&str, usize> = HashMap::new();
    let mut found = vec![None; records.len()];
    for (index, record) in records.iter().enumerate().rev() {
        let key = (record.command_line(), record.cwd.as_deref());
        let child = record.command_id.as_deref().and_then(|id| by_parent.get(id)).copied();
        let again = by_command.get(&key).copied();
        match record.outcome() {
            Outcome::Success => {
                by_command.insert(key, index);
                if let Some(parent) = record.parent_command_id.as_deref() {
                    by_parent.insert(parent, index);
                }
            }
            Outcome::Failure => {
                found[index] = match (child, again) {
                    (Some(one), Some(two)) => Some(one.min(two)),
                    (one, two) => one.or(two),
                };
                // a retry that failed and was itself resolved resolves what it retried
                if let (Some(parent), Some(by)) = (record.parent_command_id.as_deref(), found[index]) {
                    by_parent.entry(parent).or_insert(by);
                }
            }
            Outcome::Unknown => {}
        }
    }
    found
}

/// The attempts, oldest first, identical ones folded.
pub(super) fn failed(records: &[FeedbackRecord], resolved: &[Option<usize>]) -> Vec<FailedAttempt> {
    let mut attempts: Vec<FailedAttempt> = Vec::new();
    for (index, record) in records.iter().enumerate() {
        if record.outcome() != Outcome::Failure {
            continue;
        }
        let by = resolved.get(index).copied().flatten();
        let next = FailedAttempt {
            command: shown(record),
            exit_code: record.exit_code,
            error: record.error.clone(),
            why: why(record),
            times: 1,
            resolved_by: by.and_then(|at| records[at].command_id.clone()),
            resolved: by.is_some(),
        };
        let twin = attempts.iter().position(|have| {
            have.command == next.command
                && have.exit_code == next.exit_code
                && have.error == next.error
                && have.why == next.why
                && have.resolved == next.resolved
        });
        match twin {
            Some(at) => {
                let mut have = attempts.remove(at);
                have.times += 1;
                have.resolved_by = next.resolved_by;
                attempts.push(have);
            }
            None => attempts.push(next),
        }
    }
    attempts
}

/// At most `limit` of them: the newest unresolved ones, then the newest resolved ones.
pub(super) fn to_limit(mut attempts: Vec<FailedAttempt>, limit: usize) -> Vec<FailedAttempt> {
    while attempts.len() > limit {
        let oldest = attempts.iter().position(|attempt| attempt.resolved).unwrap_or(0);
        attempts.remove(oldest);
    }
    attempts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(command: &str, id: &str, parent: Option<&str>, code: Option<i64>) -> FeedbackRecord {
        FeedbackRecord {
            command: vec![command.to_owned()],
            command_id: Some(id.to_owned()),
            parent_command_id: parent.map(str::to_owned),
            exit_code: code,
            ..FeedbackRecord::default()
        }
    }

    #[test]
    fn retries_are_followed_by_parent_and_by_command() {
        let records = [
            record("make", "1", None, Some(2)),
            record("pytest a", "2", None, Some(1)),
            record("pytest -x a", "3", Some("2"), Some(1)),
            record("make", "4", None, Some(0)),
            record("pytest -vx a", "5", Some("3"), Some(0)),
            record("make", "6", None, Some(2)),
            record("sleep", "7", None, None),
        ];
        let resolved = resolutions(&records);
        assert_eq!(resolved, [Some(3), Some(4), Some(4), None, None, None, None]);
        let attempts = failed(&records, &resolved);
        let short: Vec<_> = attempts.iter().map(|a| (a.command.as_str(), a.resolved_by.as_deref())).collect();
        assert_eq!(
            short,
            [("make", Some("4")), ("pytest a", Some("5")), ("pytest -x a", Some("5")), ("make", None)]
        );
    }
}
