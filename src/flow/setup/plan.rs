//! What an installation changes in this workbench, as a list of edits. It looks and decides; it writes nothing.

use std::path::{Path, PathBuf};

use super::wiring::Wiring;
use super::{InstallOptions, unrecorded};
use crate::agent::edit::{self, Refusal};
use crate::agent::{self, Agent, settings};
use crate::config;
use crate::failure::{Failure, Result};
use crate::flow::Workbench;
use crate::flow::workbench::git_failed;
use crate::fs;
use crate::githook::mark;
use crate::model::install::{Before, FileRecord};
use crate::model::plan::{Change, FileEdit, Spot, Whole};

const CONFIG: &str = include_str!("../../../templates/config/endwell.toml");

/// Every file that is to be changed, in order, and what can't be.
pub(super) fn edits(
    bench: &Workbench,
    wiring: &Wiring,
    agents: &[&Agent],
    options: &InstallOptions,
) -> Result<(Vec<FileEdit>, Vec<Refusal>)> {
    let (mut edits, mut refused) = (Vec::new(), Vec::new());
    if wiring.runs() {
        let files = recorded(bench)?;
        for edit in wiring.edits(bench, &program(bench)?) {
            match lone(&edit, &files) {
                Some(refusal) => refused.push(refusal),
                None => edits.push(edit),
            }
        }
    }
    for agent in agents {
        match agent.obstacle.map_or(Ok(None), |look| look(&bench.repo.top)) {
            Err(reason) => refused.push(unreadable(bench, agent, reason)),
            Ok(Some(obstacle)) if options.agents.is_empty() => {
                bench.ui.warn(format_args!("{obstacle}; `--agent {}` puts them in all the same", agent.id));
            }
            Ok(obstacle) => {
                if let Some(obstacle) = obstacle {
                    bench.ui.warn(obstacle);
                }
                if options.shared {
                    edits.extend(shared_edits(bench, agent));
                } else {
                    edits.extend(own_edit(bench, agent, options)?);
                }
            }
        }
    }
    if options.shared {
        edits.push(config_edit(bench));
    }
    let personal: &[FileEdit] = if options.shared { &[] } else { &edits };
    let lines = exclude_lines(bench, personal)?;
    // first, so that the work tree is clean at every moment
    edits.insert(0, exclude_edit(bench, lines));
    Ok((edits, refused))
}

/// A hook that an earlier installation set aside and that no hook of ours runs any more: ours would switch it on again.
fn lone(edit: &FileEdit, files: &[FileRecord]) -> Option<Refusal> {
    let Change::Whole(file) = &edit.change else { return None };
    let key = edit::key_of(&edit.path);
    if fs::exists(&edit.path) || files.iter().any(|file| file.path == key && file.aside.is_some()) {
        return None;
    }
    let kept = file.aside.iter().find(|aside| fs::exists(aside))?;
    let reason = format!(
        "there is no hook, but `{kept}` holds the one from before an earlier installation: move it back if it is \
         wanted, or remove it",
        kept = kept.display()
    );
    Some(Refusal { what: edit.what.clone(), path: edit.path.clone(), reason, paste: None })
}

/// The files of the installation that is in force here, or that this repository is a copy of.
fn recorded(bench: &Workbench) -> Result<Vec<FileRecord>> {
    let found = mark::find(&bench.env, &bench.repo).map_err(unrecorded)?;
    Ok(found.map(|found| found.record.files).unwrap_or_default())
}

fn unreadable(bench: &Workbench, agent: &Agent, reason: String) -> Refusal {
    Refusal {
        what: format!("{}'s settings", agent.name),
        path: bench.repo.top.join(agent.folder),
        reason,
        paste: None,
    }
}

/// The clients that get hooks: the ones that were named, else the ones in use.
pub(super) fn agents(bench: &Workbench, options: &InstallOptions) -> Result<Vec<&'static Agent>> {
    Ok(named(&options.agents)?.unwrap_or_else(|| {
        let used = agent::ALL.iter().filter(|agent| agent.is_used(&bench.env, &bench.repo.top));
        used.copied().collect()
    }))
}

/// The clients of these names, each once; `None`: none was named.
pub(super) fn named(names: &[String]) -> Result<Option<Vec<&'static Agent>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let known = |name: &String| {
        agent::find(name).ok_or_else(|| {
            Failure::usage(format!("`{name}` is no agent that endwell knows"))
                .hint(format!("Give `--agent` one of: {}.", agent::names()))
        })
    };
    let mut named: Vec<&'static Agent> = Vec::new();
    for agent in names.iter().map(known) {
        let agent = agent?;
        if !named.iter().any(|other| other.id == agent.id) {
            named.push(agent);
        }
    }
    Ok(Some(named))
}

/// One client's settings file with our entries.
pub(super) fn settings_edit(bench: &Workbench, agent: &Agent, settings: &str, guarded: bool) -> FileEdit {
    FileEdit {
        what: format!("{}'s hooks", agent.name),
        path: bench.repo.top.join(settings),
        root: bench.repo.top.clone(),
        change: (agent.change)(guarded),
    }
}

/// Our lines in git's own exclude list, which all work trees of the repository share.
pub(super) fn exclude_edit(bench: &Workbench, lines: Vec<String>) -> FileEdit {
    FileEdit {
        what: "git's own exclude list".to_owned(),
        path: bench.repo.common_dir.join("info/exclude"),
        root: bench.repo.common_dir.clone(),
        change: Change::Block { lines, spot: Spot::End },
    }
}

/// The path that the hook tries first: the one on PATH where it is this very program, since that one survives updates.
fn program(bench: &Workbench) -> Result<PathBuf> {
    let exe = bench.env.exe().ok_or_else(|| {
        Failure::broken("can't tell where this program lies").hint("Start endwell by its full path.")
    })?;
    let same = |path: &PathBuf| path.canonicalize().ok() == exe.canonicalize().ok();
    Ok(bench.env.which("endwell").filter(same).unwrap_or_else(|| exe.to_owned()))
}

/// The team's settings get our entries; this person's own, where they have some, lose them: the client runs both.
fn shared_edits(bench: &Workbench, agent: &Agent) -> Vec<FileEdit> {
    let (Some(shared), Some(own)) = (agent.shared_settings, agent.own_settings) else { return Vec::new() };
    let mut edits = vec![settings_edit(bench, agent, shared, true)];
    if own != shared && !calls(&bench.repo.top.join(own), agent).is_empty() {
        let mut edit = settings_edit(bench, agent, own, false);
        if let Change::Hooks(hooks) = &mut edit.change {
            hooks.entries.clear();
        }
        edits.push(edit);
    }
    edits
}

/// The events for which a settings file calls us already.
fn calls(path: &Path, agent: &Agent) -> Vec<String> {
    let bytes = fs::read_optional(path).ok().flatten().unwrap_or_default();
    settings::covered(path, &bytes, agent.id)
}

/// The client runs this person's hooks of every project already.
pub(super) fn is_covered_at_home(bench: &Workbench, agent: &Agent) -> bool {
    let Some(path) = agent.user_settings(&bench.env) else { return false };
    match (agent.change)(false) {
        Change::Hooks(hooks) => {
            let covered = calls(&path, agent);
            hooks.entries.iter().all(|entry| covered.iter().any(|event| event == entry.event))
        }
        Change::Whole(file) => {
            let there = fs::read_optional(&path).ok().flatten().unwrap_or_default();
            file.mark.is_some_and(|mark| edit::has_mark(&there, mark))
        }
        Change::Block { .. } => false,
    }
}

fn own_edit(bench: &Workbench, agent: &Agent, options: &InstallOptions) -> Result<Option<FileEdit>> {
    let (Some(own), Some(shared)) = (agent.own_settings, agent.shared_settings) else { return Ok(None) };
    if is_covered_at_home(bench, agent) {
        // the client runs both files: what is called already would run twice
        return Ok(None);
    }
    let tracked = bench
        .repo
        .is_tracked(Path::new(own))
        .map_err(|error| git_failed("can't tell what git tracks", error))?;
    if tracked && options.agents.is_empty() {
        bench.ui.warn(format_args!(
            "git tracks `{own}`, so {} gets no hooks: `endwell install --agent {}` changes it all the same, \
             `--shared` writes `{}` for the team to commit",
            agent.name, agent.id, shared
        ));
        return Ok(None);
    }
    if tracked {
        bench.ui.warn(format_args!("git tracks `{own}`: what changes there is yours to commit"));
    }
    let mut edit = settings_edit(bench, agent, own, false);
    if own == shared {
        return Ok(Some(edit));
    }
    let covered = calls(&bench.repo.top.join(shared), agent);
    if let Change::Hooks(hooks) = &mut edit.change {
        // the client runs both files: what the team's already calls would run twice
        hooks.entries.retain(|entry| !covered.iter().any(|event| event == entry.event));
        if hooks.entries.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(edit))
}

fn config_edit(bench: &Workbench) -> FileEdit {
    FileEdit {
        what: "the settings".to_owned(),
        path: bench.repo.top.join(config::FILE),
        root: bench.repo.top.clone(),
        change: Change::Whole(Whole {
            bytes: CONFIG.as_bytes().to_vec(),
            mode: 0o644,
            mark: None,
            variable: None,
            aside: Vec::new(),
        }),
    }
}

/// endwell's own outputs, and the personal settings files that it made: never the person's dirt.
fn exclude_lines(bench: &Workbench, edits: &[FileEdit]) -> Result<Vec<String>> {
    let mut lines = bench.config.own_patterns();
    let files = recorded(bench)?;
    let former =
        fs::read_optional(&bench.repo.common_dir.join("info/exclude")).ok().flatten().unwrap_or_default();
    let former = edit::block_lines(&former);
    for own in agent::ALL.iter().filter_map(|agent| agent.own_settings) {
        let path = bench.repo.top.join(own);
        let key = edit::key_of(&path);
        let made_before = files.iter().any(|file| file.path == key && file.before == Before::Absent);
        let made_now = !fs::exists(&path) && edits.iter().any(|edit| edit.path == path);
        let line = format!("/{own}");
        // and what the block says already, where the record is lost
        if made_before || made_now || former.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}
