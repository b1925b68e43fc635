//! An HTTP server on this machine that misbehaves as told, for the tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How one request is answered. The content is the server's, from where the request's `Range` says.
#[derive(Clone)]
pub(crate) enum Reply {
    /// As it should be.
    Honest,
    /// The whole content, whatever `Range` says.
    IgnoreRange,
    /// The same, but the connection is closed after this many bytes.
    IgnoreRangeAndCutAfter(usize),
    /// This many bytes, then the connection is closed.
    CutAfter(usize),
    /// This many bytes, then silence until the client gives up.
    StallAfter(usize),
    /// Silence from the start.
    StallAtOnce,
    /// `206` for a range that was not asked for.
    OtherRange,
    /// This status, with a page of HTML.
    Status(u16),
    /// This body instead of the content.
    Lie(Vec<u8>),
    /// This body without a length, until the connection is closed.
    LieWithoutLength(Vec<u8>),
    /// A byte, a pause, a byte, until the client goes.
    Trickle(Duration),
    /// To another address.
    Redirect(String),
}

/// A running server; stopped when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Option<u64>>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers the requests with `replies` in turn; the last one is used for all further requests.
    pub(crate) fn start(content: &[u8], replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (log, stopped) = (requests.clone(), stop.clone());
        let (content, replies) = (content.to_vec(), replies.to_vec());
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Some((mut stream, from)) = stream.ok().and_then(read_request) else {
                    continue;
                };
                let count = {
                    let mut log = log.lock().unwrap();
                    log.push(from);
                    log.len()
                };
                let reply = &replies[(count - 1).min(replies.len() - 1)];
                let _ = answer(&mut stream, reply, &content, from.map(|n| n as usize));
            }
        });
        Self {
            address,
            requests,
            stop,
            thread: Some(thread),
        }
    }

    /// An address of this server.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Where each request so far asked to start (`None`: it had no `Range`).
    pub(crate) fn requests(&self) -> Vec<Option<u64>> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads the request's head; gives the start of its `Range`.
fn read_request(stream: TcpStream) -> Option<(TcpStream, Option<u64>)> {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .ok()?;
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let mut from = None;
    loop {
        let line = lines.next()?.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            return Some((stream, from));
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().ok();
        }
    }
}

fn answer(
    stream: &mut TcpStream,
    reply: &Reply,
    content: &[u8],
    from: Option<usize>,
) -> std::io::Result<()> {
    let total = content.len();
    match reply {
        Reply::Honest | Reply::CutAfter(_) | Reply::StallAfter(_) | Reply::Trickle(_) => {
            honest(stream, reply, content, from)
        }
        Reply::StallAtOnce => wait_for_close(stream),
        Reply::OtherRange => {
            write!(
                stream,
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-{}/{total}\r\nContent-Length: {total}\r\nConnection: close\r\n\r\n",
                total - 1
            )?;
            stream.write_all(content)
        }
        Reply::IgnoreRange | Reply::IgnoreRangeAndCutAfter(_) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {total}\r\nConnection: close\r\n\r\n"
            )?;
            stream.write_all(match *reply {
                Reply::IgnoreRangeAndCutAfter(n) => &content[..n],
                _ => content,
            })
        }
        Reply::Status(status) => {
            let page = "<!DOCTYPE html><p>no";
            write!(
                stream,
                "HTTP/1.1 {status} No\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            )
        }
        Reply::Lie(body) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            )?;
            stream.write_all(body)
        }
        Reply::LieWithoutLength(body) => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            stream.write_all(body)
        }
        Reply::Redirect(url) => write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
    }
}

/// The range asked for, whole, cut, stalled or slow.
fn honest(
    stream: &mut TcpStream,
    reply: &Reply,
    content: &[u8],
    from: Option<usize>,
) -> std::io::Result<()> {
    let total = content.len();
    match from {
        Some(from) if from >= total => {
            return write!(
                stream,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Some(from) => write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{total}\r\n",
            total - 1
        )?,
        None => write!(stream, "HTTP/1.1 200 OK\r\n")?,
    }
    let body = &content[from.unwrap_or(0)..];
    write!(
        stream,
        "Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    match *reply {
        Reply::CutAfter(n) => stream.write_all(&body[..n]),
        Reply::StallAfter(n) => {
            stream.write_all(&body[..n])?;
            wait_for_close(stream)
        }
        Reply::Trickle(pause) => body.iter().try_for_each(|byte| {
            thread::sleep(pause);
            stream.write_all(&[*byte])
        }),
        _ => stream.write_all(body),
    }
}

/// Says nothing until the client closes the connection.
fn wait_for_close(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.flush()?;
    stream.read(&mut [0]).map(drop)
}
