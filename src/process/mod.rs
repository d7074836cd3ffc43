//! The one door to other processes. No child inherits `GIT_*` (a hook's variables would make it judge, or change,
//! another repository); standard input is closed unless bytes are given.

mod kept;
pub mod owner;
mod signals;
pub mod stream;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use crate::env::Env;

/// Which variables a child sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherit {
    /// Everything but `GIT_*`: for commands of the project.
    NoGit,
    /// For git itself: also the variables that are the person's choice and not a hook's. Messages in English.
    GitChoices,
}

/// Variables that stay for git calls, since they are the person's own choice.
const CHOICES: [&str; 8] = [
    "GIT_ASKPASS",
    "GIT_TERMINAL_PROMPT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// The environment of a child.
pub fn child_env(env: &Env, inherit: Inherit) -> BTreeMap<OsString, OsString> {
    let mut vars: BTreeMap<OsString, OsString> = env
        .vars()
        .filter(|(key, _)| stays(key, inherit))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    if inherit == Inherit::GitChoices {
        vars.insert("LC_ALL".into(), "C".into());
        vars.remove(OsStr::new("LANGUAGE"));
    }
    vars
}

fn stays(key: &OsStr, inherit: Inherit) -> bool {
    let Some(name) = key.to_str() else { return true };
    if !name.starts_with("GIT_") {
        return true;
    }
    inherit == Inherit::GitChoices
        && (CHOICES.contains(&name) || name.starts_with("GIT_SSH") || name.starts_with("GIT_TRACE"))
}

/// The user whose rights this process has.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A command whose output is captured.
#[derive(Clone, Debug)]
pub struct Captured {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
    pub stdin: Option<Vec<u8>>,
}

/// What a captured command left.
#[derive(Clone, Debug)]
pub struct Output {
    /// `None`: killed by a signal.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Output {
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// The first line of standard error, or a word about the exit.
    pub fn first_error_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.map_or_else(
            || match self.code {
                Some(code) => format!("exit code {code} without a message"),
                None => "ended by a signal, without a message".to_owned(),
            },
            str::to_owned,
        )
    }
}

impl Captured {
    /// Runs it to its end. An error only where it could not be started.
    pub fn run(&self) -> io::Result<Output> {
        let expression = duct::cmd(&self.program, &self.args)
            .dir(&self.dir)
            .full_env(&self.env)
            .stdout_capture()
            .stderr_capture()
            .unchecked();
        let expression = match &self.stdin {
            Some(bytes) => expression.stdin_bytes(bytes.clone()),
            None => expression.stdin_null(),
        };
        let done = expression.run()?;
        Ok(Output { code: done.status.code(), stdout: done.stdout, stderr: done.stderr })
    }
}
