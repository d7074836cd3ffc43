//! `endwell config`: what holds, where it comes from, and the file that a variable names.

use crate::common::{Ran, Sandbox};

#[test]
fn each_setting_says_where_it_comes_from() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[branch]\nexpected = \"main\"\n[packet]\ntail = 7\n");
    sandbox.write("Makefile", "test:\n\ttrue\n");
    let tests = sandbox.endwell(&["config", "tests.command"]);
    insta::assert_snapshot!(tests.stdout, @r#"tests.command = "make test"  # detected, the target `test` in `Makefile`"#);
    insta::assert_snapshot!(sandbox.endwell(&["config", "branch"]).stdout, @r#"
    branch.expected = "main"  # set, endwell.toml
    branch.default = "main"   # detected, the remote and git
    "#);
    let all = sandbox.endwell(&["config", "--json"]).json();
    let tail = all.as_array().unwrap().iter().find(|setting| setting["key"] == "packet.tail").unwrap();
    assert_eq!((&tail["value"], &tail["source"]), (&7.into(), &"file".into()));
}

/// The list is made from the settings themselves; a section that were left out would be a setting nobody can find.
#[test]
fn every_setting_of_the_schema_is_listed() {
    let sandbox = Sandbox::with_repo();
    let schema = sandbox.endwell(&["schema", "config"]).json();
    let listed = sandbox.endwell(&["config"]).stdout;
    for (section, place) in schema["properties"].as_object().unwrap() {
        let name = place["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        for key in schema["$defs"][name]["properties"].as_object().unwrap().keys() {
            assert!(listed.contains(&format!("{section}.{key} = ")), "{section}.{key}");
        }
    }
}

#[test]
fn another_file_can_be_named_and_must_be_there() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", "[packet]\ntail = 7\n");
    sandbox.write("other.toml", "[packet]\ntail = 9\nnope = 1\n");
    let with = |file: &str| {
        let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
        Ran::of(command.env("ENDWELL_CONFIG", file).args(["config", "packet.tail"]))
    };
    let other = with("other.toml");
    insta::assert_snapshot!(other.stdout, @"packet.tail = 9  # set, other.toml");
    insta::assert_snapshot!(other.stderr, @"warning: `other.toml` has the key `packet.nope`, which means nothing here");
    let missing = with("gone.toml");
    assert_eq!(missing.code, Some(3));
    insta::assert_snapshot!(missing.stderr, @r"
    error: `gone.toml`, which `ENDWELL_CONFIG` names, is not there
    hint: Give `ENDWELL_CONFIG` the path of a file with settings, or unset it.
    ");
}

#[test]
fn an_unknown_setting_is_a_usage_error() {
    let ran = Sandbox::with_repo().endwell(&["config", "tests.comand"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no setting is named `tests.comand`
    hint: `endwell config` lists them all.
    ");
}
