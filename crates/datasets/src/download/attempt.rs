//! One request to one mirror.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::http::{Response, header};
use ureq::{Agent, Body, Timeout};

use super::Downloader;
use crate::content::Content;
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
}

/// A file to be had from one address.
pub(super) struct Attempt<'a> {
    agent: &'a Agent,
    stall_timeout: Duration,
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
        patience: &Downloader,
        file: &'a DataFile,
        folder: &Path,
        url: &'a str,
    ) -> Self {
        let gzipped = url.ends_with(".gz");
        let name = format!("{}{}", file.name, if gzipped { ".gz" } else { "" });
        Self {
            agent,
            stall_timeout: patience.stall_timeout,
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
        let response = self.request(have)?;
        let resumed = match response.status().as_u16() {
            206 if have > 0 => {
                self.check_range(&response, have)?;
                true
            }
            416 if have > 0 => return self.publish(&part, true), // nothing is left to send
            200 => {
                self.check_length(&response)?;
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
        self.receive(
            response,
            &mut part,
            if resumed { have } else { 0 },
            progress,
        )?;
        self.publish(&part, resumed)
    }

    /// Sends the request; for the rest, when there is a beginning already.
    fn request(&self, have: u64) -> Result<Response<Body>, Trouble> {
        let mut request = self.agent.get(self.url);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let host = request.uri_ref().and_then(|uri| uri.host());
        if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
            request = request.config().proxy(None).build();
        }
        request.call().map_err(|e| self.network_trouble(e))
    }

    /// The rest that is sent must begin where the file on the disk ends.
    fn check_range(&self, response: &Response<Body>, have: u64) -> Result<(), Trouble> {
        let range = response.headers().get(header::CONTENT_RANGE);
        let range = range.and_then(|value| value.to_str().ok()).unwrap_or("");
        if range.starts_with(&format!("bytes {have}-")) {
            return Ok(());
        }
        self.discard()?;
        Err(Trouble::Spoiled(format!(
            "asked for the bytes from {have}, the server sent `{range}`"
        )))
    }

    /// An uncompressed file must have the published length: else it is something else, an error page perhaps.
    fn check_length(&self, response: &Response<Body>) -> Result<(), Trouble> {
        match response.body().content_length() {
            Some(length) if !self.gzipped && length != self.file.length => {
                let kind = response.headers().get(header::CONTENT_TYPE);
                let kind = kind
                    .and_then(|value| value.to_str().ok())
                    .unwrap_or("unknown");
                Err(Trouble::Refused(format!(
                    "the server offers {length} bytes (content type {kind}), not the {} of the file",
                    self.file.length
                )))
            }
            _ => Ok(()),
        }
    }

    /// Appends the body to the part.
    fn receive(
        &self,
        response: Response<Body>,
        part: &mut File,
        mut received: u64,
        progress: &mut Progress,
    ) -> Result<(), Trouble> {
        let total = response.body().content_length().map(|n| n + received);
        // Gzip never makes a file much longer.
        let limit = self.file.length + self.file.length / 100 + 1024;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        let mut told = None;
        loop {
            if told.is_none_or(|told| received >= told + STEP) || Some(received) == total {
                told = Some(received);
                progress(Event::Downloading {
                    url: self.url.to_owned(),
                    received,
                    total,
                });
            }
            match body.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => {
                    part.write_all(&buffer[..n])
                        .map_err(|e| self.fatal("write", e))?;
                    received += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.network_trouble(e.into())),
            }
            if received > limit {
                self.discard()?;
                return Err(Trouble::Refused(format!(
                    "the server sent more than the {} bytes of the file",
                    self.file.length
                )));
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
            ureq::Error::Timeout(Timeout::PerRead | Timeout::RecvResponse) => Trouble::Passing(
                format!("stalled: nothing came for {:?}", self.stall_timeout),
            ),
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
