//! What `install` and `uninstall` tell the person. Nothing here decides anything.

use std::path::Path;

use super::plan;
use super::wiring::Wiring;
use crate::agent::edit::{Refusal, Step};
use crate::agent::{self, Agent};
use crate::config;
use crate::env::Env;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::check::{CheckOptions, look};
use crate::git::proof::Proof;
use crate::githook::manager::{Manager, Way};
use crate::githook::{self, Place};
use crate::model::Severity;
use crate::model::report::TestStanding;
use crate::ui::Ui;

/// The files that were written.
pub(super) fn written(bench: &Workbench, steps: &[&Step], all_well: bool, is_shared: bool) {
    if steps.is_empty() && all_well {
        bench.ui.say("endwell is already installed here: nothing changed.");
    }
    for step in steps {
        bench.ui.say(format_args!("Wrote {} ({}).", named(bench, &step.path), step.what));
        if let Some(moved) = &step.moved {
            let kept = named(bench, &moved.to);
            bench.ui.say(format_args!("The hook that was there is {kept} now, and runs after endwell's."));
        }
    }
    let team = |step: &&&Step| {
        step.path.ends_with(config::FILE)
            || agent::ALL
                .iter()
                .filter_map(|agent| agent.shared_settings)
                .any(|shared| step.path.ends_with(shared))
    };
    let shared: Vec<String> = steps.iter().filter(team).map(|step| named(bench, &step.path)).collect();
    if is_shared && !shared.is_empty() {
        bench.ui.hint(format_args!("Commit what the team shares: {}.", shared.join(", ")));
    }
}

/// A file that went back to what it was; whether anything changed.
pub(super) fn taken_back(bench: &Workbench, step: &Step) -> bool {
    if !step.changes() {
        return false;
    }
    let verb = match (&step.then, &step.moved) {
        (None, None) => "Removed",
        _ => "Restored",
    };
    bench.ui.say(format_args!("{verb} {} ({}).", named(bench, &step.path), step.what));
    true
}

pub(super) fn uninstalled(ui: Ui, was_here: bool) {
    ui.say(if was_here {
        "endwell is uninstalled here. Packets and reports stay; they are yours."
    } else {
        "endwell is not installed here: nothing changed."
    });
}

/// Who gets hooks, and what they need.
pub(super) fn agents(env: &Env, ui: Ui, agents: &[&Agent]) {
    if agents.is_empty() {
        let names = agent::names();
        ui.say(format_args!("No coding agent was found in use; `--agent NAME` takes one of: {names}."));
    } else if env.which("endwell").is_none() {
        ui.warn("`endwell` is not on PATH, where the agents' hooks look for it: put its folder on PATH");
    }
    for agent in agents {
        if !agent.is_tried {
            ui.say(format_args!(
                "{}'s hooks are written from its documentation; nobody has tried them with the program.",
                agent.name
            ));
        }
        if !agent.needs.is_empty() {
            ui.hint(agent.needs);
        }
    }
}

/// The clients that run no hooks of a project, and don't call us for this person either.
pub(super) fn only_at_home(bench: &Workbench, agents: &[&Agent]) {
    for agent in
        agents.iter().filter(|agent| agent.own_settings.is_none() && !plan::is_covered_at_home(bench, agent))
    {
        bench.ui.warn(format_args!(
            "{} runs no hooks of a project, only yours: `endwell install --user --agent {}` puts them in",
            agent.name, agent.id
        ));
    }
}

/// The files at home that were written.
pub(super) fn written_at_home(env: &Env, ui: Ui, steps: &[&Step], all_well: bool) {
    if steps.is_empty() && all_well {
        ui.say("endwell's hooks are in your own settings already: nothing changed.");
    }
    for step in steps {
        ui.say(format_args!("Wrote {} ({}).", at_home(env, &step.path), step.what));
    }
    ui.say("These hooks act only in repositories where you run `endwell install` as well.");
}

/// A file at home that went back to what it was; whether anything changed.
pub(super) fn taken_back_at_home(env: &Env, ui: Ui, step: &Step) -> bool {
    if step.changes() {
        let verb = if step.then.is_none() { "Removed" } else { "Restored" };
        ui.say(format_args!("{verb} {} ({}).", at_home(env, &step.path), step.what));
    }
    step.changes()
}

pub(super) fn uninstalled_at_home(ui: Ui, was_there: bool) {
    ui.say(if was_there {
        "endwell's hooks are out of your own settings. Repositories keep theirs: `endwell uninstall` there."
    } else {
        "endwell has no hooks in your own settings: nothing changed."
    });
}

fn at_home(env: &Env, path: &Path) -> String {
    match env.home().and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned())) {
        Some(below) => format!("`~/{}`", below.display()),
        None => format!("`{}`", path.display()),
    }
}

/// What a push of HEAD now would say, and the one command to run first.
pub(super) fn next(bench: &Workbench, gate_runs: bool) -> Result<()> {
    let judged = look(bench, &CheckOptions::default(), None)?;
    let (report, blocking) = (&judged.report, judged.report.blocking());
    let warnings = report.issues.iter().filter(|issue| issue.severity == Severity::Warn).count();
    match (gate_runs, blocking.first()) {
        (false, _) => {}
        (true, None) => {
            bench.ui.say(format_args!("A push now would go through ({}).", counted(warnings, "warning")));
        }
        (true, Some(first)) => {
            let more = match blocking.len() - 1 {
                0 => String::new(),
                more => format!(" And {more} more; `endwell check` lists them."),
            };
            bench.ui.say(format_args!("A push now would be refused: {}{more}", first.message));
        }
    }
    bench.ui.hint(match judged.tests {
        TestStanding::NoCommand | TestStanding::Below(_) | TestStanding::Unclear { .. } => {
            "Run `endwell check` first: it shows what is judged."
        }
        _ => "Run `endwell verify` first: it runs the tests and keeps the result as evidence.",
    });
    Ok(())
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        more => format!("{more} {what}s"),
    }
}

/// How pushes come to call endwell, wherever that is not simply by our own file.
pub(super) fn wiring(
    bench: &Workbench,
    (place, wiring): (&Place, &Wiring),
    via: Option<&Manager>,
    external: bool,
) {
    let ui = bench.ui;
    match wiring {
        Wiring::File(_) => {
            if let Some(manager) = via {
                ui.say(format_args!("endwell runs in front of {}: {}.", manager.id, manager.why));
            }
        }
        Wiring::Config => {
            ui.say("git's configuration calls endwell at every push, beside the hooks that are in files.");
        }
        Wiring::Block(script) => ui.hint(format_args!(
            "{} is the project's: commit it. It passes by for everybody who has not installed endwell.",
            named(bench, script)
        )),
        Wiring::Entry(manager, true) => ui.say(format_args!("{} calls endwell at every push.", manager.id)),
        Wiring::Entry(manager, false) => entry(ui, manager),
        Wiring::Called | Wiring::Nothing => self::place(ui, place, external),
    }
}

fn entry(ui: Ui, manager: &Manager) {
    let Way::Entry { file, entry, install } = manager.way else { return };
    let id = manager.id;
    ui.warn(format_args!("no gate runs at a push until {id} calls endwell: {}", manager.why));
    ui.say(format_args!("Put this into `{file}`, beside what stands there:\n\n{entry}"));
    ui.hint(format_args!(
        "Then run `{install}`, and `endwell install --via {id}` again: it tries a dry push."
    ));
}

/// What a dry push showed; whether the gate may be relied on.
pub(super) fn proof(ui: Ui, proof: &Proof) -> bool {
    match proof {
        Proof::Fires => ui.say("A dry push to a scratch repository started the hook: the gate is in place."),
        Proof::NoCommit => ui.say("There is no commit yet, so the hook could not be tried in a dry push."),
        Proof::Silent(said) => {
            let said = if said.is_empty() { String::new() } else { format!(" (`{said}`)") };
            ui.failure(
                &Failure::broken(format!("a dry push to a scratch repository did not start the hook{said}"))
                    .hint("Run `endwell doctor`: it says what keeps git from it."),
            );
            return false;
        }
    }
    true
}

/// Where git looks, wherever that is not simply ours.
fn place(ui: Ui, place: &Place, external: bool) {
    match place {
        Place::Own { dir } if external => {
            ui.say("No git hook was written (`--external`).");
            paste(ui, &dir.join("pre-push"));
        }
        Place::Own { .. } => {}
        Place::Adopted { by } => {
            ui.say(format_args!("The hook manager here runs endwell already, as `{}`.", by.display()));
        }
        Place::Off { value, scope } => {
            let value = if value.is_empty() { "empty".to_owned() } else { format!("`{value}`") };
            let flag = if scope == "local" { String::new() } else { format!("--{scope} ") };
            ui.warn(format_args!(
                "`core.hooksPath` is {value}: hooks are switched off here, so no gate runs at a push; \
                 `git config {flag}--unset core.hooksPath` switches them on, then run `endwell install` again"
            ));
        }
        Place::Project { script, wired: true } | Place::Shared { script, wired: true, .. } => {
            ui.say(format_args!("`{}` calls endwell already.", script.display()));
        }
        Place::Project { script, wired: false } => {
            ui.warn(format_args!(
                "git runs `{}` here, a file of the project, which endwell does not change: until it calls \
                 endwell, no gate runs at a push",
                script.display()
            ));
            paste(ui, script);
            let via =
                if script.parent().is_some_and(|dir| dir.ends_with(".husky")) { "husky" } else { "script" };
            ui.hint(format_args!("Or let endwell put them there: `endwell install --via {via}`."));
        }
        Place::Shared { script, scope, wired: false } => shared(ui, script, scope, external),
    }
}

fn shared(ui: Ui, script: &Path, scope: &str, external: bool) {
    if external {
        paste(ui, script);
        return;
    }
    let told = format!(
        "no git hook was written: `core.hooksPath` ({scope}) leads to `{}`, outside of this repository",
        script.display()
    );
    ui.failure(
        &Failure::broken(told)
            .hint("Give this repository its own folder (`git config core.hooksPath .git/hooks`), then `endwell install`;")
            .hint("or see what to put into the script that is shared: `endwell install --external`."),
    );
}

fn paste(ui: Ui, script: &Path) {
    let place = script.display();
    ui.say(format_args!("Put these lines into `{place}`, right below its first line:\n\n{}", githook::BLOCK));
}

/// A file that stays as it is, and why.
pub(super) fn refused(ui: Ui, refusal: &Refusal) {
    let path = refusal.path.display();
    let failure = Failure::broken(format!("`{path}` stays as it is: {}", refusal.reason));
    ui.failure(&match &refusal.paste {
        Some(text) => failure.hint(format!(
            "Mend the file and run the command again, or put {} in by hand:\n{text}",
            refusal.what
        )),
        None => failure.hint(format!("See to `{path}`, then run the command again.")),
    });
}

fn named(bench: &Workbench, path: &Path) -> String {
    format!("`{}`", path.strip_prefix(&bench.repo.top).unwrap_or(path).display())
}
