//! Reading a recorded conversation: bytes in, one checked message at a time out.
//!
//! Knows the five protocols by their tables and codecs, and nothing of any message beyond that. Reads
//! recordings of either side or of both together; what cannot be known from such a recording is a note,
//! not a fault.

pub(crate) mod cut;
mod message;
mod protocols;
pub(crate) mod render;
mod rpc;
mod typed;

pub(crate) use message::Checked;
pub(crate) use protocols::{Framing, Protocol, ProtocolName};

use loggia_jsonrpc::FieldError;
use loggia_wire::framing::FrameError;
use message::MessageKind;
use protocols::Table;
use rpc::RpcChecker;

/// Checks the messages of one stream in their order.
#[derive(Debug)]
pub(crate) struct Inspector {
    checker: Checker,
    seen: u64,
}

#[derive(Debug)]
enum Checker {
    Rpc(RpcChecker),
    Typed(typed::TypedChecker),
}

impl Inspector {
    /// Begins with the first message of a stream.
    pub(crate) fn new(protocol: &Protocol) -> Self {
        let checker = match protocol.table {
            Table::Rpc { methods, dialect } => Checker::Rpc(RpcChecker::new(methods, dialect)),
            Table::Typed { messages, id_fields } => {
                Checker::Typed(typed::TypedChecker { messages, id_fields })
            }
        };
        Self { checker, seen: 0 }
    }

    /// Checks one frame; a batch holds several messages.
    pub(crate) fn frame(&mut self, frame: &[u8]) -> Vec<Checked> {
        let mut checked = match &mut self.checker {
            Checker::Rpc(checker) => checker.frame(frame),
            Checker::Typed(checker) => vec![checker.frame(frame)],
        };
        for message in &mut checked {
            self.seen += 1;
            message.number = self.seen;
        }
        checked
    }

    /// Takes note of something in the stream that could not be cut into a frame.
    pub(crate) fn broken(&mut self, error: &FrameError) -> Checked {
        self.seen += 1;
        let mut message = Checked::new(MessageKind::Broken, 0);
        message.number = self.seen;
        message.faults.push(FieldError::whole(error.to_string()));
        message
    }
}
