//! The check for temporary artifacts: the cases of `tests/fixtures/detect`, judged in process.

use std::collections::BTreeMap;
use std::collections::HashSet;

use endwell::check::temp_artifacts::judge;
use endwell::config::Config;
use endwell::git::changes::{Changes, FileChange, Place};
use endwell::model::{Issue, Severity};
use serde_json::Value;

use crate::common::Sandbox;

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/fixtures/detect/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// The content after the change.
fn changed(case: &Value) -> Vec<String> {
    let added = lines(&case["added_lines"]);
    if case["base_lines"].is_null() {
        return added;
    }
    let base = lines(&case["base_lines"]);
    let edge = |index: usize| case["remove"][index].as_u64().map(|line| usize::try_from(line).unwrap());
    let removed = edge(0).unwrap_or(1)..=edge(1).unwrap_or(0);
    let at = usize::try_from(case["at"].as_u64().unwrap()).unwrap();
    let mut out = Vec::new();
    for number in 0..=base.len() {
        if number > 0 && !removed.contains(&number) {
            out.push(base[number - 1].clone());
        }
        if number == at {
            out.extend(added.iter().cloned());
        }
    }
    out
}

fn run(case: &Value) -> Vec<Issue> {
    let place = case["where"].as_str().unwrap_or("committed");
    if place == "ignored" {
        return Vec::new();
    }
    let path = case["path"].as_str().unwrap();
    let base = (!case["base_lines"].is_null()).then(|| joined(&lines(&case["base_lines"])));
    let place = if place == "untracked" { Place::Untracked } else { Place::Tracked };
    let mut changes = Changes::default();
    changes.push(FileChange::text(path.as_bytes(), base.as_deref(), &joined(&changed(case)), place));
    let there: HashSet<&str> =
        case["files"].as_object().into_iter().flatten().map(|(path, _)| path.as_str()).collect();
    judge(
        &changes,
        &|path| std::str::from_utf8(path).is_ok_and(|path| there.contains(path)),
        &Config::default(),
    )
    .unwrap()
}

fn matches(want: &Value, got: &Issue) -> bool {
    let number = |key: &str| want[key].as_u64().map(|line| u32::try_from(line).unwrap());
    let in_range = number("line").is_none_or(|first| {
        got.line.is_some_and(|line| (first..=number("end_line").unwrap_or(first)).contains(&line))
    });
    want["code"] == got.code.as_str() && in_range
}

#[derive(Default)]
struct Score {
    found: BTreeMap<(String, String), (usize, usize)>,
    notes: Vec<String>,
}

fn score(files: &[&str]) -> Score {
    let mut score = Score::default();
    for case in files.iter().flat_map(|file| cases(file)) {
        let id = case["id"].as_str().unwrap();
        let issues = run(&case);
        let mut used = HashSet::new();
        for want in case["expect"].as_array().unwrap() {
            let severity = want["severity"].as_str().unwrap();
            let hits: Vec<usize> = (0..issues.len()).filter(|index| matches(want, &issues[*index])).collect();
            let right =
                hits.iter().any(|hit| format!("{:?}", issues[*hit].severity).to_lowercase() == severity);
            let key = (case["lang"].as_str().unwrap().to_owned(), severity.to_owned());
            let (found, all) = score.found.entry(key).or_default();
            *found += usize::from(right);
            *all += 1;
            if !right {
                let shown: Vec<String> = lines(&case["added_lines"]).into_iter().take(4).collect();
                score.notes.push(format!("missed {id}: {want} {shown:#?}, got {hits:?}"));
            }
            used.extend(hits);
        }
        for (index, got) in issues.iter().enumerate() {
            let warned = got.severity == Severity::Warn && case["may_warn"] != true;
            if !used.contains(&index) && (got.severity == Severity::Block || warned) {
                let line = got.line.map_or(0, |line| line as usize);
                let text = changed(&case).get(line.saturating_sub(1)).cloned().unwrap_or_default();
                score.notes.push(format!("false {:?} {id}: {} line {line}: {text}", got.severity, got.code));
            }
        }
    }
    score
}

fn total(score: &Score, severity: &str) -> (usize, usize) {
    let counts = score.found.iter().filter(|((_, kind), _)| kind == severity).map(|(_, count)| *count);
    counts.fold((0, 0), |(found, all), (more, of)| (found + more, all + of))
}

#[test]
fn the_shared_cases_are_all_judged_rightly() {
    let score = score(&["planted", "benign"]);
    assert!(score.notes.is_empty(), "{}", score.notes.join("\n"));
    assert_eq!(total(&score, "block"), (176, 176));
    assert_eq!(total(&score, "warn"), (33, 33));
}

#[test]
fn our_own_cases_are_all_judged_rightly() {
    let score = score(&["own"]);
    assert!(score.notes.is_empty(), "{}", score.notes.join("\n"));
    let (found, all) = total(&score, "block");
    assert!(found == all && all >= 60, "{found} of {all}");
}

const PATHS: [&str; 14] = [
    "a.rs", "a.py", "a.js", "a.ts", "a.go", "a.java", "a.kt", "a.c", "a.cpp", "a.cs", "a.rb", "a.php",
    "a.swift", "a.sh",
];

fn judged(path: &str, text: &[u8]) -> Vec<Issue> {
    let mut changes = Changes::default();
    changes.push(FileChange::text(path.as_bytes(), None, text, Place::Tracked));
    judge(&changes, &|_| false, &Config::default()).unwrap()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_bytes_break_the_scanner(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        for path in PATHS {
            judged(path, &text);
        }
    }

    /// Pieces that open and close things, in any order; lines stay within the file.
    #[test]
    fn no_mixture_of_openers_breaks_the_scanner(
        pieces in proptest::collection::vec(proptest::sample::select(vec![
            "\"", "'", "`", "/*", "*/", "//", "#", "\\", "\n", "${", "#{", "\\(", "{", "}", "(", ")", "<<EOF", "<<~A", "<<<B",
            "EOF", "r#\"", "\"#", "@\"", "$\"", "R\"x(", ")x\"", "\"\"\"", "'''", "=begin", "\n=end", "/", "%w[", "]", "<?php", "?>",
            "x = 1;", "foo(bar)", " ", "\u{e9}", "\r\n", "__END__", "endwell:allow(debug-call)", "dbg!(x)", "print('here')",
        ]), 0..60)
    ) {
        let text = pieces.concat();
        let lines = text.lines().count().max(1);
        for path in PATHS {
            for issue in judged(path, text.as_bytes()) {
                proptest::prop_assert!(issue.line.is_none_or(|line| line as usize <= lines), "{issue:?}");
            }
        }
    }
}

/// Twice the input takes about twice the time, whatever is in it; the bound is far above noise and far below squares.
#[test]
fn hostile_input_takes_linear_time() {
    let pieces = [
        "/* ",
        "*/ ",
        "\" ",
        "' ",
        "\\' ",
        "`${",
        "<<A",
        "<<~B\n",
        "# \\'\\'\\' ",
        "// x = '\n",
        "/*\n",
        "r#\"",
        "(((((",
        "{",
        "a.b(",
        "'\\",
        "R\"a(",
        "%w[",
        "/a",
        "x y z ",
        "\u{0}",
        "DO NOT ",
        "endwell:allow( ",
    ];
    let clock = std::time::Instant::now();
    for piece in pieces {
        let long = piece.repeat(60_000 / piece.len());
        let many = format!("{piece}\n").repeat(30_000 / piece.len()).into_bytes();
        for path in PATHS {
            judged(path, long.as_bytes());
            judged(path, &many);
        }
    }
    let nested = "/* ".repeat(100_000) + &"*/ ".repeat(100_000);
    judged("a.rs", nested.as_bytes());
    judged("a.swift", &b"\xff\xfe\"\x00".repeat(50_000));
    judged("a.js", &b"x".repeat(1_000_000));
    assert!(clock.elapsed().as_secs() < 120, "{:?}", clock.elapsed());
}

fn found(sandbox: &Sandbox, base: &str) -> Vec<(String, String, u64)> {
    let ran = sandbox.endwell(&["check", "--only", "temp-artifacts", "--base", base, "--format", "json"]);
    let report = ran.json();
    let issues = report["issues"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> = issues
        .iter()
        .filter(|issue| issue["severity"] != "info")
        .map(|issue| (text(&issue["code"]), text(&issue["path"]), issue["line"].as_u64().unwrap_or(0)))
        .collect();
    all.sort();
    all
}

fn one(code: &str, path: &str, line: u64) -> (String, String, u64) {
    (code.to_owned(), path.to_owned(), line)
}

#[test]
fn commits_and_the_work_tree_are_judged_together() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("src/a.rs", "fn f() {}\n");
    sandbox.commit("a");
    let base = sandbox.git("repo", &["rev-parse", "HEAD"]);
    sandbox.write("src/a.rs", "fn f() {\n    dbg!(1);\n}\n");
    sandbox.write("src/gone.rs", "fn g() { dbg!(2); }\n");
    sandbox.commit("b");
    sandbox.write("src/b.rs", "fn h() {\n    dbg!(3);\n}\n");
    sandbox.write("x.log", "x\n");
    std::fs::remove_file(sandbox.repo().join("src/gone.rs")).unwrap();
    let want =
        [one("debug-call", "src/a.rs", 2), one("debug-call", "src/b.rs", 2), one("temp-file", "x.log", 0)];
    assert_eq!(found(&sandbox, &base), want);
    // what the work tree takes back is not added
    sandbox.write("src/a.rs", "fn f() {}\n");
    std::fs::remove_file(sandbox.repo().join("src/b.rs")).unwrap();
    std::fs::remove_file(sandbox.repo().join("x.log")).unwrap();
    assert_eq!(found(&sandbox, &base), []);
}

#[test]
fn renamed_and_moved_lines_are_not_added() {
    let sandbox = Sandbox::with_repo();
    let body =
        "fn f() {\n    // let a = 1;\n    // start(a);\n    dbg!(1);\n    let b = 2;\n    run(b);\n}\n";
    sandbox.write("src/a.rs", body);
    sandbox.commit("a");
    let base = sandbox.git("repo", &["rev-parse", "HEAD"]);
    sandbox.git("repo", &["mv", "src/a.rs", "src/b.rs"]);
    sandbox.commit("renamed");
    assert_eq!(found(&sandbox, &base), []);
    sandbox.git("repo", &["mv", "src/b.rs", "src/c.rs"]);
    assert_eq!(found(&sandbox, &base), []);
    sandbox.write("src/c.rs", &format!("mod inner {{\n    {}}}\n", body.replace('\n', "\n    ")));
    assert_eq!(found(&sandbox, &base), []);
}

#[test]
fn comment_marks_around_standing_code_count_for_all_of_it() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("src/a.c", "int f(void)\n{\n    start(1);\n    stop(2);\n    return 0;\n}\n");
    sandbox.commit("a");
    let base = sandbox.git("repo", &["rev-parse", "HEAD"]);
    sandbox
        .write("src/a.c", "int f(void)\n{\n    /*\n    start(1);\n    stop(2);\n    */\n    return 0;\n}\n");
    assert_eq!(found(&sandbox, &base), [one("commented-code", "src/a.c", 4)]);
}

#[test]
fn attributes_and_settings_make_exceptions() {
    let sandbox = Sandbox::with_repo();
    let base = sandbox.git("repo", &["rev-parse", "HEAD"]);
    sandbox.write("gen/a.rs", "fn f() { dbg!(1); }\n");
    sandbox.write("kept/a.rs", "fn f() { dbg!(1); }\n");
    sandbox.write("tools/a.rs", "fn f() { dbg!(1); }\n");
    sandbox.write("src/a.rs", "fn f() { dbg!(1); }\n");
    sandbox.write("data.dump", "x\n");
    sandbox.write(".gitattributes", "gen/* linguist-generated\nkept/* -endwell-artifact\n");
    sandbox.write(
        "endwell.toml",
        "[artifacts]\nallow = [\n  { path = \"tools/**\", code = \"debug-call\", reason = \"a debugger\" },\n  \
         { path = \"nowhere/**\", reason = \"old\" },\n]\nextra = [{ path = \"*.dump\", reason = \"ours\" }]\n",
    );
    let want = [
        one("debug-call", "src/a.rs", 1),
        one("temp-file", "data.dump", 0),
        one("unused-exception", "endwell.toml", 0),
    ];
    assert_eq!(found(&sandbox, &base), want);
}

#[test]
fn a_link_or_a_folder_of_its_own_is_not_read() {
    let sandbox = Sandbox::with_repo();
    let base = sandbox.git("repo", &["rev-parse", "HEAD"]);
    std::fs::write(sandbox.root().join("outside.rs"), "fn f() { dbg!(1); }\n").unwrap();
    std::os::unix::fs::symlink("../outside.rs", sandbox.repo().join("link.rs")).unwrap();
    sandbox.git("repo", &["init", "-q", "nested"]);
    sandbox.write("nested/a.rs", "fn f() { dbg!(1); }\n");
    assert_eq!(found(&sandbox, &base), []);
}
