//! Downloading a published file into the cache folder: mirrors in turn, resumed, retried, verified.
//!
//! What has arrived is kept in `NAME.part` and continued from there, by this call or a later one, from whichever
//! mirror answers. A file gets its name only when its content has the published sha256. A mirror is asked again while
//! it makes progress, and in later rounds when its failure may pass (a stall, a cut, an overloaded server). One that
//! has not got the file, or delivers another, is not asked again. When no mirror can be reached, there is no second
//! round.

mod attempt;
#[cfg(test)]
mod server;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use attempt::{Attempt, Trouble};

use crate::event::{Event, Progress};
use crate::folder::find_in;
use crate::{DataFile, Error};

/// How patiently files are downloaded.
#[derive(Debug, Clone)]
pub struct Downloader {
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest wait for the next bytes.
    pub stall_timeout: Duration,
    /// How often the list of mirrors is gone through.
    pub rounds: u32,
    /// The pause before the second round; it doubles with each further one.
    pub backoff: Duration,
    /// Bytes a second, over each `stall_timeout`, below which a mirror is left for the next.
    pub least_rate: u64,
    /// Once this is set, a download ends with [`Error::Stopped`]; what has arrived is kept.
    pub stop: Arc<AtomicBool>,
}

/// From one look at [`Downloader::stop`] to the next.
const LOOK: Duration = Duration::from_millis(100);

impl Default for Downloader {
    /// 10 s to connect, 30 s without a byte, 3 rounds, 1 s and 2 s between them, 1 kB/s.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            rounds: 3,
            backoff: Duration::from_secs(1),
            least_rate: 1000,
            stop: Arc::default(),
        }
    }
}

/// What is known of a mirror.
struct Mirror<'a> {
    url: &'a str,
    /// The most bytes that were on the disk after an attempt that ended early.
    best: u64,
    /// It delivered something wrong onto an earlier beginning and was asked for the whole.
    restarted: bool,
    /// It is not asked again.
    refused: bool,
    /// There was no connection the last time.
    unreachable: bool,
    /// Why the latest attempt failed.
    reason: String,
}

/// The reasons why no mirror delivered, by address.
pub(crate) type Failures = Vec<(String, String)>;

impl Downloader {
    /// Downloads `file` into `folder`, which is created if need be; waits while another program does so.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] and [`Error::Io`] when the file cannot be written, [`Error::Stopped`]. That no mirror delivers is not an error
    /// here but the inner `Err`.
    pub(crate) fn download(
        &self,
        file: &DataFile,
        folder: &Path,
        progress: &mut Progress,
    ) -> Result<Result<PathBuf, Failures>, Error> {
        let _lock = match self.lock(folder, progress) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(self.stopped(file)),
            Err(error) => {
                let reason = format!("cannot write to the cache folder: {error}");
                return Ok(Err(vec![(folder.display().to_string(), reason)]));
            }
        };
        if let Ok(path) = find_in(folder, &file.name) {
            return Ok(Ok(path)); // another program was faster
        }

        let agent = attempt::agent(self);
        // Encrypted homes first: what others read or change on the way is found out by the checksum, but late.
        let mut urls: Vec<_> = file.urls.iter().collect();
        urls.sort_by_key(|url| !url.starts_with("https://"));
        let mut mirrors: Vec<_> = urls
            .into_iter()
            .map(|url| Mirror {
                url,
                best: 0,
                restarted: false,
                refused: false,
                unreachable: false,
                reason: String::new(),
            })
            .collect();
        for round in 0..self.rounds {
            if mirrors.iter().all(|m| m.refused || m.unreachable) {
                break;
            }
            if round > 0 && self.is_stopped_within(self.pause_before(round)) {
                return Err(self.stopped(file));
            }
            for mirror in mirrors.iter_mut().filter(|mirror| !mirror.refused) {
                let attempt = Attempt::new(&agent, self, file, folder, mirror.url);
                if mirror.ask(&attempt, file, progress)? {
                    progress(Event::Downloaded {
                        file: attempt.target.clone(),
                    });
                    return Ok(Ok(attempt.target));
                }
                attempt.remove_empty_part();
            }
        }
        let failures = mirrors.into_iter().map(|m| (m.url.to_owned(), m.reason));
        Ok(Err(failures.collect()))
    }

    /// The pause before a round after the first: doubled with each, ten times at most.
    fn pause_before(&self, round: u32) -> Duration {
        self.backoff * (1 << (round - 1).min(10))
    }

    /// Whether so many bytes are too few for a window of `stall_timeout`.
    fn are_too_few(&self, bytes: u64) -> bool {
        (bytes as f64) < self.least_rate as f64 * self.stall_timeout.as_secs_f64()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits so long, or until it is told to stop.
    fn is_stopped_within(&self, pause: Duration) -> bool {
        let begun = Instant::now();
        while !self.is_stopped() {
            let Some(left) = pause.checked_sub(begun.elapsed()) else {
                return false;
            };
            thread::sleep(left.min(LOOK));
        }
        true
    }

    fn stopped(&self, file: &DataFile) -> Error {
        Error::Stopped {
            file: (&file.name).into(),
        }
    }

    /// Locks the folder against other programs' downloads until the file is dropped; none if it is told to stop while it waits.
    fn lock(&self, folder: &Path, progress: &mut Progress) -> std::io::Result<Option<File>> {
        fs::create_dir_all(folder)?;
        let path = folder.join("download.lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        if !may_go_on(file.try_lock())? {
            progress(Event::WaitingForDownload {
                folder: folder.to_owned(),
            });
            while !may_go_on(file.try_lock())? {
                if self.is_stopped_within(LOOK) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(file))
    }
}

/// Whether the lock is held, or there is none to be had: ENOSYS, EOPNOTSUPP or ENOLCK. Two downloads at once do no harm but to the
/// network: each is verified.
fn may_go_on(locked: Result<(), TryLockError>) -> std::io::Result<bool> {
    // ENOLCK of Linux, which has no kind of its own.
    const NO_LOCKS: Option<i32> = Some(37);
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => match (error.kind(), error.raw_os_error()) {
            (ErrorKind::Unsupported, _) | (_, NO_LOCKS) => Ok(true),
            _ => Err(error),
        },
    }
}

impl Mirror<'_> {
    /// Asks for the file, again and again while that brings at least a hundredth of it; true when it is complete.
    fn ask(
        &mut self,
        attempt: &Attempt,
        file: &DataFile,
        progress: &mut Progress,
    ) -> Result<bool, Error> {
        loop {
            let outcome = attempt.run(progress);
            self.unreachable = matches!(outcome, Err(Trouble::Unreachable(_)));
            let again = match outcome {
                Ok(()) => return Ok(true),
                Err(Trouble::Fatal(error)) => return Err(error),
                Err(Trouble::Stopped) => {
                    return Err(Error::Stopped {
                        file: attempt.target.clone(),
                    });
                }
                Err(Trouble::Unreachable(reason)) => {
                    self.reason = reason;
                    false
                }
                Err(Trouble::Refused(reason)) => {
                    self.refused = true;
                    self.reason = reason;
                    false
                }
                Err(Trouble::Spoiled(reason)) => {
                    self.reason = reason;
                    self.refused = self.restarted;
                    !std::mem::replace(&mut self.restarted, true)
                }
                Err(Trouble::Passing(reason)) => {
                    self.reason = reason;
                    let length = attempt.part_length();
                    let progressed = length >= self.best + (file.length / 100).max(1);
                    self.best = self.best.max(length);
                    progressed
                }
            };
            progress(Event::DownloadFailed {
                url: self.url.to_owned(),
                reason: self.reason.clone(),
            });
            if !again {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::server::{Reply, Server};
    use super::*;
    use crate::testing::{gzip, published};
    use crate::{Locator, Missing};

    const NAME: &str = "digits.amat";

    /// Patient enough for any busy machine, but for the pause between rounds.
    fn patience() -> Downloader {
        Downloader {
            connect_timeout: Duration::from_secs(20),
            stall_timeout: Duration::from_secs(20),
            rounds: 3,
            backoff: Duration::from_millis(1),
            least_rate: 0,
            stop: Arc::default(),
        }
    }

    /// 100,000 bytes without a pattern.
    fn content() -> Vec<u8> {
        (0..100_000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect()
    }

    /// An empty cache folder and the events of downloading into it.
    struct Fixture {
        folder: tempfile::TempDir,
        downloader: Downloader,
        events: Vec<Event>,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self {
                folder,
                downloader: patience(),
                events: Vec::new(),
            }
        }

        /// Downloads `content` under `name` (which may end in `.gz`) from these servers.
        fn get(
            &mut self,
            content: &[u8],
            name: &str,
            servers: &[&Server],
        ) -> Result<PathBuf, Error> {
            let file = DataFile {
                urls: servers.iter().map(|server| server.url(name)).collect(),
                ..published(NAME, content)
            };
            let locator = Locator {
                data_dir: None,
                environment_dir: None,
                cache_dir: Some(self.folder.path().to_owned()),
                download: Some(self.downloader.clone()),
            };
            locator.find(&file, &mut |event| self.events.push(event))
        }

        fn part(&self) -> PathBuf {
            self.folder.path().join(format!("{NAME}.part"))
        }

        fn reasons(&self) -> String {
            let reasons = self.events.iter().filter_map(|event| match event {
                Event::DownloadFailed { reason, .. } => Some(reason.as_str()),
                _ => None,
            });
            reasons.collect::<Vec<_>>().join("\n")
        }
    }

    fn missing(result: Result<PathBuf, Error>) -> Missing {
        match result {
            Err(Error::Missing(missing)) => *missing,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_downloaded_once_with_progress() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(path, cache.folder.path().join(NAME));
        assert_eq!(fs::read(&path).unwrap(), content());
        let url = server.url(NAME);
        let (first, last) = (
            cache.events.first().cloned(),
            cache.events.iter().nth_back(1).cloned(),
        );
        for (event, received) in [(first, 0), (last, 100_000)] {
            let total = Some(100_000);
            assert_eq!(
                event,
                Some(Event::Downloading {
                    url: url.clone(),
                    received,
                    total
                })
            );
        }
        assert_eq!(cache.events.last(), Some(&Event::Downloaded { file: path }));
        cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(server.requests(), [None]);
        assert!(!cache.part().exists());
    }

    /// Of 256 kB each, and a beginning and an end.
    #[test]
    fn progress_is_told_in_steps() {
        let content = content().repeat(10);
        let server = Server::start(&content, &[Reply::Honest]);
        let mut cache = Fixture::new();
        cache.get(&content, NAME, &[&server]).unwrap();
        let told = cache.events.iter().filter_map(|event| match event {
            Event::Downloading { received, .. } => Some(*received),
            _ => None,
        });
        let told: Vec<u64> = told.collect();
        let (&last, steps) = told.split_last().unwrap();
        assert!(steps[0] == 0 && last == 1_000_000, "{told:?}");
        // A step ends with the piece that completes it, of 64 kB at most.
        let step = (1 << 18)..(1 << 18) + (1 << 16);
        assert!(steps.len() >= 4, "{told:?}");
        let steps = steps.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.into_iter().all(|n| step.contains(&n)), "{told:?}");
    }

    #[test]
    fn a_gzipped_file_is_checked_by_its_decompressed_content() {
        let server = Server::start(&gzip(&content()), &[Reply::Honest]);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), "digits.amat.gz", &[&server]).unwrap();
        assert_eq!(path, cache.folder.path().join("digits.amat.gz"));
        assert_eq!(fs::read(&path).unwrap(), gzip(&content()));
    }

    #[test]
    fn a_cut_download_goes_on_where_it_was_cut() {
        let replies = [
            Reply::CutAfter(30_000),
            Reply::CutAfter(20_000),
            Reply::Honest,
        ];
        let server = Server::start(&content(), &replies);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert_eq!(server.requests(), [None, Some(30_000), Some(50_000)]);
        assert!(
            cache.reasons().contains("cut after 30000 bytes"),
            "{}",
            cache.reasons()
        );
    }

    #[test]
    fn another_mirror_goes_on_where_the_first_was_cut() {
        let first = Server::start(&content(), &[Reply::CutAfter(40_000), Reply::Status(503)]);
        let second = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        cache.get(&content(), NAME, &[&first, &second]).unwrap();
        assert_eq!(first.requests(), [None, Some(40_000)]);
        assert_eq!(second.requests(), [Some(40_000)]);
    }

    #[test]
    fn a_later_call_goes_on_where_an_earlier_one_gave_up() {
        let server = Server::start(&content(), &[Reply::CutAfter(60_000), Reply::Status(404)]);
        let mut cache = Fixture::new();
        let failures = missing(cache.get(&content(), NAME, &[&server])).failures;
        assert_eq!(
            failures,
            [(server.url(NAME), "the server answered 404".to_owned())]
        );
        assert_eq!(fs::read(cache.part()).unwrap(), content()[..60_000]);
        let server = Server::start(&content(), &[Reply::Honest]);
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert_eq!(server.requests(), [Some(60_000)]);
    }

    #[test]
    fn a_complete_part_needs_only_its_name() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        fs::write(cache.part(), content()).unwrap();
        cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(server.requests(), [Some(100_000)]);
        assert!(!cache.part().exists());
    }

    #[test]
    fn a_stall_is_noticed_and_the_download_goes_on() {
        for stall in [Reply::StallAfter(25_000), Reply::StallAtOnce] {
            let server = Server::start(&content(), &[stall, Reply::Honest]);
            let mut cache = Fixture::new();
            // Rounds enough that a busy machine, to which an honest answer may look like a stall, passes too.
            cache.downloader.stall_timeout = Duration::from_millis(200);
            cache.downloader.rounds = 20;
            let path = cache.get(&content(), NAME, &[&server]).unwrap();
            assert_eq!(fs::read(path).unwrap(), content());
            assert!(
                cache
                    .reasons()
                    .starts_with("stalled: nothing came for 200ms"),
                "{}",
                cache.reasons()
            );
        }
    }

    #[test]
    fn a_server_without_ranges_is_asked_for_the_whole() {
        let replies = [Reply::CutAfter(70_000), Reply::IgnoreRange];
        let server = Server::start(&content(), &replies);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert_eq!(server.requests(), [None, Some(70_000)]);
    }

    #[test]
    fn a_range_that_was_not_asked_for_is_not_appended() {
        let replies = [Reply::CutAfter(70_000), Reply::OtherRange, Reply::Honest];
        let server = Server::start(&content(), &replies);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert_eq!(server.requests(), [None, Some(70_000), None]);
    }

    #[test]
    fn a_liar_is_found_out_and_the_next_mirror_asked() {
        let mut lie = content();
        lie[99_999] ^= 1;
        let liar = Server::start(&content(), &[Reply::Lie(lie.clone())]);
        let honest = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        let path = cache.get(&content(), NAME, &[&liar, &honest]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        let (expected, found) = (published("", &content()).sha256, published("", &lie).sha256);
        let reason = format!("expected sha256 {expected}, found {found}");
        assert!(cache.reasons().contains(&reason), "{}", cache.reasons());
        assert_eq!(honest.requests(), [None], "nothing of the lie is kept");
    }

    #[test]
    fn a_liar_alone_is_asked_once_and_leaves_nothing() {
        let html = b"<!DOCTYPE html><p>This page has moved.".to_vec();
        let packed = gzip(b"something else");
        for (name, lie, expected) in [
            (
                NAME,
                Reply::Lie(html.clone()),
                "offers 38 bytes (content type text/html), not the 100000",
            ),
            (
                NAME,
                Reply::LieWithoutLength(html.clone()),
                "incomplete content: 38 of 100000 bytes",
            ),
            (
                NAME,
                Reply::LieWithoutLength(vec![7; 200_000]),
                "sent more than the 100000 bytes",
            ),
            // A hundredth and 1 kB more are received, as a gzipped file may need them.
            (
                NAME,
                Reply::LieWithoutLength(vec![7; 102_024]),
                "delivered more than the 100000 bytes",
            ),
            (
                NAME,
                Reply::LieWithoutLength(vec![7; 102_025]),
                "sent more than the 100000 bytes",
            ),
            (
                "digits.amat.gz",
                Reply::Lie(html),
                "not gzip: it starts with `<!DOCTYPE html><`",
            ),
            (
                "digits.amat.gz",
                Reply::Lie(packed.clone()),
                "incomplete content: 14 of 100000 bytes",
            ),
            (
                "digits.amat.gz",
                Reply::Lie(packed[..20].to_vec()),
                "incomplete content",
            ),
            (NAME, Reply::Status(404), "answered 404"),
            // Answers to a range, where none was asked for.
            (NAME, Reply::OtherRange, "answered 206"),
            (NAME, Reply::Status(416), "answered 416"),
            (NAME, Reply::Status(403), "answered 403"),
        ] {
            let server = Server::start(&content(), &[lie]);
            let mut cache = Fixture::new();
            let failures = missing(cache.get(&content(), name, &[&server])).failures;
            assert!(
                failures[0].1.contains(expected),
                "{expected} in {failures:?}"
            );
            assert_eq!(server.requests(), [None]);
            let left: Vec<_> = cache.folder.path().read_dir().unwrap().flatten().collect();
            assert_eq!(left.len(), 1, "only the lock: {left:?}");
        }
    }

    #[test]
    fn a_spoiled_beginning_is_discarded_once() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        fs::write(cache.part(), vec![b'x'; 10_000]).unwrap();
        let path = cache.get(&content(), NAME, &[&server]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert_eq!(server.requests(), [Some(10_000), None]);
    }

    #[test]
    fn a_liar_that_is_cut_again_and_again_is_given_up() {
        let lie = vec![b'x'; 100_000];
        let server = Server::start(
            &lie,
            &[
                Reply::CutAfter(50_000),
                Reply::Honest,
                Reply::CutAfter(60_000),
                Reply::Honest,
            ],
        );
        let mut cache = Fixture::new();
        let failures = missing(cache.get(&content(), NAME, &[&server])).failures;
        assert!(failures[0].1.contains("wrong content"), "{failures:?}");
        assert_eq!(server.requests(), [None, Some(50_000), None, Some(60_000)]);
    }

    #[test]
    fn an_overloaded_server_is_asked_in_every_round_and_every_mirror_is_named() {
        let busy = Server::start(&content(), &[Reply::Status(503)]);
        let gone = Server::start(&content(), &[Reply::Status(410)]);
        let mut cache = Fixture::new();
        let missing = missing(cache.get(&content(), NAME, &[&busy, &gone]));
        assert_eq!(busy.requests().len(), 3);
        assert_eq!(gone.requests().len(), 1);
        let text = missing.to_string();
        for part in [
            &busy.url(NAME),
            &gone.url(NAME),
            "answered 503",
            "answered 410",
            "--data-dir",
            "glyphs",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn an_error_page_does_not_cost_what_is_there() {
        let page = Reply::Lie(b"<!DOCTYPE html>".to_vec());
        let server = Server::start(&content(), &[Reply::CutAfter(50_000), page]);
        let mut cache = Fixture::new();
        let failures = missing(cache.get(&content(), NAME, &[&server])).failures;
        assert!(failures[0].1.contains("offers 15 bytes"), "{failures:?}");
        assert_eq!(fs::read(cache.part()).unwrap(), content()[..50_000]);
    }

    #[test]
    fn a_server_that_starts_anew_and_cuts_every_time_is_given_up() {
        let server = Server::start(&content(), &[Reply::IgnoreRangeAndCutAfter(50_000)]);
        let mut cache = Fixture::new();
        let failures = missing(cache.get(&content(), NAME, &[&server])).failures;
        assert!(
            failures[0].1.contains("cut after 50000 bytes"),
            "{failures:?}"
        );
        let once_more = Some(50_000); // the first attempt made progress
        assert_eq!(server.requests(), [None, once_more, once_more, once_more]);
    }

    #[test]
    fn without_a_network_every_mirror_is_tried_once() {
        // Nothing listens on port 0; an address that is none is refused for good.
        let urls = ["http://127.0.0.1:0/a", "http://localhost:0/a", "nonsense"];
        let file = DataFile {
            urls: urls.map(str::to_owned).to_vec(),
            ..published(NAME, &content())
        };
        let folder = tempfile::tempdir().unwrap();
        let mut tried = Vec::new();
        let failures = patience()
            .download(&file, folder.path(), &mut |event| match event {
                Event::DownloadFailed { url, .. } => tried.push(url),
                other => panic!("{other:?}"),
            })
            .unwrap()
            .unwrap_err();
        assert_eq!(tried, urls);
        assert_eq!(failures.len(), 3);
    }

    #[test]
    fn a_server_without_tls_behind_https_is_a_failed_mirror() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let file = DataFile {
            urls: vec![
                server.url(NAME).replace("http://", "https://"),
                server.url(NAME),
            ],
            ..published(NAME, &content())
        };
        let folder = tempfile::tempdir().unwrap();
        let mut events = Vec::new();
        let path = patience()
            .download(&file, folder.path(), &mut |e| events.push(e))
            .unwrap()
            .unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert!(matches!(&events[0], Event::DownloadFailed { url, .. } if *url == file.urls[0]));
    }

    #[test]
    fn a_redirect_is_followed_with_its_range() {
        let target = Server::start(&content(), &[Reply::CutAfter(10_000), Reply::Honest]);
        let home = Server::start(&content(), &[Reply::Redirect(target.url(NAME))]);
        let mut cache = Fixture::new();
        cache.get(&content(), NAME, &[&home]).unwrap();
        assert_eq!(target.requests(), [None, Some(10_000)]);
    }

    #[test]
    fn two_downloads_at_once_ask_for_the_file_once() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let folder = tempfile::tempdir().unwrap();
        let file = DataFile {
            urls: vec![server.url(NAME)],
            ..published(NAME, &content())
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    patience()
                        .download(&file, folder.path(), &mut |_| {})
                        .unwrap()
                        .unwrap();
                });
            }
        });
        assert_eq!(server.requests(), [None]);
    }

    #[test]
    fn a_cache_folder_that_cannot_be_made_is_a_reason_not_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        fs::write(&blocked, "").unwrap();
        let file = published(NAME, &content());
        let result = patience().download(&file, &blocked.join("cache"), &mut |_| {});
        let failures = result.unwrap().unwrap_err();
        assert!(
            failures[0].1.contains("cannot write to the cache folder"),
            "{failures:?}"
        );
    }

    /// A byte now and then, for ever.
    fn trickle() -> Server {
        Server::start(&content(), &[Reply::Trickle(Duration::from_millis(20))])
    }

    #[test]
    fn a_slow_mirror_is_left_for_the_next_which_goes_on_from_there() {
        let (slow, honest) = (trickle(), Server::start(&content(), &[Reply::Honest]));
        let mut cache = Fixture::new();
        cache.downloader.stall_timeout = Duration::from_millis(500);
        cache.downloader.least_rate = 1000;
        // What an earlier call received does not make this one quick.
        fs::write(cache.part(), &content()[..10_000]).unwrap();
        let path = cache.get(&content(), NAME, &[&slow, &honest]).unwrap();
        assert_eq!(fs::read(path).unwrap(), content());
        assert!(cache.reasons().contains("too slow"), "{}", cache.reasons());
        assert!(
            honest.requests()[0] > Some(10_000),
            "what had arrived was thrown away"
        );
    }

    /// Of 200 bytes a second, with 10 asked for: of the first byte alone no rate is known.
    #[test]
    fn a_mirror_is_not_too_slow_before_its_window_is_over() {
        let content = &content()[..200];
        let server = Server::start(content, &[Reply::Trickle(Duration::from_millis(5))]);
        let mut cache = Fixture::new();
        cache.downloader.stall_timeout = Duration::from_millis(500);
        cache.downloader.least_rate = 10;
        cache.get(content, NAME, &[&server]).unwrap();
        assert_eq!(cache.reasons(), "");
    }

    #[test]
    fn a_mirror_is_too_slow_below_its_rate_over_a_window() {
        let mut downloader = patience();
        downloader.stall_timeout = Duration::from_millis(500);
        downloader.least_rate = 1000;
        assert!(downloader.are_too_few(499) && !downloader.are_too_few(500));
    }

    #[test]
    fn pauses_double_ten_times() {
        let mut downloader = patience();
        downloader.backoff = Duration::from_secs(3);
        for (round, seconds) in [(1, 3), (2, 6), (3, 12), (11, 3072), (99, 3072)] {
            let pause = Duration::from_secs(seconds);
            assert_eq!(downloader.pause_before(round), pause);
        }
        // And they are made: of 20 and 40 ms before the second and the third round.
        downloader.backoff = Duration::from_millis(20);
        let busy = Server::start(&content(), &[Reply::Status(503)]);
        let file = DataFile {
            urls: vec![busy.url(NAME)],
            ..published(NAME, &content())
        };
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let result = downloader.download(&file, folder.path(), &mut |_| {});
        assert!(result.unwrap().is_err());
        assert!(begun.elapsed() >= Duration::from_millis(60));
    }

    #[test]
    fn a_file_system_without_locks_is_no_obstacle_and_another_failure_is_one() {
        use std::io::Error;
        let failed = |error| may_go_on(Err(TryLockError::Error(error)));
        assert!(may_go_on(Ok(())).unwrap());
        assert!(!may_go_on(Err(TryLockError::WouldBlock)).unwrap());
        assert!(failed(ErrorKind::Unsupported.into()).unwrap());
        assert!(failed(Error::from_raw_os_error(37)).unwrap());
        let denied = failed(ErrorKind::PermissionDenied.into()).unwrap_err();
        assert_eq!(denied.kind(), ErrorKind::PermissionDenied);
    }

    #[test]
    fn that_another_download_is_waited_for_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let other = File::create(folder.path().join("download.lock")).unwrap();
        other.lock().unwrap();
        let server = Server::start(&content(), &[Reply::Honest]);
        let file = DataFile {
            urls: vec![server.url(NAME)],
            ..published(NAME, &content())
        };
        let mut waits = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(4 * LOOK);
                drop(other);
            });
            let progress = &mut |event| {
                waits += u32::from(matches!(event, Event::WaitingForDownload { .. }));
            };
            let result = patience().download(&file, folder.path(), progress);
            result.unwrap().unwrap();
        });
        assert_eq!(waits, 1);
    }

    #[test]
    fn told_to_stop_a_download_ends_and_keeps_what_has_arrived() {
        for reply in [
            Reply::Trickle(Duration::from_millis(20)),
            Reply::StallAtOnce,
        ] {
            let stalls = matches!(reply, Reply::StallAtOnce);
            let server = Server::start(&content(), &[reply]);
            let folder = tempfile::tempdir().unwrap();
            let file = DataFile {
                urls: vec![server.url(NAME)],
                ..published(NAME, &content())
            };
            let mut downloader = patience();
            // How long the thread that listens to a silent server outlives the download.
            downloader.stall_timeout = Duration::from_secs(2);
            let result = thread::scope(|scope| {
                let download =
                    scope.spawn(|| downloader.download(&file, folder.path(), &mut |_| {}));
                while server.requests().is_empty() {
                    thread::sleep(Duration::from_millis(5));
                }
                thread::sleep(Duration::from_millis(100));
                downloader.stop.store(true, Ordering::Relaxed);
                download.join().unwrap()
            });
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Stopped { .. }), "{error}");
            assert!(!error.is_missing());
            let part = fs::metadata(folder.path().join(format!("{NAME}.part")));
            assert!(stalls || part.unwrap().len() > 0);
        }
    }

    #[test]
    fn told_to_stop_a_download_waits_neither_for_another_one_nor_for_the_next_round() {
        let folder = tempfile::tempdir().unwrap();
        let other = File::create(folder.path().join("download.lock")).unwrap();
        other.lock().unwrap();
        let busy = Server::start(&content(), &[Reply::Status(503)]);
        let file = DataFile {
            urls: vec![busy.url(NAME)],
            ..published(NAME, &content())
        };
        let mut downloader = patience();
        downloader.backoff = Duration::from_secs(100_000);
        let stop = downloader.stop.clone();
        let mut stop_at_once = |_| stop.store(true, Ordering::Relaxed);
        let waiting = downloader.download(&file, folder.path(), &mut stop_at_once);
        assert!(matches!(waiting, Err(Error::Stopped { .. })));
        drop(other);
        downloader.stop.store(false, Ordering::Relaxed);
        let between = downloader.download(&file, folder.path(), &mut stop_at_once);
        assert!(matches!(between, Err(Error::Stopped { .. })));
    }

    #[test]
    fn encrypted_homes_are_asked_first() {
        let urls = [
            "http://127.0.0.1:0/a",
            "https://127.0.0.1:0/b",
            "http://127.0.0.1:0/c",
        ];
        let file = DataFile {
            urls: urls.map(str::to_owned).to_vec(),
            ..published(NAME, &content())
        };
        let folder = tempfile::tempdir().unwrap();
        let failures = patience()
            .download(&file, folder.path(), &mut |_| {})
            .unwrap()
            .unwrap_err();
        let asked: Vec<&str> = failures.iter().map(|(url, _)| url.as_str()).collect();
        assert_eq!(asked, [urls[1], urls[0], urls[2]]);
    }

    /// `/dev/full` accepts no byte for want of space.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_of_its_own() {
        let server = Server::start(&content(), &[Reply::Honest]);
        let mut cache = Fixture::new();
        std::os::unix::fs::symlink("/dev/full", cache.part()).unwrap();
        let error = cache.get(&content(), NAME, &[&server]).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
        assert!(error.to_string().contains("digits.amat.part"), "{error}");
        assert!(!error.is_missing());
    }
}
