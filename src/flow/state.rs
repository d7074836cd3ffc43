//! The agent's state as every command sees it. Another tool's file of the same name is never used and never
//! overwritten: endwell then keeps its own below the outputs folder and says so once.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::fs;
use crate::model::state::{AgentState, StateReading};

/// A larger file is not ours.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The state, and the file that it came from or would be written to.
#[derive(Clone, Debug, Default)]
pub struct ReadState {
    pub state: AgentState,
    pub path: PathBuf,
    /// What was odd about it, in sentences.
    pub remarks: Vec<String>,
    /// The file as it is; absent where there is none yet.
    pub value: Option<Value>,
    /// The same as it stands there.
    pub text: String,
}

/// Reads the state. A file that can't be read as JSON is a failure: it may be ours.
pub fn read(bench: &Workbench) -> Result<ReadState> {
    let path = bench.state_path();
    match reading(bench, &path)? {
        Some(Found { reading: StateReading::Foreign, .. }) => {
            let own = bench.output("agent_state.json");
            let told = foreign(bench, &path, &own);
            tell_once(bench, "foreign-state", &told);
            let mut read = match reading(bench, &own)? {
                Some(Found { reading: StateReading::Foreign, .. }) => return Err(both_foreign(bench, &own)),
                other => of(bench, other, own)?,
            };
            read.remarks.insert(0, told);
            Ok(read)
        }
        other => of(bench, other, path),
    }
}

fn of(bench: &Workbench, reading: Option<Found>, path: PathBuf) -> Result<ReadState> {
    let shown = shown(bench, &path);
    match reading {
        None => Ok(ReadState { path, ..ReadState::default() }),
        Some(Found { value, text, reading: StateReading::Ours { state, remarks } }) => {
            let remarks = remarks.into_iter().map(|remark| format!("`{shown}`: {remark}")).collect();
            Ok(ReadState { state, path, remarks, value: Some(value), text })
        }
        Some(Found { reading: StateReading::NewerVersion(version), .. }) => Err(Failure::broken(format!(
            "`{shown}` has schema version {version}, which this endwell does not know"
        ))
        .hint("Use the newer endwell that wrote it, or move the file away.")),
        Some(Found { reading: StateReading::Foreign, .. }) => Err(both_foreign(bench, &path)),
    }
}

/// A state file and what it turned out to be.
struct Found {
    value: Value,
    text: String,
    reading: StateReading,
}

/// The file's value; `None` where there is nothing in it.
fn reading(bench: &Workbench, path: &Path) -> Result<Option<Found>> {
    let shown = shown(bench, path);
    let mend = || format!("Mend `{shown}`, or move it away: endwell then begins a new one.");
    if let Some(meta) = fs::stat(path)
        && meta.len() > MAX_BYTES
    {
        return Err(Failure::broken(format!("`{shown}` is too large to be a state file")).hint(mend()));
    }
    let bytes = fs::read_optional(path)
        .map_err(|error| Failure::broken(format!("can't read `{shown}`")).because(error).hint(mend()))?;
    let bytes = bytes.unwrap_or_default();
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(text)
        .map_err(|error| Failure::broken(format!("`{shown}` is no JSON")).because(error).hint(mend()))?;
    let read = AgentState::read(&value);
    Ok(Some(Found { value, text: String::from_utf8_lossy(&bytes).into_owned(), reading: read }))
}

fn foreign(bench: &Workbench, path: &Path, own: &Path) -> String {
    let (path, own) = (shown(bench, path), shown(bench, own));
    format!(
        "`{path}` belongs to another tool and is left alone; endwell keeps its own in `{own}` (`[paths] state` sets another place)"
    )
}

fn both_foreign(bench: &Workbench, path: &Path) -> Failure {
    Failure::broken(format!("`{}` belongs to another tool", shown(bench, path)))
        .hint("Name another place for endwell's state in `endwell.toml`: `[paths] state = \"…\"`.")
}

/// A path as people know it: from the top of the work tree.
pub fn shown(bench: &Workbench, path: &Path) -> String {
    path.strip_prefix(&bench.repo.top).unwrap_or(path).display().to_string()
}

/// Says something once in the life of a work tree.
pub(super) fn tell_once(bench: &Workbench, what: &str, sentence: &str) {
    let mark = bench.repo.own_dir().join("told").join(what);
    if !fs::exists(&mark) {
        bench.ui.warn(sentence);
        // where the mark can't be left, it is said again
        fs::write_atomic(&mark, b"").ok();
    }
}

/// Takes one of the work tree's locks. In a sandbox that may not write the git dir, it lies below the outputs folder.
pub fn lock(bench: &Workbench, name: &str) -> Result<fs::Lock> {
    fs::lock(&lock_path(bench, name)).map_err(|error| {
        Failure::broken("can't take endwell's lock in this work tree")
            .because(error)
            .hint("Wait for the other endwell to end, or make the git folder writable, then try again.")
    })
}

/// Where a lock lies.
pub fn lock_path(bench: &Workbench, name: &str) -> PathBuf {
    let own = bench.repo.own_dir().join(format!("{name}.lock"));
    if fs::can_be_written(&own) { own } else { bench.output(".endwell-queue").join(format!("{name}.lock")) }
}
