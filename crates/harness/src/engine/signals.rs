//! Requests to stop that a task hears.

use crate::error::HarnessError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process is a task.
static TASK: AtomicBool = AtomicBool::new(false);

/// Flags of the requests to stop that were heard.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    /// Any request.
    pub stop: Arc<AtomicBool>,
    /// Request at the time limit, SIGUSR1.
    pub time_limit: Arc<AtomicBool>,
}

impl Signals {
    /// Makes this process a task: SIGUSR1 sets both flags. SIGTERM sets `stop`, which is the program's own.
    ///
    /// # Errors
    /// A system that takes no handler.
    pub fn listen(stop: &Arc<AtomicBool>) -> Result<Self, HarnessError> {
        let signals = Self {
            stop: Arc::clone(stop),
            time_limit: Arc::default(),
        };
        TASK.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        for flag in [&signals.time_limit, &signals.stop] {
            signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(flag)).map_err(
                |error| {
                    super::rejected(format!("SIGUSR1 cannot be heard: {error}"), "run elsewhere")
                },
            )?;
        }
        Ok(signals)
    }

    /// Whether this process is a task, which a second request to stop must not end before its checkpoint is written. Schedulers send
    /// SIGTERM more than once, and SIGKILL when they mean it.
    pub fn is_task() -> bool {
        TASK.load(Ordering::SeqCst)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_task_hears_that_its_time_limit_is_near_and_is_one_from_then_on() {
        assert!(!Signals::is_task());
        let stop = Arc::new(AtomicBool::new(false));
        let signals = Signals::listen(&stop).unwrap();
        assert!(Signals::is_task());
        let heard = || [&stop, &signals.time_limit].map(|flag| flag.load(Ordering::SeqCst));
        assert_eq!(heard(), [false, false]);
        signal_hook::low_level::raise(signal_hook::consts::SIGUSR1).unwrap();
        assert_eq!(heard(), [true, true]);
    }
}
