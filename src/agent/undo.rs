//! How an installation's edits are taken back: from the record, or from endwell's own marks where no record speaks of a
//! file. It works out steps and writes nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::edit::{Move, Refusal, Step, find_block, has_mark, is_fresh, kept_aside, key_of, path_of};
use super::settings;
use crate::fs;
use crate::model::install::{Before, FileRecord};
use crate::model::issue::sha256_hex;
use crate::model::plan::{Change, EditKind, FileEdit, WHOLE_MARK};

/// Works out how to take an edit back. `Err`: it stays, and why.
pub fn prepare_undo(record: &FileRecord) -> Result<Step, Refusal> {
    let path = path_of(&record.path);
    let refuse =
        |reason: String| Refusal { what: record.what.clone(), path: path.clone(), reason, paste: None };
    let is_link = fs::stat(&path).is_some_and(|meta| meta.is_symlink());
    let now =
        if is_link { None } else { fs::read_optional(&path).map_err(|error| refuse(error.to_string()))? };
    let before = match &record.before {
        Before::Bytes(text) => Some(STANDARD.decode(text).map_err(|error| refuse(error.to_string()))?),
        Before::Absent | Before::Unknown => None,
    };
    let untouched = now.as_deref().is_some_and(|now| sha256_hex(now) == record.after);
    let then = match (&now, &record.before) {
        (None, _) => None,
        (Some(_), Before::Absent | Before::Bytes(_)) if untouched => before,
        (Some(now), _) => without_ours(now, record, before.as_deref()).map_err(refuse)?,
    };
    let mut step = Step {
        what: record.what.clone(),
        kind: record.kind,
        now,
        then,
        mode: None,
        is_fresh: false,
        aside: None,
        moved: None,
        dirs: record.made_dirs.iter().map(|dir| path_of(dir)).collect(),
        path: path.clone(),
    };
    if let Some(aside) = record.aside.as_deref().map(path_of).filter(|aside| fs::exists(aside)) {
        if step.then.is_some() || is_link {
            let reason = format!(
                "it is not endwell's any more, so the hook from before stays at `{}`",
                aside.display()
            );
            return Err(refuse(reason));
        }
        step.moved = Some(Move { from: aside, to: path });
    }
    Ok(step)
}

/// The file without our part, where somebody else changed it since.
fn without_ours(now: &[u8], record: &FileRecord, before: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
    let rest = match record.kind {
        EditKind::Whole if !has_mark(now, WHOLE_MARK) => return Ok(Some(now.to_vec())),
        // without a record the mark must do; with one, what differs from it is somebody's own
        EditKind::Whole if record.after.is_empty() => return Ok(None),
        EditKind::Whole => return Err("it was edited since endwell wrote it".to_owned()),
        EditKind::Block => match find_block(now) {
            Some((start, end)) => [&now[..start], &now[end..]].concat(),
            None => now.to_vec(),
        },
        EditKind::Hooks => {
            settings::take_out(&path_of(&record.path), now, before).map_err(|error| error.to_string())?
        }
    };
    let bare = rest.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect::<Vec<u8>>();
    let nothing_left = matches!(bare.as_slice(), b"" | b"{}");
    Ok(if record.before == Before::Absent && nothing_left { None } else { Some(rest) })
}

/// The record of a file that no record speaks of: only what carries our marks is taken out of it.
pub fn unrecorded(edit: &FileEdit) -> FileRecord {
    let aside = match &edit.change {
        Change::Whole(file) => kept_aside(file).as_deref().map(key_of),
        Change::Block { .. } | Change::Hooks(_) => None,
    };
    let now = fs::read_optional(&edit.path).ok().flatten();
    let is_fresh = matches!(&edit.change, Change::Hooks(hooks) if is_fresh(now.as_deref(), hooks));
    FileRecord {
        what: edit.what.clone(),
        path: key_of(&edit.path),
        kind: edit.change.kind(),
        before: if is_fresh { Before::Absent } else { Before::Unknown },
        after: if is_fresh { sha256_hex(&now.unwrap_or_default()) } else { String::new() },
        aside,
        made_dirs: Vec::new(),
    }
}
