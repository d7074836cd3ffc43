//! Sessions that are killed at random moments: the client, the hook that it waits for, or both. Whatever was hit, after
//! the next start every session has a packet or a recorded refusal, and one packet at most is active.
//! `ENDWELL_SLOW=1` kills 300 times.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::common::Sandbox;

/// A client: calls the hooks of its moments, runs shell lines in between, and says nothing.
const CLIENT: &str = "import json, subprocess, sys\n\
    binary, session = sys.argv[1:3]\n\
    told = json.dumps({'session_id': session}).encode()\n\
    for step in sys.argv[3:]:\n    \
        if step.startswith('hook '):\n        \
            subprocess.run([binary, 'hook', step[5:], '--client', 'claude'], input=told, stdout=subprocess.PIPE)\n    \
        else:\n        \
            subprocess.run(['sh', '-c', step])\n";

/// What sessions do; each is killed somewhere on its way.
const SCRIPTS: [&[&str]; 5] = [
    &["hook start", "hook prompt", "hook stop", "hook end"],
    &["hook start", "hook prompt", "echo x >left.txt", "hook stop", "hook end", "rm -f left.txt"],
    &[
        "hook start",
        "hook prompt",
        "echo x >>a.txt; git add -A; git commit -qm more",
        "hook stop",
        "hook end",
    ],
    &[
        "hook start",
        "hook prompt",
        "endwell verify -q; endwell note -q next 'Go on'",
        "hook stop",
        "hook prompt",
        "hook stop",
    ],
    &["hook start", "hook prompt", "hook compact", "hook prompt", "hook stop", "hook end"],
];

/// Numbers that look random; the seed is shown when something fails.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What a kill hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Client,
    Hook,
    Both,
}

fn client(sandbox: &Sandbox, session: &str, script: &[&str]) -> Child {
    let mut command = sandbox.prepare("python3", "repo");
    command.args(["-c", CLIENT, env!("CARGO_BIN_EXE_endwell"), session]).args(script);
    command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(child: &mut Child, target: Target) {
    let pid = Pid::from_child(child);
    match target {
        Target::Both => drop(kill_process_group(pid, Signal::KILL)),
        Target::Client => drop(kill_process(pid, Signal::KILL)),
        Target::Hook => {
            let list = format!("/proc/{0}/task/{0}/children", child.id());
            for word in std::fs::read_to_string(list).unwrap_or_default().split_whitespace() {
                kill_process(Pid::from_raw(word.parse().unwrap()).unwrap(), Signal::KILL).ok();
            }
        }
    }
    child.wait().unwrap();
}

/// Every session of the batch that endwell heard of is accounted for. One whose client died before its first hook had
/// read its own name was never a session.
fn assert_accounted_for(sandbox: &Sandbox, batch: &[(String, Target)], seed: u64) -> usize {
    let mut known = 0;
    for (session, target) in batch {
        let Ok(text) =
            std::fs::read_to_string(sandbox.repo().join(format!(".git/endwell/sessions/{session}.json")))
        else {
            assert_ne!(*target, Target::Hook, "{session} went on, and nothing is known of it; seed {seed}");
            continue;
        };
        known += 1;
        let journal: Value = serde_json::from_str(&text).unwrap();
        let packet = sandbox.repo().join(format!("outputs/handoff/{session}/handoff.json")).is_file();
        let refused = !journal["refusal"].is_null();
        assert!(journal["phase"] == "ended" && (packet || refused), "{target:?}, seed {seed}: {journal:#}");
    }
    let packets = std::fs::read_dir(sandbox.repo().join("outputs/handoff")).into_iter().flatten();
    let texts =
        packets.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("handoff.json")).ok());
    let active =
        texts.filter(|text| serde_json::from_str::<Value>(text).unwrap()["status"] == "active").count();
    assert!(active <= 1, "{active} active packets; seed {seed}");
    known
}

/// Kills sessions in one repository; how many of them endwell knew.
fn kill_many(kills: usize, seed: u64) -> usize {
    let sandbox = Sandbox::with_repo();
    assert_eq!(sandbox.endwell(&["install", "--agent", "claude"]).code, Some(0));
    let (mut random, mut known, mut batch) = (Random(seed | 1), 0, Vec::new());
    let mut seen = BTreeSet::new();
    for number in 0..kills {
        let script = SCRIPTS[usize::try_from(random.below(5)).unwrap()];
        let target = [Target::Client, Target::Hook, Target::Both][usize::try_from(random.below(3)).unwrap()];
        let session = format!("killed-{number}");
        let mut child = client(&sandbox, &session, script);
        std::thread::sleep(Duration::from_millis(random.below(450)));
        kill(&mut child, target);
        batch.push((session, target));
        if batch.len() == 5 || number + 1 == kills {
            // a hook that outlives its client may still be at work
            std::thread::sleep(Duration::from_millis(300));
            let next = format!("next-{number}");
            assert!(client(&sandbox, &next, &["hook start", "hook end"]).wait().unwrap().success());
            known += assert_accounted_for(&sandbox, &batch, seed);
            seen.extend(batch.drain(..).map(|(session, _)| session));
        }
    }
    assert_eq!(seen.len(), kills);
    known
}

#[test]
fn every_session_that_is_killed_is_accounted_for_at_the_next_start() {
    let (threads, kills) = if std::env::var_os("ENDWELL_SLOW").is_some() { (3, 100) } else { (1, 15) };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = std::env::var("ENDWELL_SEED").ok().map_or(now.as_secs(), |text| text.parse().unwrap());
    let known: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || kill_many(kills, (seed + thread) * 0x9E37_79B9)))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert!(
        known * 4 > usize::try_from(threads).unwrap() * kills * 3,
        "only {known} sessions came far enough"
    );
}
