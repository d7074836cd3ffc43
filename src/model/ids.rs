//! Names that come from outside (session ids, task ids, branch names) and become folder and file names. They can't
//! leave their folder: a session id that isn't a plain name is refused, a topic becomes a slug.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::issue::sha256_hex;

/// The longest session id that becomes a folder name.
const MAX_ID: usize = 128;

/// A session's id, safe as a folder name: ASCII letters, digits, `-`, `_` and `.`, not starting with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// Why a text is no session id.
#[derive(Debug, thiserror::Error)]
#[error("session id {shown:?} is not a plain name (1 to {MAX_ID} ASCII letters, digits, `-`, `_`, `.`)")]
pub struct BadSessionId {
    shown: String,
}

impl SessionId {
    /// Checks a client's id.
    pub fn parse(text: &str) -> Result<Self, BadSessionId> {
        let plain = (1..=MAX_ID).contains(&text.len())
            && !text.starts_with('.')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSessionId { shown: text.chars().take(40).collect() })
        }
    }

    /// The session of a person without an agent: `manual-` and the first 12 digits of HEAD.
    pub fn manual(head: Option<&str>) -> Self {
        let digits: String =
            head.unwrap_or("unborn").chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        Self(format!("manual-{digits}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadSessionId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

/// A file name for a topic, task or branch: kept as it is where it is a plain name, else folded to one with a short
/// hash behind it, so that two different names never share a file.
pub fn slug(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 80 && !name.starts_with(['.', '-']) && name.chars().all(plain) {
        return name.to_owned();
    }
    let folded: String = name.chars().map(|c| if plain(c) { c } else { '-' }).take(60).collect();
    let folded = folded.trim_start_matches(['.', '-']);
    let hash = &sha256_hex(name.as_bytes())[..8];
    if folded.is_empty() { format!("x-{hash}") } else { format!("{folded}-{hash}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_outside_cannot_leave_their_folder() {
        for bad in ["", "../x", "a/b", ".hidden", "a\0b", "a b", &"x".repeat(129)] {
            assert!(SessionId::parse(bad).is_err(), "{bad:?}");
        }
        for good in ["20261129_175346_99ec4f", "ses_abc", "00000000-0000-4000-8000-000000000001"] {
            assert!(SessionId::parse(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn slugs_are_plain_and_distinct() {
        assert_eq!(slug("import-pdf"), "import-pdf");
        assert_ne!(slug("feat/a"), slug("feat-a"));
        assert!(!slug("../../etc").contains('/'));
        assert!(!slug("").is_empty());
    }
}
