//! Getting in: one attempt for each epoch that may fit.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use loggia_protocol_endermux::limits::HANDSHAKE_TIMEOUT;
use loggia_protocol_endermux::{
    Capability, ClientOffer, ColorLevel, DecodeError, Envelope, Epoch, HandshakeFailure, Message, RequestId,
    Selected, VersionRange,
};
use loggia_wire::framing::{FrameError, Inbound, LengthPrefixed};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::UnixStream;
use tokio::time::timeout;
use tokio_util::codec::FramedRead;

use super::attempts::{Attempts, Outcome};
use super::link::{self, Events};
use super::{Client, Disconnect};
use crate::{extras, frame};

/// The id of every `HELLO`; nothing else has been sent by then.
const HELLO_ID: &str = "hello";

/// How to connect.
#[derive(Debug, Clone)]
pub struct Options {
    /// The terminal's colours.
    pub color_level: ColorLevel,
    /// The epochs to speak.
    pub epochs: Vec<Epoch>,
    /// The one that this server spoke last time, if it is known: it is tried first.
    pub fitted: Option<Epoch>,
    /// Whether to ask for what is not in the specification; see [`crate::extras`].
    pub extras: bool,
    /// Whether commands may be given. A client that only listens does not offer what belongs to them, so that the server
    /// refuses them, too.
    pub commands: bool,
    /// How long the answer to `HELLO` may take.
    pub handshake_timeout: Duration,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody is there.
    #[error("cannot connect to `{}`", path.display())]
    Unreachable {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server closed the connection before it answered, in every epoch that was tried.
    #[error("the server closed the connection before it answered")]
    NoAnswer,
    /// The server did not answer in time.
    #[error("the server did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The answer could not be read.
    #[error("the server's answer cannot be read")]
    Broken(#[source] Disconnect),
    /// The server answered, and the two do not fit.
    #[error(transparent)]
    Incompatible(#[from] HandshakeFailure),
}

impl ConnectError {
    /// Whether trying again cannot help.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Incompatible(_))
    }
}

type Opened<S> = (Selected, FramedRead<ReadHalf<S>, LengthPrefixed>, WriteHalf<S>);

impl Options {
    /// Everything we know, for a terminal of these colours.
    pub fn new(color_level: ColorLevel) -> Self {
        Self {
            color_level,
            epochs: vec![Epoch::Seventeen, Epoch::Sixteen, Epoch::Fifteen],
            fitted: None,
            extras: true,
            commands: true,
            handshake_timeout: HANDSHAKE_TIMEOUT,
        }
    }

    fn offer(&self, epoch: Epoch) -> ClientOffer {
        let mut offer = ClientOffer::baseline(epoch, self.color_level);
        if self.extras {
            let (min, max) = extras::VERSIONS;
            for name in [extras::BACKLOG, extras::RESULT] {
                offer.capabilities.insert(name.to_owned(), VersionRange::new(epoch, min, max));
            }
        }
        if !self.commands {
            let listens =
                [Capability::LogForward.name(), Capability::InteractivityStatus.name(), extras::BACKLOG];
            offer.capabilities.retain(|name, _| listens.contains(&name.as_str()));
            offer.required.retain(|name| name == Capability::LogForward.name());
        }
        offer
    }
}

impl Client {
    /// Connects to a socket.
    ///
    /// # Errors
    /// [`ConnectError`] when nobody is there or the two do not fit.
    pub async fn connect(path: &Path, options: &Options) -> Result<(Self, Events), ConnectError> {
        Self::open(options, || async {
            let unreachable = |source| ConnectError::Unreachable { path: path.to_owned(), source };
            UnixStream::connect(path).await.map_err(unreachable)
        })
        .await
    }

    /// Connects over streams of any kind: each attempt takes a new one.
    ///
    /// # Errors
    /// [`ConnectError`] when the two do not fit, and whatever `dial` fails with.
    pub async fn open<S, D, F>(options: &Options, dial: D) -> Result<(Self, Events), ConnectError>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
        D: Fn() -> F,
        F: Future<Output = Result<S, ConnectError>>,
    {
        let mut attempts = Attempts::new(&options.epochs, options.fitted);
        let mut epoch = attempts.first().ok_or(ConnectError::NoAnswer)?;
        loop {
            let stream = dial().await?;
            let limit = options.handshake_timeout;
            let greeted = timeout(limit, greet(stream, &options.offer(epoch))).await;
            let failed = match greeted.unwrap_or(Err(ConnectError::TimedOut(limit))) {
                Ok((selected, frames, write)) => {
                    let (link, events) = link::start(selected, frames, write);
                    return Ok((Self { link }, events));
                }
                Err(failed) => failed,
            };
            let next = match &failed {
                ConnectError::NoAnswer => attempts.next(&Outcome::Closed),
                ConnectError::Incompatible(failure) => attempts.next(&Outcome::Failed(failure)),
                _ => None,
            };
            epoch = next.ok_or(failed)?;
        }
    }
}

async fn greet<S>(stream: S, offer: &ClientOffer) -> Result<Opened<S>, ConnectError>
where
    S: AsyncRead + AsyncWrite,
{
    let framing = offer.epoch.framing();
    let (read, mut write) = tokio::io::split(stream);
    let id = RequestId::from(HELLO_ID);
    let hello = Envelope::with_id(id.clone(), Message::Hello(offer.hello()));
    let hello = frame::from_client(framing, &hello).map_err(broken)?;
    // A server that closes at the sight of the first bytes may do so while they are written.
    let written = async {
        write.write_all(&hello).await?;
        write.flush().await
    };
    written.await.map_err(|_| ConnectError::NoAnswer)?;
    let mut frames = FramedRead::new(read, frame::codec(framing));
    let body = match frames.next().await {
        Some(Ok(Inbound::Frame(body))) => body,
        None | Some(Err(FrameError::Io { .. })) => return Err(ConnectError::NoAnswer),
        Some(Ok(Inbound::Refused(error)) | Err(error)) => return Err(broken(error)),
    };
    let reply = Envelope::<Message>::decode(&body).map_err(undecodable)?;
    let selected = offer.check_reply(&id, &reply)?;
    Ok((selected, frames, write))
}

fn broken(error: FrameError) -> ConnectError {
    ConnectError::Broken(Disconnect::Broken(error))
}

fn undecodable(error: DecodeError) -> ConnectError {
    ConnectError::Broken(Disconnect::Undecodable(error))
}
