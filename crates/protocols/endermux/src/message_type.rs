//! The sixteen message types and what is known of each: who sends it, whether it needs an id, which capability it
//! belongs to, and whether it waits for interactivity.

use std::fmt;

use crate::Capability;

/// Which way a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a client to the server.
    ToServer,
    /// From the server to a client.
    ToClient,
}

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// Opens a connection.
    Hello,
    /// Asks for completions.
    CompletionRequest,
    /// Asks for a coloured command.
    SyntaxHighlightRequest,
    /// Asks for the words of a line.
    ParseRequest,
    /// Runs a command.
    CommandExecute,
    /// Asks for a sign of life.
    Ping,
    /// Asks for log lines from now on.
    LogSubscribe,
    /// Accepts a connection.
    Welcome,
    /// Refuses a connection.
    Reject,
    /// Completions.
    CompletionResponse,
    /// A coloured command.
    SyntaxHighlightResponse,
    /// The words of a line.
    ParseResponse,
    /// A log line.
    LogForward,
    /// A sign of life.
    Pong,
    /// Something failed.
    Error,
    /// Commands can be given, or not.
    InteractivityStatus,
}

impl MessageType {
    /// Every type, in documentation order.
    pub const ALL: [Self; 16] = [
        Self::Hello,
        Self::CompletionRequest,
        Self::SyntaxHighlightRequest,
        Self::ParseRequest,
        Self::CommandExecute,
        Self::Ping,
        Self::LogSubscribe,
        Self::Welcome,
        Self::Reject,
        Self::CompletionResponse,
        Self::SyntaxHighlightResponse,
        Self::ParseResponse,
        Self::LogForward,
        Self::Pong,
        Self::Error,
        Self::InteractivityStatus,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hello => "HELLO",
            Self::CompletionRequest => "COMPLETION_REQUEST",
            Self::SyntaxHighlightRequest => "SYNTAX_HIGHLIGHT_REQUEST",
            Self::ParseRequest => "PARSE_REQUEST",
            Self::CommandExecute => "COMMAND_EXECUTE",
            Self::Ping => "PING",
            Self::LogSubscribe => "LOG_SUBSCRIBE",
            Self::Welcome => "WELCOME",
            Self::Reject => "REJECT",
            Self::CompletionResponse => "COMPLETION_RESPONSE",
            Self::SyntaxHighlightResponse => "SYNTAX_HIGHLIGHT_RESPONSE",
            Self::ParseResponse => "PARSE_RESPONSE",
            Self::LogForward => "LOG_FORWARD",
            Self::Pong => "PONG",
            Self::Error => "ERROR",
            Self::InteractivityStatus => "INTERACTIVITY_STATUS",
        }
    }

    /// The type of that name, in exactly that case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Which way it travels.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Hello
            | Self::CompletionRequest
            | Self::SyntaxHighlightRequest
            | Self::ParseRequest
            | Self::CommandExecute
            | Self::Ping
            | Self::LogSubscribe => Direction::ToServer,
            _ => Direction::ToClient,
        }
    }

    /// Whether the sender must give a request id.
    pub const fn requires_request_id(self) -> bool {
        matches!(
            self,
            Self::Hello
                | Self::Ping
                | Self::CompletionRequest
                | Self::SyntaxHighlightRequest
                | Self::ParseRequest
        )
    }

    /// The capability that must be negotiated before it is used; answers belong to their request's.
    pub const fn capability(self) -> Option<Capability> {
        match self {
            Self::CompletionRequest | Self::CompletionResponse => Some(Capability::Completion),
            Self::SyntaxHighlightRequest | Self::SyntaxHighlightResponse => Some(Capability::SyntaxHighlight),
            Self::ParseRequest | Self::ParseResponse => Some(Capability::Parse),
            Self::CommandExecute => Some(Capability::CommandExecute),
            Self::LogSubscribe | Self::LogForward => Some(Capability::LogForward),
            Self::InteractivityStatus => Some(Capability::InteractivityStatus),
            Self::Hello | Self::Welcome | Self::Reject | Self::Ping | Self::Pong | Self::Error => None,
        }
    }

    /// Whether it is refused while interactivity is unavailable.
    pub const fn is_gated(self) -> bool {
        matches!(
            self,
            Self::CompletionRequest
                | Self::SyntaxHighlightRequest
                | Self::ParseRequest
                | Self::CommandExecute
        )
    }

    /// The type of a good answer, where the message has one.
    pub const fn response(self) -> Option<Self> {
        match self {
            Self::Hello => Some(Self::Welcome),
            Self::CompletionRequest => Some(Self::CompletionResponse),
            Self::SyntaxHighlightRequest => Some(Self::SyntaxHighlightResponse),
            Self::ParseRequest => Some(Self::ParseResponse),
            Self::Ping => Some(Self::Pong),
            _ => None,
        }
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
