//! The protocol's table: every message and who sends it.

use loggia_jsonrpc::MessageInfo;

use crate::{
    CommandExecute, CompletionRequest, CompletionResponse, Envelope, Failure, Hello, InteractivityStatus,
    LogForward, LogSubscribe, MessageType, ParseRequest, ParseResponse, Ping, Pong, Reject,
    SyntaxHighlightRequest, SyntaxHighlightResponse, Welcome,
};

const CLIENT: &str = "client";
const SERVER: &str = "server";

/// Every message, in the specification's order.
pub const MESSAGES: &[MessageInfo] = &[
    MessageInfo::new::<Envelope<Hello>>(MessageType::Hello.name(), CLIENT),
    MessageInfo::new::<Envelope<CompletionRequest>>(MessageType::CompletionRequest.name(), CLIENT),
    MessageInfo::new::<Envelope<SyntaxHighlightRequest>>(MessageType::SyntaxHighlightRequest.name(), CLIENT),
    MessageInfo::new::<Envelope<ParseRequest>>(MessageType::ParseRequest.name(), CLIENT),
    MessageInfo::new::<Envelope<CommandExecute>>(MessageType::CommandExecute.name(), CLIENT),
    MessageInfo::new::<Envelope<Ping>>(MessageType::Ping.name(), CLIENT),
    MessageInfo::new::<Envelope<LogSubscribe>>(MessageType::LogSubscribe.name(), CLIENT),
    MessageInfo::new::<Envelope<Welcome>>(MessageType::Welcome.name(), SERVER),
    MessageInfo::new::<Envelope<Reject>>(MessageType::Reject.name(), SERVER),
    MessageInfo::new::<Envelope<CompletionResponse>>(MessageType::CompletionResponse.name(), SERVER),
    MessageInfo::new::<Envelope<SyntaxHighlightResponse>>(
        MessageType::SyntaxHighlightResponse.name(),
        SERVER,
    ),
    MessageInfo::new::<Envelope<ParseResponse>>(MessageType::ParseResponse.name(), SERVER),
    MessageInfo::new::<Envelope<LogForward>>(MessageType::LogForward.name(), SERVER),
    MessageInfo::new::<Envelope<Pong>>(MessageType::Pong.name(), SERVER),
    MessageInfo::new::<Envelope<Failure>>(MessageType::Error.name(), SERVER),
    MessageInfo::new::<Envelope<InteractivityStatus>>(MessageType::InteractivityStatus.name(), SERVER),
];
