//! The one door to the process's environment: a snapshot taken once, so that flows and tests see plain data.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The environment, the current folder, and this binary's path.
#[derive(Clone, Debug, Default)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    exe: Option<PathBuf>,
}

impl Env {
    /// What this process was started with.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn of_process() -> std::io::Result<Self> {
        let cwd = std::env::current_dir()?;
        Ok(Self { vars: std::env::vars_os().collect(), cwd, exe: std::env::current_exe().ok() })
    }

    /// An environment made by hand.
    pub fn made_of<K: Into<OsString>, V: Into<OsString>>(
        cwd: impl Into<PathBuf>,
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let vars = vars.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { vars, cwd: cwd.into(), exe: None }
    }

    /// The same environment in another folder.
    #[must_use]
    pub fn in_dir(mut self, dir: &Path) -> Self {
        self.cwd = self.cwd.join(dir);
        self
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// This binary, absolute.
    pub fn exe(&self) -> Option<&Path> {
        self.exe.as_deref()
    }

    /// A variable that is set and not empty.
    pub fn os(&self, key: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(key)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is set, not empty, and UTF-8.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.os(key).and_then(OsStr::to_str)
    }

    /// A switch: set to anything but `0`, `false` and `no`.
    pub fn switch(&self, key: &str) -> bool {
        self.text(key).is_some_and(|value| !matches!(value, "0" | "false" | "no"))
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.os("HOME").map(PathBuf::from)
    }

    /// This person's state folder for endwell: `$XDG_STATE_HOME/endwell`, else `~/.local/state/endwell`.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let base = match self.os("XDG_STATE_HOME").map(PathBuf::from) {
            Some(dir) if dir.is_absolute() => dir,
            _ => self.home()?.join(".local/state"),
        };
        Some(base.join("endwell"))
    }

    /// Finds an executable on PATH.
    pub fn which(&self, program: &str) -> Option<PathBuf> {
        let path = self.os("PATH")?;
        std::env::split_paths(path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(program))
            .find(|candidate| crate::fs::is_executable(candidate))
    }

    /// Every variable, in order of its name.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()))
    }
}
