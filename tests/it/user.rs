//! `endwell install --user`: hooks in this person's own settings of each client, for every project, and out again.

use std::path::PathBuf;

use crate::common::Sandbox;
use crate::install::{same, snapshot};

const CLIENTS: [(&str, &str); 9] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("opencode", ".config/opencode/plugins/endwell.js"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("copilot", ".copilot/hooks/endwell.json"),
    ("hermes", ".hermes/config.yaml"),
    ("cursor", ".cursor/hooks.json"),
    ("droid", ".factory/hooks.json"),
];

fn home(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("home")
}

fn words(verb: &'static str) -> Vec<&'static str> {
    let named = CLIENTS.iter().flat_map(|(client, _)| ["--agent", *client]);
    [verb, "--user"].into_iter().chain(named).collect()
}

#[test]
fn every_client_s_own_settings_get_our_hooks_and_their_bytes_back() {
    let sandbox = Sandbox::with_repo();
    sandbox.git("repo", &["status"]);
    for (path, text) in [
        (".claude/settings.json", "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []}\n}"),
        (".gemini/settings.json", "{ // mine\n}\n"),
        (
            ".hermes/config.yaml",
            "# mine\nmodel:\n  default: a # b\nhooks:\n  pre_verify:\n  - command: mine\n",
        ),
    ] {
        let path = home(&sandbox).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let before = snapshot(&home(&sandbox));
    // not in a repository: nothing but home is touched
    let installed = sandbox.command(env!("CARGO_BIN_EXE_endwell"), ".", &words("install"));
    assert_eq!(installed.code, Some(0), "{installed:?}");
    for (client, path) in CLIENTS {
        let text = std::fs::read_to_string(home(&sandbox).join(path)).unwrap();
        let called = format!("endwell hook stop --client {client}");
        assert!(
            text.contains(&called) || client == "opencode" && text.contains("\"opencode\""),
            "{client}: {text}"
        );
        assert!(installed.stderr.contains(&format!("Wrote `~/{path}`")), "{installed:?}");
    }
    let after = snapshot(&home(&sandbox));
    let again = sandbox.command(env!("CARGO_BIN_EXE_endwell"), ".", &words("install"));
    assert!(again.stderr.contains("nothing changed"), "{again:?}");
    same(&after, &snapshot(&home(&sandbox)));
    let gone = sandbox.command(env!("CARGO_BIN_EXE_endwell"), ".", &["uninstall", "--user"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    // endwell's own state folder stays, empty but for its lock
    std::fs::remove_dir_all(home(&sandbox).join(".local")).unwrap();
    same(&before, &snapshot(&home(&sandbox)));
}

#[test]
fn a_repository_gets_no_second_hooks_of_a_client_that_has_them_at_home() {
    let sandbox = Sandbox::with_repo();
    let installed = sandbox.endwell(&["install", "--user", "--agent", "codex", "--agent", "hermes"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert!(sandbox.repo().join(".git/hooks/pre-push").is_file(), "the repository is installed as well");
    assert!(!sandbox.repo().join(".codex").exists(), "{installed:?}");
    let again = sandbox.endwell(&["install", "--agent", "codex"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(!sandbox.repo().join(".codex").exists(), "Codex would run both");
    assert_eq!(sandbox.endwell(&["uninstall"]).code, Some(0));
    assert!(home(&sandbox).join(".codex/hooks.json").is_file(), "other repositories go on with them");
}

#[test]
fn a_client_without_hooks_for_a_project_says_where_they_go() {
    let sandbox = Sandbox::with_repo();
    let installed = sandbox.endwell(&["install", "--agent", "hermes"]);
    assert!(installed.stderr.contains("`endwell install --user --agent hermes`"), "{installed:?}");
    assert!(!home(&sandbox).join(".hermes").exists(), "nothing at home without being asked");
}

#[test]
fn a_broken_file_at_home_is_refused_untouched_and_the_others_are_written() {
    let sandbox = Sandbox::with_repo();
    let path = home(&sandbox).join(".hermes/config.yaml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "a: [1,\n").unwrap();
    let ran = sandbox.endwell(&["install", "--user", "--agent", "hermes", "--agent", "codex"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("stays as it is: it is not YAML") && ran.stderr.contains("pre_llm_call"),
        "{ran:?}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a: [1,\n");
    assert!(home(&sandbox).join(".codex/hooks.json").is_file());
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = Sandbox::with_repo();
    let before = snapshot(&home(&sandbox));
    let ran = sandbox.command(
        env!("CARGO_BIN_EXE_endwell"),
        ".",
        &["install", "--user", "--dry-run", "--agent", "hermes"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("+++ b/.hermes/config.yaml"), "{ran:?}");
    same(&before, &snapshot(&home(&sandbox)));
}
