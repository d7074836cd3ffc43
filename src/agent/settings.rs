//! Our entries in a client's settings, whatever they are written in: the one place that picks the reader.

use std::path::Path;

use super::{json, yaml};
use crate::model::plan::{HookEntries, Syntax};

/// The file's bytes with our entries in it; `None` as `now` stands for a file that is not there yet.
pub fn put_in(now: Option<&[u8]>, hooks: &HookEntries) -> Result<Vec<u8>, json::JsonError> {
    match hooks.syntax {
        Syntax::Yaml => yaml::put_in(now, hooks),
        Syntax::StrictJson | Syntax::Json => json::put_in(now, hooks),
    }
}

/// The bytes of the file at `path` without our entries. `before` is what is known of the file before endwell was in it.
pub fn take_out(path: &Path, now: &[u8], before: Option<&[u8]>) -> Result<Vec<u8>, json::JsonError> {
    if is_yaml(path) { yaml::take_out(now, before) } else { json::take_out(now, before) }
}

/// The events for which the file at `path` already calls us.
pub fn covered(path: &Path, now: &[u8], client: &str) -> Vec<String> {
    if is_yaml(path) { yaml::covered(now, client) } else { json::covered(now, client) }
}

/// What a person pastes where the file is not ours to write.
pub fn to_paste(hooks: &HookEntries) -> String {
    match hooks.syntax {
        Syntax::Yaml => yaml::to_paste(hooks),
        Syntax::StrictJson | Syntax::Json => json::to_paste(hooks),
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
