//! What is kept of a child's output: a bounded head and tail of each stream and a digest of the whole, gathered by a
//! thread a pipe. It never holds more than its bounds, however much comes.

use std::collections::VecDeque;
use std::io::{self, Read, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::clock::Stopwatch;

/// How many bytes of each stream are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    pub head: usize,
    pub tail: usize,
}

impl Keep {
    /// Enough to find the failing tests of a large suite, small enough for both streams, their text and lists of their
    /// lines in 64 MiB, whatever bytes they are.
    pub const TESTS: Self = Self { head: 1 << 20, tail: 2 << 20 };
    /// For a log record.
    pub const RECORD: Self = Self { head: 16 << 10, tail: 64 << 10 };
}

/// What is kept of one stream: all of it, or its head and its tail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Bytes between head and tail that were not kept.
    pub omitted: u64,
}

impl Kept {
    /// As text; what was left out is a line that says so, and a line that was cut in two is left out too.
    pub fn text(&self) -> String {
        if self.omitted == 0 {
            let mut bytes = self.head.clone();
            bytes.extend_from_slice(&self.tail);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        let head = self
            .head
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(&self.head[..], |end| &self.head[..=end]);
        let start = self.tail.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(&self.tail[start..]));
        format!("{head}[… {} bytes left out …]\n{tail}", self.omitted)
    }
}

/// Waits until every pipe is read to its end, for a bounded time.
pub(super) fn drain(readers: &[Option<Reader>], patience: Duration) {
    let clock = Stopwatch::start();
    while clock.elapsed() < patience && !readers.iter().flatten().all(Reader::is_done) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// One of our own streams.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    Stdout,
    Stderr,
}

impl Out {
    /// Shows bytes; whether somebody still reads them. Only standard output is read for its own sake: without a reader
    /// it is closed towards the child as well, as it would be without us between them.
    fn show(self, bytes: &[u8]) -> bool {
        let shown = match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Self::Stderr => io::stderr().lock().write_all(bytes),
        };
        let is_gone = matches!(shown, Err(error) if error.kind() == io::ErrorKind::BrokenPipe);
        !(is_gone && matches!(self, Self::Stdout))
    }
}

/// What a reader has gathered so far.
#[derive(Default)]
struct Gathered {
    hash: Sha256,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

#[derive(Default)]
pub(super) struct Taken {
    pub(super) kept: Kept,
    pub(super) digest: [u8; 32],
}

impl Gathered {
    fn add(&mut self, bytes: &[u8], keep: Keep) {
        self.hash.update(bytes);
        let (first, rest) = bytes.split_at(keep.head.saturating_sub(self.head.len()).min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(keep.tail);
        self.tail.drain(..surplus);
        self.omitted += surplus as u64;
    }
}

/// A thread that reads one pipe to its end.
pub(super) struct Reader {
    gathered: Arc<Mutex<Gathered>>,
    thread: thread::JoinHandle<()>,
}

impl Reader {
    pub(super) fn start(mut pipe: impl Read + Send + 'static, keep: Keep, out: Option<Out>) -> Self {
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        let shared = Arc::clone(&gathered);
        let thread = thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        shared.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..count], keep);
                        if out.is_some_and(|out| !out.show(&buffer[..count])) {
                            break;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
        Self { gathered, thread }
    }

    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// What was read until now. A thread that is still stuck in its pipe is left behind.
    pub(super) fn take(self) -> Taken {
        let gathered = std::mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        Taken {
            kept: Kept { head: gathered.head, tail: gathered.tail.into(), omitted: gathered.omitted },
            digest: gathered.hash.finalize().into(),
        }
    }
}
