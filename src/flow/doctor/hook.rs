//! The git hook: is it there, ours, executable, of this version, and does git start it?

use std::path::{Path, PathBuf};

use super::{note, wrong};
use crate::failure::Result;
use crate::flow::workbench::git_failed;
use crate::flow::{Workbench, bypass, setup};
use crate::fs;
use crate::git::proof::Proof;
use crate::githook::manager::{self, Way};
use crate::githook::{self, Place, config, mark};
use crate::model::doctor::{PushHealth, Symptom};
use crate::model::plan::HOOK_MARK;
use crate::session::Store;

const ABOUT: &str = "push";
const AGAIN: &str = "Run `endwell install`.";

/// Looks at the way in which a push calls endwell.
pub(super) fn examine(bench: &Workbench, findings: &mut Vec<Symptom>) -> Result<PushHealth> {
    installed(bench, findings)?;
    let place = githook::find(&bench.repo);
    let place = place.map_err(|error| git_failed("can't find the hooks folder", error))?;
    let mut health = PushHealth { way: "none".to_owned(), ..PushHealth::default() };
    let known = findings.len();
    let by_config = fs::exists(&config::script(&bench.repo.common_dir));
    let only_config = if by_config { configured(bench, &mut health, findings)? } else { false };
    if !only_config {
        in_place(bench, &place, &mut health, findings);
    }
    switched_off(bench, findings);
    if findings[known..].iter().all(|symptom| !symptom.wrong)
        && matches!(health.way.as_str(), "config" | "file" | "project")
    {
        prove(bench, only_config, &mut health, findings)?;
    }
    if let Some(baseline) = Store::of(&bench.repo).install_baseline() {
        findings.extend(bypass::told(bench, &baseline.taken_at).into_iter().map(|told| {
            note(
                ABOUT,
                "passed-the-gate",
                told,
                "Look at what was pushed; the next packet lists it as a risk.",
            )
        }));
    }
    Ok(health)
}

fn installed(bench: &Workbench, findings: &mut Vec<Symptom>) -> Result<()> {
    let found = mark::find(&bench.env, &bench.repo).map_err(setup::unrecorded)?;
    findings.extend(match found {
        None => Some(wrong(
            ABOUT,
            "not-installed",
            "You have not installed endwell in this repository, so its hooks do nothing here.",
            AGAIN,
        )),
        Some(found) if found.is_copy => Some(wrong(
            ABOUT,
            "copied",
            "This repository is a copy of one in which you installed endwell; hooks do nothing in the copy.",
            AGAIN,
        )),
        Some(found) if found.is_moved => {
            Some(note(ABOUT, "moved", "This repository was moved since endwell was installed in it.", AGAIN))
        }
        Some(_) => None,
    });
    Ok(())
}

/// The hook in git's configuration; whether git runs it.
fn configured(bench: &Workbench, health: &mut PushHealth, findings: &mut Vec<Symptom>) -> Result<bool> {
    let asked = |error| git_failed("can't ask git for its hooks", error);
    let script = config::script(&bench.repo.common_dir);
    if !config::is_known(&bench.repo).map_err(asked)? {
        findings.push(wrong(
            ABOUT,
            "config-hook-unknown",
            "The hook stands in git's configuration, and this git (before 2.54) runs none from there.",
            "Run `endwell uninstall`, then `endwell install`: it writes a file instead.",
        ));
        return Ok(false);
    }
    "config".clone_into(&mut health.way);
    health.path = Some(script.display().to_string());
    if !config::is_live(&bench.repo).map_err(asked)? {
        findings.push(off_or_gone(bench)?);
    }
    ours(bench, &script, findings);
    Ok(true)
}

fn off_or_gone(bench: &Workbench) -> Result<Symptom> {
    for key in ["hook.endwell.enabled", "hook.pre-push.enabled"] {
        let value = bench.repo.config(key).map_err(|error| git_failed("can't read git's settings", error))?;
        if value.is_some() {
            return Ok(wrong(
                ABOUT,
                "switched-off",
                format!("`{key}` switches the hook in git's configuration off."),
                format!("Run `git config --unset-all {key}` (with `--global` where it stands there)."),
            ));
        }
    }
    Ok(wrong(ABOUT, "hook-gone", "git's configuration does not name endwell's hook any more.", AGAIN))
}

fn in_place(bench: &Workbench, place: &Place, health: &mut PushHealth, findings: &mut Vec<Symptom>) {
    let mut at = |way: &str, path: &Path| {
        way.clone_into(&mut health.way);
        health.path = Some(path.display().to_string());
    };
    match place {
        Place::Own { dir } => {
            let hook = dir.join("pre-push");
            if has_our_mark(&hook) {
                at("file", &hook);
                ours(bench, &hook, findings);
            } else if githook::calls_us(&hook) {
                at("project", &hook);
                executable(&hook, findings);
            } else if let Some(file) = entry_of(bench, &hook) {
                at("manager", &file);
                executable(&hook, findings);
            } else {
                findings.push(gone_or_replaced(&hook));
            }
        }
        Place::Adopted { by } => {
            at("adopted", by);
            executable(by, findings);
        }
        Place::Off { .. } => {
            "off".clone_into(&mut health.way);
            findings.push(wrong(
                ABOUT,
                "hooks-off",
                "`core.hooksPath` switches git's hooks off here, so no gate runs at a push.",
                "Run `git config --unset core.hooksPath` (with `--global` where it stands there), then `endwell install`.",
            ));
        }
        Place::Project { script, wired } => {
            at("project", script);
            in_project(bench, script, *wired, findings);
        }
        Place::Shared { script, wired, .. } => {
            at("shared", script);
            called(
                bench,
                script,
                *wired,
                "Run `endwell install --external`: it prints what to put into it.",
                findings,
            );
            if *wired {
                executable(script, findings);
            }
        }
    }
}

/// The file of the hook's manager, where it calls endwell.
fn entry_of(bench: &Workbench, hook: &Path) -> Option<PathBuf> {
    let there = fs::read_optional(hook).ok().flatten()?;
    let Way::Entry { file, .. } = manager::of_hook(&there)?.way else { return None };
    let path = bench.repo.top.join(file);
    githook::calls_us(&path).then_some(path)
}

fn in_project(bench: &Workbench, script: &Path, is_wired: bool, findings: &mut Vec<Symptom>) {
    let folder = bench.repo.hooks_dir().unwrap_or_default();
    let is_husky = folder.ends_with("_");
    if !folder.is_dir() {
        findings.push(wrong(
            ABOUT,
            "hooks-folder-missing",
            format!(
                "git looks for hooks in `{}`, which is not there: no hook runs in this work tree.",
                folder.display()
            ),
            if is_husky {
                "Run `npm install` here: husky makes the folder."
            } else {
                "Make the folder, or run `git config --unset core.hooksPath`."
            },
        ));
        return;
    }
    let via = if is_husky { "husky" } else { "script" };
    called(bench, script, is_wired, &format!("Run `endwell install --via {via}`."), findings);
    // husky's own wrapper reads the script whatever its mode
    if !is_husky && fs::exists(script) {
        executable(script, findings);
    }
}

fn called(bench: &Workbench, script: &Path, is_wired: bool, fix: &str, findings: &mut Vec<Symptom>) {
    if is_wired {
        return;
    }
    let own = bench.repo.common_dir.join("hooks/pre-push");
    let (code, message) = if has_our_mark(&own) {
        let message = format!(
            "git looks at `{}` now, not at endwell's hook in `{}`: `core.hooksPath` was changed since.",
            script.display(),
            own.display()
        );
        ("hook-shadowed", message)
    } else {
        ("not-called", format!("git runs `{}`, which does not call endwell.", script.display()))
    };
    findings.push(wrong(ABOUT, code, message, fix));
}

fn has_our_mark(hook: &Path) -> bool {
    let bytes = fs::read_optional(hook).ok().flatten().unwrap_or_default();
    memchr::memmem::find(&bytes, HOOK_MARK.as_bytes()).is_some()
}

fn executable(hook: &Path, findings: &mut Vec<Symptom>) {
    if !fs::is_executable(hook) {
        findings.push(wrong(
            ABOUT,
            "hook-not-executable",
            format!("`{}` is not executable, so git skips it.", hook.display()),
            format!("Run `chmod +x {}`.", shell_words::quote(&hook.display().to_string())),
        ));
    }
}

/// Our hook is not where it was written.
fn gone_or_replaced(hook: &Path) -> Symptom {
    let Ok(Some(there)) = fs::read_optional(hook) else {
        return wrong(
            ABOUT,
            "hook-gone",
            format!("There is no hook at `{}`, so no gate runs at a push.", hook.display()),
            AGAIN,
        );
    };
    let manager = manager::of_hook(&there);
    let whose = manager.map_or("another hook".to_owned(), |manager| format!("the hook of {}", manager.id));
    let aside = ["old", "legacy", "pre-push", "bak"].map(|end| hook.with_extension(end));
    let kept = aside.iter().find(|path| has_our_mark(path));
    let lies = kept.map(|path| format!("; endwell's lies at `{}` and does not run", path.display()));
    let fix = match manager.map(|manager| (manager.id, manager.way)) {
        Some((id, Way::Entry { .. })) => {
            format!("Run `endwell install --via {id}`: it prints the entry that joins the two.")
        }
        _ => AGAIN.to_owned(),
    };
    wrong(
        ABOUT,
        "hook-replaced",
        format!("`{}` is {whose} now{}.", hook.display(), lies.unwrap_or_default()),
        fix,
    )
}

/// A hook that is ours: executable, of this version, and able to find its program.
fn ours(bench: &Workbench, hook: &Path, findings: &mut Vec<Symptom>) {
    if !fs::exists(hook) {
        findings.push(wrong(ABOUT, "hook-gone", format!("There is no hook at `{}`.", hook.display()), AGAIN));
        return;
    }
    executable(hook, findings);
    let text = fs::read_optional(hook).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin)).map(str::to_owned);
    let missing = bench.config.push.missing;
    let current = String::from_utf8_lossy(&githook::shim(Path::new(""), missing)).into_owned();
    if line(HOOK_MARK).as_deref() != current.lines().find(|line| line.starts_with(HOOK_MARK)) {
        findings.push(wrong(ABOUT, "hook-old", "The hook is of another version of endwell.", AGAIN));
        return;
    }
    let Some(set) = line("endwell='") else { return };
    if !set.ends_with(&format!(" missing={}", missing.word())) {
        let message = format!("The hook was written before `push.missing` became `{}`.", missing.word());
        findings.push(wrong(ABOUT, "hook-old", message, AGAIN));
    }
    let path = set.trim_start_matches("endwell='").split("' missing=").next().unwrap_or_default();
    program(bench, &PathBuf::from(path.replace("'\\''", "'")), findings);
}

/// The program that the hook names.
fn program(bench: &Workbench, named: &Path, findings: &mut Vec<Symptom>) {
    if !fs::is_executable(named) {
        let on_path = bench.env.which("endwell");
        let message = format!("The hook names `{}`, which is not there.", named.display());
        findings.push(match on_path {
            Some(_) => note(
                ABOUT,
                "program-moved",
                format!("{message} It finds `endwell` on PATH, where a program has one."),
                AGAIN,
            ),
            None => wrong(ABOUT, "program-gone", message, "Put endwell on PATH, then run `endwell install`."),
        });
        return;
    }
    let real = |path: &Path| path.canonicalize().ok();
    if bench.env.exe().is_some_and(|exe| real(exe) != real(named)) {
        let message = format!("The hook runs `{}`, not this program.", named.display());
        findings.push(note(
            ABOUT,
            "another-program",
            message,
            "Run `endwell install` with the one that is to be used.",
        ));
    }
}

/// Switches in this environment that make a push pass by.
fn switched_off(bench: &Workbench, findings: &mut Vec<Symptom>) {
    let mut off = |variable: &str, what: &str| {
        let message = format!("`{variable}` is set in this environment: {what}.");
        findings.push(wrong(
            ABOUT,
            "switched-off",
            message,
            format!("Run `unset {variable}`, and take it out of the shell's start files."),
        ));
    };
    if bench.env.switch("ENDWELL_SKIP") {
        off("ENDWELL_SKIP", "pushes are not judged");
    }
    let folder = bench.repo.hooks_dir().unwrap_or_default();
    if bench.env.text("HUSKY") == Some("0") && folder.ends_with("_") {
        off("HUSKY", "husky runs no hook");
    }
    let hook = fs::read_optional(&folder.join("pre-push")).ok().flatten().unwrap_or_default();
    let is_lefthook = manager::of_hook(&hook).is_some_and(|manager| manager.id == "lefthook");
    if bench.env.text("LEFTHOOK").is_some_and(|word| matches!(word, "0" | "false")) && is_lefthook {
        off("LEFTHOOK", "lefthook runs no job");
    }
}

fn prove(
    bench: &Workbench,
    only_config: bool,
    health: &mut PushHealth,
    findings: &mut Vec<Symptom>,
) -> Result<()> {
    match setup::prove(bench, only_config)? {
        Proof::Fires => health.fires = Some(true),
        Proof::NoCommit => {}
        Proof::Silent(said) => {
            health.fires = Some(false);
            let said = if said.is_empty() { String::new() } else { format!(" (it said `{said}`)") };
            findings.push(wrong(
                ABOUT,
                "does-not-fire",
                format!("A dry push to a scratch repository did not start endwell's hook{said}."),
                "Run `GIT_TRACE=1 git push --dry-run` to see what git starts, then `endwell install`.",
            ));
        }
    }
    Ok(())
}
