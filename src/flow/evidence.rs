//! What is recorded about the tests of what lies in the work tree now. A look-up starts nothing but git.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::config::Suite;
use crate::env::Env;
use crate::evidence::detect::{self, Candidate, Detection};
use crate::evidence::environment::{self, Look, Parts};
use crate::evidence::store::Found;
use crate::evidence::{Key, Store};
use crate::flow::{Workbench, queue};
use crate::git::{Content, Contents, GitError, Status};
use crate::model::board::Board;
use crate::model::report::{Evidence, SuiteStanding, TestStanding, TestsBelow};
use crate::model::state::{AgentState, StateReading};

/// The test command of a workbench, with what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    pub argv: Vec<String>,
    /// The setting or the file that speaks for it.
    pub because: String,
    /// The program that can't be found, where it can't be started.
    pub missing: Option<String>,
    /// Whatever else would fit.
    pub others: Vec<Candidate>,
    /// An acceptance command of the board, not the project's tests.
    pub acceptance: bool,
    /// The suite that it runs, where the project has suites.
    pub suite: Option<Suite>,
}

/// Why nobody can say which command runs the tests, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    pub why: String,
    pub hint: String,
}

/// The configured suites or command, else the command that the project's files speak for. Empty where there is none.
pub fn commands(bench: &Workbench) -> Result<Vec<TestCommand>, Unclear> {
    let settings = &bench.config.tests;
    let configured = |argv: Vec<String>, because: String, suite: Option<&Suite>| {
        let missing = argv.first().filter(|program| !can_start(bench, &bench.env, program)).cloned();
        TestCommand { argv, because, missing, others: Vec::new(), acceptance: false, suite: suite.cloned() }
    };
    if !settings.suite.is_empty() {
        let of = |suite: &Suite| {
            configured(suite.command.argv(), format!("suite `{}` in `endwell.toml`", suite.name), Some(suite))
        };
        return Ok(settings.suite.iter().map(of).collect());
    }
    if let Some(command) = &settings.command {
        return Ok(vec![configured(command.argv(), "`[tests] command` in `endwell.toml`".to_owned(), None)]);
    }
    let Detection { chosen, others, broken } = detect::detect(&bench.repo.top, &bench.env);
    if let Some((file, why)) = broken {
        return Err(Unclear {
            why: format!("`{file}` can't be read ({why}), so nobody knows which command runs the tests"),
            hint: format!(
                "Mend `{file}`, or name the command in `endwell.toml`: `[tests]`, `command = \"…\"`."
            ),
        });
    }
    let found = chosen.map(|chosen| {
        let Candidate { argv, because, missing, .. } = chosen;
        TestCommand { argv, because, missing, others, acceptance: false, suite: None }
    });
    Ok(found.into_iter().collect())
}

/// The projects below the top, where the top itself has no tests: where they lie, and the setting that names them.
pub fn below(bench: &Workbench) -> Option<TestsBelow> {
    let found = detect::below(&bench.repo.top, &bench.env);
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let line = |(folder, one): &(String, Candidate)| {
        format!("cd {} && {}", shell_words::quote(folder), shell_words::join(&one.argv))
    };
    let suite = |project: &(String, Candidate)| {
        let folder = text(&project.0);
        format!("{{ name = {folder}, paths = [{folder}], command = {} }}", text(&line(project)))
    };
    let setting = match found.as_slice() {
        [] => return None,
        [one] => format!("command = {}", text(&line(one))),
        several => format!("suite = [{}]", several.iter().map(suite).collect::<Vec<_>>().join(", ")),
    };
    Some(TestsBelow { folders: found.into_iter().map(|(folder, _)| folder).collect(), setting })
}

fn can_start(bench: &Workbench, env: &Env, program: &str) -> bool {
    if program.contains('/') {
        return crate::fs::is_executable(&bench.repo.top.join(program));
    }
    env.which(program).is_some()
}

/// Where the records lie.
pub fn store(bench: &Workbench) -> Store {
    Store::in_shared(&bench.repo.shared_dir())
}

/// Names what `status` has walked, and what lies there of each suite.
pub fn contents(bench: &Workbench, status: &Status) -> Result<Contents, GitError> {
    let parts: Vec<Vec<String>> = bench.config.tests.suite.iter().map(Suite::parts).collect();
    bench.repo.contents(&bench.objects, status, &|path| bench.config.is_own(path), &parts)
}

/// What a command is bound to: its suite's paths, or everything. An error where a suite has nothing.
pub fn content_of(bench: &Workbench, contents: &Contents, command: &TestCommand) -> Result<Content, Unclear> {
    let Some(suite) = &command.suite else { return Ok(contents.whole.clone()) };
    let index = bench.config.tests.suite.iter().position(|other| other.name == suite.name);
    index.and_then(|index| contents.parts.get(index).cloned().flatten()).ok_or_else(|| Unclear {
        why: format!(
            "nothing lies at the paths of the suite `{}`: `{}`",
            suite.name,
            suite.paths.join("`, `")
        ),
        hint: "Mend its `paths` in `endwell.toml`: they are files and folders from the top of the work tree."
            .to_owned(),
    })
}

/// The name of what `status` has walked, asked for at most once.
pub struct LazyContent<'a> {
    bench: &'a Workbench,
    status: &'a Status,
    named: OnceCell<Result<Contents, String>>,
}

impl<'a> LazyContent<'a> {
    pub fn new(bench: &'a Workbench, status: &'a Status) -> Self {
        Self { bench, status, named: OnceCell::new() }
    }

    /// The tree, or why no tree stands for it.
    pub fn tree(&self) -> Result<&str, String> {
        match &self.contents()?.whole {
            Content::Named { tree, .. } => Ok(tree),
            Content::Unnamed { why } => Err(why.clone()),
        }
    }

    fn contents(&self) -> Result<&Contents, String> {
        let named =
            self.named.get_or_init(|| contents(self.bench, self.status).map_err(|error| error.to_string()));
        named.as_ref().map_err(Clone::clone)
    }
}

/// What besides the tree could change the result of a command. Ignored files that lie in other suites only are none of
/// this suite's.
pub fn environment(bench: &Workbench, status: &Status, argv: &[String], suite: Option<&Suite>) -> Parts {
    let look = Look {
        env: &bench.env,
        top: &bench.repo.top,
        argv,
        ignored: &status.ignored,
        inputs: &bench.config.tests.inputs,
    };
    let outputs = bench.config.paths.outputs.as_os_str().as_encoded_bytes();
    let elsewhere = |path: &[u8]| {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let suites = &bench.config.tests.suite;
        suite.is_some_and(|own| !own.covers(path) && suites.iter().any(|other| other.covers(path)))
    };
    // a folder that is ignored as a whole is not looked into, so it can't be told what else is in it
    environment::look(&look, &|path| path == outputs || bench.config.is_own(path) || elsewhere(path))
}

/// How the tests stand for what `status` has walked. What can't be told is `Unbound`, which blocks.
pub fn standing(bench: &Workbench, status: &Status, content: &LazyContent<'_>) -> TestStanding {
    let commands = match commands(bench) {
        Ok(commands) => commands,
        Err(Unclear { why, hint }) => return TestStanding::Unclear { why, hint },
    };
    let of = |command: &TestCommand| {
        look_up(bench, status, content, command).unwrap_or_else(|why| TestStanding::Unbound { why })
    };
    match commands.as_slice() {
        [] => below(bench).map_or(TestStanding::NoCommand, TestStanding::Below),
        [one] if one.suite.is_none() => of(one),
        suites => {
            let named = suites.iter().filter_map(|command| {
                let name = command.suite.as_ref()?.name.clone();
                Some(SuiteStanding { name, standing: of(command) })
            });
            TestStanding::Suites(named.collect())
        }
    }
}

fn look_up(
    bench: &Workbench,
    status: &Status,
    content: &LazyContent<'_>,
    command: &TestCommand,
) -> Result<TestStanding, String> {
    let tree = match content_of(bench, content.contents()?, command) {
        Ok(Content::Named { tree, .. }) => tree,
        Ok(Content::Unnamed { why }) => return Err(why),
        Err(Unclear { why, hint }) => return Ok(TestStanding::Unclear { why, hint }),
    };
    let store = store(bench);
    let key = Key { tree, argv: command.argv.clone(), cwd: String::new(), clean_room: false };
    let parts = environment(bench, status, &command.argv, command.suite.as_ref());
    let unreadable = |error: std::io::Error| format!("the records can't be read: {error}");
    Ok(match store.find(&key, &parts).map_err(unreadable)? {
        Found::Same(evidence) if evidence.is_green() => TestStanding::Green(evidence),
        Found::Same(evidence) => TestStanding::Red(evidence),
        Found::Other { changed } => TestStanding::Stale { changed },
        Found::Nothing => {
            let last = store.newest(&key.argv, &key.cwd, |_| true).map_err(unreadable)?;
            let claimed = queue::claims(bench, &key.tree, &key.argv).first().map(Evidence::is_green);
            TestStanding::Missing { command: shell_words::join(&key.argv), last: last.map(Box::new), claimed }
        }
    })
}

/// What is recorded about the tests of trees, whether or not they are checked out, whatever command and environment the
/// records were made with.
pub struct Recorded<'a> {
    bench: &'a Workbench,
    store: Store,
    /// Whatever has a record; absent where that can't be told.
    known: Option<BTreeSet<String>>,
}

/// The newest run that is recorded for a tree.
pub struct NewestRun {
    /// The suite, where the project has suites.
    pub suite: Option<String>,
    pub newest: Option<Evidence>,
}

impl<'a> Recorded<'a> {
    pub fn of(bench: &'a Workbench) -> Self {
        let store = store(bench);
        let known = store.trees().ok();
        Self { bench, store, known }
    }

    /// One entry for each suite that has something in the tree; one where there are no suites.
    pub fn runs(&self, tree: &str) -> Result<Vec<NewestRun>, String> {
        let newest = |name: &str| -> Result<Option<Evidence>, String> {
            if self.known.as_ref().is_some_and(|known| !known.contains(name)) {
                return Ok(None);
            }
            let records = self.store.tests_of(name).map_err(|error| error.to_string())?;
            Ok(records.into_iter().next())
        };
        let suites = &self.bench.config.tests.suite;
        if suites.is_empty() {
            return Ok(vec![NewestRun { suite: None, newest: newest(tree)? }]);
        }
        let mut runs = Vec::new();
        for suite in suites {
            let part = self.bench.repo.part_of_tree(&self.bench.objects, tree, &suite.parts());
            if let Some(name) = part.map_err(|error| error.to_string())? {
                runs.push(NewestRun { suite: Some(suite.name.clone()), newest: newest(&name)? });
            }
        }
        Ok(runs)
    }

    /// Whether all tests of a tree were green in their newest runs.
    pub fn is_green(&self, tree: &str) -> bool {
        let green = |run: &NewestRun| run.newest.as_ref().is_some_and(Evidence::is_green);
        self.runs(tree).is_ok_and(|runs| !runs.is_empty() && runs.iter().all(green))
    }
}

/// What the verification report is about: the agent's active task, else the board's active feature, else the branch.
pub fn task(bench: &Workbench, status: &Status) -> String {
    let text = crate::fs::read_text_optional(&bench.state_path()).ok().flatten();
    let reading =
        text.and_then(|text| serde_json::from_str(&text).ok()).map(|value| AgentState::read(&value));
    let active = match reading {
        Some(StateReading::Ours { state, .. }) => state.active_task_id,
        _ => None,
    };
    active
        .or_else(|| crate::flow::board::read(bench).board().and_then(Board::active_id).map(str::to_owned))
        .or_else(|| status.branch.clone())
        .unwrap_or_else(|| "detached".to_owned())
}
