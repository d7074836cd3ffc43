//! One turn of a real client: a script of steps for the model goes in, the requests that the client sent come out.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Ran, Sandbox};

/// A turn that a client took.
pub struct Turn {
    pub ran: Ran,
    /// The requests that the client sent to its model, in order, without the side requests (titles and the like).
    pub requests: Vec<Request>,
    log: PathBuf,
}

/// One request to the model.
pub struct Request {
    body: Value,
}

impl Request {
    /// Whether a text stands anywhere in the request.
    pub fn holds(&self, text: &str) -> bool {
        holds(&self.body, text)
    }

    /// Everything that the request says for the user, for failure messages.
    pub fn told(&self) -> String {
        let mut out = String::new();
        collect(self.body.get("messages").unwrap_or(&Value::Null), &mut out);
        out
    }
}

/// A new folder for what a turn leaves, which stays behind to be read after a failure.
fn kept(name: &str) -> PathBuf {
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e").join(test).join(name);
    if out.exists() {
        std::fs::remove_dir_all(&out).unwrap();
    }
    out
}

fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(map) => map.values().any(|item| holds(item, text)),
        _ => false,
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
        let clients = std::env::var("ENDWELL_E2E_CLIENTS").unwrap_or_else(|_| {
            panic!(
                "not run: ENDWELL_E2E_CLIENTS names no folder with installed clients \
                 (tests/e2e/kit/install-client.sh {client} DIR, then ENDWELL_E2E_CLIENTS=DIR)"
            )
        });
        let script = sandbox.root().join(format!("{name}.json"));
        std::fs::write(&script, serde_json::to_vec(steps).unwrap()).unwrap();
        let out = kept(name);
        let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/kit/run-client.sh");
        let mut command = sandbox.prepare(kit, "repo");
        command.arg(client).args(["--clients", &clients, "--prompt", "Add a product to the module."]);
        for (option, path) in [
            ("--repo", sandbox.repo()),
            ("--home", sandbox.root().join("home")),
            ("--script", script),
            ("--out", out.clone()),
        ] {
            command.arg(option).arg(path);
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
}
