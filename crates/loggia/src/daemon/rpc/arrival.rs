//! What comes first on a connection of the rpc door.
//!
//! Knows how a preamble is told from a message, and what it may take: room and time. Knows what it means that the other end
//! is gone: one that sent a preamble closes its own direction when it leaves, so if everything is gone it has crashed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use loggia_rpc::LaunchError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::net::unix::OwnedReadHalf;

use crate::rpc::preamble::{MARK, MAX_BYTES, Preamble};

/// How long the first byte may take. A process of ours sends it at once; one that only listens is served after this.
const FIRST_BYTE: Duration = Duration::from_secs(2);

/// How long the rest of a preamble may take, which is sent in one go.
const REST: Duration = Duration::from_secs(5);

/// More than a preamble usually has.
const ROOM: usize = 8 * 1024;

/// What came first.
#[derive(Debug)]
pub(super) struct Arrival {
    /// The preamble, if there was one; or what is wrong with it.
    pub(super) preamble: Result<Option<Preamble>, LaunchError>,
    /// What was read after it.
    rest: BytesMut,
}

impl Arrival {
    /// Reads it.
    pub(super) async fn read(reader: &mut (impl AsyncRead + Unpin)) -> Self {
        let mut rest = BytesMut::with_capacity(ROOM);
        let preamble = match tokio::time::timeout(FIRST_BYTE, is_preamble(reader, &mut rest)).await {
            Ok(true) => match tokio::time::timeout(REST, whole(reader, &mut rest)).await {
                Ok(read) => read.map(Some),
                Err(_) => Err(refused("the preamble did not come in time")),
            },
            Ok(false) | Err(_) => Ok(None),
        };
        Self { preamble, rest }
    }
}

/// Whether what comes is a preamble. All that was read is kept.
async fn is_preamble(reader: &mut (impl AsyncRead + Unpin), read: &mut BytesMut) -> bool {
    loop {
        if read.len() >= MARK.len() {
            return read.starts_with(MARK);
        }
        // What is wrong with the stream is met again by whoever reads on.
        if !MARK.starts_with(read) || !matches!(reader.read_buf(read).await, Ok(1..)) {
            return false;
        }
    }
}

/// The whole line; what comes after it stays.
async fn whole(reader: &mut (impl AsyncRead + Unpin), read: &mut BytesMut) -> Result<Preamble, LaunchError> {
    let mut looked = 0;
    loop {
        if let Some(at) = read[looked..].iter().position(|byte| *byte == b'\n') {
            let line = read.split_to(looked + at + 1);
            return serde_json::from_slice(&line)
                .map_err(|error| refused(&format!("the preamble cannot be understood: {error}")));
        }
        if read.len() > MAX_BYTES {
            return Err(refused(&format!("the preamble is longer than {MAX_BYTES} bytes")));
        }
        looked = read.len();
        read.reserve(ROOM);
        if !matches!(reader.read_buf(read).await, Ok(1..)) {
            return Err(refused("the preamble ended in the middle"));
        }
    }
}

fn refused(reason: &str) -> LaunchError {
    LaunchError::Refused(reason.to_owned())
}

/// What a client sends after its preamble.
#[derive(Debug)]
pub(super) struct Source {
    first: BytesMut,
    reader: OwnedReadHalf,
    /// Whether the other end closes only its own direction when it leaves.
    says_goodbye: bool,
}

impl Source {
    pub(super) fn new(arrival: Arrival, reader: OwnedReadHalf) -> Self {
        let says_goodbye = matches!(arrival.preamble, Ok(Some(_)));
        Self { first: arrival.rest, reader, says_goodbye }
    }

    /// Whether nobody is at the other end any more.
    fn is_deserted(&self) -> bool {
        let mut polled = [PollFd::new(self.reader.as_ref(), PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::HUP)
    }
}

impl AsyncRead for Source {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.first.is_empty() {
            let length = this.first.len().min(buffer.remaining());
            buffer.put_slice(&this.first[..length]);
            this.first.advance(length);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut this.reader).poll_read(cx, buffer))?;
        if buffer.filled().len() == before && this.says_goodbye && this.is_deserted() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::UnixStream;

    use super::*;

    async fn arrive(text: &'static [u8]) -> Arrival {
        let mut reader = text;
        Arrival::read(&mut reader).await
    }

    fn reason(arrival: Arrival) -> String {
        arrival.preamble.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_preamble_is_told_from_a_message() {
        let arrival = arrive(b"{\"loggia\":1,\"cwd\":\"/x\"}\n{\"jsonrpc\"").await;
        assert_eq!(arrival.preamble.unwrap().unwrap().cwd.as_deref(), Some("/x"));
        assert_eq!(arrival.rest, "{\"jsonrpc\"");
        for text in ["{\"jsonrpc\":\"2.0\"}\n", "Content-Length: 2\r\n\r\n{}", "{\"log\"", "", "\n"] {
            let arrival = Arrival::read(&mut text.as_bytes()).await;
            assert_eq!((arrival.preamble, arrival.rest), (Ok(None), BytesMut::from(text)), "{text}");
        }
    }

    #[tokio::test]
    async fn a_preamble_that_is_none_is_told() {
        assert!(reason(arrive(b"{\"loggia\":true}\n").await).contains("cannot be understood"));
        assert!(reason(arrive(b"{\"loggia\":1,").await).contains("ended in the middle"));
    }

    #[tokio::test]
    async fn an_over_long_preamble_is_refused() {
        let endless = tokio::io::AsyncReadExt::chain(MARK, tokio::io::repeat(b'1'));
        let mut endless = std::pin::pin!(endless);
        assert!(reason(Arrival::read(&mut endless).await).contains("longer than"));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_without_end() {
        let (mut near, mut far) = tokio::io::duplex(64);
        assert_eq!(Arrival::read(&mut far).await.preamble, Ok(None));
        near.write_all(MARK).await.unwrap();
        assert!(reason(Arrival::read(&mut far).await).contains("in time"));
    }

    #[tokio::test]
    async fn one_who_leaves_is_told_from_one_who_crashed() {
        for (preamble, crashed) in [("{\"loggia\":1}\n", true), ("", false)] {
            let (mut near, far) = UnixStream::pair().unwrap();
            let (mut reader, _writer) = far.into_split();
            near.write_all(preamble.as_bytes()).await.unwrap();
            near.write_all(b"{}\n").await.unwrap();
            let arrival = Arrival::read(&mut reader).await;
            let mut source = Source::new(arrival, reader);
            drop(near);
            let mut read = Vec::new();
            assert_eq!(source.read_to_end(&mut read).await.is_err(), crashed);
            assert_eq!(read, b"{}\n");
        }
        let (mut near, far) = UnixStream::pair().unwrap();
        let (mut reader, _writer) = far.into_split();
        near.write_all(b"{\"loggia\":1}\n").await.unwrap();
        near.shutdown().await.unwrap();
        let arrival = Arrival::read(&mut reader).await;
        assert_eq!(Source::new(arrival, reader).read_to_end(&mut Vec::new()).await.unwrap(), 0);
    }
}
