//! The one door to the clock. Nothing that must be the same twice may look through it.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// Now, to the millisecond.
pub fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Now as RFC 3339.
pub fn now_text() -> String {
    now().to_string()
}

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        let start = Instant::now();
        Self(start)
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Whole milliseconds.
    pub fn millis(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
