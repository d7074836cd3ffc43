//! Verification report, review report, and recorded evidence of a test run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;

/// `outputs/verification/<task>.json`: the verdict on one tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationReport {
    pub schema_version: u32,
    pub task_id: String,
    pub passed: bool,
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Absent before the first commit, and in reports of other gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// The tree that was judged. A report of another tree counts as missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Absent where the project has no tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestRun>,
    /// Where the project has suites: each by itself. `tests` then is all of them, without a command of its own, each
    /// failing test as `SUITE: NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<SuiteRun>,
    /// Absent where the run reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// The run of one suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRun {
    pub name: String,
    pub tests: TestRun,
}

impl SuiteRun {
    /// A failing test of a suite, as it is called where suites are told together.
    pub fn qualified(suite: &str, test: &str) -> String {
        format!("{suite}: {test}")
    }
}

/// Line coverage as the project's own tools reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The report, from the top of the work tree.
    pub file: String,
    pub lines: u64,
    pub covered: u64,
}

impl Coverage {
    /// The share of covered lines, in hundredths of a percent, rounded down.
    pub fn hundredths(&self) -> u64 {
        u64::try_from(u128::from(self.covered) * 10_000 / u128::from(self.lines.max(1))).unwrap_or(0)
    }
}

/// One finding of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub code: String,
    pub severity: Severity,
    pub detail: String,
}

/// What a test run said. Counts are absent where the runner's output does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestRun {
    pub command: Vec<String>,
    /// Absent when it was killed.
    #[serde(default)]
    pub exit_code: Option<i32>,
    #[serde(default)]
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Names of the failing tests, sorted; empty with a non-zero exit means red as `unnamed`.
    #[serde(default)]
    pub failing: Vec<String>,
}

/// `outputs/review/<task>.json`: a reviewer's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewReport {
    #[serde(default)]
    pub task_id: Option<String>,
    /// 0 to 10.
    pub total: f64,
    pub verdict: ReviewVerdict,
    #[serde(default)]
    pub dimensions: Vec<ReviewDimension>,
}

/// The reviewer's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    Pass,
    SoftFail,
    HardFail,
}

/// One of the five dimensions, scored 0 to 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewDimension {
    pub name: String,
    pub score: f64,
    #[serde(default)]
    pub note: String,
}

/// A recorded test run, bound to what was tested. The key is tree, command, folder and environment digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    pub schema_version: u32,
    /// What was tested: a tree; for a suite a digest of what lies at its paths.
    pub tree: String,
    /// The suite that was run, for people; absent where the project has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// HEAD at the time of the run, for people; the tree is what counts.
    #[serde(default)]
    pub commit: Option<String>,
    /// Folder of the run, from the top of the work tree; empty for the top itself.
    #[serde(default)]
    pub cwd: String,
    /// sha256 over `environment`.
    pub environment_digest: String,
    /// The parts that went into the digest, by name.
    pub environment: BTreeMap<String, String>,
    /// Names of parts that the run itself changed: they are its products and don't count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volatile: Vec<String>,
    /// A board's acceptance command was run, not the project's tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acceptance: bool,
    /// Run in a fresh checkout of the commit: no ignored file could have had a part in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clean_room: bool,
    /// Tests that failed in an earlier run of the same content, command and environment, where this one is green.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    pub run: TestRun,
    /// Absent where the run reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What the tools behind the command said of their version, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Why the run has no exit code: `timeout`, `signal`, `not-found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The last line that a red run wrote, redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// sha256 of the whole output.
    pub output_digest: String,
    /// RFC 3339; never copied into a packet.
    pub recorded_at: String,
}

impl Evidence {
    /// Whether the run was green.
    pub fn is_green(&self) -> bool {
        self.run.exit_code == Some(0) && self.error.is_none()
    }
}

/// Projects with tests below the top of the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestsBelow {
    pub folders: Vec<String>,
    /// What would make them known, as the value of a key of `[tests]`, in TOML.
    pub setting: String,
}

impl TestsBelow {
    /// What was found.
    pub fn message(&self) -> String {
        let folders: Vec<String> = self.folders.iter().map(|folder| format!("`{folder}`")).collect();
        format!(
            "No test command is configured, and the tests found lie in folders below: {}.",
            folders.join(", ")
        )
    }

    /// How to run them.
    pub fn hint(&self) -> String {
        format!("Put this into `endwell.toml` below `[tests]`: `{}`.", self.setting)
    }
}

/// What is recorded about the tests of the content that lies in the work tree now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestStanding {
    /// No command is configured and none was detected.
    NoCommand,
    /// No command is configured and the top has none, but folders below it do.
    Below(TestsBelow),
    /// Nobody can say which command runs the tests.
    Unclear { why: String, hint: String },
    /// Green for exactly this content and environment.
    Green(Box<Evidence>),
    /// Red for exactly this content and environment.
    Red(Box<Evidence>),
    /// Recorded for this content, but in another environment: `changed` names the parts that differ.
    Stale { changed: Vec<String> },
    /// Nothing is recorded for this content. `last` is the newest run of this command on other content.
    /// `claimed` tells what a run in a sandbox, which could not be recorded, said of itself: whether it was green.
    Missing { command: String, last: Option<Box<Evidence>>, claimed: Option<bool> },
    /// The content can't be named (hidden edits, dirt in submodules), so no record can be bound to it.
    Unbound { why: String },
    /// How each suite stands, where the project has suites.
    Suites(Vec<SuiteStanding>),
}

/// How the tests of one suite stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteStanding {
    pub name: String,
    /// Never `Suites`.
    pub standing: TestStanding,
}
