//! What `endwell doctor` found: how the gate and the agents' hooks stand, and each thing that is wrong with its fix.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `endwell doctor --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    pub schema_version: u32,
    /// Nothing is wrong; remarks don't count.
    pub healthy: bool,
    pub push: PushHealth,
    pub agents: Vec<AgentHealth>,
    pub findings: Vec<Symptom>,
}

/// How pushes come to call endwell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushHealth {
    /// `file`, `config`, `project`, `manager`, `shared`, `adopted`, `off`, or `none`.
    pub way: String,
    /// The hook or script that git runs, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether a dry push started it; absent where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fires: Option<bool>,
}

/// How the hooks of one client stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentHealth {
    pub id: String,
    pub name: String,
    /// The settings files that call endwell.
    pub files: Vec<String>,
    pub trust: TrustWord,
    /// When this client was last heard here, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<String>,
}

/// Whether a client runs the hooks that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrustWord {
    /// The client asks for none.
    NotNeeded,
    Trusted,
    Untrusted,
    Unknown,
}

/// One thing to know, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Symptom {
    pub code: String,
    /// Something does not work; else it is a remark.
    pub wrong: bool,
    /// `push`, or a client's name.
    pub about: String,
    pub message: String,
    pub fix: String,
}
