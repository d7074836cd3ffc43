//! `[[tests.suite]]`: the suites of a monorepo. Each has evidence of its own, bound to what lies at its paths.

use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, FILE, Tests};
use crate::failure::{Failure, Result};

/// One suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suite {
    /// What it is called in verdicts; each name once.
    pub name: String,
    /// The files and folders that can change its result, from the top of the work tree; `.` is all of it. They may be
    /// those of other suites too.
    pub paths: Vec<String>,
    /// What runs it, at the top of the work tree.
    pub command: Command,
}

impl Suite {
    /// Its paths as git writes them; the empty path is the top of the work tree.
    pub fn parts(&self) -> Vec<String> {
        self.paths.iter().map(|path| key(path)).collect()
    }

    /// Whether a path from the top lies at one of its paths.
    pub fn covers(&self, path: &[u8]) -> bool {
        self.parts().iter().any(|own| {
            let below = path.strip_prefix(own.as_bytes());
            own.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        })
    }
}

fn key(path: &str) -> String {
    let names = Path::new(path).components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}

/// Refuses suites that can't be told apart or say nothing, and a command beside them.
pub(super) fn check(tests: &Tests) -> Result<()> {
    let refuse = |what: String, hint: &str| Err(Failure::broken(format!("`{FILE}`: {what}")).hint(hint));
    if tests.command.is_some() && !tests.suite.is_empty() {
        return refuse(
            "`[tests] command` and `[[tests.suite]]` are both there, so nobody knows what the tests are"
                .to_owned(),
            "Keep one of them: a suite with `paths = [\".\"]` is a command for everything.",
        );
    }
    for (index, suite) in tests.suite.iter().enumerate() {
        let name = &suite.name;
        if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
            return refuse(
                format!("the name of suite {} in `[[tests.suite]]` is `{}`", index + 1, name.escape_debug()),
                "Give it a short name on one line, such as `name = \"api\"`.",
            );
        }
        if tests.suite[..index].iter().any(|other| other.name == *name) {
            let what = format!("two suites in `[[tests.suite]]` are called `{name}`");
            return refuse(what, "Give each suite a name of its own.");
        }
        if suite.paths.is_empty() {
            return refuse(
                format!("the suite `{name}` has no paths, so no change would ever concern it"),
                "Name the files and folders that can change its result: `paths = [\"api\", \"shared\"]`.",
            );
        }
        for path in &suite.paths {
            if let Some(why) = no_place(path) {
                return refuse(
                    format!("the suite `{name}` has the path `{}`: {why}", path.escape_debug()),
                    "Name files and folders from the top of the work tree, as in `paths = [\"api\"]`.",
                );
            }
        }
    }
    Ok(())
}

fn no_place(path: &str) -> Option<&'static str> {
    if path.trim().is_empty() {
        return Some("it is empty");
    }
    if path.contains(['*', '?', '\\']) {
        return Some("patterns have no content of their own");
    }
    let outside = |part| matches!(part, Component::ParentDir | Component::RootDir | Component::Prefix(_));
    Path::new(path).components().any(outside).then_some("it leads out of the work tree")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(text: &str) -> Result<Tests> {
        let tests: Tests = toml::from_str(text).unwrap();
        check(&tests).map(|()| tests)
    }

    #[test]
    fn a_suite_covers_its_paths_and_nothing_beside_them() {
        let text = "[[suite]]\nname = \"a\"\npaths = [\"./api/\", \"x.toml\"]\ncommand = \"true\"\n";
        let tests = tests_of(text).unwrap();
        let suite = &tests.suite[0];
        assert_eq!(suite.parts(), ["api", "x.toml"]);
        for (path, covered) in
            [("api", true), ("api/b", true), ("api2/b", false), ("x.toml", true), ("x", false)]
        {
            assert_eq!(suite.covers(path.as_bytes()), covered, "{path}");
        }
        let all = tests_of("[[suite]]\nname = \"a\"\npaths = [\".\"]\ncommand = \"true\"\n").unwrap();
        assert_eq!((all.suite[0].parts(), all.suite[0].covers(b"any")), (vec![String::new()], true));
    }

    #[test]
    fn suites_that_say_nothing_are_refused_with_their_name() {
        let one = |name: &str, paths: &str| {
            format!("[[suite]]\nname = {name:?}\npaths = {paths}\ncommand = \"true\"\n")
        };
        for (text, word) in [
            (format!("command = \"true\"\n{}", one("a", "[\"a\"]")), "both there"),
            (one(" ", "[\"a\"]"), "suite 1"),
            (format!("{}{}", one("a", "[\"a\"]"), one("a", "[\"b\"]")), "called `a`"),
            (one("a", "[]"), "no paths"),
            (one("a", "[\"../b\"]"), "leads out"),
            (one("a", "[\"/b\"]"), "leads out"),
            (one("a", "[\"packages/*\"]"), "patterns"),
            (one("a", "[\"\"]"), "empty"),
        ] {
            let failure = tests_of(&text).unwrap_err();
            assert!(failure.chain().contains(word), "{text}: {}", failure.chain());
        }
    }
}
