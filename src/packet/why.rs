//! The line of a failed command's output that says why, chosen by the shape of what the runner writes: the first
//! assertion is worth more than the last line, which is often a count.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::feedback::FeedbackRecord;
use crate::redact::clip;

/// The longest reason, in characters.
const MAX_WHY: usize = 240;

/// A shape: where a line matches, it (or the next line that is not blank) is the reason.
struct Shape {
    pattern: &'static str,
    takes: Takes,
}

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    First,
    Last,
    /// The line and the next one, joined.
    WithNext,
}

/// From the most telling to the least.
const SHAPES: [Shape; 19] = [
    // pytest's assertion lines
    Shape { pattern: r"^E {2,}\S", takes: Takes::First },
    // Rust: a panic's place, with its message on the next line
    Shape { pattern: r"^thread '.*' (?:\(\d+\) )?panicked at ", takes: Takes::WithNext },
    // compilers: rustc, then file:line:column
    Shape { pattern: r"^error(?:\[E\d+\])?: (?:[^ca]|c[^o]|a[^b])", takes: Takes::WithNext },
    Shape { pattern: r"^\S+[:(]\d+(?:[:,]\d+)?\)?:? (?:fatal )?error\b", takes: Takes::First },
    // Go: the failing test's own lines, then a panic
    Shape { pattern: r"^\s+\S+_test\.go:\d+: ", takes: Takes::First },
    Shape { pattern: r"^panic: ", takes: Takes::First },
    Shape { pattern: r"^\S+\.go:\d+:\d+: ", takes: Takes::First },
    // node's runners
    Shape {
        pattern: r"^\s*(?:AssertionError|ReferenceError|TypeError|SyntaxError|RangeError)\b.*\S",
        takes: Takes::First,
    },
    Shape { pattern: r"^\s*● .+ › ", takes: Takes::First },
    Shape { pattern: r"^\s*(?:FAIL|✗|✕|×|not ok \d+)\s+\S", takes: Takes::First },
    // Python: the exception that ended it
    Shape {
        pattern: r"^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning)\b",
        takes: Takes::Last,
    },
    Shape { pattern: r"^FAILED \S", takes: Takes::First },
    Shape { pattern: r"^(?:FAIL|ERROR): \S", takes: Takes::First },
    // TAP, JUnit and the like
    Shape { pattern: r"^\s*(?:Error|error): \S", takes: Takes::First },
    // git, shells, package managers
    Shape { pattern: r"^(?:fatal|error|ERROR|remote: error): ", takes: Takes::First },
    Shape {
        pattern: r"(?:command not found|No such file or directory|Permission denied|not found)$",
        takes: Takes::First,
    },
    Shape { pattern: r"^npm (?:ERR!|error) [^A\s]", takes: Takes::First },
    Shape {
        pattern: r"(?i)\b(?:error|failed|failure|cannot|can't|unable|denied|refused)\b",
        takes: Takes::First,
    },
    Shape { pattern: r"(?i)^\S+: ", takes: Takes::First },
];

static COMPILED: LazyLock<Vec<(Regex, Takes)>> = LazyLock::new(|| {
    SHAPES.iter().filter_map(|shape| Some((Regex::new(shape.pattern).ok()?, shape.takes))).collect()
});

/// Lines that only say that something failed, as every runner ends.
static EMPTY_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:make(?:\[\d+\])?: \*\*\* \[|error: (?:test failed|could not compile|aborting due|\d+ targets? failed)|For more information|note: |npm (?:ERR!|error) (?:A complete log|code ELIFECYCLE)|=+ .* =+$|FAILED \(|FAIL\t|exit status|Error: Process completed|error Command failed|\s*ELIFECYCLE|Some errors have detailed|warning: )",
    )
    .ok()
});

/// Why a command failed, in one line.
pub(super) fn why(record: &FeedbackRecord) -> String {
    // a client's merged output is in stdout; where both are there, errors are more telling
    let streams = [record.stderr_tail.as_str(), record.stdout_tail.as_str()];
    let all = || streams.iter().flat_map(|stream| stream.lines()).filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = all().filter(|line| !is_empty_word(line)).collect();
    let shaped = COMPILED.iter().find_map(|(pattern, takes)| pick(&lines, pattern, *takes));
    let last = || lines.last().copied().or_else(|| all().next_back()).map(|line| line.trim().to_owned());
    let text = shaped.or_else(last);
    match text {
        Some(text) => clip(&text, MAX_WHY),
        None => without_output(record),
    }
}

fn pick(lines: &[&str], pattern: &Regex, takes: Takes) -> Option<String> {
    let matches = |line: &&str| pattern.is_match(line);
    let at = match takes {
        Takes::Last => lines.iter().rposition(matches)?,
        Takes::First | Takes::WithNext => lines.iter().position(matches)?,
    };
    let line = lines[at].trim();
    match lines.get(at + 1) {
        Some(next) if takes == Takes::WithNext => Some(format!("{line} {}", next.trim())),
        _ => Some(line.to_owned()),
    }
}

fn is_empty_word(line: &str) -> bool {
    EMPTY_WORDS.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

fn without_output(record: &FeedbackRecord) -> String {
    match (&record.error, record.exit_code, &record.agent_note) {
        (_, _, Some(note)) => clip(note.trim(), MAX_WHY),
        (Some(error), _, _) => format!("{error}, without a message"),
        (None, Some(code), _) => format!("exit {code}, without a message"),
        (None, None, None) => "ended without a message".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stdout: &str, stderr: &str) -> String {
        why(&FeedbackRecord {
            stdout_tail: stdout.to_owned(),
            stderr_tail: stderr.to_owned(),
            exit_code: Some(1),
            ..FeedbackRecord::default()
        })
    }

    #[test]
    fn every_shape_compiles() {
        assert_eq!(COMPILED.len(), SHAPES.len());
        assert!(EMPTY_WORDS.is_some());
    }

    #[test]
    fn the_telling_line_is_chosen_by_the_runners_shape() {
        let pytest = "    def test_x():\n>       assert pages == 4\nE       AssertionError: 3 pages, expected 4\nE        +  where 3\n\ntests/t.py:4: AssertionError\n==== 1 failed in 0.1s ====";
        assert_eq!(of(pytest, ""), "E       AssertionError: 3 pages, expected 4");
        let cargo = "running 1 test\n\nthread 'a::b' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 1";
        assert_eq!(
            of(cargo, "error: test failed, to rerun pass `--lib`"),
            "thread 'a::b' panicked at src/lib.rs:3:5: assertion `left == right` failed"
        );
        let rustc = "   Compiling x v0.1.0\nerror[E0425]: cannot find value `y` in this scope\n --> src/lib.rs:1:1\nerror: could not compile `x`";
        assert_eq!(of("", rustc), "error[E0425]: cannot find value `y` in this scope --> src/lib.rs:1:1");
        let go = "--- FAIL: TestAdd (0.00s)\n    add_test.go:8: got 3, want 4\nFAIL\nexit status 1\nFAIL\texample.org/x\t0.002s";
        assert_eq!(of(go, ""), "add_test.go:8: got 3, want 4");
        let traceback = "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    f()\nValueError: no pages";
        assert_eq!(of("", traceback), "ValueError: no pages");
        assert_eq!(of("", "make: *** [Makefile:3: test] Error 1"), "make: *** [Makefile:3: test] Error 1");
        assert_eq!(of("boom", "make: *** [Makefile:3: test] Error 1"), "boom");
        let no_rule = "make: *** No rule to make target 'nope'.  Stop.";
        assert_eq!(of("", no_rule), no_rule);
        assert_eq!(of("", ""), "exit 1, without a message");
        assert_eq!(of("", "sh: 1: frobnicate: not found"), "sh: 1: frobnicate: not found");
        assert_eq!(of("1 of 3 done\nstopped", ""), "stopped");
    }
}
