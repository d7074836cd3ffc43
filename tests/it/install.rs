//! `endwell install` and `uninstall`: every byte that was there comes back, nothing that was there stops working, and
//! the work tree stays as clean as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Ran, Sandbox};

/// Every file, folder and link below a folder: its mode and its content.
pub fn snapshot(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::MetadataExt as _;
    let (mut found, mut left) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let content = if meta.is_symlink() {
                std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if meta.is_dir() {
                left.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            // git rewrites the index' time stamps when it likes
            if !path.ends_with(".git/index") {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), (meta.mode(), content));
            }
        }
    }
    found
}

#[track_caller]
pub fn same(before: &BTreeMap<PathBuf, (u32, Vec<u8>)>, after: &BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    let names = |a: &BTreeMap<PathBuf, (u32, Vec<u8>)>, b: &BTreeMap<PathBuf, (u32, Vec<u8>)>| {
        a.iter()
            .filter(|(path, what)| b.get(*path) != Some(what))
            .map(|(path, _)| path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!((names(before, after), names(after, before)), (Vec::new(), Vec::new()));
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/settings").join(name)).unwrap()
}

fn cases() -> Vec<(String, String, String)> {
    let list: Value = serde_json::from_slice(&fixture("expected.json")).unwrap();
    let text = |case: &Value, key: &str| case[key].as_str().unwrap().to_owned();
    let cases = list.as_array().unwrap().iter();
    cases
        .filter(|case| text(case, "file").starts_with("claude-"))
        .map(|case| (text(case, "file"), text(case, "target"), text(case, "action")))
        .collect()
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// A settings file without our handlers, and without groups and events that are empty then.
fn without_ours(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    if let Some(map) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        for list in map.values_mut().filter_map(Value::as_array_mut) {
            for group in list.iter_mut() {
                if let Some(inner) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                    inner.retain(|handler| {
                        !handler["command"].as_str().is_some_and(|text| text.contains("endwell"))
                    });
                }
            }
            list.retain(|group| group["hooks"].as_array().is_none_or(|inner| !inner.is_empty()));
        }
        map.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
    }
    if value["hooks"].as_object().is_some_and(serde_json::Map::is_empty) {
        value.as_object_mut().unwrap().shift_remove("hooks");
    }
    value
}

fn our_commands(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let map = value["hooks"].as_object().unwrap();
    let groups = map.values().filter_map(Value::as_array).flatten();
    let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
    let commands = handlers.filter_map(|handler| handler["command"].as_str());
    commands.filter(|command| command.contains("endwell hook")).map(str::to_owned).collect()
}

/// Installs over one fixture and takes it back; the settings' place and the install's words are given.
fn over_settings(file: &str, target: &str, action: &str, words: &[&str]) {
    let sandbox = Sandbox::with_repo();
    let bytes = fixture(file);
    let path = sandbox.repo().join(target);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    if target.ends_with("settings.json") {
        sandbox.commit("settings of the team");
    }
    let before = snapshot(&sandbox.repo());
    let status = sandbox.git("repo", &["status", "--porcelain"]);
    let ran = sandbox.endwell(words);
    let after = std::fs::read(&path).unwrap();
    assert!(
        sandbox.repo().join(".git/hooks/pre-push").exists(),
        "{file}: the rest is installed all the same"
    );
    if action == "refuse" {
        assert_eq!((ran.code, &after), (Some(3), &bytes), "{file}: {ran:?}");
        assert!(
            ran.stderr.contains(target) && ran.stderr.contains("endwell hook stop --client claude"),
            "{ran:?}"
        );
    } else {
        assert_eq!(ran.code, Some(0), "{file}: {ran:?}");
        assert_eq!(without_ours(&after), without_ours(&bytes), "{file}: what others wrote stays, in order");
        assert_eq!(our_commands(&after).len(), 7, "{file}: {:?}", our_commands(&after));
        kept_layout(file, &bytes, &after);
        if !target.ends_with("settings.json") {
            assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), status, "{file}");
        }
    }
    let installed = snapshot(&sandbox.repo());
    let again = sandbox.endwell(words);
    assert_eq!(again.code, ran.code, "{file}: {again:?}");
    same(&installed, &snapshot(&sandbox.repo()));
    ok(sandbox.endwell(&["uninstall"]));
    same(&before, &snapshot(&sandbox.repo()));
}

fn kept_layout(file: &str, before: &[u8], after: &[u8]) {
    assert_eq!(before.starts_with(b"\xef\xbb\xbf"), after.starts_with(b"\xef\xbb\xbf"), "{file}");
    assert_eq!(before.ends_with(b"\n"), after.ends_with(b"\n"), "{file}");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (before, after) = (text(before), text(after));
    if before.contains("\r\n") {
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{file}");
        assert!(
            after.contains("\r\n    \"hooks\"") && after.contains("\r\n        \"Stop\""),
            "{file}: {after}"
        );
    }
    for number in ["1.0", "12345678901234567890"] {
        assert_eq!(before.contains(number), after.contains(number), "{file}");
    }
}

#[test]
fn personal_settings_get_our_hooks_and_come_back() {
    for (file, _, action) in cases() {
        over_settings(&file, ".claude/settings.local.json", &action, &["install"]);
    }
}

#[test]
fn team_settings_get_guarded_hooks_and_come_back() {
    for (file, target, action) in
        cases().into_iter().filter(|(_, target, _)| target.ends_with("settings.json"))
    {
        over_settings(&file, &target, &action, &["install", "--shared", "--agent", "claude"]);
    }
}

#[test]
fn what_the_team_file_calls_already_is_not_called_twice() {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".claude/settings.json", &String::from_utf8(fixture("claude-already-ours.json")).unwrap());
    sandbox.commit("settings of the team");
    ok(sandbox.endwell(&["install"]));
    let own = our_commands(sandbox.read(".claude/settings.local.json").as_bytes());
    assert_eq!(own.len(), 5, "{own:?}");
    assert!(!own.iter().any(|command| command.contains(" stop ") || command.contains(" start ")), "{own:?}");
}

#[test]
fn an_older_command_of_ours_is_replaced_in_place() {
    let sandbox = Sandbox::with_repo();
    sandbox
        .write(".claude/settings.local.json", &String::from_utf8(fixture("claude-old-ours.json")).unwrap());
    ok(sandbox.endwell(&["install"]));
    let value: Value = serde_json::from_str(&sandbox.read(".claude/settings.local.json")).unwrap();
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "endwell hook stop --client claude");
    assert_eq!(value["hooks"]["Stop"][1]["hooks"][0]["command"], "sh other.sh");
    assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
}

#[test]
fn what_the_client_wrote_since_survives_the_uninstall() {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".claude/settings.local.json", "{\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n");
    ok(sandbox.endwell(&["install"]));
    let mut value: Value = serde_json::from_str(&sandbox.read(".claude/settings.local.json")).unwrap();
    value["permissions"]["allow"] = serde_json::json!(["Bash(make:*)"]);
    sandbox.write(".claude/settings.local.json", &format!("{value:#}\n"));
    sandbox.write(".git/info/exclude", &(sandbox.read(".git/info/exclude") + "mine\n"));
    ok(sandbox.endwell(&["uninstall"]));
    insta::assert_snapshot!(sandbox.read(".claude/settings.local.json"), @r#"
    {
      "permissions": {
        "allow": [
          "Bash(make:*)"
        ]
      }
    }
    "#);
    assert!(sandbox.read(".git/info/exclude").ends_with("mine\n"));
    assert!(!sandbox.read(".git/info/exclude").contains("endwell"));
}

#[test]
fn a_fresh_repository_stays_clean_and_a_second_run_changes_nothing() {
    let sandbox = Sandbox::with_repo();
    let before = snapshot(&sandbox.repo());
    let ran = ok(sandbox.endwell(&["install", "--agent", "claude"]));
    insta::assert_snapshot!(ran.stderr, @r#"
    Wrote `.git/info/exclude` (git's own exclude list).
    Wrote `.git/hooks/pre-push` (the pre-push hook).
    Wrote `.claude/settings.local.json` (Claude Code's hooks).
    A dry push to a scratch repository started the hook: the gate is in place.
    A push now would go through (one warning).
    hint: Run `endwell check` first: it shows what is judged.
    "#);
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "");
    assert!(!sandbox.repo().join("endwell.toml").exists());
    let (installed, home) = (snapshot(&sandbox.repo()), snapshot(&sandbox.root().join("home")));
    let again = ok(sandbox.endwell(&["install", "--agent", "claude"]));
    assert!(again.stderr.starts_with("endwell is already installed here"), "{again:?}");
    same(&installed, &snapshot(&sandbox.repo()));
    same(&home, &snapshot(&sandbox.root().join("home")));
    let out = ok(sandbox.endwell(&["uninstall"]));
    insta::assert_snapshot!(out.stderr, @r#"
    Removed `.claude/settings.local.json` (Claude Code's hooks).
    Removed `.git/hooks/pre-push` (the pre-push hook).
    Restored `.git/info/exclude` (git's own exclude list).
    endwell is uninstalled here. Packets and reports stay; they are yours.
    "#);
    same(&before, &snapshot(&sandbox.repo()));
    let nothing = ok(sandbox.endwell(&["uninstall"]));
    assert_eq!(nothing.stderr, "endwell is not installed here: nothing changed.\n");
}

#[test]
fn a_dry_run_shows_every_file_and_changes_none() {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".git/hooks/pre-push", "#!/bin/sh\n");
    let before = snapshot(sandbox.root());
    let ran = ok(sandbox.endwell(&["install", "--shared", "--agent", "claude", "--dry-run"]));
    same(&before, &snapshot(sandbox.root()));
    for name in [".git/hooks/pre-push", ".claude/settings.json", "endwell.toml", ".git/info/exclude"] {
        assert!(ran.stdout.contains(&format!("+++ b/{name}\n")), "{name}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("rename `.git/hooks/pre-push` to `.git/endwell-chained/pre-push`\n"));
    ok(sandbox.endwell(&["install"]));
    let installed = snapshot(sandbox.root());
    let back = ok(sandbox.endwell(&["uninstall", "--dry-run"]));
    assert!(back.stdout.contains("--- a/.git/hooks/pre-push\n"), "{back:?}");
    same(&installed, &snapshot(sandbox.root()));
}

#[test]
fn the_shared_settings_are_valid_and_say_the_defaults() {
    let sandbox = Sandbox::with_repo();
    let ran = ok(sandbox.endwell(&["install", "--shared", "--agent", "claude"]));
    assert!(
        ran.stderr.contains("hint: Commit what the team shares: `.claude/settings.json`, `endwell.toml`."),
        "{ran:?}"
    );
    let text = sandbox.read("endwell.toml");
    let checked = sandbox.endwell(&["check", "--only", "branch"]);
    assert!(!checked.stderr.contains("means nothing"), "{checked:?}");
    // every line without its `#` is a setting that exists, and every setting has a line
    let live: Vec<String> = text
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line).to_owned())
        .collect();
    sandbox.write("endwell.toml", &live.join("\n"));
    let loaded = endwell::config::load(&endwell::env::Env::default(), &sandbox.repo()).unwrap();
    assert_eq!(loaded.unknown, Vec::<String>::new());
    let all = serde_json::to_value(endwell::config::Config::default()).unwrap();
    for (table, settings) in all.as_object().unwrap() {
        let part = text.split_once(&format!("\n[{table}]\n")).unwrap().1;
        let part = part.split("\n[").next().unwrap();
        for key in settings.as_object().unwrap().keys() {
            assert!(part.lines().any(|line| line.starts_with(&format!("# {key} = "))), "{table}.{key}");
        }
    }
    let again = ok(sandbox.endwell(&["install", "--shared"]));
    assert!(!again.stderr.contains("Wrote `endwell.toml`"), "{again:?}");
    sandbox.write("endwell.toml", &text);
    ok(sandbox.endwell(&["uninstall"]));
    assert!(!sandbox.repo().join("endwell.toml").exists() && !sandbox.repo().join(".claude").exists());
}

#[test]
fn hooks_that_become_the_teams_leave_the_personal_file() {
    let sandbox = Sandbox::with_repo();
    let before = snapshot(&sandbox.repo());
    ok(sandbox.endwell(&["install", "--agent", "claude"]));
    ok(sandbox.endwell(&["install", "--shared", "--agent", "claude"]));
    assert!(!sandbox.read(".claude/settings.local.json").contains("endwell"));
    let team = our_commands(sandbox.read(".claude/settings.json").as_bytes());
    assert_eq!(team.len(), 7);
    assert!(
        team.iter().all(|command| command.starts_with("command -v endwell >/dev/null && endwell hook ")),
        "{team:?}"
    );
    ok(sandbox.endwell(&["uninstall"]));
    same(&before, &snapshot(&sandbox.repo()));
}

#[test]
fn a_tracked_personal_file_is_left_unless_it_is_asked_for() {
    let sandbox = Sandbox::with_repo();
    sandbox.write(".claude/settings.local.json", "{}\n");
    sandbox.commit("settings");
    let ran = ok(sandbox.endwell(&["install"]));
    assert!(ran.stderr.contains("git tracks `.claude/settings.local.json`"), "{ran:?}");
    assert_eq!(sandbox.read(".claude/settings.local.json"), "{}\n");
    ok(sandbox.endwell(&["install", "--agent", "claude"]));
    assert_eq!(our_commands(sandbox.read(".claude/settings.local.json").as_bytes()).len(), 7);
    ok(sandbox.endwell(&["uninstall"]));
    assert_eq!(sandbox.read(".claude/settings.local.json"), "{}\n");
}

#[test]
fn where_it_cannot_install_it_says_why_and_touches_nothing() {
    let sandbox = Sandbox::with_repo();
    std::fs::create_dir(sandbox.root().join("plain")).unwrap();
    sandbox.git(".", &["init", "-q", "--bare", "bare.git"]);
    for (dir, word) in [("plain", "is in no git repository"), ("bare.git", "is a bare repository")] {
        let before = snapshot(sandbox.root());
        let ran = sandbox.endwell(&["-C", &format!("../{dir}"), "install"]);
        assert!(ran.code == Some(3) && ran.stderr.contains(word) && ran.stderr.contains("hint: "), "{ran:?}");
        same(&before, &snapshot(sandbox.root()));
    }
    let unknown = sandbox.endwell(&["install", "--agent", "clod"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("one of: claude"), "{unknown:?}");
    // no folder can be made where a file lies
    std::fs::remove_dir_all(sandbox.repo().join(".git/hooks")).unwrap();
    sandbox.write(".git/hooks", "");
    let ran = sandbox.endwell(&["install", "--agent", "claude"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("pre-push` stays as it is"), "{ran:?}");
    assert!(
        sandbox.repo().join(".claude/settings.local.json").exists(),
        "the rest is installed all the same"
    );
    ok(sandbox.endwell(&["uninstall"]));
    assert!(!sandbox.repo().join(".claude").exists());
}

#[test]
fn settings_that_lead_out_of_the_repository_are_not_written_through() {
    let sandbox = Sandbox::with_repo();
    let outside = sandbox.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("settings.local.json"), "{}\n").unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.repo().join(".claude")).unwrap();
    let ran = sandbox.endwell(&["install"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("through a link"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(outside.join("settings.local.json")).unwrap(), "{}\n");
}

#[test]
fn a_copied_repository_is_not_installed() {
    use endwell::env::Env;
    use endwell::git::Repo;
    use endwell::githook::mark::installed_here;
    let sandbox = Sandbox::with_repo();
    let here = |dir: &str, home: &str| {
        let path = std::env::var_os("PATH").unwrap();
        let home = sandbox.root().join(home).into_os_string();
        let env = Env::made_of(sandbox.root().join(dir), [("PATH", path), ("HOME", home)]);
        installed_here(&env, &Repo::discover(&env).unwrap())
    };
    assert!(!here("repo", "home"));
    ok(sandbox.endwell(&["install"]));
    assert!(here("repo", "home"));
    assert!(!here("repo", "somebody else's home"));
    sandbox.git("repo", &["worktree", "add", "-q", "../linked"]);
    assert!(here("linked", "home"));
    ok(sandbox.command("cp", ".", &["-a", "repo", "copy"]));
    assert!(!here("copy", "home"));
    ok(sandbox.endwell(&["uninstall"]));
    assert!(!here("repo", "home"));
}

/// The files of the other clients: appended with everything kept, left alone, or refused, as `expected.json` says.
#[test]
fn other_clients_settings_are_kept_and_come_back() {
    let list: Value = serde_json::from_slice(&fixture("expected.json")).unwrap();
    for case in list.as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let (file, target, action) = (text("file"), text("target"), text("action"));
        let client = file.split('-').next().unwrap();
        if !["codex", "gemini", "copilot"].contains(&client) {
            continue;
        }
        let sandbox = Sandbox::with_repo();
        let (bytes, path) = (fixture(file), sandbox.repo().join(target));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let before = snapshot(&sandbox.repo());
        // a client's folder is how it is known to be in use
        let words: &[&str] =
            if client == "copilot" { &["install", "--agent", "copilot"] } else { &["install"] };
        let ran = sandbox.endwell(words);
        let after = std::fs::read(&path).unwrap();
        match action {
            "append" | "append-text" => {
                assert_eq!(ran.code, Some(0), "{file}: {ran:?}");
                kept_text(file, &bytes, &after);
            }
            "leave" | "own-file" | "ask" => {
                assert_eq!((ran.code, &after), (Some(0), &bytes), "{file}: {ran:?}");
            }
            "refuse" => assert_eq!((ran.code, &after), (Some(3), &bytes), "{file}: {ran:?}"),
            other => panic!("{file}: {other}"),
        }
        let ours = [".codex/hooks.json", ".github/hooks/endwell.json", target];
        let wired = ours.iter().any(|place| {
            let text = std::fs::read_to_string(sandbox.repo().join(place)).unwrap_or_default();
            text.contains(&format!("endwell hook stop --client {client}"))
        });
        assert_eq!(wired, !["ask", "refuse"].contains(&action), "{file}: {ran:?}");
        let installed = snapshot(&sandbox.repo());
        sandbox.endwell(words);
        same(&installed, &snapshot(&sandbox.repo()));
        ok(sandbox.endwell(&["uninstall"]));
        same(&before, &snapshot(&sandbox.repo()));
    }
}

/// Every line that was there is there still, in order; only commas were added.
fn kept_text(file: &str, before: &[u8], after: &[u8]) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (before, after) = (text(before), text(after));
    let mut left = after.chars().filter(|c| !c.is_whitespace() && *c != ',');
    let missing =
        before.chars().filter(|c| !c.is_whitespace() && *c != ',').find(|c| !left.any(|other| other == *c));
    assert_eq!(missing, None, "{file}: {after}");
    for comment in before.lines().filter(|line| line.trim_start().starts_with("//")) {
        assert!(after.lines().any(|line| line == comment), "{file}: {after}");
    }
    assert_eq!(before.ends_with('\n'), after.ends_with('\n'), "{file}");
}

#[test]
fn every_client_leaves_the_tree_clean_and_comes_out_again() {
    for agent in endwell::agent::ALL {
        let sandbox = Sandbox::with_repo();
        let before = snapshot(&sandbox.repo());
        ok(sandbox.endwell(&["install", "--agent", agent.id]));
        if let Some(settings) = agent.own_settings {
            assert!(sandbox.repo().join(settings).exists(), "{}", agent.id);
        }
        assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "{}", agent.id);
        let installed = snapshot(&sandbox.repo());
        ok(sandbox.endwell(&["install", "--agent", agent.id]));
        same(&installed, &snapshot(&sandbox.repo()));
        ok(sandbox.endwell(&["uninstall"]));
        same(&before, &snapshot(&sandbox.repo()));
    }
}
