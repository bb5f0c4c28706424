//! Why there is no console, each with what to do about it.

use std::io;
use std::path::PathBuf;

use loggia_endermux_io::{ConnectError, Disconnect, RequestError};
use loggia_protocol_endermux::{Capability, Epoch, HandshakeFailure, NotSent, RejectReason};

use super::lines::one_line;

/// Why a console cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// Nobody is there.
    #[error("nobody listens on `{}`", path.display())]
    Absent {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Somebody is there and does not say what a console says.
    #[error("what listens on `{}` does not answer as a console does", path.display())]
    Silent {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: ConnectError,
    },
    /// The server answered, and the two do not fit.
    #[error("{}", refusal(.0))]
    Refused(HandshakeFailure),
    /// The connection ended before the answer came.
    #[error("the connection to the console was lost before the answer came")]
    Lost(#[source] Option<Disconnect>),
    /// No commands can be given.
    #[error("the server takes no commands now")]
    Closed,
    /// The server did not do it.
    #[error("{}", one_line(&.0.to_string()))]
    Failed(RequestError),
}

impl ConsoleError {
    pub(super) fn of_connecting(error: ConnectError, path: &std::path::Path) -> Self {
        let path = path.to_owned();
        match error {
            ConnectError::Unreachable { source, .. } => Self::Absent { path, source },
            ConnectError::Incompatible(failure) => Self::Refused(failure),
            source => Self::Silent { path, source },
        }
    }

    pub(super) fn of_request(error: RequestError) -> Self {
        match error {
            RequestError::NotSent(NotSent::Unavailable) => Self::Closed,
            RequestError::Closed => Self::Lost(None),
            error => Self::Failed(error),
        }
    }

    /// Whether the server said no, rather than nothing.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// Whether nobody can ever listen there: no socket can have such a path.
    pub(super) fn is_hopeless(&self) -> bool {
        matches!(self, Self::Absent { source, .. } if source.kind() == io::ErrorKind::InvalidInput)
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Absent { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "only whoever runs the server may connect: be that user, or ask them"
            }
            Self::Absent { .. } if self.is_hopeless() => {
                "a socket's path has at most 100 bytes or a few more: name a shorter one, such as a link to its directory"
            }
            Self::Absent { .. } => {
                "start the server, or name its socket with `-s SOCKET`; without `-s` it is Loggia's own, which is started"
            }
            Self::Silent { .. } => {
                "see that it is the socket of a console; one that has no room for another terminal closes it, too"
            }
            Self::Refused(failure) => refusal_hint(failure),
            Self::Lost(_) => {
                "see whether the server runs, and whether the command was done, before you try again"
            }
            Self::Closed => "the server is starting or stopping; try again in a moment",
            Self::Failed(_) => "`help` tells the commands of most servers",
        }
    }
}

/// The epochs that we speak, as people read them.
fn ours() -> String {
    let numbers = [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen].map(|epoch| epoch.number().to_string());
    numbers.join(", ")
}

fn refusal(failure: &HandshakeFailure) -> String {
    match failure {
        HandshakeFailure::EpochMismatch { server, .. } => {
            let newer = *server > Epoch::Seventeen.number();
            let which = if newer { "newer" } else { "older" };
            format!("the server is {which}: it speaks transport epoch {server}, this client {}", ours())
        }
        HandshakeFailure::MissingCapabilities { names, .. } => {
            format!("the server lacks what a terminal needs: {}", one_line(&names.join(", ")))
        }
        HandshakeFailure::Rejected { reason, message } => {
            let what = match reason {
                RejectReason::MissingRequestId => "it found no id in our first message",
                RejectReason::ExpectedHello => "it expected another first message",
                RejectReason::InvalidTransportEpochRange => {
                    "it does not understand which transports we speak"
                }
                RejectReason::UnsupportedTransportEpoch => {
                    "it does not speak our transport, and does not say which one it does"
                }
                RejectReason::MissingColorLevel => "it does not know our colours",
                RejectReason::MissingCapabilityNegotiationData => "it found none of our capabilities",
                RejectReason::InvalidCapabilityVersionRange => "it does not understand the versions we offer",
                RejectReason::InvalidRequiredCapabilityDeclaration => "it does not understand what we need",
                RejectReason::MissingRequiredCapabilities => "it lacks something that a terminal needs",
                RejectReason::Other(_) => "for a reason that this client does not know",
            };
            let (code, message) = (one_line(reason.code()), one_line(message));
            format!("the server refuses us: {what} (`{code}`: {message})")
        }
        other => format!("the server's answer makes no sense: {}", one_line(&other.to_string())),
    }
}

fn refusal_hint(failure: &HandshakeFailure) -> &'static str {
    match failure {
        HandshakeFailure::EpochMismatch { server, .. } if *server > Epoch::Seventeen.number() => {
            "update Loggia, or use a client of the server's own version"
        }
        HandshakeFailure::EpochMismatch { .. } => "update the server, or use a client of its own version",
        HandshakeFailure::MissingCapabilities { names, .. }
            if names.iter().any(|name| name != Capability::LogForward.name()) =>
        {
            "update the server; `--read-only` needs its log alone and may work with this one"
        }
        HandshakeFailure::MissingCapabilities { .. } => "update the server",
        HandshakeFailure::Rejected { .. } => "update the older one of server and client, and try again",
        _ => "see that the socket is a console's; if it is, update its server",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(failure: HandshakeFailure) -> String {
        let error = ConsoleError::Refused(failure);
        format!("{error} | {}", error.hint())
    }

    #[test]
    fn an_epoch_that_does_not_fit_tells_who_is_older_and_what_to_do() {
        let newer = told(HandshakeFailure::EpochMismatch { server: 18, client: 17 });
        assert_eq!(
            newer,
            "the server is newer: it speaks transport epoch 18, this client 15, 16, 17 | update Loggia, or use a client of the \
             server's own version"
        );
        let older = told(HandshakeFailure::EpochMismatch { server: 9, client: 15 });
        assert!(older.starts_with("the server is older") && older.contains("update the server"), "{older}");
    }

    #[test]
    fn every_reason_has_its_own_words() {
        let reasons = [
            "missing_request_id",
            "expected_hello",
            "invalid_transport_epoch_range",
            "unsupported_transport_epoch",
            "missing_color_level",
            "missing_capability_negotiation_data",
            "invalid_capability_version_range",
            "invalid_required_capability_declaration",
            "missing_required_capabilities",
            "from_the\u{1b}[2J_future",
        ];
        let mut all: Vec<String> = reasons
            .iter()
            .map(|code| {
                let reason = RejectReason::from((*code).to_owned());
                let text = told(HandshakeFailure::Rejected { reason, message: "No\n".to_owned() });
                assert!(text.starts_with("the server refuses us: ") && !text.contains('\u{1b}'), "{text}");
                text.split(" (`").next().unwrap().to_owned()
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), reasons.len());
    }
}
