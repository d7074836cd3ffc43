//! A supervised child: a process group of its own, a time limit, signals passed on, and its output shown live while
//! a bounded head and tail of it are kept. It never holds more than the given bounds in memory, however much the child
//! prints, and never waits for a grandchild that keeps the pipes open after the child has ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use sha2::{Digest as _, Sha256};
use signal_hook::consts::SIGINT;

use super::kept::{Out, Reader, Taken, drain};
use super::signals::Signals;
use crate::clock::Stopwatch;
use crate::model::issue::hex;

pub use super::kept::{Keep, Kept};

/// How long a group may take to end after it was asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long the pipes are read on after the child has ended, while something else still holds them.
const DRAIN: Duration = Duration::from_secs(1);
/// How often whoever watches is told that the child still runs.
const TICK: Duration = Duration::from_millis(500);

/// Where the child's output goes besides what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tee {
    /// Nowhere.
    Quiet,
    /// Both streams to our standard error.
    ToStderr,
    /// Each stream to our own of the same name.
    Through,
    /// The child gets our own three streams (a terminal): nothing can be kept.
    Terminal,
}

/// What the child reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    Closed,
    Inherited,
}

/// The process group of the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Ours: a terminal's Ctrl-C reaches both.
    Shared,
    /// Its own; what it leaves running in the background goes on.
    Own,
    /// Its own, and nothing of the group outlives the child. A daemon that left the group on purpose goes on.
    OwnEndsWithChild,
}

/// A command to be supervised.
#[derive(Clone, Debug)]
pub struct Supervised {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
    pub timeout: Option<Duration>,
    pub tee: Tee,
    pub stdin: Stdin,
    pub group: Group,
    pub keep: Keep,
}

/// Why the child did not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    Timeout,
    /// A signal to it that was not ours.
    Signal,
    /// We were told to stop (Ctrl-C, termination, hang-up), and passed it on.
    Interrupted,
}

impl EndedBy {
    /// The word in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Signal => "signal",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// `None`: killed by a signal.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub error: Option<EndedBy>,
    pub stdout: Kept,
    pub stderr: Kept,
    pub duration: Duration,
    /// sha256 over the sha256 of each whole stream.
    pub digest: String,
}

enum Event {
    ChildEnded,
    Signal(i32),
}

impl Supervised {
    /// Runs it to its end. An error only where it could not be started.
    pub fn run(self) -> io::Result<Ended> {
        self.run_watched(&mut |_| {})
    }

    /// As [`Supervised::run`]; `watch` is told about twice a second how long the child has been running.
    pub fn run_watched(self, watch: &mut dyn FnMut(Duration)) -> io::Result<Ended> {
        let (sender, events) = mpsc::channel();
        let signals = {
            let sender = sender.clone();
            Signals::watch(move |number| sender.send(Event::Signal(number)).is_ok())?
        };
        let clock = Stopwatch::start();
        let mut child = self.start()?;
        let pid = Pid::from_child(&child);
        let readers = [
            child.stdout.take().map(|pipe| Reader::start(pipe, self.keep, self.tee.of_stdout())),
            child.stderr.take().map(|pipe| Reader::start(pipe, self.keep, self.tee.of_stderr())),
        ];
        thread::spawn(move || await_end(pid, &sender));
        let stopped = self.supervise(pid, &events, &clock, watch);
        let duration = clock.elapsed();
        self.settle(pid, &readers);
        let status = child.wait()?;
        drop(signals);
        let [stdout, stderr] = readers.map(|reader| reader.map_or_else(Taken::default, Reader::take));
        let digest = Sha256::new().chain_update(stdout.digest).chain_update(stderr.digest).finalize();
        Ok(Ended {
            code: status.code(),
            signal: status.signal(),
            error: stopped.or_else(|| status.signal().map(|_| EndedBy::Signal)),
            stdout: stdout.kept,
            stderr: stderr.kept,
            duration,
            digest: hex(&digest),
        })
    }

    fn start(&self) -> io::Result<Child> {
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir).env_clear().envs(&self.env);
        let output = || if self.tee == Tee::Terminal { Stdio::inherit() } else { Stdio::piped() };
        command.stdout(output()).stderr(output());
        command.stdin(if self.stdin == Stdin::Inherited { Stdio::inherit() } else { Stdio::null() });
        if self.group != Group::Shared {
            command.process_group(0);
        }
        command.spawn()
    }

    /// Waits for the child's end, with the time limit and the signals that reach us meanwhile.
    fn supervise(
        &self,
        pid: Pid,
        events: &Receiver<Event>,
        clock: &Stopwatch,
        watch: &mut dyn FnMut(Duration),
    ) -> Option<EndedBy> {
        let mut stopped: Option<(EndedBy, Stopwatch)> = None;
        loop {
            let left = self.timeout.map_or(TICK, |limit| limit.saturating_sub(clock.elapsed()).min(TICK));
            let patience = if stopped.is_some() { Duration::from_millis(50) } else { left };
            match events.recv_timeout(patience) {
                Ok(Event::ChildEnded) | Err(RecvTimeoutError::Disconnected) => break,
                // the second one means it
                Ok(Event::Signal(_)) if stopped.is_some() => self.signal(pid, Signal::KILL),
                Ok(Event::Signal(number)) => {
                    self.pass_on(pid, number);
                    stopped = Some((EndedBy::Interrupted, Stopwatch::start()));
                }
                Err(RecvTimeoutError::Timeout) => watch(clock.elapsed()),
            }
            match &stopped {
                Some((_, since)) if since.elapsed() > GRACE => self.signal(pid, Signal::KILL),
                None if self.timeout.is_some_and(|limit| clock.elapsed() >= limit) => {
                    self.signal(pid, Signal::TERM);
                    stopped = Some((EndedBy::Timeout, Stopwatch::start()));
                }
                _ => {}
            }
        }
        stopped.map(|(why, _)| why)
    }

    /// A terminal's Ctrl-C has reached a child in our own group already.
    fn pass_on(&self, pid: Pid, number: i32) {
        let reached = number == SIGINT && self.group == Group::Shared && io::stdin().is_terminal();
        if let Some(signal) = Signal::from_named_raw(number).filter(|_| !reached) {
            self.signal(pid, signal);
        }
    }

    fn signal(&self, pid: Pid, signal: Signal) {
        let sent = match self.group {
            Group::Shared => rustix::process::kill_process(pid, signal),
            Group::Own | Group::OwnEndsWithChild => rustix::process::kill_process_group(pid, signal),
        };
        // whoever is gone already needs no signal
        sent.ok();
    }

    /// Reads what is left in the pipes, for a bounded time, and ends the rest of the group where that is asked for.
    /// The child is a zombie until now, so its group id can't have been given to anyone else.
    fn settle(&self, pid: Pid, readers: &[Option<Reader>]) {
        drain(readers, DRAIN);
        if self.group == Group::OwnEndsWithChild {
            self.signal(pid, Signal::TERM);
            drain(readers, DRAIN / 4);
            self.signal(pid, Signal::KILL);
            drain(readers, DRAIN / 4);
        }
    }
}

impl Tee {
    const fn of_stdout(self) -> Option<Out> {
        match self {
            Self::Through => Some(Out::Stdout),
            Self::ToStderr => Some(Out::Stderr),
            Self::Quiet | Self::Terminal => None,
        }
    }

    const fn of_stderr(self) -> Option<Out> {
        match self {
            Self::Through | Self::ToStderr => Some(Out::Stderr),
            Self::Quiet | Self::Terminal => None,
        }
    }
}

/// Tells of the child's end without reaping it.
fn await_end(pid: Pid, sender: &Sender<Event>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options)).ok();
    sender.send(Event::ChildEnded).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Supervised {
        Supervised {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            dir: std::env::temp_dir(),
            env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            timeout: Some(Duration::from_secs(30)),
            tee: Tee::Quiet,
            stdin: Stdin::Closed,
            group: Group::OwnEndsWithChild,
            keep: Keep { head: 1000, tail: 1000 },
        }
    }

    #[test]
    fn keeps_both_streams_and_the_exit_code() {
        let ended = shell("echo out; echo err >&2; exit 7").run().unwrap();
        assert_eq!((ended.code, ended.error), (Some(7), None));
        assert_eq!((ended.stdout.text(), ended.stderr.text()), ("out\n".to_owned(), "err\n".to_owned()));
        let again = shell("echo out; echo err >&2").run().unwrap();
        assert_eq!(ended.digest, again.digest);
        assert_ne!(ended.digest, shell("echo out").run().unwrap().digest);
    }

    #[test]
    fn keeps_head_and_tail_of_much_output() {
        let ended = shell("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done").run().unwrap();
        let text = ended.stdout.text();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 999\n"), "{text}");
        assert!(text.contains("bytes left out"), "{text}");
        assert_eq!(ended.stdout.head.len() + ended.stdout.tail.len(), 2000);
    }

    #[test]
    fn a_time_limit_ends_the_whole_group() {
        let mut slow = shell("sh -c 'trap \"\" TERM; sleep 60' & echo $!; trap '' TERM; sleep 60");
        slow.timeout = Some(Duration::from_millis(200));
        let ended = slow.run().unwrap();
        assert_eq!((ended.code, ended.error), (None, Some(EndedBy::Timeout)));
        assert!(ended.duration < Duration::from_secs(10), "{:?}", ended.duration);
        let pid: i32 = ended.stdout.text().trim().parse().unwrap();
        assert!(gone(pid), "the grandchild still runs");
    }

    /// Gone, or a zombie that waits for whoever inherited it; a signal takes a moment to arrive.
    fn gone(pid: i32) -> bool {
        let clock = Stopwatch::start();
        loop {
            let stat = crate::fs::read_text_optional(&PathBuf::from(format!("/proc/{pid}/stat")));
            match stat {
                Ok(Some(stat)) if !stat.contains(") Z ") => {}
                // read while it goes, it may also be an error
                _ => return true,
            }
            if clock.elapsed() > Duration::from_secs(2) {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn what_is_left_in_the_group_goes_and_does_not_hold_us() {
        let ended = shell("sleep 60 & echo $!").run().unwrap();
        assert_eq!(ended.code, Some(0));
        let pid: i32 = ended.stdout.text().trim().parse().unwrap();
        assert!(gone(pid));
    }

    #[test]
    fn a_daemon_of_its_own_session_is_left_and_does_not_hold_us() {
        let clock = Stopwatch::start();
        let ended = shell("setsid sleep 20 & echo $!; echo done").run().unwrap();
        assert!(ended.stdout.text().ends_with("done\n"));
        assert!(clock.elapsed() < Duration::from_secs(5));
        let pid: i32 = ended.stdout.text().lines().next().unwrap().parse().unwrap();
        assert!(!gone(pid));
        rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }

    #[test]
    fn a_signal_to_the_child_is_told_apart_from_an_exit() {
        let ended = shell("kill -9 $$").run().unwrap();
        assert_eq!((ended.code, ended.signal, ended.error), (None, Some(9), Some(EndedBy::Signal)));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let mut missing = shell("");
        missing.program = "no-such-program-xyz".into();
        assert_eq!(missing.run().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
