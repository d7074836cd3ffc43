//! Where a board stands: the configured path, else the usual places in a fixed order. The first that is a board wins,
//! also one that can't be read; the others are named once. Files of the same name that are no board are left alone.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;

use super::tree;
use super::{Place, findings, read};
use crate::config::Config;
use crate::model::board::{BoardReading, Foreign, OtherFile, Unreadable};

/// The usual places, in search order; spec-kit's folders come after them.
const PLACES: [&str; 9] = [
    "feature_list.json",
    "docs/feature_list.json",
    "harness/feature_list.json",
    ".harness/feature_list.json",
    ".claude/feature_list.json",
    ".agent/feature_list.json",
    ".taskmaster/tasks/tasks.json",
    "prd.json",
    ".beads/issues.jsonl",
];

/// Finds and reads.
pub(super) fn find_and_read(top: &Path, config: &Config) -> BoardReading {
    let Some(configured) = &config.paths.board else { return search(top, config) };
    let path = configured.to_string_lossy().into_owned();
    match read_at(top, &path, config) {
        BoardReading::Foreign(mut foreign) => {
            foreign.configured = true;
            BoardReading::Foreign(foreign)
        }
        BoardReading::None => BoardReading::Unreadable(Unreadable {
            path,
            line: None,
            column: None,
            message: "the board that `endwell.toml` names is not there".to_owned(),
            tracker: false,
        }),
        BoardReading::Unreadable(unreadable) => {
            BoardReading::Unreadable(Unreadable { tracker: false, ..unreadable })
        }
        board @ BoardReading::Board(_) => board,
    }
}

fn search(top: &Path, config: &Config) -> BoardReading {
    let mut found = BoardReading::None;
    let mut others: Vec<OtherFile> = Vec::new();
    let usual = PLACES.iter().map(|path| read_at(top, path, config));
    for reading in usual.chain(std::iter::once_with(|| spec_kit(top, config))) {
        let is_board = match reading {
            BoardReading::None => continue,
            BoardReading::Foreign(_) => false,
            _ if matches!(found, BoardReading::None) => {
                found = reading;
                continue;
            }
            _ => true,
        };
        others.extend(reading.path().map(|path| OtherFile { path: path.to_owned(), is_board }));
    }
    match found {
        BoardReading::None if others.is_empty() => BoardReading::None,
        BoardReading::None => {
            let paths = others.into_iter().map(|other| other.path).collect();
            BoardReading::Foreign(Foreign { paths, configured: false })
        }
        BoardReading::Board(mut board) if !others.is_empty() => {
            board.others = others;
            board.findings.push(findings::others(&board));
            BoardReading::Board(board)
        }
        found => found,
    }
}

/// The tasks of the first feature that has open ones, else of the last; features are numbered as they come.
fn spec_kit(top: &Path, config: &Config) -> BoardReading {
    let Ok(folders) = crate::fs::list(&top.join("specs")) else { return BoardReading::None };
    let mut last = BoardReading::None;
    for folder in folders {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        let reading = read_at(top, &format!("specs/{name}/tasks.md"), config);
        let is_open = reading.board().is_some_and(|board| board.features.iter().any(|f| f.status.is_open()));
        match reading {
            BoardReading::Board(_) if is_open => return reading,
            BoardReading::None | BoardReading::Foreign(_) => {}
            other => last = other,
        }
    }
    last
}

/// Reads what lies at a path from the top; a folder there is nothing.
pub(super) fn read_at(top: &Path, path: &str, config: &Config) -> BoardReading {
    let full = top.join(path);
    if full.is_dir() {
        return BoardReading::None;
    }
    let tag = if path.ends_with("tasks.json") { current_tag(&full) } else { None };
    let exists = |cited: &str| crate::fs::exists(&top.join(cited));
    let place = Place { path, run_fields: &config.board.run_fields, tag: tag.as_deref(), exists: &exists };
    match crate::fs::read_optional(&full) {
        Ok(None) => BoardReading::None,
        Ok(Some(bytes)) => read(&bytes, &place),
        Err(error) => BoardReading::Unreadable(Unreadable {
            path: path.to_owned(),
            line: None,
            column: None,
            message: error.to_string(),
            tracker: place.is_tracker(),
        }),
    }
}

/// `currentTag` in the `state.json` of the folder above the tasks.
fn current_tag(tasks: &Path) -> Option<String> {
    let state: PathBuf = tasks.parent()?.parent()?.join("state.json");
    let text = crate::fs::read_text_optional(&state).ok()??;
    let (root, _) = tree::parse(&text).ok()?;
    tree::given(Value::as_object(&root)?, "currentTag").and_then(tree::text)
}
