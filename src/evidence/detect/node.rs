//! Node projects: a real `test` script of `package.json`, run by the package manager that the project uses.

use serde_json::Value;

use super::{Candidate, Project};

/// What `npm init` writes.
const NPM_DEFAULT: &str = "no test specified";

pub(crate) fn find(project: &Project<'_>) -> Option<Candidate> {
    let text = project.text("package.json")?;
    let package: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .inspect_err(|error| project.note("package.json", error))
        .ok()?;
    let script = package.get("scripts")?.get("test")?.as_str()?;
    if script.trim().is_empty() || script.contains(NPM_DEFAULT) {
        return None;
    }
    let argv: &[&str] = match manager(project, &package) {
        "pnpm" => &["pnpm", "test"],
        "yarn" => &["yarn", "test"],
        // `bun test` is bun's own runner, not the script
        "bun" => &["bun", "run", "test"],
        _ => &["npm", "test"],
    };
    Some(project.candidate("Node", argv, "the script `test` in `package.json`"))
}

fn manager(project: &Project<'_>, package: &Value) -> &'static str {
    let named = package.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let by_name = ["pnpm", "yarn", "bun", "npm"].into_iter().find(|name| named.starts_with(name));
    let by_lock = || match project.first_of(&["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"]) {
        Some("pnpm-lock.yaml") => "pnpm",
        Some("yarn.lock") => "yarn",
        Some(_) => "bun",
        None => "npm",
    };
    by_name.unwrap_or_else(by_lock)
}
