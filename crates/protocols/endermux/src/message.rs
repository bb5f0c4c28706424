//! Any message of the protocol, for those who dispatch by type.
//!
//! Long and flat on purpose: one line per message type in each place.

use loggia_jsonrpc::Json;
use serde::Serialize;

use crate::{
    CommandExecute, CompletionRequest, CompletionResponse, Envelope, Failure, Hello, InteractivityStatus,
    LogForward, LogSubscribe, MessageType, ParseRequest, ParseResponse, Payload, PayloadError, Ping, Pong,
    Reject, SyntaxHighlightRequest, SyntaxHighlightResponse, TypedPayload, Welcome,
};

/// A message of any type, without its envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Message {
    /// Opens a connection.
    Hello(Hello),
    /// Asks for completions.
    CompletionRequest(CompletionRequest),
    /// Asks for a coloured command.
    SyntaxHighlightRequest(SyntaxHighlightRequest),
    /// Asks for the words of a line.
    ParseRequest(ParseRequest),
    /// Runs a command.
    CommandExecute(CommandExecute),
    /// Asks for a sign of life.
    Ping(Ping),
    /// Asks for log lines from now on.
    LogSubscribe(LogSubscribe),
    /// Accepts a connection.
    Welcome(Welcome),
    /// Refuses a connection.
    Reject(Reject),
    /// Completions.
    CompletionResponse(CompletionResponse),
    /// A coloured command.
    SyntaxHighlightResponse(SyntaxHighlightResponse),
    /// The words of a line.
    ParseResponse(ParseResponse),
    /// A log line.
    LogForward(LogForward),
    /// A sign of life.
    Pong(Pong),
    /// Something failed.
    Error(Failure),
    /// Commands can be given, or not.
    InteractivityStatus(InteractivityStatus),
}

impl Payload for Message {
    fn message_type(&self) -> MessageType {
        match self {
            Self::Hello(_) => MessageType::Hello,
            Self::CompletionRequest(_) => MessageType::CompletionRequest,
            Self::SyntaxHighlightRequest(_) => MessageType::SyntaxHighlightRequest,
            Self::ParseRequest(_) => MessageType::ParseRequest,
            Self::CommandExecute(_) => MessageType::CommandExecute,
            Self::Ping(_) => MessageType::Ping,
            Self::LogSubscribe(_) => MessageType::LogSubscribe,
            Self::Welcome(_) => MessageType::Welcome,
            Self::Reject(_) => MessageType::Reject,
            Self::CompletionResponse(_) => MessageType::CompletionResponse,
            Self::SyntaxHighlightResponse(_) => MessageType::SyntaxHighlightResponse,
            Self::ParseResponse(_) => MessageType::ParseResponse,
            Self::LogForward(_) => MessageType::LogForward,
            Self::Pong(_) => MessageType::Pong,
            Self::Error(_) => MessageType::Error,
            Self::InteractivityStatus(_) => MessageType::InteractivityStatus,
        }
    }

    fn read(message_type: MessageType, data: Json) -> Result<Self, PayloadError> {
        Ok(match message_type {
            MessageType::Hello => Self::Hello(Payload::read(message_type, data)?),
            MessageType::CompletionRequest => Self::CompletionRequest(Payload::read(message_type, data)?),
            MessageType::SyntaxHighlightRequest => {
                Self::SyntaxHighlightRequest(Payload::read(message_type, data)?)
            }
            MessageType::ParseRequest => Self::ParseRequest(Payload::read(message_type, data)?),
            MessageType::CommandExecute => Self::CommandExecute(Payload::read(message_type, data)?),
            MessageType::Ping => Self::Ping(Payload::read(message_type, data)?),
            MessageType::LogSubscribe => Self::LogSubscribe(Payload::read(message_type, data)?),
            MessageType::Welcome => Self::Welcome(Payload::read(message_type, data)?),
            MessageType::Reject => Self::Reject(Payload::read(message_type, data)?),
            MessageType::CompletionResponse => Self::CompletionResponse(Payload::read(message_type, data)?),
            MessageType::SyntaxHighlightResponse => {
                Self::SyntaxHighlightResponse(Payload::read(message_type, data)?)
            }
            MessageType::ParseResponse => Self::ParseResponse(Payload::read(message_type, data)?),
            MessageType::LogForward => Self::LogForward(Payload::read(message_type, data)?),
            MessageType::Pong => Self::Pong(Payload::read(message_type, data)?),
            MessageType::Error => Self::Error(Payload::read(message_type, data)?),
            MessageType::InteractivityStatus => Self::InteractivityStatus(Payload::read(message_type, data)?),
        })
    }
}

/// Ties a payload to its message type, both ways. Sixteen times the same lines would hide a slip.
macro_rules! payload_of {
    ($($kind:ident: $payload:ty,)*) => {$(
        impl TypedPayload for $payload {
            const TYPE: MessageType = MessageType::$kind;

            fn from_message(message: Message) -> Result<Self, Message> {
                match message {
                    Message::$kind(payload) => Ok(payload),
                    other => Err(other),
                }
            }
        }

        impl From<$payload> for Message {
            fn from(payload: $payload) -> Self {
                Self::$kind(payload)
            }
        }
    )*};
}

payload_of! {
    Hello: Hello,
    CompletionRequest: CompletionRequest,
    SyntaxHighlightRequest: SyntaxHighlightRequest,
    ParseRequest: ParseRequest,
    CommandExecute: CommandExecute,
    Ping: Ping,
    LogSubscribe: LogSubscribe,
    Welcome: Welcome,
    Reject: Reject,
    CompletionResponse: CompletionResponse,
    SyntaxHighlightResponse: SyntaxHighlightResponse,
    ParseResponse: ParseResponse,
    LogForward: LogForward,
    Pong: Pong,
    Error: Failure,
    InteractivityStatus: InteractivityStatus,
}

impl<P> Envelope<P> {
    /// The same message, for those who dispatch by type.
    pub fn into_any(self) -> Envelope<Message>
    where
        Message: From<P>,
    {
        Envelope { request_id: self.request_id, data: self.data.into() }
    }
}
