//! The commands of a transcript while it is read: begun by one line, ended by another, in the order of their calls. Never
//! a success that nobody wrote down: a call without an end says so.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Characters of an output that are kept until it is redacted: far more than any record keeps.
const MAX_OUTPUT: usize = 16 * 1024;

/// The most calls that are waited for. More than that were never meant to end.
const MAX_OPEN: usize = 500;

/// The most ids that are remembered, so that what a client writes again is not read again.
const MAX_SEEN: usize = 5_000;

/// A command that ran, as its client wrote it down.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that the client wrote down")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    /// The source text of an expression where `computed`.
    pub command: String,
    /// The command was put together by a program; what came out of that nobody wrote down.
    pub computed: bool,
    pub cwd: Option<String>,
    /// RFC 3339.
    pub started_at: Option<String>,
    pub parent: Option<String>,
    /// The session that the line names, where it names one.
    pub session: Option<String>,
    pub exit_code: Option<i64>,
    /// Why there is no exit code.
    pub error: Option<String>,
    /// The client reads this non-zero exit as no error.
    pub benign: bool,
    /// The client's own words.
    pub note: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub duration_ms: Option<u64>,
    /// The output was longer.
    pub truncated: bool,
    /// By what name later lines speak of it while it runs.
    pub handle: Option<String>,
    /// Its end is known, or known to be unknown.
    pub settled: bool,
    /// A turn ended while it had no end.
    pub waited: bool,
}

impl Call {
    /// A call that was made just now: until its end is read, it has none.
    pub fn begun(id: &str, command: &str) -> Self {
        Self {
            id: id.to_owned(),
            command: command.to_owned(),
            error: Some("no-result".to_owned()),
            ..Self::default()
        }
    }

    /// Ended with a code.
    pub fn exited(&mut self, code: i64) {
        self.exit_code = Some(code);
        self.error = None;
        self.settled = true;
    }

    /// Ended without one.
    pub fn ended(&mut self, why: &str) {
        self.exit_code = None;
        self.error = Some(why.to_owned());
        self.settled = true;
    }

    /// Goes on; later lines speak of it by that name.
    pub fn goes_on(&mut self, why: &str, handle: String) {
        self.error = Some(why.to_owned());
        self.handle = Some(handle);
    }

    /// More of its output.
    pub fn add_output(&mut self, text: &str) {
        self.stdout.push_str(text);
        self.truncated |= keep_tail(&mut self.stdout);
    }
}

/// Cuts the front of a long text at a line's end, so that no word is halved.
fn keep_tail(text: &mut String) -> bool {
    if text.len() <= MAX_OUTPUT {
        return false;
    }
    let mut from = text.len() - MAX_OUTPUT;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let from = text[from..].find('\n').map_or(from, |newline| from + newline + 1);
    text.drain(..from);
    true
}

/// What is known of a session besides its commands; the last line wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub session_id: Option<String>,
    pub version: Option<String>,
    pub branch: Option<String>,
    pub cwd: Option<String>,
}

/// The calls of a transcript, as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub about: About,
    /// In the order in which they were made.
    made: Vec<Call>,
    /// Calls that only ask after another one: their id to its handle.
    asking: BTreeMap<String, String>,
    seen: BTreeSet<String>,
    /// Calls that never ran: refused, denied, blocked.
    pub never_ran: u64,
}

impl Calls {
    /// A call that is new; one that was seen before is not begun again.
    pub fn begin(&mut self, call: Call) {
        if !call.command.trim().is_empty() && self.seen.insert(call.id.clone()) {
            self.made.push(call);
        }
    }

    /// A call that has no end yet.
    pub fn open(&mut self, id: &str) -> Option<&mut Call> {
        self.made.iter_mut().rev().find(|call| call.id == id && !call.settled)
    }

    /// Every open call of a group: itself, or the parts of a script.
    pub fn open_of(&mut self, id: &str) -> Vec<&mut Call> {
        let is_of = |call: &Call| call.id == id || call.parent.as_deref() == Some(id);
        self.made.iter_mut().filter(|call| !call.settled && is_of(call)).collect()
    }

    /// The calls that run under a name, ended or not.
    pub fn by_handle(&mut self, handle: &str) -> Vec<&mut Call> {
        self.made.iter_mut().filter(|call| call.handle.as_deref() == Some(handle)).collect()
    }

    /// A call that only asks after another one.
    pub fn ask(&mut self, id: &str, handle: String) {
        if self.asking.len() < MAX_OPEN {
            self.asking.insert(id.to_owned(), handle);
        }
    }

    /// What such a call asked after.
    pub fn asked(&mut self, id: &str) -> Option<String> {
        self.asking.remove(id)
    }

    /// The call was refused: it is no command that ran.
    pub fn never_ran(&mut self, id: &str) {
        let before = self.made.len();
        self.made.retain(|call| call.id != id || call.settled);
        self.never_ran += (before - self.made.len()) as u64;
    }

    /// Forgets where the file stood, but not what was read from it.
    pub fn start_again(&mut self) {
        self.asking.clear();
        for call in std::mem::take(&mut self.made) {
            self.seen.remove(&call.id);
        }
    }

    /// Lets calls go that had no end for more than a turn: they run on, or their result was never written.
    pub fn settle_waiting(&mut self) {
        for call in self.made.iter_mut().filter(|call| !call.settled) {
            call.settled = call.waited;
            call.waited = true;
        }
    }

    /// Takes the calls that are through; `all` takes those without an end as well.
    pub fn take(&mut self, all: bool) -> Vec<Call> {
        let (done, mut open): (Vec<Call>, Vec<Call>) =
            std::mem::take(&mut self.made).into_iter().partition(|call| call.settled || all);
        let surplus = open.len().saturating_sub(MAX_OPEN);
        let done = open.drain(..surplus).chain(done).collect();
        self.made = open;
        while self.seen.len() > MAX_SEEN {
            self.seen.pop_first();
        }
        done
    }
}
