//! Where a repository may send endwell's writing: into its own work tree, to files of the right kind, and never into
//! git's folder. The settings come with a clone, so they are not believed.

use std::path::{Component, Path};

use super::{FILE, Paths};
use crate::failure::{Failure, Result};

/// Refuses places that endwell must not write to.
pub(super) fn check(paths: &Paths) -> Result<()> {
    inside("state", &paths.state, &["json"])?;
    inside("feedback", &paths.feedback, &["jsonl"])?;
    inside("outputs", &paths.outputs, &[])?;
    match &paths.board {
        Some(board) => inside("board", board, &["json", "jsonl", "md"]),
        None => Ok(()),
    }
}

fn inside(name: &str, path: &Path, endings: &[&str]) -> Result<()> {
    let refuse = |why: &str| {
        Err(Failure::broken(format!("`[paths] {name}` in `{FILE}` is `{}`: {why}", path.display())).hint(
            format!("Give it a place inside the work tree, or remove the line: `{name}` has a default."),
        ))
    };
    let mut parts = path.components().filter(|part| *part != Component::CurDir).peekable();
    if parts.peek().is_none() {
        return refuse("it names no place of its own");
    }
    for part in parts {
        let Component::Normal(part) = part else { return refuse("it leads out of the work tree") };
        if part.eq_ignore_ascii_case(".git") {
            return refuse("git's own folder is not endwell's to write to");
        }
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !endings.is_empty() && !endings.contains(&ending) {
        return refuse(&format!("it must end in `.{}`", endings.join("` or `.")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_can_not_send_our_writing_anywhere() {
        let outputs = |path: &str| check(&Paths { outputs: path.into(), ..Paths::default() });
        for bad in ["", ".", "..", "a/../..", "/etc", ".git", ".GIT/x", "sub/.git/hooks"] {
            assert!(outputs(bad).is_err(), "{bad:?}");
        }
        assert!(outputs("build/endwell").is_ok());
        for bad in ["src/main.rs", ".git/config", ".git/x.jsonl", "../x.jsonl"] {
            assert!(check(&Paths { feedback: bad.into(), ..Paths::default() }).is_err(), "{bad:?}");
        }
        assert!(check(&Paths::default()).is_ok());
    }
}
