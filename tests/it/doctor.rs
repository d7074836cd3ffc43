//! `endwell doctor`: each way in which a gate or an agent's hook can be there and not fire is seen, and has its fix.

use serde_json::Value;

use crate::common::{Ran, Sandbox};

fn installed() -> Sandbox {
    let sandbox = Sandbox::with_repo().with_remote();
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sandbox
}

fn doctor(sandbox: &Sandbox, variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let mut command = sandbox.prepare(env!("CARGO_BIN_EXE_endwell"), "repo");
    let ran = Ran::of(command.envs(variables.iter().copied()).args(["doctor", "--json"]));
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    (ran.code, ran.json())
}

/// The codes of what is wrong, or of remarks; each has a fix.
fn codes(diagnosis: &Value, is_wrong: bool) -> Vec<String> {
    let all = diagnosis["findings"].as_array().unwrap().iter();
    all.filter(|symptom| symptom["wrong"] == is_wrong)
        .map(|symptom| {
            assert!(!symptom["fix"].as_str().unwrap().is_empty(), "{symptom}");
            symptom["code"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[track_caller]
fn sees(sandbox: &Sandbox, variables: &[(&str, &str)], code: &str) {
    let (exit, diagnosis) = doctor(sandbox, variables);
    assert!(codes(&diagnosis, true).iter().any(|known| known == code), "{code}: {diagnosis:#}");
    assert_eq!((exit, &diagnosis["healthy"]), (Some(1), &Value::Bool(false)), "{code}");
}

fn set_mode(sandbox: &Sandbox, path: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(sandbox.repo().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_sound_installation_has_nothing_wrong() {
    let sandbox = installed();
    let (exit, diagnosis) = doctor(&sandbox, &[]);
    assert_eq!((exit, codes(&diagnosis, true)), (Some(0), Vec::<String>::new()), "{diagnosis:#}");
    assert_eq!(diagnosis["push"]["way"], "file");
    assert_eq!(diagnosis["push"]["fires"], true);
    let shown = sandbox.endwell(&["doctor"]).stdout;
    assert!(
        shown.starts_with("push: a hook of endwell's own `")
            && shown.trim_end().ends_with("Nothing is wrong."),
        "{shown}"
    );
    assert_eq!(sandbox.git("repo", &["status", "--porcelain"]), "", "it only looks");
}

#[test]
fn what_keeps_the_hook_from_firing_is_named() {
    let bare = Sandbox::with_repo();
    sees(&bare, &[], "not-installed");
    let sandbox = installed();
    let hook = sandbox.read(".git/hooks/pre-push");
    set_mode(&sandbox, ".git/hooks/pre-push", 0o644);
    sees(&sandbox, &[], "hook-not-executable");
    set_mode(&sandbox, ".git/hooks/pre-push", 0o755);
    sandbox.write(".git/hooks/pre-push", &hook.replace("version 3", "version 1"));
    sees(&sandbox, &[], "hook-old");
    sandbox.write(".git/hooks/pre-push", &hook);
    sandbox.write("endwell.toml", "[push]\nmissing = \"block\"\n");
    sees(&sandbox, &[], "hook-old");
    std::fs::remove_file(sandbox.repo().join("endwell.toml")).unwrap();
    sees(&sandbox, &[("ENDWELL_SKIP", "1")], "switched-off");
    let line = hook.lines().find(|line| line.starts_with("endwell='")).unwrap();
    sandbox.write(".git/hooks/pre-push", &hook.replace(line, "endwell='/nowhere/endwell' missing=warn"));
    let (_, moved) = doctor(&sandbox, &[]);
    assert!(codes(&moved, false).contains(&"program-moved".to_owned()), "it is on PATH: {moved:#}");
    sees(&sandbox, &[("PATH", "/usr/bin:/bin")], "program-gone");
    // as lefthook does
    std::fs::rename(
        sandbox.repo().join(".git/hooks/pre-push"),
        sandbox.repo().join(".git/hooks/pre-push.old"),
    )
    .unwrap();
    sees(&sandbox, &[], "hook-gone");
    sandbox.write(".git/hooks/pre-push", "#!/bin/sh\nexec lefthook run pre-push \"$@\"\n");
    set_mode(&sandbox, ".git/hooks/pre-push", 0o755);
    sees(&sandbox, &[], "hook-replaced");
    let told = sandbox.endwell(&["doctor"]).stdout;
    assert!(
        told.contains("is the hook of lefthook now; endwell's lies at") && told.contains("--via lefthook"),
        "{told}"
    );
    // as husky does
    std::fs::rename(
        sandbox.repo().join(".git/hooks/pre-push.old"),
        sandbox.repo().join(".git/hooks/pre-push"),
    )
    .unwrap();
    sandbox.git("repo", &["config", "core.hooksPath", ".husky/_"]);
    sees(&sandbox, &[], "hooks-folder-missing");
    sandbox.write(".husky/_/pre-push", "#!/bin/sh\n");
    sees(&sandbox, &[], "hook-shadowed");
    sees(&sandbox, &[("HUSKY", "0")], "switched-off");
    sandbox.git("repo", &["config", "core.hooksPath", "/dev/null"]);
    sees(&sandbox, &[], "hooks-off");
}

#[test]
fn a_script_of_the_project_that_git_skips_is_a_dead_gate() {
    let sandbox = Sandbox::with_repo().with_remote();
    sandbox.write(".githooks/pre-push", "#!/bin/sh\nexit 0\n");
    set_mode(&sandbox, ".githooks/pre-push", 0o755);
    sandbox.git("repo", &["config", "core.hooksPath", ".githooks"]);
    assert_eq!(sandbox.endwell(&["install"]).code, Some(0));
    sees(&sandbox, &[], "not-called");
    assert_eq!(sandbox.endwell(&["install", "--via", "script"]).code, Some(0));
    let (exit, diagnosis) = doctor(&sandbox, &[]);
    assert_eq!((exit, &diagnosis["push"]["fires"]), (Some(0), &Value::Bool(true)), "{diagnosis:#}");
    set_mode(&sandbox, ".githooks/pre-push", 0o644);
    sees(&sandbox, &[], "hook-not-executable");
    // it calls endwell, and never gets there
    let text = sandbox.read(".githooks/pre-push");
    sandbox.write(".githooks/pre-push", &text.replacen('\n', "\nexit 0\n", 1));
    set_mode(&sandbox, ".githooks/pre-push", 0o755);
    sees(&sandbox, &[], "does-not-fire");
}

#[test]
fn agents_hooks_are_looked_at_too() {
    let sandbox = Sandbox::with_repo().with_remote();
    let words = ["install", "--agent", "claude", "--agent", "codex", "--agent", "copilot"];
    assert_eq!(sandbox.endwell(&words).code, Some(0));
    let (_, diagnosis) = doctor(&sandbox, &[]);
    let agent = |diagnosis: &Value, id: &str| {
        let all = diagnosis["agents"].as_array().unwrap();
        all.iter().find(|agent| agent["id"] == id).cloned().unwrap()
    };
    assert_eq!(agent(&diagnosis, "codex")["trust"], "untrusted");
    let silent: Vec<&Value> = diagnosis["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|symptom| symptom["code"] == "agent-untrusted" && symptom["wrong"] == true)
        .map(|symptom| &symptom["about"])
        .collect();
    assert_eq!(silent, ["codex", "copilot"], "Claude asks by itself: {diagnosis:#}");
    assert!(agent(&diagnosis, "claude").get("last_event").is_none());
    let line = "printf '{\"session_id\":\"s1\",\"cwd\":\"%s\",\"source\":\"startup\"}' \"$PWD\" | endwell hook start --client claude";
    Ran::of(sandbox.prepare("sh", "repo").args(["-c", line]));
    let (_, diagnosis) = doctor(&sandbox, &[]);
    assert!(agent(&diagnosis, "claude")["last_event"].is_string());
    let settings = sandbox.read(".claude/settings.local.json");
    sandbox.write(".claude/settings.local.json", &settings.replace("endwell hook stop", "other hook stop"));
    sees(&sandbox, &[], "agent-incomplete");
    sees(&sandbox, &[("PATH", "/usr/bin:/bin")], "not-on-path");
}

#[test]
fn pushes_that_passed_no_gate_are_a_remark() {
    let sandbox = installed();
    sandbox.write("a.txt", "x\n");
    sandbox.commit("One");
    sandbox.git("repo", &["push", "-q", "--no-verify", "origin", "main"]);
    let (exit, diagnosis) = doctor(&sandbox, &[]);
    assert_eq!(
        (exit, codes(&diagnosis, false)),
        (Some(0), vec!["passed-the-gate".to_owned()]),
        "{diagnosis:#}"
    );
}
