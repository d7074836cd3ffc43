//! Settings of the push gate and of exceptions from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The push gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Push {
    /// What a person's own uncommitted work does to a push of HEAD, outside agents' sessions.
    pub own_dirt: OwnDirt,
    /// What a hook does that does not find endwell; written into the hook by `endwell install`.
    pub missing: Missing,
    /// Seconds: tests whose last run was shorter are run during a push that lacks only them; 0: never.
    pub test_seconds: u64,
}

impl Default for Push {
    fn default() -> Self {
        Self { own_dirt: OwnDirt::default(), missing: Missing::default(), test_seconds: 60 }
    }
}

/// What uncommitted work does to a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnDirt {
    #[default]
    Block,
    Warn,
}

/// What a push does where the hook does not find endwell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// It says so and goes on.
    #[default]
    Warn,
    /// It is refused.
    Block,
}

impl Missing {
    /// The word in the hook.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// Exceptions (`endwell allow`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Allow {
    /// Whether an agent may grant one; it must stand in the settings that were committed when its session began.
    pub agents: bool,
}
