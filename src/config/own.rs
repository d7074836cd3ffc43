//! Which paths are endwell's own artifacts: they never make the tree dirty, tracked or not. The board is not among
//! them, it is the project's data.

use std::path::Path;

use super::Config;

/// Below the outputs folder: the files that endwell writes.
const FILES: [&str; 3] = ["clean_state.json", "clean_report.json", "agent_state.json"];
/// Below the outputs folder: folders that hold reports, one JSON file a task, and nothing else of ours.
const REPORTS: [&str; 2] = ["verification", "review"];
/// What a session's folder below `handoff` holds.
const PACKET: [&str; 2] = ["handoff.json", "handoff.md"];
/// Records of a session whose git folder could not be written.
const QUEUE: &str = ".endwell-queue";
/// Reports that other gates leave at the top.
const AT_TOP: [&str; 2] = ["verification_report.json", "review_report.json"];

impl Config {
    /// Whether a path (raw bytes, from the top) is one of endwell's own artifacts.
    pub fn is_own(&self, path: &[u8]) -> bool {
        let Ok(path) = std::str::from_utf8(path) else { return false };
        let path = path.trim_end_matches('/');
        if AT_TOP.contains(&path) || path == self.state_key() || self.is_feedback(path) {
            return true;
        }
        let Some(below) = strip_folder(path, &key(&self.paths.outputs)) else { return false };
        let parts: Vec<&str> = below.split('/').collect();
        match parts.as_slice() {
            [QUEUE, ..] => true,
            [file] => FILES.contains(file) || is_leftover(file),
            [folder, file] if REPORTS.contains(folder) => is_report(file) || is_leftover(file),
            ["handoff", _, file] => PACKET.contains(file) || is_leftover(file),
            _ => false,
        }
    }

    /// Patterns for an exclude file, anchored at the top, for exactly the paths of [`Config::is_own`].
    pub fn own_patterns(&self) -> Vec<String> {
        let outputs = key(&self.paths.outputs);
        let feedback = key(&self.paths.feedback);
        let mut patterns =
            vec![format!("/{}", self.state_key()), format!("/{feedback}"), format!("/{feedback}.[1-5]")];
        patterns.extend(AT_TOP.iter().map(|name| format!("/{name}")));
        patterns.extend(FILES.iter().map(|name| format!("/{outputs}/{name}")));
        for folder in REPORTS {
            patterns.extend(["json", "jsonl"].map(|end| format!("/{outputs}/{folder}/*.{end}")));
        }
        patterns.extend(PACKET.iter().map(|name| format!("/{outputs}/handoff/*/{name}")));
        patterns.push(format!("/{outputs}/{QUEUE}/"));
        patterns.push(format!("/{outputs}/**/.endwell-*.tmp"));
        patterns
    }

    fn state_key(&self) -> String {
        key(&self.paths.state)
    }

    fn is_feedback(&self, path: &str) -> bool {
        let log = key(&self.paths.feedback);
        path == log
            || path
                .strip_prefix(&log)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|n| matches!(n, "1" | "2" | "3" | "4" | "5"))
    }
}

fn is_report(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end == "json" || end == "jsonl")
}

/// A temporary file of a write that was killed.
fn is_leftover(below: &str) -> bool {
    below
        .strip_prefix(".endwell-")
        .is_some_and(|rest| Path::new(rest).extension().is_some_and(|end| end == "tmp"))
}

fn key(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.trim_start_matches("./").trim_end_matches('/').to_owned()
}

fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() || folder == "." {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_endwell_writes_is_its_own() {
        let config = Config::default();
        for own in [
            "agent_state.json",
            "feedback_record.jsonl",
            "feedback_record.jsonl.3",
            "outputs/clean_state.json",
            "outputs/handoff/x/handoff.json",
            "outputs/verification/main.json",
            "outputs/verification/overrides.jsonl",
            "outputs/handoff/x/.endwell-ab12.tmp",
            "outputs/.endwell-ab12.tmp",
        ] {
            assert!(config.is_own(own.as_bytes()), "{own}");
        }
        for foreign in
            ["outputs/model.bin", "outputs2/clean_state.json", "feature_list.json", "src/agent_state.json"]
        {
            assert!(!config.is_own(foreign.as_bytes()), "{foreign}");
        }
    }
}
