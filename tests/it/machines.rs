//! The packet is the same on every machine: whatever the language, the time zone, the home folder, the place, the clock and
//! what ran before, the same inputs give the same bytes.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};
use crate::handoff::{ready, sandbox};
use crate::packets::{noise, validator};

/// One machine: where the work tree lies there, and what is set.
struct Machine<'a> {
    place: &'a str,
    below: &'a str,
    vars: &'a [(&'a str, &'a str)],
    /// What runs before.
    before: &'a [&'a [&'a str]],
}

const HERE: Machine<'_> = Machine {
    place: "repo",
    below: "",
    vars: &[("LANG", "C"), ("TZ", "UTC"), ("HOME", "/nowhere/ada")],
    before: &[],
};
const THERE: Machine<'_> = Machine {
    place: "another folder/deep/répo",
    below: "src/inner",
    vars: &[
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("TZ", "Pacific/Kiritimati"),
        ("HOME", "/elsewhere/İstanbul"),
        ("COLUMNS", "40"),
        ("ZZ_UNRELATED", "1"),
    ],
    before: &[&["check"], &["log"], &["resume"]],
};

fn packet(sandbox: &Sandbox, machine: &Machine<'_>) -> Ran {
    let run = |args: &[&str]| {
        let place = Path::new(machine.place).join(machine.below);
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), &place.to_string_lossy());
        Ran::of(command.args(args).envs(machine.vars.iter().copied()))
    };
    for args in machine.before {
        run(args);
    }
    run(&["handoff", "--session", "one", "--json"])
}

fn files(sandbox: &Sandbox, machine: &Machine<'_>) -> [Vec<u8>; 2] {
    let folder = sandbox.root().join(machine.place).join("outputs/handoff/one");
    ["handoff.json", "handoff.md"].map(|name| std::fs::read(folder.join(name)).unwrap())
}

/// The same work tree in another place, its files written in another order.
fn moved(sandbox: &Sandbox) {
    let there = sandbox.root().join(THERE.place);
    std::fs::remove_dir_all(&there).ok();
    std::fs::create_dir_all(there.parent().unwrap()).unwrap();
    let ran = sandbox.command("cp", ".", &["-R", "repo", THERE.place]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for gone in [".git/endwell", "outputs/handoff", "outputs/clean_state.json", "outputs/clean_report.json"] {
        std::fs::remove_dir_all(there.join(gone)).ok();
        std::fs::remove_file(there.join(gone)).ok();
    }
}

#[test]
fn two_machines_write_the_same_packet_byte_for_byte() {
    let sandbox = sandbox();
    sandbox.write("src/inner/a.txt", "a\n");
    sandbox.commit("a folder");
    ready(&sandbox);
    let verdict = sandbox.read("outputs/verification/main.json");
    let mut runner = TestRunner::new(Config { cases: 10, failure_persistence: None, ..Config::default() });
    let record = (noise(), "[a-zĞİıç ]{1,20}", prop::option::of(-2_i64..3), "(?s).{0,60}");
    let inputs = (prop::collection::vec(record, 0..8), prop::collection::vec(noise(), 0..4), noise());
    let validator = validator();
    runner
        .run(&inputs, |(records, risks, state)| {
            let mut state = state.as_object().cloned().unwrap_or_default();
            state.extend([
                ("schema_version".to_owned(), json!(1)),
                ("open_risks".to_owned(), json!(risks)),
                ("next_action".to_owned(), json!("Run `make İ`")),
            ]);
            sandbox.write("agent_state.json", &Value::Object(state).to_string());
            let lines = records.iter().map(|(noise, command, exit_code, tail)| {
                json!({"command": command, "exit_code": exit_code, "stdout_tail": tail, "extra": noise})
                    .to_string()
            });
            sandbox.write("feedback_record.jsonl", &lines.collect::<Vec<_>>().join("\n"));
            sandbox.write("outputs/verification/main.json", &verdict);
            std::fs::remove_dir_all(sandbox.repo().join(".git/endwell")).ok();
            moved(&sandbox);
            let (here, there) = (packet(&sandbox, &HERE), packet(&sandbox, &THERE));
            prop_assert_eq!(here.code, Some(0), "{:?}", here);
            prop_assert_eq!(there.code, Some(0), "{:?}", there);
            prop_assert_eq!(files(&sandbox, &HERE), files(&sandbox, &THERE));
            prop_assert!(validator.is_valid(&here.json()), "{}", here.stdout);
            Ok(())
        })
        .unwrap();
}
