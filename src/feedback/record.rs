//! A record made safe and small before it is written: escapes and secrets out first, then the tails are cut. Ids,
//! the folder and times are left as they are, since others join on them.

use crate::model::feedback::{FeedbackRecord, Outcome};
use crate::redact::{Counts, Redactor, clip, tail_lines};

/// Lines of each stream that a failure keeps, and that anything else keeps.
pub const FAILURE_LINES: usize = 20;
pub const OTHER_LINES: usize = 3;

/// The longest tail of one stream, in bytes, and the longest command, in characters.
const MAX_TAIL: usize = 4096;
const MAX_COMMAND: usize = 4000;

/// The record as it may be kept.
#[must_use]
pub fn keep_safe(redactor: &Redactor, mut record: FeedbackRecord) -> FeedbackRecord {
    let mut counts = Counts::new();
    record.command = command(redactor, &record.command, &mut counts);
    let lines = if record.outcome() == Outcome::Failure { FAILURE_LINES } else { OTHER_LINES };
    for (name, stream) in [("stdout", &mut record.stdout_tail), ("stderr", &mut record.stderr_tail)] {
        let whole = redactor.apply(stream, &mut counts);
        let tail = tail_lines(&whole, lines, MAX_TAIL);
        let left_out = whole.trim_end().len().saturating_sub(tail.len());
        if left_out > 0 {
            *record.truncations.entry(name.to_owned()).or_default() += left_out as u64;
        }
        *stream = tail;
    }
    record.agent_note = record.agent_note.map(|note| clip(&redactor.apply(&note, &mut counts), MAX_COMMAND));
    record.cwd = record.cwd.map(|cwd| redactor.text(&cwd));
    for (kind, count) in counts {
        *record.redactions.entry(kind).or_default() += count;
    }
    record
}

/// Words are looked at one by one and as one line: `--password` and its value are two words.
fn command(redactor: &Redactor, words: &[String], counts: &mut Counts) -> Vec<String> {
    let alone: Vec<String> = words.iter().map(|word| redactor.apply(word, counts)).collect();
    if alone.len() < 2 {
        return alone.into_iter().map(|word| clip(&word, MAX_COMMAND)).collect();
    }
    let line = shell_words::join(&alone);
    let whole = redactor.apply(&line, counts);
    if whole == line {
        return alone.into_iter().map(|word| clip(&word, MAX_COMMAND)).collect();
    }
    // the mark holds no quote and no blank, so the words can be told apart again
    shell_words::split(&whole).unwrap_or_else(|_| vec![whole])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_more_than_a_success_and_secrets_go_before_the_cut() {
        let output = (1..=40).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let record = |code| FeedbackRecord {
            command: vec!["curl".into(), "--token".into(), "9f8a7b6c5d4e3f2a1b0c".into()],
            exit_code: Some(code),
            stdout_tail: output.clone(),
            ..FeedbackRecord::default()
        };
        let failed = keep_safe(&Redactor::default(), record(1));
        assert_eq!(failed.stdout_tail.lines().count(), 20);
        assert_eq!(failed.command, ["curl", "--token", "[redacted:secret]"]);
        assert_eq!(failed.redactions["secret"], 1);
        assert!(failed.truncations["stdout"] > 0);
        assert_eq!(keep_safe(&Redactor::default(), record(0)).stdout_tail, "line 38\nline 39\nline 40");
    }
}
