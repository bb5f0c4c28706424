//! The client: connects, agrees with the server, asks and hears.
//!
//! Invariants: a request ends once, with its answer, its time limit or the end of the connection; what may not be sent
//! now is not sent; what is not read in time is dropped from the logs and nowhere else, so that whoever waits for an
//! answer never waits for its own reading of logs. Dropping the [`Client`] and all its clones closes the connection.

mod attempts;
mod backoff;
mod connect;
mod inbox;
mod link;
mod pending;
mod running;

use std::sync::Arc;
use std::time::Duration;

use loggia_protocol_endermux::limits::{COMPLETION_TIMEOUT, PARSE_TIMEOUT, SYNTAX_HIGHLIGHT_TIMEOUT};
use loggia_protocol_endermux::{
    AnswerFailure, CandidateInfo, CommandExecute, CompletionRequest, CompletionResponse, DecodeError,
    LogSubscribe, Message, NotSent, ParseRequest, ParseResponse, Ping, Pong, Selected,
    SyntaxHighlightRequest, SyntaxHighlightResponse, TypedPayload, answer, cursor,
};
use loggia_wire::framing::FrameError;

pub use backoff::Backoff;
pub use connect::{ConnectError, Options};
pub use inbox::Event;
pub use link::Events;
pub use running::{Running, Said};

use crate::extras;
use crate::words::Reading;
use link::Link;

/// How long to wait for a sign of life: as long as for completions, because it waits behind them.
const PING_TIMEOUT: Duration = COMPLETION_TIMEOUT;

/// A connection to a server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    link: Arc<Link>,
}

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub enum Disconnect {
    /// The server closed it.
    #[error("the server closed the connection")]
    ByServer,
    /// We did.
    #[error("the connection was closed here")]
    ByUs,
    /// A frame was wrong, or the stream broke.
    #[error("the connection broke")]
    Broken(#[source] FrameError),
    /// The server said something that is no message.
    #[error("the server sent a message that cannot be read")]
    Undecodable(#[source] DecodeError),
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// It may not be sent now.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// The server cannot do it: a capability of our own is missing.
    #[error("the server has no capability `{capability}`")]
    NoExtra {
        /// Which.
        capability: &'static str,
    },
    /// It fits no frame.
    #[error("the request is too large")]
    TooLarge(#[source] FrameError),
    /// The server says no.
    #[error(transparent)]
    Failed(#[from] AnswerFailure),
    /// No answer came in time. The connection goes on.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The connection ended first.
    #[error("the connection has ended")]
    Closed,
}

impl Client {
    /// What was agreed on.
    pub fn selected(&self) -> &Selected {
        self.link.selected()
    }

    /// Whether commands can be given, as far as the server has said.
    pub fn is_interactive(&self) -> bool {
        self.link.is_interactive()
    }

    /// Asks for logs from now on, and for those missed if that was agreed on.
    ///
    /// # Errors
    /// [`RequestError`] when it cannot be sent.
    pub async fn subscribe(&self) -> Result<(), RequestError> {
        self.link.tell(LogSubscribe {}).await
    }

    /// How the word at a byte offset could go on.
    ///
    /// # Errors
    /// [`RequestError`] when there is no answer.
    pub async fn complete(&self, line: &str, at: usize) -> Result<Vec<CandidateInfo>, RequestError> {
        let request = CompletionRequest { command: line.to_owned(), cursor: cursor::utf16_cursor(line, at) };
        let response: CompletionResponse = self.request(request, COMPLETION_TIMEOUT).await?;
        Ok(response.candidates)
    }

    /// The line with escape sequences.
    ///
    /// # Errors
    /// [`RequestError`] when there is no answer.
    pub async fn highlight(&self, line: &str) -> Result<String, RequestError> {
        let request = SyntaxHighlightRequest { command: line.to_owned() };
        let response: SyntaxHighlightResponse = self.request(request, SYNTAX_HIGHLIGHT_TIMEOUT).await?;
        Ok(response.highlighted)
    }

    /// The words of a line and what to complete, cut at white space if the server does not cut lines.
    ///
    /// # Errors
    /// [`RequestError`] when there is no answer.
    pub async fn parse(&self, line: &str, at: usize) -> Result<Reading, RequestError> {
        let request = ParseRequest { command: line.to_owned(), cursor: cursor::utf16_cursor(line, at) };
        match self.request::<ParseResponse>(request, PARSE_TIMEOUT).await {
            Ok(response) => Ok(Reading::of(response)),
            Err(RequestError::NotSent(NotSent::NotNegotiated(_))) => Ok(Reading::by_spaces(line, at)),
            Err(error) => Err(error),
        }
    }

    /// A sign of life.
    ///
    /// # Errors
    /// [`RequestError`] when there is none.
    pub async fn ping(&self) -> Result<(), RequestError> {
        self.request::<Pong>(Ping {}, PING_TIMEOUT).await.map(drop)
    }

    /// Gives a command. What it does is told in the log.
    ///
    /// # Errors
    /// [`RequestError`] when it cannot be sent.
    pub async fn execute(&self, command: &str) -> Result<(), RequestError> {
        self.link.tell(CommandExecute { command: command.to_owned() }).await
    }

    /// Gives a command and hears what it says and how it ends, where that was agreed on.
    ///
    /// # Errors
    /// [`RequestError`] when it cannot be sent, or the server has no such thing.
    pub async fn run(&self, command: &str) -> Result<Running, RequestError> {
        if !self.selected().capabilities.contains_key(extras::RESULT) {
            return Err(RequestError::NoExtra { capability: extras::RESULT });
        }
        running::start(&self.link, command).await
    }

    /// Closes the connection; what was sent before is still written.
    pub fn close(&self) {
        self.link.close();
    }

    async fn request<A: TypedPayload>(
        &self,
        request: impl Into<Message>,
        limit: Duration,
    ) -> Result<A, RequestError> {
        let reply = self.link.ask(request.into(), limit).await?;
        answer::<A>(reply).map_err(RequestError::Failed)
    }
}
