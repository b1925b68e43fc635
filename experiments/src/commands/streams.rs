//! Where a command writes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a command writes, and what is at the other end.
#[derive(Clone)]
pub struct Streams {
    /// Results: plan and table, or JSON lines.
    pub out: Shared,
    /// Progress, warnings, errors.
    pub err: Shared,
    /// Whether `out` shows colours.
    pub out_colours: bool,
    /// Whether `err` is a terminal that can show live lines.
    pub err_is_live: bool,
}

impl Streams {
    /// The program's own streams.
    pub fn standard() -> Self {
        Self {
            out: Shared::new(io::stdout()),
            err: Shared::new(io::stderr()),
            out_colours: console::colors_enabled(),
            err_is_live: console::Term::stderr().is_term(),
        }
    }
}

/// A writer that several threads share.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<dyn Write + Send>>);

impl Shared {
    /// Shares `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Writes a line. A reader that has gone away is no reason to stop a run.
    pub fn line(&self, text: impl AsRef<str>) {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(writer, "{}", text.as_ref()).and_then(|()| writer.flush());
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush()
    }
}
