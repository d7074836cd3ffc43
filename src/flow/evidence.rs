//! What is recorded about the tests of what lies in the work tree now. A look-up starts nothing but git.

use std::cell::OnceCell;

use crate::env::Env;
use crate::evidence::detect::{self, Candidate, Detection};
use crate::evidence::environment::{self, Look, Parts};
use crate::evidence::store::Found;
use crate::evidence::{Key, Store};
use crate::flow::Workbench;
use crate::git::{Content, GitError, Status};
use crate::model::board::Board;
use crate::model::report::{Evidence, TestStanding, TestsBelow};
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
}

/// Why nobody can say which command runs the tests, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    pub why: String,
    pub hint: String,
}

/// The configured command, else the one that the project's files speak for.
pub fn command(bench: &Workbench) -> Result<Option<TestCommand>, Unclear> {
    if bench.unknown_keys.iter().any(|key| key == "tests.suite" || key.starts_with("tests.suite.")) {
        return Err(Unclear {
            why: "`[[tests.suite]]` in `endwell.toml` is not supported yet".to_owned(),
            hint: "Name one command that runs all suites instead: `[tests]`, `command = \"…\"`.".to_owned(),
        });
    }
    if let Some(command) = &bench.config.tests.command {
        let argv = command.argv();
        let missing = argv.first().filter(|program| !can_start(bench, &bench.env, program)).cloned();
        let because = "`[tests] command` in `endwell.toml`".to_owned();
        return Ok(Some(TestCommand { argv, because, missing, others: Vec::new(), acceptance: false }));
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
    Ok(chosen.map(|chosen| {
        let Candidate { argv, because, missing, .. } = chosen;
        TestCommand { argv, because, missing, others, acceptance: false }
    }))
}

/// The projects below the top, where the top itself has no tests: where they lie, and one command for them all.
pub fn below(bench: &Workbench) -> Option<TestsBelow> {
    let found = detect::below(&bench.repo.top, &bench.env);
    let line = |(folder, one): &(String, Candidate)| {
        format!("(cd {} && {})", shell_words::quote(folder), shell_words::join(&one.argv))
    };
    let command = found.iter().map(line).collect::<Vec<_>>().join(" && ");
    let folders: Vec<String> = found.into_iter().map(|(folder, _)| folder).collect();
    (!folders.is_empty()).then_some(TestsBelow { folders, command })
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

/// Names what `status` has walked.
pub fn content(bench: &Workbench, status: &Status) -> Result<Content, GitError> {
    bench.repo.content(&bench.objects, status, &|path| bench.config.is_own(path))
}

/// The name of what `status` has walked, asked for at most once.
pub struct LazyContent<'a> {
    bench: &'a Workbench,
    status: &'a Status,
    named: OnceCell<Result<String, String>>,
}

impl<'a> LazyContent<'a> {
    pub fn new(bench: &'a Workbench, status: &'a Status) -> Self {
        Self { bench, status, named: OnceCell::new() }
    }

    /// The tree, or why no tree stands for it.
    pub fn tree(&self) -> Result<&str, String> {
        let named = self.named.get_or_init(|| match content(self.bench, self.status) {
            Ok(Content::Named { tree, .. }) => Ok(tree),
            Ok(Content::Unnamed { why }) => Err(why),
            Err(error) => Err(error.to_string()),
        });
        named.as_deref().map_err(Clone::clone)
    }
}

/// What besides the tree could change the result of a command.
pub fn environment(bench: &Workbench, status: &Status, argv: &[String]) -> Parts {
    let look = Look {
        env: &bench.env,
        top: &bench.repo.top,
        argv,
        ignored: &status.ignored,
        inputs: &bench.config.tests.inputs,
    };
    let outputs = bench.config.paths.outputs.as_os_str().as_encoded_bytes();
    // a folder that is ignored as a whole is not looked into, so it can't be told what else is in it
    environment::look(&look, &|path| path == outputs || bench.config.is_own(path))
}

/// How the tests stand for what `status` has walked. What can't be told is `Unbound`, which blocks.
pub fn standing(bench: &Workbench, status: &Status, content: &LazyContent<'_>) -> TestStanding {
    let command = match command(bench) {
        Ok(Some(command)) => command,
        Ok(None) => return below(bench).map_or(TestStanding::NoCommand, TestStanding::Below),
        Err(Unclear { why, hint }) => return TestStanding::Unclear { why, hint },
    };
    match look_up(bench, status, content, &command) {
        Ok(standing) => standing,
        Err(why) => TestStanding::Unbound { why },
    }
}

fn look_up(
    bench: &Workbench,
    status: &Status,
    content: &LazyContent<'_>,
    command: &TestCommand,
) -> Result<TestStanding, String> {
    let tree = content.tree()?;
    let store = store(bench);
    let key =
        Key { tree: tree.to_owned(), argv: command.argv.clone(), cwd: String::new(), clean_room: false };
    let parts = environment(bench, status, &command.argv);
    let unreadable = |error: std::io::Error| format!("the records can't be read: {error}");
    Ok(match store.find(&key, &parts).map_err(unreadable)? {
        Found::Same(evidence) if evidence.is_green() => TestStanding::Green(evidence),
        Found::Same(evidence) => TestStanding::Red(evidence),
        Found::Other { changed } => TestStanding::Stale { changed },
        Found::Nothing => {
            let last = store.newest(&key.argv, &key.cwd, |_| true).map_err(unreadable)?;
            TestStanding::Missing { command: shell_words::join(&key.argv), last: last.map(Box::new) }
        }
    })
}

/// The newest green record of a tree, whatever command and environment it was made with; `None` also where the
/// newest record of the tree is red.
pub fn green_tree(bench: &Workbench, tree: &str) -> Option<Evidence> {
    let records = store(bench).tests_of(tree).ok()?;
    records.into_iter().next().filter(Evidence::is_green)
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
