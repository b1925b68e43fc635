//! Shows what happens while a data set is loaded.

use super::streams::Streams;
use helmholtz_datasets::Event;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval between lines of a state where there is no terminal: what takes less time has none.
const EVERY: Duration = Duration::from_secs(60);

/// Number of plans that are being made.
static PLANNING: AtomicUsize = AtomicUsize::new(0);

/// While it lives, nothing has begun: no run folder is open, and a program that is told to stop may end at once.
pub struct Planning(());

impl Planning {
    /// From now on.
    pub fn begin() -> Self {
        PLANNING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Whether a plan is being made.
    pub fn is_active() -> bool {
        PLANNING.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        PLANNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A live line on a terminal, and plain lines for what should stay.
pub struct Loading {
    streams: Streams,
    live: ProgressBar,
    downloading: String,
    said: Mutex<Instant>,
}

impl Loading {
    /// Shows loading on the error stream.
    pub fn new(streams: &Streams) -> Self {
        let target = if streams.err_is_live {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let live = ProgressBar::with_draw_target(None, target);
        live.set_style(
            ProgressStyle::with_template("{spinner} {wide_msg}").expect("a well-formed template"),
        );
        live.enable_steady_tick(Duration::from_millis(100));
        Self {
            streams: streams.clone(),
            live,
            downloading: String::new(),
            said: Mutex::new(Instant::now()),
        }
    }

    /// Shows a passing state; without a terminal, one a minute.
    pub fn state(&self, text: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.streams.err_is_live && said.elapsed() >= EVERY {
            *said = Instant::now();
            self.streams.err.line(text.clone());
        }
        self.live.set_message(text);
    }

    /// Takes in an event.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::Reading { file, verifying } => {
                let doing = if verifying {
                    "reading and verifying"
                } else {
                    "reading"
                };
                let name = file
                    .file_name()
                    .unwrap_or(file.as_os_str())
                    .to_string_lossy()
                    .into_owned();
                self.state(format!("{doing} {name}"));
            }
            Event::WaitingForDownload { folder } => {
                self.stay(format!(
                    "Waiting: another program is downloading into {}.",
                    folder.display()
                ));
            }
            Event::Downloading {
                url,
                received,
                total,
            } => {
                if self.downloading != url {
                    self.stay(format!("Downloading {url}"));
                    self.downloading.clone_from(&url);
                }
                let of = total.map_or(String::new(), |total| format!(" of {}", HumanBytes(total)));
                self.state(format!("{}{of}", HumanBytes(received)));
            }
            Event::DownloadFailed { url, reason } => {
                self.stay(format!("Could not download {url}: {reason}"))
            }
            Event::Downloaded { file } => self.stay(format!("Downloaded {}", file.display())),
            Event::Generating { name } => self.state(format!("generating {name}")),
            _ => {}
        }
    }

    fn stay(&self, text: String) {
        self.live.suspend(|| self.streams.err.line(text));
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.live.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::Captured;

    fn loading() -> (Loading, Captured) {
        let (out, err) = (Captured::default(), Captured::default());
        (Loading::new(&Captured::streams(&out, &err)), err)
    }

    #[test]
    fn a_plan_is_being_made_until_it_is_there() {
        let planning = Planning::begin();
        assert!(Planning::is_active());
        drop(planning);
        // Other tests make plans of their own meanwhile.
        let begun = Instant::now();
        while Planning::is_active() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
    }

    #[test]
    fn without_a_terminal_a_state_is_said_once_a_minute() {
        let (loading, err) = loading();
        loading.state("reading a".into());
        assert_eq!(err.take(), "");
        *loading.said.lock().unwrap() = Instant::now().checked_sub(EVERY).unwrap();
        loading.state("reading b".into());
        loading.state("reading c".into());
        assert_eq!(err.take(), "reading b\n");
    }

    #[test]
    fn on_a_terminal_states_are_shown_live_and_not_said() {
        let err = Captured::default();
        let streams = Streams {
            err_is_live: true,
            ..Captured::streams(&Captured::default(), &err)
        };
        let loading = Loading::new(&streams);
        *loading.said.lock().unwrap() = Instant::now().checked_sub(EVERY).unwrap();
        loading.state("reading a".into());
        assert_eq!(
            (err.take(), loading.live.message()),
            (String::new(), "reading a".into())
        );
        let live = loading.live.clone();
        drop(loading);
        assert!(live.is_finished());
    }

    #[test]
    fn what_should_stay_is_said_at_once_and_a_download_by_its_address_once() {
        let (mut loading, err) = loading();
        let downloading = |url: &str, received| Event::Downloading {
            url: url.into(),
            received,
            total: Some(2048),
        };
        loading.event(downloading("https://a", 1));
        loading.event(downloading("https://a", 1024));
        assert_eq!(err.take(), "Downloading https://a\n");
        assert_eq!(loading.live.message(), "1.00 KiB of 2.00 KiB");
        loading.event(downloading("https://b", 1));
        loading.event(Event::DownloadFailed {
            url: "https://b".into(),
            reason: "no route".into(),
        });
        loading.event(Event::Downloaded {
            file: "a.gz".into(),
        });
        loading.event(Event::WaitingForDownload {
            folder: "data".into(),
        });
        let said = err.take();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines,
            [
                "Downloading https://b",
                "Could not download https://b: no route",
                "Downloaded a.gz",
                "Waiting: another program is downloading into data.",
            ]
        );
        for (verifying, text) in [
            (true, "reading and verifying b.gz"),
            (false, "reading b.gz"),
        ] {
            let file = "a/b.gz".into();
            loading.event(Event::Reading { file, verifying });
            assert_eq!(loading.live.message(), text);
        }
        loading.event(Event::Generating {
            name: "glyphs".into(),
        });
        assert_eq!(loading.live.message(), "generating glyphs");
        assert_eq!(err.take(), "");
    }
}
