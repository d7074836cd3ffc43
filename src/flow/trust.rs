//! A person's consent: to commands that come from the repository and changed since this person last saw them, to settings
//! that ask for less than before, and to packets from elsewhere. Everything that runs such a command asks [`standing`]
//! first. Consent lies in the person's own state folder; an agent can't give it.
//!
//! Seen is what stood in `endwell.toml` and on the board at the installation, and what `endwell trust` was told since. In
//! a repository without an installation there is nothing to compare with: `endwell verify` runs the tests that its
//! settings name, since a person asked for just that, and the board's commands are left alone.

use std::path::PathBuf;

use crate::config::gates;
use crate::failure::{Failure, Result};
use crate::flow::allow::agent_around;
use crate::flow::{Workbench, board, session};
use crate::fs;
use crate::githook::mark;
use crate::model::board::{BoardReading, Criterion};
use crate::model::issue::{hex, sha256_hex};
use crate::model::session::Baseline;
use crate::model::trust::{Trust, VERSION};
use crate::session::Store;

/// How a command from the repository stands with this person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Seen,
    /// It is new, or another than this person saw last.
    Unseen,
    /// This person installed nothing here.
    NotInstalled,
}

/// Something that waits for consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Where it stands: a setting, or an entry of the board.
    pub place: String,
    pub what: What,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The words to start.
    Command(Vec<String>),
    /// A key of the settings that asks for less than at the baseline.
    Loosened(&'static str),
}

/// Whether a command from the repository may run. Any doubt is a no.
pub fn standing(bench: &Workbench, argv: &[String]) -> Standing {
    match place(bench) {
        Some(path) if read(&path).is_some_and(|trust| trust.commands.contains(&digest(argv))) => {
            Standing::Seen
        }
        Some(_) => Standing::Unseen,
        None => Standing::NotInstalled,
    }
}

/// The refusal to run a command that this person has not seen.
pub fn unseen(argv: &[String], place: &str) -> Failure {
    let shown = crate::ui::plain(&shell_words::join(argv));
    Failure::broken(format!("`{shown}` ({place}) is not the command that you saw last, so it was not run"))
        .hint("A person looks at it and runs `endwell trust` in a terminal; then run this again.")
}

/// Records what stands in the repository at its installation. A later one adds nothing inside of an agent's session.
pub fn record_seen(bench: &Workbench) -> Result<()> {
    let Some(path) = place(bench) else { return Ok(()) };
    // so that it is there where a sandbox lets nothing new be made
    key(&bench.env);
    if fs::exists(&path) && agent_around(bench).is_some() {
        return Ok(());
    }
    add(&path, commands(bench).iter().map(|(_, argv)| digest(argv)))
}

/// Forgets everything about this repository.
pub fn forget(bench: &Workbench) -> Result<()> {
    let Some(path) = place(bench) else { return Ok(()) };
    fs::remove(&path).map_err(unkept)?;
    if let Some(folder) = path.parent() {
        fs::remove_empty_dir(folder);
    }
    Ok(())
}

/// Everything that waits, in the order of its places.
pub fn waiting(bench: &Workbench) -> Result<Vec<Waiting>> {
    let path = place(bench).ok_or_else(not_installed)?;
    let trust = read(&path).unwrap_or_default();
    let mut found: Vec<Waiting> = Vec::new();
    for (place, argv) in commands(bench) {
        let known = trust.commands.contains(&digest(&argv));
        let what = What::Command(argv);
        if !known && !found.iter().any(|other| other.what == what) {
            found.push(Waiting { place, what });
        }
    }
    let loosened = baselines(bench)
        .iter()
        .flat_map(|baseline| session::loosened(baseline, &bench.config))
        .collect::<Vec<_>>();
    for key in gates::KEYS.iter().filter(|key| loosened.contains(key)) {
        found.push(Waiting {
            place: format!("`{key}` in `{}`", crate::config::FILE),
            what: What::Loosened(key),
        });
    }
    Ok(found)
}

/// Takes a person's word for all of it.
pub fn consent(bench: &Workbench, waiting: &[Waiting]) -> Result<()> {
    let path = place(bench).ok_or_else(not_installed)?;
    let argvs = waiting.iter().filter_map(|one| match &one.what {
        What::Command(argv) => Some(digest(argv)),
        What::Loosened(_) => None,
    });
    add(&path, argvs)?;
    if waiting.iter().any(|one| matches!(one.what, What::Loosened(_))) {
        settings_count(bench)?;
    }
    Ok(())
}

/// Consent is a person's word: never an agent's, and at a terminal unless `said_so` (`--yes`).
pub fn persons_word(bench: &Workbench, said_so: bool) -> Result<()> {
    if let Some(agent) = agent_around(bench) {
        return Err(Failure::blocked(format!(
            "this is a session of `{agent}`, and trust is a person's word"
        ))
        .hint("Ask the person to run `endwell trust` in a terminal of their own."));
    }
    if said_so || bench.ui.has_person() {
        return Ok(());
    }
    Err(Failure::blocked("there is no terminal to ask a person at")
        .hint("Look at what is listed above, then say so: `endwell trust --yes`."))
}

/// Every command of the repository that endwell may run, with its place.
fn commands(bench: &Workbench) -> Vec<(String, Vec<String>)> {
    let tests = &bench.config.tests;
    let named = [("tests.command", &tests.command), ("tests.prepare", &tests.prepare)];
    let mut found: Vec<(String, Vec<String>)> = named
        .into_iter()
        .filter_map(|(key, command)| {
            Some((format!("`{key}` in `{}`", crate::config::FILE), command.as_ref()?.argv()))
        })
        .collect();
    found.extend(tests.suite.iter().map(|suite| {
        (
            format!("suite `{}` in `{}`", crate::ui::plain(&suite.name), crate::config::FILE),
            suite.command.argv(),
        )
    }));
    if let BoardReading::Board(read) = board::read(bench) {
        for feature in &read.features {
            let lines = feature.acceptance.iter().filter_map(|criterion| match criterion {
                Criterion::Line(line) => Some(crate::config::Command::Line(line.clone()).argv()),
                Criterion::Words(words) => Some(words.clone()),
                Criterion::Prose(_) => None,
            });
            found.extend(lines.map(|argv| (format!("`{}` in `{}`", feature.id, read.path), argv)));
        }
    }
    found
}

fn baselines(bench: &Workbench) -> Vec<Baseline> {
    let store = Store::of(&bench.repo);
    let open = store.open_sessions().into_iter().map(|session| session.baseline);
    store.install_baseline().into_iter().chain(open).collect()
}

/// What the settings say now is what they are compared with from here on.
fn settings_count(bench: &Workbench) -> Result<()> {
    let store = Store::of(&bench.repo);
    let _held = store.lock().map_err(session::kept)?;
    let settings = bench.config.to_value();
    if let Some(baseline) = store.install_baseline() {
        let baseline = Baseline { settings: settings.clone(), ..baseline };
        store.save_install_baseline(&baseline).map_err(session::kept)?;
    }
    for mut session in store.open_sessions() {
        session.baseline.settings.clone_from(&settings);
        store.save(&session).map_err(session::kept)?;
    }
    Ok(())
}

/// The file; `None` where this person installed nothing.
fn place(bench: &Workbench) -> Option<PathBuf> {
    let record = mark::record(&bench.env, &bench.repo).ok()??;
    Some(bench.env.state_dir()?.join("trust").join(format!("{}.json", record.id)))
}

fn read(path: &std::path::Path) -> Option<Trust> {
    let trust: Trust = serde_json::from_slice(&fs::read_optional(path).ok()??).ok()?;
    (trust.schema_version == VERSION).then_some(trust)
}

fn add(path: &std::path::Path, digests: impl Iterator<Item = String>) -> Result<()> {
    let _held = fs::lock(&path.with_extension("lock")).map_err(unkept)?;
    let before = read(path);
    let mut trust = before.clone().unwrap_or_default();
    trust.schema_version = VERSION;
    trust.commands.extend(digests);
    if before.as_ref() == Some(&trust) {
        return Ok(());
    }
    let mut bytes = serde_json::to_vec_pretty(&trust).map_err(|error| unkept(error.into()))?;
    bytes.push(b'\n');
    fs::write_atomic_mode(path, &bytes, 0o600).map_err(unkept)
}

fn digest(argv: &[String]) -> String {
    sha256_hex(shell_words::join(argv).as_bytes())
}

/// The secret by which this person's endwell knows what it wrote itself: made at the first need, `None` without a
/// state folder.
pub fn key(env: &crate::env::Env) -> Option<String> {
    let path = env.state_dir()?.join("key");
    let read = || Some(fs::read_text_optional(&path).ok()??.trim().to_owned()).filter(|key| key.len() == 64);
    read().or_else(|| {
        let _held = fs::lock(&path.with_extension("lock")).ok()?;
        read().or_else(|| {
            let key = format!("{}{}", hex(&fs::random().ok()?), hex(&fs::random().ok()?));
            fs::write_atomic_mode(&path, key.as_bytes(), 0o600).ok()?;
            Some(key)
        })
    })
}

fn not_installed() -> Failure {
    Failure::blocked("endwell is not installed here by you, so there is nothing to compare with")
        .hint("Run `endwell install`: it records what stands here as seen.")
}

fn unkept(error: std::io::Error) -> Failure {
    Failure::broken("can't keep what you trust")
        .because(error)
        .hint("Make `~/.local/state/endwell` writable, then run it again.")
}
