//! The few words by which an agent knows endwell's commands: a skill where the client has skills, else a block in the file
//! of instructions that it reads. Only the team's installation writes them, and the project's own text around them stays.

use std::path::Path;

use crate::model::plan::{Change, FileEdit, Spot, Whole};

const SKILL: &str = include_str!("../../templates/agents/claude/SKILL.md");
const BLOCK: &str = include_str!("../../templates/agents/instructions.md");

/// Every place for them.
pub const PLACES: [&str; 4] = [".claude/skills/endwell/SKILL.md", "AGENTS.md", "GEMINI.md", "QWEN.md"];

/// Where a client looks for them, from the top of the work tree; `None`: it is not known to look anywhere.
fn place(client: &str) -> Option<&'static str> {
    Some(match client {
        "claude" => PLACES[0],
        "codex" | "opencode" | "copilot" | "cursor" | "droid" => PLACES[1],
        "gemini" => PLACES[2],
        "qwen" => PLACES[3],
        _ => return None,
    })
}

/// One edit a file, whatever number of clients reads it.
pub fn edits<'a>(top: &Path, clients: impl Iterator<Item = &'a str>) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    for place in clients.filter_map(place) {
        let path = top.join(place);
        if edits.iter().any(|edit| edit.path == path) {
            continue;
        }
        let (what, change) = if place.ends_with("SKILL.md") {
            let skill = Whole {
                bytes: SKILL.as_bytes().to_vec(),
                mode: 0o644,
                mark: Some("<!-- endwell skill, version"),
                variable: None,
                aside: Vec::new(),
            };
            ("the skill for agents", Change::Whole(skill))
        } else {
            let lines = BLOCK.lines().map(str::to_owned).collect();
            ("the instructions for agents", Change::Block { lines, spot: Spot::Page })
        };
        edits.push(FileEdit { what: what.to_owned(), path, root: top.to_owned(), change });
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same_in_under_forty_lines() {
        for text in [SKILL, BLOCK] {
            assert!(text.lines().count() < 40);
            for command in ["note next", "check", "run --", "park", "wrap-up"] {
                assert!(text.contains(&format!("`endwell {command}")), "{command}");
            }
        }
        assert!(SKILL.ends_with(BLOCK));
    }

    #[test]
    fn clients_that_read_one_file_share_its_block() {
        let edits = edits(Path::new("/x"), ["claude", "codex", "opencode", "gemini", "hermes"].into_iter());
        let places: Vec<_> = edits.iter().map(|edit| edit.path.to_str().unwrap()).collect();
        assert_eq!(places, ["/x/.claude/skills/endwell/SKILL.md", "/x/AGENTS.md", "/x/GEMINI.md"]);
    }
}
