//! The settings of the check for temporary artifacts. Every exception and every addition says why it is there; one
//! without a reason is refused when the file is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[artifacts]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Artifacts {
    /// What a print in a file that printed nothing before is.
    pub prints: Prints,
    /// Findings that are all right.
    pub allow: Vec<Allow>,
    /// More files and texts to be found.
    pub extra: Vec<Extra>,
    /// Kinds of findings that are not looked for.
    pub disable: Vec<Disable>,
}

/// How much a loose print weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Prints {
    #[default]
    Warn,
    Block,
}

/// Findings that are all right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Allow {
    /// A glob over paths from the top, for example `tools/**`.
    pub path: Pattern,
    /// The code of the finding, for example `debug-call`; absent: every code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub reason: Reason,
}

/// Something more to be found: new files by their path, or added lines by their text, or such lines in such files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extra {
    /// A glob over paths from the top; alone it finds `temp-file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Pattern>,
    /// A regular expression on an added line; it finds `debug-call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Expression>,
    pub reason: Reason,
}

/// A kind of finding that is not looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disable {
    /// The code, for example `suspect-file`.
    pub code: String,
    pub reason: Reason,
}

macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text; `None` where it does not hold what it must.
            pub fn new(text: &str) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(text).map(|()| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

checked_text!(
    /// Why an entry is there; never empty.
    Reason,
    |text| if text.trim().is_empty() { Err("a reason says something".to_owned()) } else { Ok(()) }
);

checked_text!(
    /// A glob that is known to be well formed.
    Pattern,
    |text| globset::Glob::new(text).map(drop).map_err(|error| error.to_string())
);

checked_text!(
    /// A regular expression that is known to be well formed.
    Expression,
    |text| regex::bytes::Regex::new(text).map(drop).map_err(|error| format!("`{text}` is no regular expression: {error}"))
);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Artifacts, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn entries_are_read() {
        let text = "prints = \"block\"\nallow = [{ path = \"tools/**\", code = \"debug-call\", reason = \"a debugger\" }]\n\
            extra = [{ path = \"*.dump\", reason = \"ours\" }, { text = \"\\\\bddd\\\\(\", reason = \"old habit\" }]\n\
            disable = [{ code = \"suspect-file\", reason = \"we have many\" }]\n";
        let read = read(text).unwrap();
        assert_eq!((read.allow.len(), read.extra.len(), read.disable.len()), (1, 2, 1));
        assert_eq!(read.prints, Prints::Block);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        assert!(read("disable = [{ code = \"suspect-file\" }]").is_err());
        assert!(read("disable = [{ code = \"suspect-file\", reason = \" \" }]").is_err());
        assert!(read("allow = [{ path = \"a[\", reason = \"x\" }]").is_err());
        assert!(read("extra = [{ text = \"(\", reason = \"x\" }]").is_err());
    }
}
