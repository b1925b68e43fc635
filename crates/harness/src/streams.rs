//! Output streams of a command.

use crate::error::HarnessError;
use helmholtz_report::{Document, text};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Output streams of a command, and what is at the other end.
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
            out: match console::Term::stdout().is_term() {
                // A terminal that was closed is a reader that has gone away, whatever error it gives.
                true => Shared::of_terminal(io::stdout()),
                false => Shared::new(io::stdout()),
            },
            err: Shared::new(io::stderr()),
            out_colours: console::colors_enabled(),
            err_is_live: console::Term::stderr().is_term(),
        }
    }

    /// Shows a document.
    pub fn show(&self, document: &Document) {
        self.out.line(text::render(document, self.out_colours));
    }

    /// Checks that all results could be written, or nobody reads them any more.
    ///
    /// # Errors
    /// What kept the first of them from being written: a full disk, say.
    pub fn check(&self) -> Result<(), HarnessError> {
        match self.out.lock().failure.take() {
            Some(source) => Err(HarnessError::Io {
                action: "write",
                path: "standard output".into(),
                source,
            }),
            None => Ok(()),
        }
    }
}

/// A writer that several threads share.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Remembering<dyn Write + Send>>>);

impl Shared {
    /// Shares `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self::of(writer, false)
    }

    fn of_terminal(writer: impl Write + Send + 'static) -> Self {
        Self::of(writer, true)
    }

    fn of(writer: impl Write + Send + 'static, terminal: bool) -> Self {
        Self(Arc::new(Mutex::new(Remembering {
            failure: None,
            terminal,
            writer,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Remembering<dyn Write + Send + 'static>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line. One that cannot be written is no reason to stop a run: [`Streams::check`] tells of it in the end.
    pub fn line(&self, text: impl AsRef<str>) {
        let mut writer = self.lock();
        let _ = writeln!(writer, "{}", text.as_ref()).and_then(|()| writer.flush());
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }
}

/// Output kept in memory.
#[derive(Debug, Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Streams that end in `out` and `err`, neither a terminal.
    pub fn streams(out: &Self, err: &Self) -> Streams {
        Streams {
            out: Shared::new(out.clone()),
            err: Shared::new(err.clone()),
            out_colours: false,
            err_is_live: false,
        }
    }

    /// Takes the output written since the last call.
    pub fn take(&self) -> String {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&std::mem::take(&mut *bytes)).into_owned()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Asserts that what a user reads holds all of these parts.
///
/// # Panics
/// If one is missing, which it names.
#[track_caller]
pub fn assert_contains(text: impl Display, parts: &[&str]) {
    let text = text.to_string();
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

/// A writer, and the first thing that it could not do. A reader that has gone away is none.
struct Remembering<W: ?Sized> {
    failure: Option<io::Error>,
    terminal: bool,
    writer: W,
}

impl<W: Write + ?Sized> Remembering<W> {
    fn remember<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted)
            && !self.terminal
            && self.failure.is_none()
        {
            let copy = error.raw_os_error().map(io::Error::from_raw_os_error);
            self.failure = Some(copy.unwrap_or(error.kind().into()));
        }
        done
    }
}

impl<W: Write + ?Sized> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.writer.write(bytes);
        self.remember(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.writer.flush();
        self.remember(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what is written, and cannot hand it on.
    struct Stuck;

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(ErrorKind::StorageFull.into())
        }
    }

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_could_not_be_written_is_told_unless_nobody_reads() {
        let check = |out: Shared| {
            let nothing = Captured::default();
            let streams = Streams {
                out,
                ..Captured::streams(&nothing, &nothing)
            };
            streams.out.line("a result");
            streams.check()
        };
        assert!(check(Shared::new(Broken(ErrorKind::BrokenPipe))).is_ok());
        assert!(check(Shared::of_terminal(Broken(ErrorKind::Other))).is_ok());
        let full = check(Shared::new(Broken(ErrorKind::StorageFull)));
        let text = full.unwrap_err().to_string();
        assert!(text.contains("cannot write standard output"), "{text}");
        assert!(check(Shared::new(Stuck)).is_err());
        assert!(Shared::new(Stuck).flush().is_err());
    }

    #[test]
    #[should_panic(expected = "no `third` in first, second")]
    fn a_missing_part_is_named() {
        assert_contains("first, second", &["first", "third"]);
    }
}
