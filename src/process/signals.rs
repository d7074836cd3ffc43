//! Signals that reach us while a child runs: passed on as events instead of ending us. Before and after, they do what
//! they always do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether no child is supervised: then signals do to us what they always do.
fn idle() -> io::Result<Arc<AtomicBool>> {
    static IDLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = IDLE.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::clone(IDLE.get_or_init(|| Arc::new(AtomicBool::new(false))));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // a caught signal keeps its handler for good, so the default must be asked for
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// Signals that reach us while a child runs.
pub(super) struct Signals {
    handle: signal_hook::iterator::Handle,
    idle: Arc<AtomicBool>,
}

impl Signals {
    /// Watches until dropped; `pass_on` says whether it still wants to hear.
    pub(super) fn watch(pass_on: impl Fn(i32) -> bool + Send + 'static) -> io::Result<Self> {
        let idle = idle()?;
        idle.store(false, Ordering::SeqCst);
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        thread::spawn(move || {
            for signal in signals.forever() {
                if !pass_on(signal) {
                    break;
                }
            }
        });
        Ok(Self { handle, idle })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        self.idle.store(true, Ordering::SeqCst);
    }
}
