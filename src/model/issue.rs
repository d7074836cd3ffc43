//! One finding of a check: what is wrong, how bad it is, whose it is, and the one thing to do about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How much an issue weighs. `Block` refuses pushes and packets, `Warn` reaches the packet's open risks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warn,
    Block,
}

/// Whose finding it is: made in this session, there before it, or not known (no baseline).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    Session,
    Before,
    #[default]
    Unknown,
}

/// The five checks, in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckId {
    WorkingTree,
    TempArtifacts,
    Tests,
    FeatureBoard,
    Branch,
}

impl CheckId {
    /// Every check, in report order.
    pub const ALL: [Self; 5] =
        [Self::WorkingTree, Self::TempArtifacts, Self::Tests, Self::FeatureBoard, Self::Branch];

    /// The name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WorkingTree => "working-tree",
            Self::TempArtifacts => "temp-artifacts",
            Self::Tests => "tests",
            Self::FeatureBoard => "feature-board",
            Self::Branch => "branch",
        }
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The code of a check that could not judge. Always blocking, never a silent pass.
pub const COULD_NOT_CHECK: &str = "could-not-check";

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    pub check: CheckId,
    /// What kind of finding, in the words of the reference, for example `untracked`.
    pub code: String,
    pub severity: Severity,
    /// One sentence for people.
    pub message: String,
    /// Path from the top of the work tree; lossy where the name is not UTF-8, then `path_bytes` is there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The raw bytes of `path` as base64, only where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// 1-based line in the new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub owner: Owner,
    /// The one thing to do next.
    pub hint: String,
    /// Stable over runs and line moves: 16 hex digits over check, code, path and the text that was found.
    pub fingerprint: String,
}

impl Issue {
    /// A finding without a place; add one with [`Issue::at`], [`Issue::line`] and [`Issue::text`].
    pub fn new(check: CheckId, code: &str, severity: Severity, message: impl Into<String>) -> Self {
        let mut issue = Self {
            check,
            code: code.to_owned(),
            severity,
            message: message.into(),
            path: None,
            path_bytes: None,
            line: None,
            owner: Owner::Unknown,
            hint: String::new(),
            fingerprint: String::new(),
        };
        issue.seal("");
        issue
    }

    /// A blocking finding.
    pub fn block(check: CheckId, code: &str, message: impl Into<String>) -> Self {
        Self::new(check, code, Severity::Block, message)
    }

    /// A warning.
    pub fn warn(check: CheckId, code: &str, message: impl Into<String>) -> Self {
        Self::new(check, code, Severity::Warn, message)
    }

    /// A remark.
    pub fn info(check: CheckId, code: &str, message: impl Into<String>) -> Self {
        Self::new(check, code, Severity::Info, message)
    }

    /// A check that could not judge: blocks, and says why.
    pub fn could_not_check(check: CheckId, why: impl fmt::Display) -> Self {
        let message = format!("{check} could not be judged: {why}");
        Self::block(check, COULD_NOT_CHECK, message)
            .hint("Mend what git or the file says above, then run `endwell check` again.")
    }

    /// Where it is; raw bytes from the top of the work tree, with `/`.
    #[must_use]
    pub fn at(mut self, path: &[u8]) -> Self {
        let (lossy, bytes) = lossy_path(path);
        self.path = Some(lossy);
        self.path_bytes = bytes;
        self.seal("");
        self
    }

    /// The 1-based line. Not part of the fingerprint, since lines move.
    #[must_use]
    pub const fn line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The text that was found, which tells two findings in one file apart in the fingerprint.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.seal(text);
        self
    }

    /// The one thing to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Whose it is.
    #[must_use]
    pub const fn owned_by(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// The same finding, too uncertain to block.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = self.severity.min(Severity::Warn);
        self
    }

    /// The same finding, there before the session and unchanged since: listed, not blocking.
    #[must_use]
    pub fn stood_before(self) -> Self {
        self.as_warning().owned_by(Owner::Before)
    }

    /// Whether it refuses a push or a packet.
    pub fn blocks(&self) -> bool {
        self.severity == Severity::Block
    }

    /// The raw bytes of the path, whether or not it is UTF-8.
    pub fn raw_path(&self) -> Option<Vec<u8>> {
        use base64::Engine as _;
        match (&self.path_bytes, &self.path) {
            (Some(encoded), _) => base64::engine::general_purpose::STANDARD.decode(encoded).ok(),
            (None, Some(path)) => Some(path.clone().into_bytes()),
            (None, None) => None,
        }
    }

    fn seal(&mut self, text: &str) {
        let mut hash = Sha256::new();
        for part in [self.check.name(), &self.code, self.path.as_deref().unwrap_or(""), text.trim()] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize())[..16].clone_into(&mut self.fingerprint);
    }
}

/// A path as text, and its bytes as base64 where the text had to be lossy.
pub fn lossy_path(path: &[u8]) -> (String, Option<String>) {
    use base64::Engine as _;
    match std::str::from_utf8(path) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (
            String::from_utf8_lossy(path).into_owned(),
            Some(base64::engine::general_purpose::STANDARD.encode(path)),
        ),
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // writing to a String can't fail
        write!(out, "{byte:02x}").ok();
        out
    })
}

/// The sha256 of some bytes, as 64 hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
