//! The messages of the five protocols: whatever reads as a type is written so that it reads as the same again.
//!
//! The first two bytes of an input choose the type, the rest is the text.

use std::sync::LazyLock;

use loggia_jsonrpc::{FieldError, MessageInfo, MethodInfo};
use loggia_protocol_agent_server as agent_server;
use loggia_protocol_endermux as endermux;
use loggia_protocol_hermes as hermes;
use loggia_protocol_mehrhof as mehrhof;

/// One type that text can be read as.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row {
    /// The parameters of a method.
    Params(&'static MethodInfo),
    /// The result of a method.
    Result(&'static MethodInfo),
    /// A whole message.
    Message(&'static MessageInfo),
}

/// Every type of every table; an input's first two bytes are a place in here.
pub(crate) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let methods = [loggia_protocol_autohand::METHODS, hermes::METHODS, mehrhof::METHODS];
    let messages =
        [agent_server::MESSAGES, agent_server::BODIES, agent_server::STRICT_BODIES, endermux::MESSAGES];
    let of_methods = methods.into_iter().flatten().flat_map(|row| [Row::Params(row), Row::Result(row)]);
    of_methods.chain(messages.into_iter().flatten().map(Row::Message)).collect()
});

impl Row {
    fn rewrite(self, text: &str) -> Result<String, FieldError> {
        match self {
            Self::Params(method) => method.rewrite_params(text),
            Self::Result(method) => method.rewrite_result(text),
            Self::Message(message) => message.rewrite(text),
        }
    }
}

/// Tries one input.
pub fn target(data: &[u8]) {
    let (choice, text) = data.split_at(data.len().min(2));
    let choice = choice.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    check_endermux(text);
    let text = &*String::from_utf8_lossy(text);
    let row = ROWS[choice % ROWS.len()];
    check(text, |text| row.rewrite(text).map_err(|error| (error.pointer(), error.to_string())));
    check(text, |text| {
        let message = agent_server::ClientMessage::decode(text);
        message.map(|message| message.encode()).map_err(|error| Box::new(error.to_server_error()))
    });
    check(text, |text| {
        let message = agent_server::ServerMessage::decode(text);
        message.map(|message| message.encode()).map_err(|error| Box::new(error.to_server_error()))
    });
    if let Ok(result) = serde_json::from_str::<&serde_json::value::RawValue>(text) {
        let _ = mehrhof::unwrap_result(result);
    }
}

/// What reads is written so that it reads again and is written the same.
fn check<E: std::fmt::Debug>(text: &str, rewrite: impl Fn(&str) -> Result<String, E>) {
    let Ok(once) = rewrite(text) else { return };
    let twice = rewrite(&once);
    let twice = twice.unwrap_or_else(|error| panic!("what was written does not read: {error:?} in {once}"));
    assert_eq!(once, twice, "what was written reads as something else");
}

fn check_endermux(body: &[u8]) {
    let Ok(message) = endermux::Envelope::<endermux::Message>::decode(body) else { return };
    let once = message.encode().expect("what was read can be written");
    let again = endermux::Envelope::<endermux::Message>::decode(&once)
        .unwrap_or_else(|error| panic!("what was written does not read: {error}"));
    assert_eq!(again, message, "what was written reads as something else");
    assert_eq!(again.encode().ok(), Some(once), "the same message is written in two ways");
}
