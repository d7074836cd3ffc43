//! What a person has agreed to in one repository. It lies in the person's own state folder, where nothing that comes with
//! a repository can reach.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The format's version.
pub const VERSION: u32 = 1;

/// `<state folder>/trust/<id of the installation>.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    pub schema_version: u32,
    /// sha256 of the commands that were seen, each as one line.
    pub commands: BTreeSet<String>,
}
