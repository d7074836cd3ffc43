//! Who a session belongs to: the process of the agent's client, named so that it can't be mistaken for another one
//! later (process ids are used again). Read from `/proc`; elsewhere nobody is known, and age decides.

use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::model::session::Owner;

/// Whether an owner is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alive {
    Yes,
    No,
    /// Another namespace, or no `/proc`: can't be told.
    Unknown,
}

/// Programs that only start others: never the owner.
const WRAPPERS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "nice", "timeout", "setsid", "sudo", "su",
    "git", "endwell", "flock",
];

/// At most this many ancestors are looked at.
const MAX_STEPS: usize = 32;

/// Programs that adopt the processes whose parent died.
const ADOPTERS: [&str; 9] =
    ["init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runit"];

/// The nearest ancestor of this process that is no shell and no wrapper. A hook whose client died while it was called has
/// none: it is its own owner then, and so is gone as soon as it ends.
pub fn of_this_process() -> Option<Owner> {
    let mut pid = rustix::process::getppid()?.as_raw_nonzero().get();
    for _ in 0..MAX_STEPS {
        let known = stat(u32::try_from(pid).ok()?)?;
        if ADOPTERS.contains(&known.name.as_str()) || (pid == 1 && nobody_listens()) {
            break;
        }
        if !WRAPPERS.contains(&known.name.as_str()) {
            return of(u32::try_from(pid).ok()?, &known);
        }
        pid = known.parent;
        if pid <= 1 {
            break;
        }
    }
    let own = std::process::id();
    of(own, &stat(own)?)
}

/// Whether the answer of this process goes into a pipe that nobody reads any more. In a container the client may be the
/// first process itself; a client reads.
fn nobody_listens() -> bool {
    let stdout = rustix::stdio::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::OUT)];
    rustix::event::poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
        && polled[0].revents().contains(PollFlags::ERR)
}

fn of(pid: u32, known: &Stat) -> Option<Owner> {
    Some(Owner { boot: boot()?, namespace: namespace()?, pid, started: known.started })
}

/// The words with which the owner of this process was started; none where they can't be told.
pub fn arguments() -> Vec<String> {
    let Some(owner) = of_this_process() else { return Vec::new() };
    let bytes = crate::fs::read(Path::new(&format!("/proc/{}/cmdline", owner.pid))).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether an owner is one of this process's ancestors.
pub fn is_ancestor(owner: &Owner) -> bool {
    if boot().as_ref() != Some(&owner.boot) || namespace().as_ref() != Some(&owner.namespace) {
        return false;
    }
    let mut pid = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    for _ in 0..MAX_STEPS {
        let Some(current) = pid.filter(|pid| *pid > 0).and_then(|pid| u32::try_from(pid).ok()) else { break };
        let Some(stat) = stat(current) else { break };
        if current == owner.pid {
            return stat.started == owner.started;
        }
        pid = Some(stat.parent);
    }
    false
}

/// Whether a session's owner is still there.
pub fn alive(owner: &Owner) -> Alive {
    match (boot(), namespace()) {
        (Some(boot), _) if boot != owner.boot => Alive::No,
        (Some(_), Some(namespace)) if namespace == owner.namespace => match stat(owner.pid) {
            Some(stat) if stat.started == owner.started && stat.state != 'Z' => Alive::Yes,
            _ => Alive::No,
        },
        _ => Alive::Unknown,
    }
}

struct Stat {
    name: String,
    state: char,
    parent: i32,
    started: u64,
}

/// `/proc/PID/stat`; the name stands in brackets and may hold anything, so the fields are counted from behind it.
fn stat(pid: u32) -> Option<Stat> {
    let text = crate::fs::read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (open, close) = (text.find('(')?, text.rfind(')')?);
    let fields: Vec<&str> = text.get(close + 1..)?.split_whitespace().collect();
    Some(Stat {
        name: text.get(open + 1..close)?.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn boot() -> Option<String> {
    let bytes = crate::fs::read(Path::new("/proc/sys/kernel/random/boot_id")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn namespace() -> Option<String> {
    let link = Path::new("/proc/self/ns/pid").read_link().ok()?;
    Some(link.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_more_than_its_number() {
        let Some(owner) = of_this_process() else { return };
        assert_eq!(alive(&owner), Alive::Yes);
        assert!(is_ancestor(&owner) && !is_ancestor(&Owner { started: owner.started + 1, ..owner.clone() }));
        assert_eq!(
            alive(&Owner { started: owner.started + 1, ..owner.clone() }),
            Alive::No,
            "the id was used again"
        );
        assert_eq!(alive(&Owner { boot: "another".to_owned(), ..owner.clone() }), Alive::No);
        assert_eq!(alive(&Owner { namespace: "pid:[1]".to_owned(), ..owner }), Alive::Unknown);
    }
}
