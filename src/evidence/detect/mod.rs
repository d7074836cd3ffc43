//! Finds the test command in the project's own files, by a written order. It looks at files and PATH only and starts
//! nothing, so that a look-up of recorded evidence finds the same command as the run did.
//!
//! The order: Cargo, Python, Node, Go, Maven, Gradle, .NET, Ruby, PHP, Swift, `CMake`, Make, just.

mod node;
mod others;
mod python;
mod ruby;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::env::Env;

/// A command that the project's files speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What kind of project it is for, as shown to people.
    pub kind: &'static str,
    pub argv: Vec<String>,
    /// The file or setting that speaks for it.
    pub because: String,
    /// The program that is missing, where it can't be started.
    pub missing: Option<String>,
}

/// What was found: the one to run, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    /// The first by the order that can be started; where none can, the first.
    pub chosen: Option<Candidate>,
    /// Whatever else fits, in order.
    pub others: Vec<Candidate>,
    /// A file that would have been asked before `chosen`, and why it can't be read.
    pub broken: Option<(String, String)>,
}

/// The folder that is looked at.
pub(crate) struct Project<'a> {
    root: &'a Path,
    env: &'a Env,
    broken: RefCell<Vec<(String, String)>>,
}

/// The finders, in the written order.
const ORDER: [fn(&Project<'_>) -> Option<Candidate>; 13] = [
    others::cargo,
    python::find,
    node::find,
    others::go,
    others::maven,
    others::gradle,
    others::dotnet,
    ruby::find,
    others::phpunit,
    others::swift,
    others::cmake,
    others::make,
    others::just,
];

/// What a configured `CMake` build folder holds.
const CMAKE_TESTS: &str = "build/CTestTestfile.cmake";
/// So many projects below the top are named.
const MOST_BELOW: usize = 8;
/// Folders that hold others' code, or products.
const FOREIGN: [&str; 12] = [
    "build",
    "dist",
    "examples",
    "fixtures",
    "node_modules",
    "out",
    "outputs",
    "target",
    "testdata",
    "third_party",
    "vendor",
    "venv",
];

/// Looks at a folder.
pub fn detect(root: &Path, env: &Env) -> Detection {
    let project = Project { root, env, broken: RefCell::default() };
    let mut found: Vec<(Candidate, usize)> = Vec::new();
    for find in ORDER {
        if let Some(candidate) = find(&project) {
            // a file that can't be read and speaks for another kind of project is no reason to doubt this one
            found.push((candidate, project.broken.borrow().len()));
        }
    }
    let broken = project.broken.into_inner();
    if found.is_empty() {
        return Detection { broken: broken.into_iter().next(), ..Detection::default() };
    }
    let first = found.iter().position(|(candidate, _)| candidate.missing.is_none()).unwrap_or(0);
    let (chosen, doubts) = found.remove(first);
    let others = found.into_iter().map(|(candidate, _)| candidate).collect();
    Detection { chosen: Some(chosen), others, broken: broken.into_iter().take(doubts).next() }
}

/// Projects in folders below, each with its command, where nothing at the top speaks for one.
pub fn below(root: &Path, env: &Env) -> Vec<(String, Candidate)> {
    let mut found = Vec::new();
    for folder in folders(root) {
        if let Some(candidate) = detect(&root.join(&folder), env).chosen {
            found.push((folder, candidate));
            continue;
        }
        for inner in folders(&root.join(&folder)) {
            let path = format!("{folder}/{inner}");
            found.extend(detect(&root.join(&path), env).chosen.map(|candidate| (path, candidate)));
        }
    }
    found.truncate(MOST_BELOW);
    found
}

/// The folders in which a project could lie, sorted.
fn folders(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = crate::fs::list(root)
        .unwrap_or_default()
        .iter()
        .filter(|path| crate::fs::stat(path).is_some_and(|meta| meta.is_dir()))
        .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
        .filter(|name| !name.starts_with('.') && !FOREIGN.contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

/// The one step that brings what is missing, where it is not an installation.
pub fn remedy(missing: &str) -> Option<&'static str> {
    (missing == CMAKE_TESTS).then_some("cmake -S . -B build && cmake --build build")
}

impl Project<'_> {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Whether a file of that name is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    pub(crate) fn first_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// A file's text. One that is there and can't be read is noted.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        crate::fs::read_text_optional(&self.path(name)).unwrap_or_else(|error| {
            self.note(name, &error);
            None
        })
    }

    /// A file's text; nothing where it can't be read.
    pub(crate) fn peek(&self, name: &str) -> Option<String> {
        crate::fs::read_text_optional(&self.path(name)).ok().flatten()
    }

    /// Remembers a file that could have named the command and can't be read.
    pub(crate) fn note(&self, name: &str, why: &dyn std::fmt::Display) {
        self.broken.borrow_mut().push((name.to_owned(), why.to_string()));
    }

    pub(crate) fn on_path(&self, program: &str) -> bool {
        self.env.which(program).is_some()
    }

    pub(crate) fn is_executable(&self, name: &str) -> bool {
        crate::fs::is_executable(&self.path(name))
    }

    /// File names of one extension directly in a folder, as text, sorted.
    pub(crate) fn names_with(&self, folder: &str, extension: &str) -> Vec<String> {
        let mut names = self.names_in(folder);
        names.retain(|name| Path::new(name).extension().is_some_and(|end| end == extension));
        names
    }

    /// File names directly in a folder, as text, sorted.
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        let paths = crate::fs::list(&self.path(folder)).unwrap_or_default();
        paths.iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect()
    }

    /// A candidate whose program is looked for: on PATH, or in the project where it holds a slash.
    pub(crate) fn candidate(
        &self,
        kind: &'static str,
        argv: &[&str],
        because: impl Into<String>,
    ) -> Candidate {
        let program = argv.first().copied().unwrap_or_default();
        let there = if program.contains('/') { self.is_executable(program) } else { self.on_path(program) };
        Candidate {
            kind,
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            because: because.into(),
            missing: (!there).then(|| program.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files, programs, and the command that follows.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);

    /// A project of the given files, and a PATH on which only the given programs are.
    fn found(files: &[(&str, &str)], programs: &[&str]) -> Detection {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        crate::fs::create_dir_all(&root).unwrap();
        for (name, text) in files {
            crate::fs::write_atomic(&root.join(name), text.as_bytes()).unwrap();
        }
        for program in programs {
            let place = dir.path().join("bin").join(program);
            let place = if program.contains('/') { root.join(program) } else { place };
            crate::fs::write_atomic_mode(&place, b"#!/bin/sh\n", 0o755).unwrap();
        }
        detect(&root, &Env::made_of(&root, [("PATH", dir.path().join("bin"))]))
    }

    #[test]
    fn each_kind_of_project_has_its_command() {
        let package = |script: &str| format!(r#"{{"scripts": {{"test": "{script}"}}}}"#);
        let table: &[Case<'_>] = &[
            (&[("Cargo.toml", "[package]\n")], &["cargo"], "cargo test --no-fail-fast"),
            (&[("Cargo.toml", "[workspace]\n")], &["cargo"], "cargo test --no-fail-fast --workspace"),
            (
                &[("Cargo.toml", ""), (".config/nextest.toml", "")],
                &["cargo", "cargo-nextest"],
                "cargo nextest run --no-fail-fast",
            ),
            (&[("Cargo.toml", ""), (".config/nextest.toml", "")], &["cargo"], "cargo test --no-fail-fast"),
            (&[("pytest.ini", "")], &["pytest", "python3"], "pytest"),
            (&[("pyproject.toml", "[tool.pytest.ini_options]"), ("uv.lock", "")], &["uv"], "uv run pytest"),
            (&[("setup.cfg", "[tool:pytest]")], &[".venv/bin/pytest", "pytest"], ".venv/bin/pytest"),
            (
                &[("tests/test_a.py", "import unittest")],
                &["python3"],
                "python3 -m unittest discover -s tests",
            ),
            (
                &[("tests/__init__.py", ""), ("tests/test_a.py", "import unittest")],
                &["python3"],
                "python3 -m unittest",
            ),
            (&[("tox.ini", "[testenv]\ncommands = x")], &["tox"], "tox"),
            (&[("package.json", &package("node --test"))], &["npm"], "npm test"),
            (&[("package.json", &package("vitest")), ("pnpm-lock.yaml", "")], &["pnpm"], "pnpm test"),
            (&[("package.json", &package("jest")), ("bun.lock", "")], &["bun"], "bun run test"),
            (&[("go.mod", "module m")], &["go"], "go test ./..."),
            (&[("pom.xml", "")], &["mvn"], "mvn -B test"),
            (&[("build.gradle.kts", "")], &["./gradlew"], "./gradlew test"),
            (&[("App.sln", "")], &["dotnet"], "dotnet test"),
            (&[("spec/a_spec.rb", "")], &["rspec"], "rspec"),
            (&[("Gemfile", ""), (".rspec", "")], &["bundle", "rspec"], "bundle exec rspec"),
            (&[("Rakefile", "Rake::TestTask.new"), ("test/a_test.rb", "")], &["rake"], "rake test"),
            (&[("phpunit.xml.dist", "")], &["vendor/bin/phpunit"], "vendor/bin/phpunit"),
            (&[("Package.swift", "")], &["swift"], "swift test"),
            (
                &[("CMakeLists.txt", "enable_testing()"), ("build/CTestTestfile.cmake", "")],
                &["ctest"],
                "ctest --test-dir build --output-on-failure",
            ),
            (&[("Makefile", "all:\n\techo\ntest: all\n\techo\n")], &["make"], "make test"),
            (&[("justfile", "test *args:\n    echo\n")], &["just"], "just test"),
        ];
        for (files, programs, command) in table {
            let chosen = found(files, programs).chosen.unwrap_or_else(|| panic!("{command}"));
            assert_eq!(chosen.argv.join(" "), *command);
            assert_eq!(chosen.missing, None, "{command}");
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_speaks_for_tests() {
        let npm_default = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        for files in [
            &[("README.md", "")][..],
            &[("package.json", npm_default)],
            &[("Makefile", "all:\n\techo test:\nTEST := test:\n")],
            &[("CMakeLists.txt", "project(x)")],
            &[("app.py", "import unittest")],
        ] {
            assert_eq!(
                found(files, &["npm", "make", "cmake", "ctest", "python3"]),
                Detection::default(),
                "{files:?}"
            );
        }
    }

    #[test]
    fn a_manifest_that_cant_be_read_is_told_and_not_taken_for_none() {
        let broken = |files: &[(&str, &str)]| {
            let found = found(files, &["npm", "make", "cargo"]);
            (found.chosen.map(|chosen| chosen.kind), found.broken.map(|(file, _)| file))
        };
        let package = ("package.json", r#"{"scripts": {"test": "jest",}}"#);
        assert_eq!(broken(&[package]), (None, Some("package.json".to_owned())));
        let make = ("Makefile", "test:\n\techo\n");
        assert_eq!(broken(&[package, make]), (Some("Make"), Some("package.json".to_owned())));
        assert_eq!(broken(&[package, ("Cargo.toml", "")]), (Some("Cargo"), None), "it is asked first anyway");
    }

    #[test]
    fn projects_below_are_found_where_the_top_has_none() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("api/go.mod", "module m"),
            ("packages/web/package.json", r#"{"scripts": {"test": "jest"}}"#),
            ("vendor/x/go.mod", "module x"),
            (".git/y/go.mod", "module y"),
        ] {
            crate::fs::write_atomic(&dir.path().join(name), text.as_bytes()).unwrap();
        }
        let found = below(dir.path(), &Env::made_of(dir.path(), [("PATH", dir.path())]));
        let found: Vec<_> = found.iter().map(|(folder, one)| (folder.as_str(), one.kind)).collect();
        assert_eq!(found, [("api", "Go"), ("packages/web", "Node")]);
    }

    #[test]
    fn of_several_the_first_that_can_start_is_run_and_the_others_are_named() {
        let files = [("Cargo.toml", ""), ("go.mod", ""), ("Makefile", "test:\n\techo\n")];
        let detection = found(&files, &["go", "make"]);
        assert_eq!(detection.chosen.unwrap().kind, "Go");
        let others: Vec<_> =
            detection.others.iter().map(|other| (other.kind, other.missing.as_deref())).collect();
        assert_eq!(others, [("Cargo", Some("cargo")), ("Make", None)]);
    }

    #[test]
    fn a_runner_that_is_not_installed_is_still_the_command() {
        let chosen = found(&[("pytest.ini", "")], &["python3"]).chosen.unwrap();
        assert_eq!((chosen.argv.join(" "), chosen.missing.as_deref()), ("pytest".to_owned(), Some("pytest")));
    }
}
