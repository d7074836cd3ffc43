//! Settings of the packet and of what is redacted.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Packet {
    /// How many of the last commands are always listed with their output.
    pub tail: usize,
    /// The longest `handoff.md`, in characters.
    pub max_chars: usize,
    /// A template for `handoff.md` instead of the built-in one, from the top of the work tree.
    pub template: Option<PathBuf>,
    /// How many packets are kept; active ones always are.
    pub keep: usize,
    /// How many days packets are kept; active ones always are.
    pub keep_days: u32,
}

impl Default for Packet {
    fn default() -> Self {
        Self { tail: 5, max_chars: 8_000, template: None, keep: 50, keep_days: 90 }
    }
}

/// What is taken out of commands and outputs beyond the maintained rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Redact {
    /// Regular expressions; the first group of a match is the secret, or all of it where there is no group.
    pub patterns: Vec<String>,
    /// Mask e-mail addresses too.
    pub mail: bool,
}
