//! `[[tests.suite]]`: evidence of a suite is bound to its own paths.

use crate::common::{Ran, Sandbox};

const SETTINGS: &str = "[[tests.suite]]\nname = \"api\"\npaths = [\"api\", \"shared\"]\ncommand = \"sh api/t.sh\"\n\n\
    [[tests.suite]]\nname = \"web\"\npaths = [\"web\", \"shared\"]\ncommand = \"sh web/t.sh\"\n";

/// Two suites with a shared folder; each run is counted beside the repository.
fn monorepo() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("endwell.toml", SETTINGS);
    for name in ["api", "web"] {
        let count = sandbox.root().join(name);
        let script = format!(
            "echo x >> {}\necho 'TAP version 13'\ncat {name}/tap\n! grep -q '^not' {name}/tap\n",
            count.display()
        );
        sandbox.write(&format!("{name}/t.sh"), &script);
        sandbox.write(&format!("{name}/tap"), "ok 1 - fine\n");
    }
    sandbox.write("shared/s", "shared\n");
    sandbox.write("docs/d", "docs\n");
    sandbox.write(".gitignore", "outputs/\nagent_state.json\n.env\n");
    sandbox.commit("a monorepo");
    sandbox
}

/// How often each suite ran.
fn runs(sandbox: &Sandbox) -> (usize, usize) {
    let count = |name: &str| {
        std::fs::read_to_string(sandbox.root().join(name)).map_or(0, |text| text.lines().count())
    };
    (count("api"), count("web"))
}

fn report(sandbox: &Sandbox) -> serde_json::Value {
    serde_json::from_str(&sandbox.read("outputs/verification/main.json")).unwrap()
}

/// Codes and messages of the check `tests`.
fn standing(sandbox: &Sandbox) -> Vec<(String, String)> {
    let json = sandbox.endwell(&["check", "--only", "tests", "--json"]).json();
    let text = |issue: &serde_json::Value, key: &str| issue[key].as_str().unwrap().to_owned();
    json["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| (text(issue, "code"), text(issue, "message")))
        .collect()
}

fn codes(sandbox: &Sandbox) -> Vec<String> {
    standing(sandbox).into_iter().map(|(code, _)| code).collect()
}

fn said(ran: &Ran) -> String {
    let text = format!("{}{}", ran.stderr, ran.stdout);
    regex::Regex::new("tree [0-9a-f]{12}").unwrap().replace_all(&text, "tree TREE").into_owned()
}

fn verified(sandbox: &Sandbox, code: i32) -> Ran {
    let ran = sandbox.endwell(&["verify"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    ran
}

#[test]
fn an_edit_asks_only_for_the_suites_that_it_concerns() {
    let sandbox = monorepo();
    insta::assert_debug_snapshot!(standing(&sandbox), @r#"
    [
        (
            "tests-missing",
            "The suites `api`, `web` have not run on this content.",
        ),
    ]
    "#);
    insta::assert_snapshot!(said(&verified(&sandbox, 0)), @r#"
    verify: running `sh api/t.sh` (suite `api` in `endwell.toml`)
    verify: running `sh web/t.sh` (suite `web` in `endwell.toml`)
    info suite-gap: No suite covers `docs`: a change there asks for no run.
    Verified: green (2 passed), suites `api`, `web`, now recorded for tree TREE.
    "#);
    assert_eq!((runs(&sandbox), codes(&sandbox)), ((1, 1), vec![]));
    assert!(verified(&sandbox, 0).stdout.contains(", recorded for tree"));

    sandbox.write("api/new", "x\n");
    assert_eq!(codes(&sandbox), ["tests-missing"], "a dirty edit inside");
    assert!(standing(&sandbox)[0].1.starts_with("Suite `api`: The tests"), "{:?}", standing(&sandbox));
    verified(&sandbox, 0);
    assert_eq!(runs(&sandbox), (2, 1));

    sandbox.write("docs/d", "more\n");
    assert_eq!(codes(&sandbox), Vec::<String>::new(), "a dirty edit outside of every suite");
    assert!(verified(&sandbox, 0).stdout.contains(", recorded for tree"));
    sandbox.commit("what was tested");
    assert_eq!(codes(&sandbox), Vec::<String>::new(), "and the commit that holds it");

    sandbox.write("shared/s", "other\n");
    sandbox.commit("shared");
    verified(&sandbox, 0);
    assert_eq!(runs(&sandbox), (3, 2), "what two suites share concerns both");
    sandbox.git("repo", &["revert", "--no-edit", "HEAD"]);
    assert_eq!(codes(&sandbox), Vec::<String>::new(), "back to content that is known");
}

#[test]
fn failing_tests_are_told_with_their_suite_and_named_with_or_without_it() {
    let sandbox = monorepo();
    sandbox.write("web/tap", "not ok 1 - adds up\n");
    let ran = verified(&sandbox, 1);
    insta::assert_snapshot!(said(&ran), @r#"
    verify: running `sh api/t.sh` (suite `api` in `endwell.toml`)
    verify: running `sh web/t.sh` (suite `web` in `endwell.toml`)
      TAP version 13
      not ok 1 - adds up
    block tests-red: web: Failing: adds up
    hint: Mend them and run `endwell verify` again, or say why each may stay: `endwell note risk --test 'web: adds up' "why"`.
    Verified: red (1 passed, 1 failed), suites `api`, `web`, now recorded for tree TREE.
    "#);
    let told = report(&sandbox);
    assert_eq!(told["tests"]["failing"], serde_json::json!(["web: adds up"]));
    assert_eq!((&told["tests"]["exit_code"], &told["suites"][0]["name"]), (&1.into(), &"api".into()));
    assert_eq!(told["suites"][1]["tests"]["failing"], serde_json::json!(["adds up"]));
    assert_eq!(codes(&sandbox), ["tests-red"]);
    for name in ["web: adds up", "adds up"] {
        sandbox.write("agent_state.json", r#"{"schema_version": 1, "open_risks": []}"#);
        assert_eq!(codes(&sandbox), ["tests-red"]);
        assert_eq!(sandbox.endwell(&["note", "risk", "--test", name, "known"]).code, Some(0));
        assert_eq!(codes(&sandbox), ["tests-red-named"], "{name}");
    }
    sandbox.write("api/tap", "not ok 1 - adds up\n");
    verified(&sandbox, 1);
    assert_eq!(codes(&sandbox), ["tests-red", "tests-red"], "a bare name of two suites' tests names neither");
}

#[test]
fn one_suite_by_name_is_recorded_and_writes_no_report() {
    let sandbox = monorepo();
    let ran = sandbox.endwell(&["verify", "--suite", "web"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!sandbox.repo().join("outputs/verification/main.json").exists());
    assert_eq!(runs(&sandbox), (0, 1));
    verified(&sandbox, 0);
    assert_eq!(runs(&sandbox), (1, 1));
    let ran = sandbox.endwell(&["verify", "--suite", "wep"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    insta::assert_snapshot!(said(&ran), @r#"
    error: there is no suite `wep`
    hint: The suites of `endwell.toml` are `api`, `web`.
    "#);
}

#[test]
fn what_has_no_name_elsewhere_is_no_matter_of_a_suite() {
    let sandbox = monorepo();
    verified(&sandbox, 0);
    sandbox.git("repo", &["init", "-q", "web/nested"]);
    sandbox.write("web/nested/f", "x\n");
    assert_eq!(codes(&sandbox), ["tests-unbound"]);
    assert!(standing(&sandbox)[0].1.starts_with("Suite `web`"), "{:?}", standing(&sandbox));
    let ran = verified(&sandbox, 3);
    assert_eq!(runs(&sandbox), (1, 2), "{ran:?}");
}

#[test]
fn ignored_files_of_another_suite_make_nothing_stale() {
    let sandbox = monorepo();
    verified(&sandbox, 0);
    sandbox.write("web/.env", "A=1\n");
    assert_eq!(codes(&sandbox), ["tests-stale"]);
    assert!(standing(&sandbox)[0].1.starts_with("Suite `web`"), "{:?}", standing(&sandbox));
    std::fs::remove_file(sandbox.repo().join("web/.env")).unwrap();
    sandbox.write(".env", "A=1\n");
    assert_eq!(codes(&sandbox), ["tests-stale", "tests-stale"], "one that is nobody's may concern each");
}

#[test]
fn a_suite_whose_paths_are_gone_could_not_be_judged() {
    let sandbox = monorepo();
    sandbox.write("endwell.toml", &SETTINGS.replace("[\"api\", \"shared\"]", "[\"apii\"]"));
    let ran = verified(&sandbox, 3);
    insta::assert_snapshot!(said(&ran), @r#"
    verify: running `sh web/t.sh` (suite `web` in `endwell.toml`)
    block could-not-check: api: nothing lies at the paths of the suite `api`: `apii`.
    hint: Mend its `paths` in `endwell.toml`: they are files and folders from the top of the work tree.
    No verdict (1 passed), suite `web`.
    "#);
    assert_eq!(codes(&sandbox), ["could-not-check"]);
}

#[test]
fn suites_that_say_nothing_are_refused() {
    let sandbox = monorepo();
    for (text, said) in [
        (format!("[tests]\ncommand = \"true\"\n{SETTINGS}"), "are both there"),
        (
            SETTINGS.replace("\"web\"\npaths", "\"api\"\npaths"),
            "two suites in `[[tests.suite]]` are called `api`",
        ),
        (SETTINGS.replace("[\"api\", \"shared\"]", "[]"), "has no paths"),
        (SETTINGS.replace("[\"api\", \"shared\"]", "[\"../x\"]"), "leads out of the work tree"),
        (SETTINGS.replace("name = \"api\"\n", ""), "missing field `name`"),
        (SETTINGS.replace("\"sh api/t.sh\"", "\"\""), "a command is a text"),
    ] {
        sandbox.write("endwell.toml", &text);
        let ran = sandbox.endwell(&["verify"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains(said) && ran.stderr.contains("hint:"), "{ran:?}");
    }
}

#[test]
fn a_suites_command_that_nobody_saw_is_not_run() {
    let sandbox = monorepo();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    verified(&sandbox, 0);
    sandbox.write("endwell.toml", &SETTINGS.replace("sh web/t.sh", "touch ran"));
    let ran = verified(&sandbox, 3);
    assert!(ran.stderr.contains("`touch ran` (suite `web` in `endwell.toml`)"), "{ran:?}");
    assert!(ran.stderr.contains("endwell trust"), "{ran:?}");
    assert!(!sandbox.repo().join("ran").exists());
}

#[test]
fn the_clean_room_runs_each_suite() {
    let sandbox = monorepo();
    sandbox.write("web/t.sh", "echo 'TAP version 13'; test -f web/.env && echo 'ok 1 - env' || { echo 'not ok 1 - env'; exit 1; }\n");
    sandbox.write("web/.env", "A=1\n");
    sandbox.commit("needs what is ignored");
    verified(&sandbox, 0);
    let ran = sandbox.endwell(&["verify", "--clean-room"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("clean-room: web: Fails in a fresh checkout only"), "{ran:?}");
}

#[test]
fn the_packet_knows_when_every_suite_was_green() {
    let sandbox = monorepo();
    verified(&sandbox, 0);
    let good = sandbox.git("repo", &["rev-parse", "HEAD"]);
    sandbox.write("web/tap", "not ok 1 - adds up\n");
    sandbox.commit("red");
    verified(&sandbox, 1);
    assert_eq!(sandbox.endwell(&["note", "risk", "--test", "web: adds up", "known"]).code, Some(0));
    assert_eq!(sandbox.endwell(&["note", "next", "Mend the sums"]).code, Some(0));
    let ran = sandbox.endwell(&["handoff", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let packet = ran.json();
    assert_eq!(packet["last_known_good_commit"], good);
    assert!(packet["summary"].as_str().unwrap().contains("1 failing, each named in the risks"), "{packet}");
    sandbox.write("web/tap", "ok 1 - adds up\nok 2 - more\n");
    sandbox.commit("green");
    verified(&sandbox, 0);
    let packet = sandbox.endwell(&["handoff", "--json"]).json();
    assert_eq!(packet["last_known_good_commit"], sandbox.git("repo", &["rev-parse", "HEAD"]));
    assert!(packet["summary"].as_str().unwrap().contains("(3 passed)"), "{packet}");
}

#[test]
fn a_push_of_another_branch_asks_for_each_suite() {
    let sandbox = monorepo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox.git("repo", &["switch", "-qc", "side"]);
    sandbox.write("web/tap", "not ok 1 - adds up\n");
    sandbox.commit("red");
    verified(&sandbox, 1);
    sandbox.git("repo", &["switch", "-q", "main"]);
    let ran = sandbox.try_git("repo", &["push", "-q", "origin", "side"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr
            .contains("The recorded test run of `refs/heads/side` (suite `web`) is red: `adds up` fail."),
        "{ran:?}"
    );
    sandbox.git("repo", &["branch", "other"]);
    sandbox.git("repo", &["switch", "-qc", "third"]);
    sandbox.write("web/tap", "ok 1 - adds up\nok 2 - x\n");
    sandbox.commit("not run");
    sandbox.git("repo", &["switch", "-q", "main"]);
    let ran = sandbox.try_git("repo", &["push", "-q", "origin", "third"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("no test run is recorded for `refs/heads/third` (suite `web`)"), "{ran:?}");
}

#[test]
fn tests_in_folders_below_are_proposed_in_the_form_of_the_settings() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("api/go.mod", "module m\n");
    sandbox.commit("one project");
    let ran = verified(&sandbox, 0);
    insta::assert_snapshot!(said(&ran), @r#"
    warn no-tests: No test command is configured, and the tests found lie in folders below: `api`. Put this into `endwell.toml` below `[tests]`: `command = "cd api && go test ./..."`.
    Verified: no tests to run.
    "#);
    sandbox.write("web/package.json", r#"{"scripts": {"test": "jest"}}"#);
    sandbox.commit("two projects");
    let ran = verified(&sandbox, 0);
    insta::assert_snapshot!(said(&ran), @r#"
    warn no-tests: No test command is configured, and the tests found lie in folders below: `api`, `web`. Put this into `endwell.toml` below `[tests]`: `suite = [{ name = "api", paths = ["api"], command = "cd api && go test ./..." }, { name = "web", paths = ["web"], command = "cd web && npm test" }]`.
    Verified: no tests to run.
    "#);
    assert_eq!(codes(&sandbox), ["no-tests"]);
    let line = ran.stderr.split('`').find(|part| part.starts_with("suite = ")).unwrap();
    sandbox.write("endwell.toml", &format!("[tests]\n{line}\n"));
    assert_eq!(codes(&sandbox), ["tests-missing"], "what was proposed is understood");
}
