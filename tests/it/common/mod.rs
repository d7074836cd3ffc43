//! A hermetic repository for tests: own HOME, no user or system configuration, fixed names and dates.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a home and repositories in it; everything goes when it is dropped.
pub struct Sandbox {
    root: tempfile::TempDir,
}

/// What a command left, as text.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("endwell-it-").tempdir().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        Self { root }
    }

    /// A sandbox with `repo`: one commit on `main`, a README in it.
    pub fn with_repo() -> Self {
        let sandbox = Self::new();
        sandbox.git(".", &["init", "-q", "-b", "main", "repo"]);
        sandbox.write("README.md", "A repository.\n");
        sandbox.commit("base");
        sandbox
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The repository's folder.
    pub fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    /// Writes a file in the repository, with its folders.
    pub fn write(&self, path: &str, text: &str) {
        let full = self.repo().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repo().join(path)).unwrap()
    }

    /// Commits everything in the repository.
    pub fn commit(&self, message: &str) {
        self.git("repo", &["add", "-A"]);
        self.git("repo", &["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// A bare remote `origin` beside the repository, with `main` in it.
    pub fn with_remote(self) -> Self {
        self.git(".", &["init", "-q", "--bare", "-b", "main", "up.git"]);
        self.git("repo", &["remote", "add", "origin", "../up.git"]);
        self.git("repo", &["push", "-q", "-u", "origin", "main"]);
        self
    }

    /// Runs git, which must succeed; returns its trimmed output.
    pub fn git(&self, dir: &str, args: &[&str]) -> String {
        let ran = self.command("git", dir, args);
        assert_eq!(ran.code, Some(0), "git {args:?}: {}", ran.stderr);
        ran.stdout.trim().to_owned()
    }

    /// Runs git, which may fail.
    pub fn try_git(&self, dir: &str, args: &[&str]) -> Ran {
        self.command("git", dir, args)
    }

    /// Runs endwell in the repository.
    pub fn endwell(&self, args: &[&str]) -> Ran {
        self.command(env!("CARGO_BIN_EXE_endwell"), "repo", args)
    }

    /// Runs a program below the sandbox, with its environment and nothing else.
    pub fn command(&self, program: impl AsRef<OsStr>, dir: &str, args: &[&str]) -> Ran {
        Ran::of(self.prepare(program, dir).args(args))
    }

    /// A command with the sandbox's environment, to be changed further.
    pub fn prepare(&self, program: impl AsRef<OsStr>, dir: &str) -> Command {
        let mut command = Command::new(program);
        let bin = Path::new(env!("CARGO_BIN_EXE_endwell")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let paths = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
        command.current_dir(self.root().join(dir)).env_clear().env("PATH", paths);
        command.env("HOME", self.root().join("home")).env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        for toolchain in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT"] {
            if let Some(value) = std::env::var_os(toolchain) {
                command.env(toolchain, value);
            }
        }
        if std::env::var_os("RUSTUP_HOME").is_none()
            && let Some(home) = std::env::var_os("HOME")
        {
            // rustup's shims look below HOME, which is the sandbox's here
            command.env("RUSTUP_HOME", Path::new(&home).join(".rustup"));
            command.env("CARGO_HOME", Path::new(&home).join(".cargo"));
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", self.gitconfig());
        command
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        command.stdin(std::process::Stdio::null());
        command
    }

    fn gitconfig(&self) -> PathBuf {
        let path = self.root().join("home/.gitconfig");
        if !path.exists() {
            let text = "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n\
                [protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n";
            std::fs::write(&path, text).unwrap();
        }
        path
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        Self {
            code: status.code(),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
