//! `install.sh`: where the program goes, what is said when the shell would not find it, and what stops it. The build
//! itself is played by a `cargo` that copies the program under test.

use std::path::Path;

use crate::common::{Ran, Sandbox};

/// A checkout with the script in it, and a folder `tools` with a `cargo` in it.
fn checkout() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(source.join("install.sh"), sandbox.repo().join("install.sh")).unwrap();
    sandbox.write("Cargo.toml", "[package]\nname = \"endwell\"\n");
    sandbox.commit("the checkout");
    let binary = env!("CARGO_BIN_EXE_endwell");
    let cargo = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in --target-dir) target=$2 ;; esac; shift; done\n\
         mkdir -p \"$target/release\" && ln -s '{binary}' \"$target/release/endwell\"\n"
    );
    program(&sandbox, "tools/cargo", &cargo);
    sandbox
}

fn program(sandbox: &Sandbox, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the script with these folders of the sandbox in front on PATH.
fn script(sandbox: &Sandbox, folders: &[&str], words: &[&str]) -> Ran {
    let mut path: Vec<_> = folders.iter().map(|folder| sandbox.root().join(folder)).collect();
    path.extend(["/usr/bin".into(), "/bin".into()]);
    let mut command = sandbox.prepare("sh", "repo");
    command
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("CARGO_HOME", sandbox.root().join("home/.cargo"));
    Ran::of(command.arg("install.sh").args(words))
}

#[test]
fn the_program_lands_on_path_and_judges_the_checkout() {
    let sandbox = checkout();
    let ran = script(&sandbox, &["tools", "home/.local/bin"], &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(sandbox.root().join("home/.local/bin/endwell").exists());
    assert!(!ran.stderr.contains("warning:"), "{ran:?}");
    assert!(ran.stdout.contains("working-tree") && ran.stdout.contains("tests"), "{ran:?}");
    assert_eq!(sandbox.git("repo", &["status", "--porcelain", "--", "install.sh", "Cargo.toml"]), "");
    // cargo's own folder, where the shell looks there
    let ran = script(&sandbox, &["tools", "home/.cargo/bin"], &[]);
    assert!(ran.code == Some(0) && sandbox.root().join("home/.cargo/bin/endwell").exists(), "{ran:?}");
}

#[test]
fn a_program_that_the_shell_would_not_find_is_told_of() {
    let sandbox = checkout();
    let ran = script(&sandbox, &["tools"], &[]);
    assert!(ran.code == Some(0) && ran.stderr.contains("home/.local/bin` is not on PATH"), "{ran:?}");
    program(&sandbox, "early/endwell", "#!/bin/sh\n");
    let ran = script(&sandbox, &["tools", "early", "home/.local/bin"], &[]);
    assert!(ran.code == Some(0) && ran.stderr.contains("early/endwell` comes first on PATH"), "{ran:?}");
}

#[test]
fn one_command_installs_and_puts_the_hooks_in() {
    let sandbox = checkout();
    sandbox.git(".", &["init", "-q", "mine"]);
    let ran = script(&sandbox, &["tools", "home/.local/bin"], &["--repo", "../mine"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(sandbox.root().join("mine/.git/hooks/pre-push").exists());
}

#[test]
fn what_stops_it_is_said_with_the_next_step() {
    let sandbox = checkout();
    let cases: [(&[&str], &[&str], i32, &str); 4] = [
        (&["tools"], &["--repo", "/nowhere"], 3, "is no git repository"),
        (&["tools"], &["--repo"], 2, "needs a folder"),
        (&["tools"], &["--force"], 2, "means nothing here"),
        (&["nothing"], &[], 3, "cargo is not on PATH"),
    ];
    for (folders, words, code, message) in cases {
        let ran = script(&sandbox, folders, words);
        assert!(ran.code == Some(code) && ran.stderr.contains(message), "{words:?}: {ran:?}");
    }
    program(&sandbox, "tools/cargo", "#!/bin/sh\necho 'error: no such edition' >&2\nexit 101\n");
    let ran = script(&sandbox, &["tools"], &[]);
    assert!(ran.code == Some(3) && ran.stderr.contains("no such edition"), "{ran:?}");
    assert!(ran.stderr.contains("error: the build failed") && ran.stderr.contains("hint: "), "{ran:?}");
}
