//! What can go wrong between a client and a server.

use std::io;
use std::time::Duration;

use loggia_protocol_agent_server::{Problem, ProblemType, close};

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answers there: the daemon is not running, or somewhere else.
    #[error("{server} cannot be reached: {source}")]
    Unreachable {
        /// Where we looked.
        server: String,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody answers, with another certificate than the pinned one.
    #[error("{server} is not the server we know: {reason}")]
    Untrusted {
        /// Where.
        server: String,
        /// What is wrong with its certificate.
        reason: String,
    },
    /// The server understood and said no.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The connection was lost before the answer was complete. Whether the server acted is not known.
    #[error("the connection was lost before the answer was complete")]
    Interrupted(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No answer came in time. Whether the server acted is not known.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The answer is larger than we are ready to hold.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// What we are ready to hold.
        limit: usize,
    },
    /// An answer came, but not from a server that speaks this protocol.
    #[error("status {status} with something that is not an answer of this protocol: {reason}")]
    Strange {
        /// The HTTP status.
        status: u16,
        /// What is wrong with it.
        reason: String,
    },
    /// What was asked cannot be put into a request: a token with a line break.
    #[error("this cannot be asked: {0}")]
    Unaskable(String),
}

/// What the server said instead of doing it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", self.problem.title, self.problem.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default())]
pub struct Refusal {
    /// What is wrong, in the server's words.
    pub problem: Problem,
    /// When to try again, if the server said so.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// What kind of problem it is.
    pub fn kind(&self) -> &ProblemType {
        &self.problem.kind
    }

    /// What to do about it, where that follows from the kind alone.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.problem.kind {
            ProblemType::Unauthorized => {
                "give the token from the file that the server names when it starts; a revoked one stays refused"
            }
            ProblemType::Forbidden => {
                "the token's scope is too small; ask for one with scope `drive` or `admin`"
            }
            ProblemType::StaleRevision => {
                "somebody else changed the policy; read it again and repeat the change"
            }
            ProblemType::TooLarge => "send less at once",
            ProblemType::RateLimited => {
                "wait before the next try; the wrong ones are counted for each address"
            }
            ProblemType::Internal => "look at the server's log; this is its fault",
            ProblemType::Unavailable => "try again in a moment",
            ProblemType::Conflict => "look at the session's status; what runs may have to end first",
            _ => return None,
        })
    }
}

impl Error {
    /// What kind of problem the server sees, if it said no.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(refusal) => Some(&refusal.problem),
            _ => None,
        }
    }

    /// What to do about it, where we know.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Unreachable { .. } => {
                Some("is the daemon running? `loggia status` tells, `loggia serve` starts it")
            }
            Self::Untrusted { .. } => Some(
                "compare the fingerprint with the one the server shows when it starts; do not go on if it differs",
            ),
            Self::TooLarge { .. } => Some("ask for less at once, or for a part of it"),
            _ => None,
        }
    }

    /// Whether the same may succeed a little later, and when to try at the earliest.
    pub(crate) fn may_pass(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { .. } | Self::Interrupted(_) | Self::TimedOut(_) => Some(Duration::ZERO),
            Self::Refused(refusal) => match refusal.problem.status {
                429 | 500.. => Some(refusal.retry_after.unwrap_or_default()),
                _ => None,
            },
            // Something before the server says that it is down.
            Self::Strange { status: 500.., .. } => Some(Duration::ZERO),
            Self::Untrusted { .. } | Self::TooLarge { .. } | Self::Strange { .. } | Self::Unaskable(_) => {
                None
            }
        }
    }
}

/// Why a stream has ended for good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The session was deleted.
    #[error("the session was deleted")]
    SessionGone,
    /// The server closed the stream for a reason that another try would not change.
    #[error("the server closed the stream with code {code}{}", if reason.is_empty() { String::new() } else { format!(": {reason}") })]
    Closed {
        /// The WebSocket close code.
        code: u16,
        /// What the server added.
        reason: String,
    },
    /// Connecting again was refused: the token was revoked, the session is not there any more.
    #[error("the stream cannot be picked up again")]
    Refused(#[source] Error),
    /// Connecting again has failed for as long as we were told to try.
    #[error("the connection did not come back in {} seconds", after.as_secs())]
    GaveUp {
        /// How long we tried.
        after: Duration,
        /// The last failure.
        #[source]
        source: Option<Error>,
    },
    /// A message is larger than we are ready to hold.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// What we are ready to hold.
        limit: usize,
    },
    /// The other end does not speak this protocol.
    #[error("the other end does not speak this protocol: {0}")]
    Strange(String),
}

impl StreamError {
    /// What a close code means, if it means the end.
    pub(crate) fn of_close(code: u16, reason: &str) -> Option<Self> {
        // RFC 6455 and its registry: going away, abnormal, internal error, restart, try again, bad gateway.
        const PASSING: &[u16] = &[close::GOING_AWAY, 1005, 1006, 1011, 1012, 1013, 1014];
        match code {
            close::SESSION_GONE => Some(Self::SessionGone),
            close::TOO_SLOW | close::HELLO_TIMEOUT | close::STOPPED => None,
            code if PASSING.contains(&code) => None,
            code => Some(Self::Closed { code, reason: reason.to_owned() }),
        }
    }
}
