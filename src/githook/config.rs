//! The hook in git's own configuration (git 2.54 and newer): it needs no hooks folder, so it runs wherever
//! `core.hooksPath` leads. A command that is not found would refuse every push, so it looks before it calls.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{shim, single_quoted};
use crate::config::Missing;
use crate::git::{GitError, Repo};
use crate::model::plan::{Change, FileEdit, HOOK_MARK, Spot, Whole};

/// The hook's name in the configuration. It must not be the name of an event.
pub const NAME: &str = "endwell";

/// Whether this git runs hooks from its configuration. It is asked for the thing itself, not for its version.
pub fn is_known(repo: &Repo) -> Result<bool, GitError> {
    let event = format!("hook.{NAME}.event=pre-push");
    let command = format!("hook.{NAME}.command=true");
    let output = repo.git_any(&["-c", &event, "-c", &command, "hook", "list", "pre-push"])?;
    Ok(output.success() && names_us(&output.stdout))
}

/// Whether git would run our hook of its configuration at a push now.
pub fn is_live(repo: &Repo) -> Result<bool, GitError> {
    let output = repo.git_any(&["hook", "list", "pre-push"])?;
    Ok(output.success() && names_us(&output.stdout))
}

fn names_us(list: &[u8]) -> bool {
    list.split(|byte| *byte == b'\n').any(|line| line == NAME.as_bytes())
}

/// Where the hook lies that the configuration calls.
pub fn script(common_dir: &Path) -> PathBuf {
    common_dir.join("endwell/pre-push")
}

/// The hook, and the configuration that calls it.
pub fn plan(repo: &Repo, program: &Path, missing: Missing) -> Vec<FileEdit> {
    let script = script(&repo.common_dir);
    let hook = FileEdit {
        what: "the pre-push hook".to_owned(),
        path: script.clone(),
        root: repo.common_dir.clone(),
        change: Change::Whole(Whole {
            bytes: shim(program, missing),
            mode: 0o755,
            mark: Some(HOOK_MARK),
            variable: Some("endwell='"),
            aside: Vec::new(),
        }),
    };
    let settings = FileEdit {
        what: "git's configuration of this repository".to_owned(),
        path: repo.common_dir.join("config"),
        root: repo.common_dir.clone(),
        change: Change::Block { lines: lines(&script, missing), spot: Spot::End },
    };
    vec![hook, settings]
}

/// git appends the arguments to the command, which a shell reads; so the last word is a function that takes them.
fn lines(script: &Path, missing: Missing) -> Vec<String> {
    let path = String::from_utf8_lossy(&single_quoted(script.as_os_str().as_bytes())).into_owned();
    let (word, code) = match missing {
        Missing::Warn => ("warning", 0),
        Missing::Block => ("error", 1),
    };
    let command = format!(
        "endwell() {{ if [ -x '{path}' ]; then exec '{path}' \"$@\"; fi; echo '{word}: the hook of endwell is gone, so \
         nothing judged this push; run endwell install again' >&2; exit {code}; }}; endwell"
    );
    let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
    vec![format!("[hook \"{NAME}\"]"), "\tevent = pre-push".to_owned(), format!("\tcommand = \"{quoted}\"")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_survives_git_s_quoting_and_the_shell_s() {
        let lines = lines(Path::new("/o'er/\"end\" \\well"), Missing::Block);
        assert_eq!(lines[0], "[hook \"endwell\"]");
        assert!(
            lines[2].starts_with("\tcommand = \"endwell() { if [ -x '/o'\\\\''er/\\\"end\\\" \\\\well' ]"),
            "{}",
            lines[2]
        );
        assert!(lines[2].contains("exit 1; }; endwell\""), "{}", lines[2]);
    }
}
