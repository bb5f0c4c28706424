//! The process that a client started, when a daemon serves it: bytes are carried from one to the other.
//!
//! Knows the standard streams, the daemon's socket and when this process has to leave. Refuses to know the protocol, but
//! for one notification: if the daemon goes without a farewell, the client is told so.
//!
//! Two threads that block in `read` and `write`, since that is all there is to do and nothing is faster; the standard streams
//! stay as the client made them. What comes in one read goes out in one write. Signals are heard beside, on a runtime
//! that does nothing else.
//!
//! What always holds: at most [`BUFFER`] bytes are on their way in each direction; a client that does not read slows
//! the daemon down and nobody else; once the client has closed its side, or a signal has come, this process ends within
//! [`EXIT_BUDGET`].

mod input;

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use bytes::BytesMut;
use loggia_domain::Timestamp;
use loggia_jsonrpc::{Notification as _, write_notification};
use loggia_protocol_autohand::limits::{EXIT_BUDGET, MAX_LINE_BYTES};
use loggia_protocol_autohand::{self as wire, DIALECT, codes};
use loggia_wire::framing::{ContentLength, Lines};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::codec::Encoder as _;

use super::Failed;
use super::farewell::{Farewell, Gate};
use crate::daemon::DaemonError;
use crate::daemon::signals::Signals;
use crate::errors::Error;
use input::Input;

/// What is read at once. A reply's last lines, which clients count on getting together, are far shorter.
const BUFFER: usize = 256 * 1024;

/// How long the daemon may take to say farewell once it was told that the client leaves.
const PATIENCE: Duration = EXIT_BUDGET.saturating_sub(Duration::from_millis(20));

/// How long a daemon is looked for once the client has closed its side, if the client has said something that wants an answer:
/// longer than one takes to start on a machine that is busy.
const START: Duration = Duration::from_secs(10);

/// What is said to a client whose daemon has gone.
const LOST: &str = "the Loggia server has gone, and the turn with it as far as it was not saved; start the agent again to go on, \
                    with `--resume` and the session's id to have the conversation back";

/// How this process ends.
#[derive(Debug)]
pub(super) enum End {
    /// As the daemon says.
    Told(Farewell),
    /// The daemon has gone without a word. The client was told.
    Lost,
    /// The client wanted it, and the daemon took too long or had not been found yet.
    Left,
}

/// What the threads tell.
enum Heard {
    /// The daemon is there; closing this says that the client leaves.
    Connected(UnixStream),
    /// It could not be found or started.
    Failed(Failed),
    /// The client has closed its side; whether it has said anything.
    InputOver { said: bool },
    /// The daemon has closed the connection; how, if it said so.
    Over(Option<Farewell>),
}

/// Connects by `find`, says the preamble, and carries bytes until one of the ends has gone.
pub(super) async fn run(
    signals: &mut Signals,
    preamble: Vec<u8>,
    find: impl FnOnce() -> Result<UnixStream, Error> + Send + 'static,
) -> Result<End, Failed> {
    // Each thread tells one or two things and must never wait for it.
    let (tell, mut heard) = mpsc::channel(4);
    thread::spawn(move || carry(find, &preamble, &tell));
    let mut daemon: Option<UnixStream> = None;
    let mut deadline: Option<Instant> = None;
    loop {
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let leaves = tokio::select! {
            signal = signals.next() => {
                tracing::debug!(signal, "leaving");
                let Some(daemon) = &daemon else { return Ok(End::Left) };
                // Clients close our input and send a signal as well: that is one wish. A daemon that has gone says so by itself.
                let _ = daemon.shutdown(Shutdown::Write);
                true
            }
            told = heard.recv() => match told {
                Some(Heard::Connected(stream)) => {
                    daemon = Some(stream);
                    // It is told what the client said, and then that this was all.
                    deadline = None;
                    false
                }
                Some(Heard::Failed(failed)) => return Err(failed),
                Some(Heard::InputOver { said: false }) if daemon.is_none() => return Ok(End::Left),
                Some(Heard::InputOver { said: true }) if daemon.is_none() => {
                    deadline = Some(Instant::now() + START);
                    false
                }
                Some(Heard::InputOver { .. }) => true,
                Some(Heard::Over(Some(farewell))) => return Ok(End::Told(farewell)),
                Some(Heard::Over(None)) | None => return Ok(End::Lost),
            },
            () = late => {
                tracing::warn!("the server did not end the connection in time");
                return Ok(End::Left);
            }
        };
        if leaves {
            deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
        }
    }
}

/// Finds the daemon and carries what it says; a second thread carries what it is told, and hears the client meanwhile.
fn carry(find: impl FnOnce() -> Result<UnixStream, Error>, preamble: &[u8], tell: &mpsc::Sender<Heard>) {
    // Whoever hears this may have left: then the process ends.
    let say = |heard| drop(tell.blocking_send(heard));
    let has_headers = Arc::new(AtomicBool::new(false));
    let input = match Input::start(Arc::clone(&has_headers), tell.clone()) {
        Ok(input) => input,
        Err(source) => return say(Heard::Failed(Error::from(DaemonError::Runtime { source }).into())),
    };
    let found = find().and_then(|stream| Ok((clone(&stream)?, clone(&stream)?, stream)));
    let (handle, told, output) = match found {
        Ok(found) => found,
        Err(error) => return say(Heard::Failed(Failed { error, said: input.give_back() })),
    };
    // A daemon that takes none of it is noticed when it says nothing.
    let _ = (&output).write_all(preamble);
    say(Heard::Connected(handle));
    input.connect(told);
    say(Heard::Over(carry_output(output, &has_headers)));
}

fn clone(stream: &UnixStream) -> Result<UnixStream, Error> {
    let failed = |source| Error::Input { path: "the server's socket".into(), source };
    stream.try_clone().map_err(failed)
}

/// From the daemon to the client, until the daemon ends the connection. How it said farewell, if it did.
fn carry_output(mut daemon: UnixStream, has_headers: &AtomicBool) -> Option<Farewell> {
    let mut buffer = vec![0; BUFFER];
    let (mut gate, mut output) = (Gate::default(), Output::default());
    loop {
        match daemon.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => output.write(&gate.pass(&buffer[..length], has_headers.load(Relaxed))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::debug!(%error, "the server's stream broke");
                break;
            }
        }
    }
    match gate.last() {
        Ok(farewell) => Some(farewell),
        Err(rest) => {
            output.write(&rest);
            output.write(&lost(output.open_line, has_headers.load(Relaxed)));
            None
        }
    }
}

/// Standard output. A client that closed it is not told any more; that is no reason to end.
#[derive(Debug, Default)]
struct Output {
    closed: bool,
    /// Whether the last line has no end yet.
    open_line: bool,
}

impl Output {
    fn write(&mut self, mut bytes: &[u8]) {
        self.open_line = bytes.last().map_or(self.open_line, |last| *last != b'\n');
        let stdout = rustix::stdio::stdout();
        while !self.closed && !bytes.is_empty() {
            match rustix::io::write(stdout, bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) if wait(error, stdout, PollFlags::OUT) => {}
                Err(error) => {
                    tracing::debug!(%error, "nobody reads our output any more");
                    self.closed = true;
                }
            }
        }
    }
}

/// Whether a stream that failed can be tried again, if need be after a wait: a client may have given us one that never blocks.
fn wait(error: Errno, stream: BorrowedFd<'_>, what: PollFlags) -> bool {
    match error {
        Errno::INTR => true,
        Errno::AGAIN => matches!(poll(&mut [PollFd::new(&stream, what)], None), Ok(_) | Err(Errno::INTR)),
        _ => false,
    }
}

/// What a client is told whose daemon has gone, in its own framing.
fn lost(open_line: bool, has_headers: bool) -> BytesMut {
    let params = wire::ErrorParams {
        code: codes::EXECUTION_ERROR,
        message: LOST.to_owned(),
        recoverable: false,
        error_type: None,
        timestamp: wire::Timestamp(Timestamp::now().to_string()),
    };
    let mut body = Vec::new();
    write_notification(&mut body, &DIALECT, wire::Error::NAME, &params)
        .expect("the protocol's own types are JSON");
    let mut framed = BytesMut::new();
    if open_line && !has_headers {
        framed.extend_from_slice(b"\n");
    }
    let written = if has_headers {
        ContentLength::new(MAX_LINE_BYTES).encode(&body[..], &mut framed)
    } else {
        Lines::new(MAX_LINE_BYTES).encode(&body[..], &mut framed)
    };
    written.expect("a sentence is shorter than any cap");
    framed
}
