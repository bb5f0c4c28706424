//! Calls put together from the pieces they come in.
//!
//! The library could do this, but makes room for as many calls as the highest number a provider names. What always
//! holds: there are at most [`MAX_CALLS`], each with at most [`MAX_ARGUMENT_BYTES`].

use std::collections::BTreeMap;

use genai::chat::ToolCall;
use loggia_domain::{JsonText, ReplyPart};
use serde_json::Value;

use super::watch::Piece;
use crate::EndpointKind;

/// Calls in one reply: many more than a model makes.
pub(super) const MAX_CALLS: usize = 128;

/// A call's arguments: a large file, written whole. The library copies what it has with every piece, so more would
/// cost time that grows with the square.
pub(super) const MAX_ARGUMENT_BYTES: usize = 4 * 1024 * 1024;

/// The calls of a reply so far.
#[derive(Debug)]
pub(super) struct Calls {
    kind: EndpointKind,
    calls: BTreeMap<u32, Call>,
}

#[derive(Debug, Default)]
struct Call {
    id: Option<String>,
    tool: String,
    arguments: String,
}

/// A reply with more calls, or longer ones, than anybody makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooMuch {
    #[error("makes more than {MAX_CALLS} calls in a reply")]
    Calls,
    #[error("sends arguments of over {MAX_ARGUMENT_BYTES} bytes with a call")]
    Arguments,
}

impl Calls {
    pub(super) fn new(kind: EndpointKind) -> Self {
        Self { kind, calls: BTreeMap::new() }
    }

    /// Takes a piece of a call, and what its frame said about it. Tells by how many bytes the calls grew.
    pub(super) fn take(&mut self, call: ToolCall, piece: Option<Piece>) -> Result<usize, TooMuch> {
        let next = self.calls.last_key_value().map_or(0, |(index, _)| index.saturating_add(1));
        let index = match self.kind {
            EndpointKind::OpenAi => piece.map_or_else(|| next.saturating_sub(1), |piece| piece.index),
            // Every piece holds all of the call so far.
            EndpointKind::Anthropic => {
                let known = |known: &Call| known.id.as_deref() == Some(&*call.call_id);
                self.calls.iter().find(|(_, call)| known(call)).map_or(next, |(index, _)| *index)
            }
            EndpointKind::Gemini | EndpointKind::Ollama => next,
        };
        if self.calls.len() >= MAX_CALLS && !self.calls.contains_key(&index) {
            return Err(TooMuch::Calls);
        }
        let known = self.calls.entry(index).or_default();
        let before = known.arguments.len();
        if !call.fn_name.is_empty() {
            known.tool = call.fn_name;
        }
        // An id the library made up would be the same in the next reply.
        if self.kind != EndpointKind::OpenAi || piece.is_some_and(|piece| piece.has_id) {
            known.id.get_or_insert(call.call_id);
        }
        match call.fn_arguments {
            Value::String(text) if self.kind == EndpointKind::OpenAi => known.arguments.push_str(&text),
            Value::String(text) => known.arguments = text,
            Value::Null => {}
            value => known.arguments = value.to_string(),
        }
        if known.arguments.len() > MAX_ARGUMENT_BYTES {
            return Err(TooMuch::Arguments);
        }
        Ok(known.arguments.len().saturating_sub(before) + known.tool.len())
    }

    /// The calls, in their order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = ReplyPart> {
        std::mem::take(&mut self.calls).into_values().map(|Call { id, tool, arguments }| {
            // A call without arguments may come without any text for them.
            let arguments =
                if arguments.trim().is_empty() { JsonText::empty_object() } else { JsonText(arguments) };
            let provider_id = id.filter(|id| !id.is_empty());
            ReplyPart::Call { provider_id, tool, arguments }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(id: &str, name: &str, arguments: &str) -> ToolCall {
        let fn_arguments = Value::String(arguments.to_owned());
        ToolCall { call_id: id.into(), fn_name: name.into(), fn_arguments, thought_signatures: None }
    }

    fn at(index: u32, has_id: bool) -> Option<Piece> {
        Some(Piece { index, has_id })
    }

    #[test]
    fn interleaved_pieces_find_their_calls() {
        let mut calls = Calls::new(EndpointKind::OpenAi);
        for (call, place) in [
            (piece("a", "read", ""), at(0, true)),
            (piece("b", "list", "{\"x\""), at(1, true)),
            (piece("call_0", "", "{\"y\":"), at(0, false)),
            (piece("call_1", "", ":1}"), at(1, false)),
            (piece("call_0", "", "2}"), at(0, false)),
        ] {
            calls.take(call, place).unwrap();
        }
        let told: Vec<ReplyPart> = calls.finish().collect();
        let call = |id: &str, tool: &str, arguments: &str| ReplyPart::Call {
            provider_id: Some(id.to_owned()),
            tool: tool.to_owned(),
            arguments: JsonText(arguments.to_owned()),
        };
        assert_eq!(told, [call("a", "read", "{\"y\":2}"), call("b", "list", "{\"x\":1}")]);
    }

    #[test]
    fn a_hostile_index_costs_one_call() {
        let mut calls = Calls::new(EndpointKind::OpenAi);
        calls.take(piece("a", "read", "{}"), at(u32::MAX, true)).unwrap();
        assert_eq!(calls.finish().count(), 1);
    }

    #[test]
    fn there_are_limits_to_calls_and_arguments() {
        let mut calls = Calls::new(EndpointKind::OpenAi);
        for index in 0..MAX_CALLS as u32 {
            calls.take(piece("a", "read", "{}"), at(index, true)).unwrap();
        }
        assert_eq!(calls.take(piece("a", "read", "{}"), at(4000, true)), Err(TooMuch::Calls));
        let long = "x".repeat(MAX_ARGUMENT_BYTES + 1);
        assert_eq!(calls.take(piece("a", "", &long), at(0, false)), Err(TooMuch::Arguments));
    }
}
