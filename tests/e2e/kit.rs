//! One run of a real client: a script of steps for the model goes in, the requests that the client sent come out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Ran, Sandbox};

/// A run that a client took.
pub struct Turn {
    pub ran: Ran,
    /// The requests that the client sent to its model, in order, without the side requests (titles and the like).
    pub requests: Vec<Request>,
    log: PathBuf,
}

/// How a client is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One prompt, then it exits by itself.
    Headless,
    /// In a terminal, left by the client's own command.
    Quit,
    /// In a terminal, killed after the turn, with everything that it started.
    KilledAtRest,
}

/// One request to the model.
pub struct Request {
    body: Value,
}

impl Request {
    /// Whether a text stands anywhere in the request.
    pub fn holds(&self, text: &str) -> bool {
        self.count(text) > 0
    }

    /// How often a text stands in the request.
    pub fn count(&self, text: &str) -> usize {
        count(&self.body, text)
    }

    /// The first text of the request in which another one stands.
    pub fn text_with(&self, text: &str) -> Option<&str> {
        find(&self.body, text)
    }

    /// Everything that the request says, for failure messages.
    pub fn told(&self) -> String {
        let mut out = String::new();
        let parts = ["messages", "input", "contents", "instructions", "system", "systemInstruction"];
        for part in parts {
            collect(self.body.get(part).unwrap_or(&Value::Null), &mut out);
        }
        out
    }
}

/// Where a run leaves what it leaves, to be read after a failure.
fn kept(name: &str) -> PathBuf {
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e").join(test).join(name)
}

fn kit(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/kit").join(script)
}

/// A step in which the client dies in the middle of its turn: by a command of its own tool, after `before` has run. The
/// script lies in the repository, since some clients let no command name a path outside.
pub fn killed_after(sandbox: &Sandbox, before: &str, run: &str) -> Value {
    let script =
        format!("exec '{}' '{}'\n", kit("kill-client.sh").display(), kept(run).join("client.pid").display());
    std::fs::write(sandbox.repo().join(".git/kill-client"), script).unwrap();
    json!({"shell": format!("{before}; sh .git/kill-client")})
}

fn count(value: &Value, text: &str) -> usize {
    match value {
        Value::String(string) => string.matches(text).count(),
        Value::Array(items) => items.iter().map(|item| count(item, text)).sum(),
        Value::Object(map) => map.values().map(|item| count(item, text)).sum(),
        _ => 0,
    }
}

fn find<'a>(value: &'a Value, text: &str) -> Option<&'a str> {
    match value {
        Value::String(string) => string.contains(text).then_some(string.as_str()),
        Value::Array(items) => items.iter().find_map(|item| find(item, text)),
        Value::Object(map) => map.values().find_map(|item| find(item, text)),
        _ => None,
    }
}

fn collect(value: &Value, out: &mut String) {
    match value {
        Value::String(string) => {
            out.push_str(string);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect(item, out)),
        _ => {}
    }
}

impl Turn {
    /// Runs one headless turn of a client in the sandbox's repository.
    pub fn headless(sandbox: &Sandbox, client: &str, name: &str, steps: &Value) -> Self {
        Self::of(sandbox, client, name, How::Headless, steps)
    }

    /// Runs a client in the sandbox's repository.
    pub fn of(sandbox: &Sandbox, client: &str, name: &str, how: How, steps: &Value) -> Self {
        let clients = std::env::var("ENDWELL_E2E_CLIENTS").unwrap_or_else(|_| {
            panic!(
                "not run: ENDWELL_E2E_CLIENTS names no folder with installed clients \
                 (tests/e2e/kit/install-client.sh {client} DIR, then ENDWELL_E2E_CLIENTS=DIR)"
            )
        });
        let script = sandbox.root().join(format!("{name}.json"));
        std::fs::write(&script, serde_json::to_vec(steps).unwrap()).unwrap();
        let out = kept(name);
        if out.exists() {
            std::fs::remove_dir_all(&out).unwrap();
        }
        let mut command = sandbox.prepare(kit("run-client.sh"), "repo");
        command.arg(client).args(["--clients", &clients, "--prompt", "Add a product to the module."]);
        for (option, path) in [
            ("--repo", sandbox.repo()),
            ("--home", sandbox.root().join("home")),
            ("--script", script),
            ("--out", out.clone()),
        ] {
            command.arg(option).arg(path);
        }
        match how {
            How::Headless => {}
            How::Quit => drop(command.args(["--tui", "--quit", "quit"])),
            How::KilledAtRest => drop(command.args(["--tui", "--quit", "kill"])),
        }
        let ran = Ran::of(&mut command);
        let log = out.join("requests.jsonl");
        let requests = std::fs::read_to_string(&log)
            .unwrap_or_default()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|entry| entry["main"] == true)
            .map(|entry| Request { body: entry["body"].clone() })
            .collect();
        Self { ran, requests, log }
    }

    /// The request that asked for the given step.
    #[track_caller]
    pub fn request(&self, step: usize) -> &Request {
        self.requests.get(step).unwrap_or_else(|| {
            let (ran, count) = (&self.ran, self.requests.len());
            panic!("{count} requests, none for step {step}; log: {}; {ran:?}", self.log.display())
        })
    }

    /// Panics unless the request for the step holds every text.
    #[track_caller]
    pub fn assert_told(&self, step: usize, texts: &[&str]) {
        let request = self.request(step);
        for text in texts {
            assert!(request.holds(text), "step {step} does not hold `{text}`:\n{}", request.told());
        }
    }

    /// Panics unless the client sent this many requests.
    #[track_caller]
    pub fn assert_requests(&self, count: usize, why: &str) {
        let (got, log) = (self.requests.len(), self.log.display());
        let last = self.requests.last().map(Request::told).unwrap_or_default();
        assert_eq!(got, count, "{why}: {:?}; log: {log}; last:\n{last}", self.ran);
    }
}
