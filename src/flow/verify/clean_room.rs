//! Tests in a fresh checkout of HEAD's commit, in a temporary work tree: what passes here and fails there works only
//! because of files that were never committed. No hook of the repository runs; the work tree goes when it is done, and
//! what a killed run left goes with the next one.

use std::path::{Path, PathBuf};

use super::{Moment, Now, Outcome, VerifyOptions, run, suites, verdict};
use crate::failure::{Failure, FailureKind, Result};
use crate::flow::Workbench;
use crate::flow::workbench::git_failed;
use crate::flow::{evidence, trust};
use crate::git::Content;
use crate::model::Severity;
use crate::model::report::{Evidence, Finding};
use crate::process::stream::{EndedBy, Group, Keep, Stdin, Supervised, Tee};
use crate::process::{Inherit, child_env};

/// A temporary work tree, held by the lock of its marker.
struct Room<'a> {
    bench: &'a Workbench,
    path: PathBuf,
    marker: PathBuf,
    _folder: tempfile::TempDir,
    _lock: crate::fs::Lock,
}

/// Runs the tests there.
pub(super) fn run(bench: &Workbench, options: &VerifyOptions) -> Result<(Now, Outcome)> {
    let here = Now::look(bench)?;
    let Some(head) = here.status.head.clone() else {
        return Err(Failure::broken("there is no commit to check out").hint("Commit first."));
    };
    if !matches!(here.contents.whole, Content::Named { clean: true, .. }) {
        bench.ui.say("verify: the clean room holds the last commit; what is not committed is not in it");
    }
    let room = Room::make(bench, &head)?;
    let inside = Workbench::open(&bench.env.clone().in_dir(&room.path), bench.ui)?;
    remark(&inside);
    prepare(&inside)?;
    let commands = suites::chosen(&inside, options, evidence::commands(&inside))?;
    let before = Now { clean_room: true, ..Now::look(&inside)? };
    let outcome = match &commands {
        Ok(commands) => suites::each(&inside, commands, &before, |command, moment| {
            let mut outcome = run::fresh(&inside, options, command, moment)?;
            compare(bench, moment, &mut outcome);
            Ok(outcome)
        })?,
        Err(unclear) => verdict::unclear(unclear),
    };
    Ok((before, outcome))
}

impl<'a> Room<'a> {
    fn make(bench: &'a Workbench, commit: &str) -> Result<Self> {
        let broken = |error: std::io::Error| {
            let hint = if crate::fs::is_read_only(&error) {
                "Run it where the git folder and the folder for temporary files can be written: outside of a sandbox."
            } else {
                "Free some space, then run `endwell verify --clean-room` again."
            };
            Failure::broken("can't make a fresh checkout").because(error).hint(hint)
        };
        let folder = tempfile::Builder::new().prefix("endwell-clean-room-").tempdir().map_err(broken)?;
        let name =
            folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = folder.path().join("checkout");
        let marker = markers(bench).join(name);
        let lock = crate::fs::lock(&marker).map_err(broken)?;
        crate::fs::append(&marker, path.as_os_str().as_encoded_bytes()).map_err(broken)?;
        let room = Self { bench, path, marker, _folder: folder, _lock: lock };
        bench
            .repo
            .add_detached_worktree(&room.path, commit)
            .map_err(|error| git_failed("can't check the commit out afresh", error))?;
        Ok(room)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        remove(self.bench, &self.path, &self.marker);
    }
}

fn markers(bench: &Workbench) -> PathBuf {
    bench.repo.shared_dir().join("clean-rooms")
}

/// Removes a room; what can't be removed now is tried again by the next call.
fn remove(bench: &Workbench, path: &Path, marker: &Path) {
    if bench.repo.remove_worktree(path).is_ok() || !crate::fs::exists(path) {
        crate::fs::remove(marker).ok();
    }
    if let Some(folder) = path.parent() {
        crate::fs::remove_empty_dir(folder);
    }
}

/// Removes what killed runs left: rooms whose lock nobody holds.
pub(super) fn sweep(bench: &Workbench) {
    use std::os::unix::ffi::OsStringExt as _;
    for marker in crate::fs::list(&markers(bench)).unwrap_or_default() {
        let Ok(Some(_lock)) = crate::fs::try_lock(&marker) else { continue };
        let Ok(Some(bytes)) = crate::fs::read_optional(&marker) else { continue };
        let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
        // a marker is a file that anybody could have written: only a room of our own making is removed
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        if folder.is_some_and(|name| name.starts_with("endwell-clean-room-")) {
            remove(bench, &path, &marker);
        }
    }
}

/// What a plain checkout does not bring.
fn remark(inside: &Workbench) {
    if inside.repo.top.join(".gitmodules").is_file() {
        inside
            .ui
            .say("verify: submodules are not checked out in the clean room; `[tests] prepare` can do it");
    }
    let attributes = crate::fs::read_text_optional(&inside.repo.top.join(".gitattributes")).ok().flatten();
    if attributes.is_some_and(|text| text.contains("filter=lfs")) {
        inside.ui.say("verify: files kept with LFS may be pointers only in the clean room");
    }
}

fn prepare(inside: &Workbench) -> Result<()> {
    let Some(command) = &inside.config.tests.prepare else { return Ok(()) };
    if trust::standing(inside, &command.argv()) == trust::Standing::Unseen {
        return Err(trust::unseen(&command.argv(), "`[tests] prepare` in `endwell.toml`"));
    }
    let mut words = command.argv().into_iter();
    let program = words.next().unwrap_or_default();
    let shown = crate::ui::plain(&shell_words::join(command.argv()));
    inside.ui.say(format_args!("verify: preparing the clean room: `{shown}`"));
    let failed = |why: String| {
        Failure::broken(format!("`{shown}` did not make the clean room ready: {why}"))
            .hint("Mend `[tests] prepare` in `endwell.toml`: it runs in a fresh checkout.")
    };
    let ended = Supervised {
        program: program.into(),
        args: words.map(Into::into).collect(),
        dir: inside.repo.top.clone(),
        env: child_env(&inside.env, Inherit::NoGit),
        timeout: Some(run::TIME_LIMIT),
        tee: if inside.ui.is_live() { Tee::ToStderr } else { Tee::Quiet },
        stdin: Stdin::Closed,
        group: Group::OwnEndsWithChild,
        keep: Keep::RECORD,
    }
    .run()
    .map_err(|error| failed(error.to_string()))?;
    if ended.error == Some(EndedBy::Interrupted) {
        let failure = Failure::new(FailureKind::Interrupted, "interrupted; nothing was recorded");
        return Err(failure.hint("Run `endwell verify --clean-room` again."));
    }
    if ended.code == Some(0) {
        return Ok(());
    }
    let text = format!("{}\n{}", ended.stdout.text(), ended.stderr.text());
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    Err(failed(crate::ui::plain(last.trim())))
}

/// Names what fails only in the clean room.
fn compare(bench: &Workbench, before: &Moment, outcome: &mut Outcome) {
    let Content::Named { tree, .. } = &before.content else { return };
    if !outcome.red {
        return;
    }
    let records = evidence::store(bench).tests_of(tree).unwrap_or_default();
    let Some(here) = records.into_iter().find(|record| !record.clean_room) else { return };
    let failing = outcome.run.as_ref().map(|run| run.failing.clone()).unwrap_or_default();
    outcome.findings.extend(difference(&here, &failing));
}

fn difference(here: &Evidence, failing: &[String]) -> Option<Finding> {
    let only: Vec<&str> =
        failing.iter().filter(|name| !here.run.failing.contains(name)).map(String::as_str).collect();
    let detail = match only.as_slice() {
        [] if here.is_green() => {
            "Red in a fresh checkout only: the tests need files that were never committed.".to_owned()
        }
        [] => return None,
        only => format!(
            "Fails in a fresh checkout only, for want of files that were never committed: {}",
            only.join(", ")
        ),
    };
    Some(Finding { code: "clean-room".to_owned(), severity: Severity::Block, detail })
}
