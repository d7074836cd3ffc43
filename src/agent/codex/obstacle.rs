//! What in a project's settings keeps Codex from running any hook.

use std::path::Path;

use crate::fs;

pub(super) fn look(top: &Path) -> Result<Option<String>, String> {
    let place = ".codex/config.toml";
    let Some(text) = fs::read_text_optional(&top.join(place)).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let config: toml::Table =
        toml::from_str(&text).map_err(|error| format!("it is not TOML: {}", error.message()))?;
    let features = config.get("features").and_then(toml::Value::as_table);
    let is_off = features.is_some_and(|table| {
        ["hooks", "codex_hooks"]
            .iter()
            .any(|key| table.get(*key).and_then(toml::Value::as_bool) == Some(false))
    });
    Ok(is_off.then(|| {
        format!("`{place}` switches hooks off (`[features] hooks = false`): none of Codex's will run")
    }))
}
