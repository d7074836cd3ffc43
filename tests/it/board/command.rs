//! `endwell board` as people see it.

use crate::common::Sandbox;

const BOARD: &str = r#"{
  "project": "tidemark",
  "features": [
    { "id": "T-1", "status": "passing", "goal": "Read the harbour file", "evidence": "make read: ok" },
    { "id": "T-2", "status": "in-progress", "goal": "Print one sailing per line", "done_when": "sh checks/print.sh", "evidence": "" },
    { "id": "T-3", "status": "not-started", "goal": "Mark cancelled sailings", "depends_on": ["T-2"], "evidence": "" }
  ]
}"#;

fn with_board(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("feature_list.json", text);
    sandbox.write("checks/print.sh", "exit 1\n");
    sandbox.commit("a board");
    sandbox
}

#[test]
fn a_table_shows_what_is_at_work() {
    let ran = with_board(BOARD).endwell(&["board"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    insta::assert_snapshot!(ran.stdout, @"
    feature_list.json (features): 1 in progress, 1 todo, 1 done; active: T-2

    id   status              goal                        evidence
    T-1  done (passing)      Read the harbour file       make read: ok
    T-2  in_progress         Print one sailing per line  not run
    T-3  todo (not-started)  Mark cancelled sailings     -
    ");
}

#[test]
fn next_names_the_acceptance_of_the_feature_at_work() {
    let sandbox = with_board(BOARD);
    let ran = sandbox.endwell(&["board", "next"]);
    assert_eq!(ran.stdout, "Finish `T-2` (Print one sailing per line): make `sh checks/print.sh` pass\n");
    let json = sandbox.endwell(&["board", "--json"]).json();
    assert_eq!(json["active"], "T-2");
    assert_eq!(json["features"][1]["commands"][0], "sh checks/print.sh");
}

#[test]
fn done_needs_proof_or_a_reason_that_is_recorded() {
    let sandbox = with_board(BOARD);
    let refused = sandbox.endwell(&["board", "set", "T-2", "done"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    insta::assert_snapshot!(refused.stderr, @"
    error: `T-2` is not proven: its command has no recorded run for this content: `sh checks/print.sh`
    hint: Run `endwell verify`, which runs and records it, or say why it is done all the same: `--reason TEXT`.
    ");
    assert_eq!(sandbox.read("feature_list.json"), BOARD);
    let set = sandbox.endwell(&["board", "set", "T-2", "done", "--reason", "seen on paper"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(set.stdout, "`T-2`: \"in-progress\" → \"passing\" in `feature_list.json`\n");
    assert_eq!(sandbox.read("feature_list.json"), BOARD.replace("\"in-progress\"", "\"passing\""));
    let line: serde_json::Value =
        serde_json::from_str(&sandbox.read("outputs/verification/overrides.jsonl")).unwrap();
    assert_eq!((&line["feature"], &line["reason"]), (&"T-2".into(), &"seen on paper".into()));
}

#[test]
fn other_statuses_are_set_in_the_boards_own_words() {
    let sandbox = with_board(BOARD);
    let set = sandbox.endwell(&["board", "set", "T-2", "todo"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(sandbox.read("feature_list.json"), BOARD.replace("\"in-progress\"", "\"not-started\""));
    let wrong = sandbox.endwell(&["board", "set", "t2", "todo"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("Did you mean `T-2`?"), "{wrong:?}");
    assert_eq!(sandbox.endwell(&["board", "set", "T-2", "moored"]).code, Some(2));
}

#[test]
fn a_board_that_cannot_be_read_is_named_with_its_place_and_left_alone() {
    let broken = "{\n  \"features\": [\n    {\"id\": \"T-1\", \"status\": \"todo\"\n  ]\n}\n";
    let sandbox = with_board(broken);
    let listed = sandbox.endwell(&["board"]);
    assert_eq!(listed.code, Some(3), "{listed:?}");
    assert!(listed.stderr.contains("at line 4, column 3"), "{listed:?}");
    let set = sandbox.endwell(&["board", "set", "T-1", "done", "--reason", "x"]);
    assert_eq!(set.code, Some(3), "{set:?}");
    assert_eq!(sandbox.read("feature_list.json"), broken);
    assert!(!sandbox.repo().join("outputs/verification/overrides.jsonl").exists());
    let check = sandbox.endwell(&["check", "--only", "feature-board", "--json"]);
    assert_eq!(check.code, Some(1), "{check:?}");
    assert_eq!(check.json()["issues"][0]["code"], "board-unreadable");
    assert_eq!(check.json()["issues"][0]["line"], 4);
}

#[test]
fn markdown_and_other_trackers_are_never_written() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("specs/001-pages/tasks.md", "# Tasks\n\n- [x] T001 Piers\n- [ ] T002 Boats\n");
    let set = sandbox.endwell(&["board", "set", "T002", "done"]);
    assert_eq!(set.code, Some(3), "{set:?}");
    assert!(set.stderr.contains("`specs/001-pages/tasks.md` at line 4"), "{set:?}");
}

#[test]
fn a_board_behind_a_link_stays_a_link() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("plan/board.json", BOARD);
    std::os::unix::fs::symlink("plan/board.json", sandbox.repo().join("feature_list.json")).unwrap();
    assert_eq!(sandbox.endwell(&["board", "set", "T-2", "blocked"]).code, Some(0));
    assert!(sandbox.repo().join("feature_list.json").symlink_metadata().unwrap().is_symlink());
    assert!(sandbox.read("plan/board.json").contains("\"blocked\""));
    std::fs::write(sandbox.root().join("outside.json"), BOARD).unwrap();
    std::fs::remove_file(sandbox.repo().join("feature_list.json")).unwrap();
    std::os::unix::fs::symlink("../outside.json", sandbox.repo().join("feature_list.json")).unwrap();
    assert_eq!(sandbox.endwell(&["board", "set", "T-2", "blocked"]).code, Some(3));
    assert_eq!(std::fs::read_to_string(sandbox.root().join("outside.json")).unwrap(), BOARD);
}

#[test]
fn the_first_board_wins_and_files_of_the_same_name_are_said_once() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("feature_list.json", "[\"tide_height\", \"wind_speed\"]");
    let alone = sandbox.endwell(&["check", "--only", "feature-board", "--json"]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    assert_eq!(alone.json()["issues"][0]["code"], "board-foreign");
    assert_eq!(alone.json()["issues"][0]["severity"], "info");
    sandbox.write("docs/feature_list.json", BOARD);
    sandbox.write("prd.json", r#"{"userStories": [{"id": "US-1", "passes": false}]}"#);
    let json = sandbox.endwell(&["board", "--json"]).json();
    assert_eq!(json["path"], "docs/feature_list.json");
    let issues = json["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(
        issues[0]["message"],
        "`docs/feature_list.json` is the board; not used: `feature_list.json` (no board), `prd.json` (a board too)"
    );
    sandbox.write("endwell.toml", "[paths]\nboard = \"feature_list.json\"\n");
    assert_eq!(sandbox.endwell(&["check", "--only", "feature-board"]).code, Some(1));
}

#[test]
fn without_a_board_the_check_is_clean() {
    let sandbox = Sandbox::with_repo();
    let check = sandbox.endwell(&["check", "--only", "feature-board", "--json"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    assert_eq!(check.json()["issues"].as_array().unwrap().len(), 0);
    assert_eq!(sandbox.endwell(&["board"]).code, Some(0));
    assert_eq!(sandbox.endwell(&["board", "next"]).code, Some(3));
}

#[test]
fn long_boards_are_folded() {
    let rows: Vec<String> = (1..=300)
        .map(|n| format!(r#"{{"id": {n}, "status": "{}"}}"#, if n < 290 { "done" } else { "todo" }))
        .collect();
    let sandbox = Sandbox::with_repo();
    sandbox.write("feature_list.json", &format!("[{}]", rows.join(",\n")));
    let ran = sandbox.endwell(&["board"]);
    assert!(ran.stdout.contains("… and 260 more: `endwell board --all`"), "{ran:?}");
    assert!(ran.stdout.lines().any(|line| line.starts_with("300 ")), "{ran:?}");
    assert_eq!(sandbox.endwell(&["board", "--all"]).stdout.lines().count(), 303);
}
