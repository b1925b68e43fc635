//! One request to one mirror.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use ureq::http::{Response, header};
use ureq::{Agent, Body, Timeout};

use super::{Downloader, LOOK};
use crate::content::{Content, LENGTH};
use crate::event::{Event, Progress};
use crate::{DataFile, Error};

/// Bytes between two progress events.
const STEP: u64 = 1 << 18;

/// Why an attempt did not complete the file.
pub(super) enum Trouble {
    /// The mirror has not got the file.
    Refused(String),
    /// There was no connection to the mirror.
    Unreachable(String),
    /// Another attempt may go on from here.
    Passing(String),
    /// The beginning on the disk and this mirror's continuation do not make the file; the beginning was discarded.
    Spoiled(String),
    /// The file cannot be written here.
    Fatal(Error),
    /// The caller asked to stop.
    Stopped,
}

/// What a mirror sends, as a thread of its own hears it: while it waits for the network, nothing else can be noticed.
enum News {
    Head(Head),
    Bytes(Vec<u8>),
    End,
    Failed(ureq::Error),
}

/// The beginning of an answer.
struct Head {
    status: u16,
    range: String,
    kind: String,
    length: Option<u64>,
}

/// A file to be had from one address.
pub(super) struct Attempt<'a> {
    agent: &'a Agent,
    patience: &'a Downloader,
    file: &'a DataFile,
    url: &'a str,
    gzipped: bool,
    part: PathBuf,
    /// The name of the complete file.
    pub(super) target: PathBuf,
}

/// The HTTP client.
pub(super) fn agent(patience: &Downloader) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(patience.connect_timeout))
        .timeout_connect(Some(patience.connect_timeout))
        .timeout_recv_response(Some(patience.stall_timeout))
        .timeout_per_read(Some(patience.stall_timeout))
        .user_agent(concat!("helmholtz-datasets/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        agent: &'a Agent,
        patience: &'a Downloader,
        file: &'a DataFile,
        folder: &Path,
        url: &'a str,
    ) -> Self {
        let gzipped = url.ends_with(".gz");
        let name = format!("{}{}", file.name, if gzipped { ".gz" } else { "" });
        Self {
            agent,
            patience,
            file,
            url,
            gzipped,
            part: folder.join(format!("{name}.part")),
            target: folder.join(name),
        }
    }

    /// Bytes that are on the disk.
    pub(super) fn part_length(&self) -> u64 {
        fs::metadata(&self.part).map_or(0, |m| m.len())
    }

    /// Leaves no empty file behind.
    pub(super) fn remove_empty_part(&self) {
        if self.part_length() == 0 {
            let _ = fs::remove_file(&self.part);
        }
    }

    /// Asks for what is not on the disk yet, appends it, verifies the whole and gives it its name.
    pub(super) fn run(&self, progress: &mut Progress) -> Result<(), Trouble> {
        let mut part = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.part)
            .map_err(|e| self.fatal("open", e))?;
        let have = part.metadata().map_err(|e| self.fatal("read", e))?.len();
        let news = self.request(have);
        let head = match self.next(&news)? {
            News::Head(head) => head,
            News::Failed(error) => return Err(self.network_trouble(error)),
            News::Bytes(_) | News::End => {
                return Err(Trouble::Passing("the server sent no answer".into()));
            }
        };
        let resumed = match head.status {
            206 if have > 0 => {
                self.check_range(&head, have)?;
                true
            }
            416 if have > 0 => return self.publish(&part, true), // nothing is left to send
            200 => {
                self.check_length(&head)?;
                if have > 0 {
                    part.set_len(0).map_err(|e| self.fatal("empty", e))?;
                }
                false
            }
            status @ (408 | 425 | 429 | 500..) => {
                return Err(Trouble::Passing(format!("the server answered {status}")));
            }
            status => return Err(Trouble::Refused(format!("the server answered {status}"))),
        };
        let received = if resumed { have } else { 0 };
        self.receive(&head, &news, &mut part, received, progress)?;
        self.publish(&part, resumed)
    }

    /// Sends the request, for the rest when there is a beginning already, and listens in a thread of its own.
    fn request(&self, have: u64) -> Receiver<News> {
        let mut request = self.agent.get(self.url);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let host = request.uri_ref().and_then(|uri| uri.host());
        if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
            request = request.config().proxy(None).build();
        }
        let (sender, news) = sync_channel(4);
        let refused = sender.clone();
        // It ends with its mirror's answer, with a timeout, or when nobody listens any more.
        let started = thread::Builder::new().spawn(move || match request.call() {
            Ok(response) => receive(response, &sender),
            Err(error) => drop(sender.send(News::Failed(error))),
        });
        if let Err(error) = started {
            drop(refused.send(News::Failed(error.into())));
        }
        news
    }

    /// What comes next.
    fn next(&self, news: &Receiver<News>) -> Result<News, Trouble> {
        loop {
            if self.patience.is_stopped() {
                return Err(Trouble::Stopped);
            }
            match news.recv_timeout(LOOK) {
                Ok(news) => return Ok(news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(News::End),
            }
        }
    }

    /// The rest that is sent must begin where the file on the disk ends.
    fn check_range(&self, head: &Head, have: u64) -> Result<(), Trouble> {
        if head.range.starts_with(&format!("bytes {have}-")) {
            return Ok(());
        }
        self.discard()?;
        Err(Trouble::Spoiled(format!(
            "asked for the bytes from {have}, the server sent `{}`",
            head.range
        )))
    }

    /// An uncompressed file must have the published length: else it is something else, an error page perhaps.
    fn check_length(&self, head: &Head) -> Result<(), Trouble> {
        match head.length {
            Some(length) if !self.gzipped && length != self.file.length => {
                Err(Trouble::Refused(format!(
                    "the server offers {length} bytes (content type {}), not the {} of the file",
                    head.kind, self.file.length
                )))
            }
            _ => Ok(()),
        }
    }

    /// Appends the body to the part.
    fn receive(
        &self,
        head: &Head,
        news: &Receiver<News>,
        part: &mut File,
        mut received: u64,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let total = head.length.map(|n| n + received);
        // Gzip never makes a file much longer.
        let limit = self.file.length + self.file.length / 100 + 1024;
        let mut told = None;
        let window = self.patience.stall_timeout;
        let mut since = (Instant::now(), received);
        loop {
            if told.is_none_or(|told| received >= told + STEP) || Some(received) == total {
                told = Some(received);
                progress(Event::Downloading {
                    url: self.url.to_owned(),
                    received,
                    total,
                });
            }
            match self.next(news)? {
                News::Bytes(bytes) => {
                    part.write_all(&bytes).map_err(|e| self.fatal("write", e))?;
                    received += bytes.len() as u64;
                }
                News::Failed(error) => return Err(self.network_trouble(error)),
                News::Head(_) | News::End => return Ok(()),
            }
            if received > limit {
                self.discard()?;
                return Err(Trouble::Refused(format!(
                    "the server sent more than the {} bytes of the file",
                    self.file.length
                )));
            }
            if since.0.elapsed() >= window {
                let came = received - since.1;
                if self.patience.are_too_few(came) {
                    return Err(Trouble::Passing(format!(
                        "too slow: {came} bytes came in {window:?}"
                    )));
                }
                since = (Instant::now(), received);
            }
        }
    }

    /// Gives the part its name when its content is the published one; else discards it.
    fn publish(&self, part: &File, resumed: bool) -> Result<(), Trouble> {
        let reason = match Content::verify(&self.part, self.gzipped, self.file) {
            Ok(()) => {
                part.sync_all().map_err(|e| self.fatal("write", e))?;
                return fs::rename(&self.part, &self.target).map_err(|e| self.fatal("rename", e));
            }
            Err(Error::WrongChecksum { kind: LENGTH, .. }) => {
                format!("more than the {} bytes of the file", self.file.length)
            }
            Err(Error::WrongChecksum {
                expected, found, ..
            }) => format!("wrong content: expected sha256 {expected}, found {found}"),
            Err(Error::Truncated { found, .. }) => format!("incomplete content: {found}"),
            Err(Error::NotGzip { found, .. }) => format!("not gzip: it starts with {found}"),
            Err(Error::Corrupt { at, found, .. }) => format!("corrupt at {at}: {found}"),
            Err(other) => return Err(Trouble::Fatal(other)),
        };
        self.discard()?;
        let reason = format!("the server delivered {reason}");
        Err(if resumed {
            Trouble::Spoiled(reason)
        } else {
            Trouble::Refused(reason)
        })
    }

    /// Empties the part.
    fn discard(&self) -> Result<(), Trouble> {
        File::create(&self.part)
            .map(drop)
            .map_err(|e| self.fatal("empty", e))
    }

    fn fatal(&self, doing: &'static str, error: std::io::Error) -> Trouble {
        Trouble::Fatal(Error::io(doing, &self.part, error))
    }

    /// What a failed exchange means.
    fn network_trouble(&self, error: ureq::Error) -> Trouble {
        use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        match error {
            ureq::Error::Timeout(Timeout::PerRead | Timeout::RecvResponse) => {
                Trouble::Passing(format!(
                    "stalled: nothing came for {:?}",
                    self.patience.stall_timeout
                ))
            }
            ureq::Error::Io(e) => match e.kind() {
                UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => {
                    let length = self.part_length();
                    Trouble::Passing(format!("the connection was cut after {length} bytes"))
                }
                _ => Trouble::Unreachable(e.to_string()),
            },
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Trouble::Unreachable(error.to_string())
            }
            ureq::Error::BadUri(_) | ureq::Error::TooManyRedirects => {
                Trouble::Refused(error.to_string())
            }
            other => Trouble::Passing(other.to_string()),
        }
    }
}

/// Tells what a mirror sends, until nobody listens.
fn receive(response: Response<Body>, sender: &SyncSender<News>) {
    let text = |name| {
        let value = response.headers().get(name);
        value.and_then(|value: &header::HeaderValue| value.to_str().ok())
    };
    let head = Head {
        status: response.status().as_u16(),
        range: text(header::CONTENT_RANGE).unwrap_or_default().into(),
        kind: text(header::CONTENT_TYPE).unwrap_or("unknown").into(),
        length: response.body().content_length(),
    };
    if sender.send(News::Head(head)).is_ok() {
        receive_body(response.into_body().into_reader(), sender);
    }
}

/// The same of its body.
fn receive_body(mut body: impl Read, sender: &SyncSender<News>) {
    let mut buffer = vec![0; 1 << 16];
    let mut listened = true;
    while listened {
        let news = match body.read(&mut buffer) {
            Ok(0) => return drop(sender.send(News::End)),
            Ok(n) => News::Bytes(buffer[..n].to_vec()),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return drop(sender.send(News::Failed(e.into()))),
        };
        listened = sender.send(news).is_ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bytes, an interruption before each, and then this end.
    struct Body(Vec<std::io::Result<u8>>);

    impl Read for Body {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some(next) = self.0.pop() else {
                return Ok(0);
            };
            buffer[0] = next?;
            Ok(1)
        }
    }

    #[test]
    fn an_interrupted_read_goes_on_and_a_failure_is_told() {
        let told = |last: Option<ErrorKind>| {
            let interrupted = || Err(ErrorKind::Interrupted.into());
            let mut body = vec![Ok(2), interrupted(), Ok(1), interrupted()];
            body.splice(0..0, last.map(|kind| Err(kind.into())));
            let (sender, news) = sync_channel(4);
            receive_body(Body(body), &sender);
            drop(sender);
            let told = news.into_iter().map(|news| match news {
                News::Bytes(bytes) => format!("{bytes:?}"),
                News::End => "end".to_owned(),
                News::Failed(error) => error.to_string(),
                News::Head(_) => "head".to_owned(),
            });
            told.collect::<Vec<_>>()
        };
        assert_eq!(told(None), ["[1]", "[2]", "end"]);
        let failed = told(Some(ErrorKind::ConnectionReset));
        assert_eq!(failed[..2], ["[1]", "[2]"]);
        assert!(failed.len() == 3 && failed[2] != "end", "{failed:?}");
    }
}
