//! What the README shows is what happens: its tour is run, block by block, in a repository as the text describes it,
//! and each output is compared. Never a block that is only shown.

use std::path::Path;
use std::process::Stdio;

use snapbox::Redactions;
use snapbox::assert_data_eq;
use snapbox::prelude::*;

use crate::common::{Ran, Sandbox};

/// One command of a console block and what it prints.
struct Step {
    command: String,
    output: String,
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The text of the section with this heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start =
        text.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section `{heading}`")) + 1;
    let end = text[start..].find("\n## ").map_or(text.len(), |at| start + at);
    &text[start..end]
}

/// The steps of the `console` blocks.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), line.strip_prefix("> "), steps.last_mut()) {
                (Some(command), _, _) => {
                    steps.push(Step { command: command.to_owned(), output: String::new() });
                }
                (None, Some(more), Some(step)) if step.output.is_empty() => {
                    step.command.push('\n');
                    step.command.push_str(more);
                }
                (None, _, Some(step)) => {
                    step.output.push_str(line);
                    step.output.push('\n');
                }
                (None, _, None) => panic!("output before a command: {line}"),
            },
            (false, _) => {}
        }
    }
    steps
}

/// The repository of the tour: a small crate with a test that passes, pushed to `origin`.
fn crate_with_remote() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n");
    sandbox.write(".gitignore", "/target\n");
    sandbox.write(
        "src/lib.rs",
        "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[test]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n",
    );
    sandbox.commit("Add a sum");
    sandbox.with_remote()
}

#[test]
fn the_tour_is_what_happens() {
    let text = readme();
    let steps = steps(section(&text, "A tour of two minutes"));
    assert!(steps.len() >= 8, "{} steps are no tour", steps.len());
    let sandbox = crate_with_remote();
    for step in steps {
        // both streams in the order in which a terminal would show them
        let mut shell = sandbox.prepare("sh", "repo");
        shell.arg("-c").arg(format!("exec 2>&1\n{}", step.command)).stdin(Stdio::null());
        let ran = Ran::of(&mut shell);
        let shown = format!("$ {}\n{}", step.command, ran.stdout);
        let mut redactions = Redactions::new();
        redactions.insert("[SANDBOX]", sandbox.root().to_path_buf()).unwrap();
        let expected = format!("$ {}\n{}", step.command, step.output);
        assert_data_eq!(redactions.redact(&shown), expected.raw());
    }
}

#[test]
fn the_two_commands_are_those_of_the_gate() {
    let text = readme();
    let commands: Vec<String> =
        steps(section(&text, "Set up")).into_iter().map(|step| step.command).collect();
    let [install, test] = commands.as_slice() else { panic!("two commands, not {commands:?}") };
    let gate = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    let runs = |command: &str| gate.lines().any(|line| line.trim_end().ends_with(command));
    assert!(runs(&format!("step 'tests' {test}")), "`.ci/run` does not run `{test}`");
    assert!(install.contains("install.sh"), "{install}");
    assert!(gate.contains("sh install.sh"), "`.ci/run` does not run the installer");
}

#[test]
fn the_exit_codes_are_the_programs() {
    let text = readme();
    let table = section(&text, "Exit codes");
    let told: Vec<u8> =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()?.parse().ok()).collect();
    let known = [
        endwell::exit::ExitStatus::Done,
        endwell::exit::ExitStatus::Blocked,
        endwell::exit::ExitStatus::Usage,
        endwell::exit::ExitStatus::CouldNotJudge,
        endwell::exit::ExitStatus::Interrupted,
    ];
    assert_eq!(told, known.map(endwell::exit::ExitStatus::code));
}

#[test]
fn every_command_that_the_readme_names_is_there() {
    let text = readme();
    let help = Sandbox::with_repo().endwell(&["--help"]).stdout;
    let mut missing = Vec::new();
    for (at, _) in text.match_indices("endwell ") {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let named: String =
            text[at + 8..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let in_code = matches!(before, '`' | ' ') && (before == '`' || text[..at].ends_with("$ "));
        let listed = help.lines().any(|line| line.trim_start().split(' ').next() == Some(named.as_str()));
        if in_code && !named.is_empty() && !named.starts_with('-') && !listed {
            missing.push(named);
        }
    }
    assert!(missing.is_empty(), "no such commands: {missing:?}");
}
