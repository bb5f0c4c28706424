//! Replies of the model: begun, told as they come, ended.
//!
//! The end of a reply that calls no tool is held back: it may be the last of its turn, and then it goes out with the
//! turn's end.

use loggia_domain::{AssistantMessage, MessageId, Timestamp, Usage};
use loggia_engine::ReplyPiece;
use loggia_protocol_autohand as wire;
use loggia_protocol_autohand::limits::MAX_OUTPUT_BYTES;

use crate::tell::moment::moment;
use crate::tell::said::Said;
use crate::tell::turn::Turn;
use crate::tell::{Teller, fit, names};

/// A message under way.
#[derive(Debug)]
pub(super) struct Open {
    id: MessageId,
    /// What was told of it.
    text: String,
}

/// A message that is complete and not told so.
#[derive(Debug)]
pub(super) struct Held {
    id: MessageId,
    content: String,
    cut: bool,
}

impl Teller {
    pub(super) fn message_started(&mut self, message: MessageId, now: Timestamp, said: &mut Said) {
        if let Some(turn) = &mut self.turn {
            turn.open_message(message, now, said);
        }
    }

    pub(super) fn piece(&mut self, piece: &ReplyPiece, now: Timestamp, said: &mut Said) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.id == piece.turn) else { return };
        turn.open_message(piece.message, now, said).text.push_str(&piece.text);
        tell_update(piece.message, &piece.text, &piece.thought, now, said);
    }

    pub(super) fn message_ended(
        &mut self,
        message: &AssistantMessage,
        cut: bool,
        usage: &Usage,
        at: Timestamp,
        said: &mut Said,
    ) {
        let used = usage.input.saturating_add(usage.output);
        if used > 0 {
            self.used = Some(used);
        }
        let Some(turn) = &mut self.turn else { return };
        // One who fell behind gets the whole with its end.
        let untold = turn.open_message(message.id, at, said).text.is_empty() && !message.text.is_empty();
        if untold {
            tell_update(message.id, &message.text, message.thought.as_deref().unwrap_or_default(), at, said);
        }
        turn.message = None;
        if message.calls.is_empty() {
            turn.held = Some(Held { id: message.id, content: message.text.clone(), cut });
            return;
        }
        let room = MAX_OUTPUT_BYTES / message.calls.len();
        let calls = message.calls.iter().map(|call| fit::call(names::call(call, &self.mask), room));
        turn.has_spoken = true;
        said.say::<wire::MessageEnd>(&wire::MessageEndParams {
            message_id: wire::MessageId(message.id.to_string()),
            content: message.text.clone(),
            tool_calls: Some(calls.collect()),
            aborted: None,
            timestamp: moment(at),
        });
    }
}

/// Tells more of a message, in as many pieces as it takes.
fn tell_update(message: MessageId, text: &str, thought: &str, at: Timestamp, said: &mut Said) {
    let (mut deltas, mut thoughts) = (fit::pieces(text), fit::pieces(thought));
    loop {
        let (delta, thought) = (deltas.next(), thoughts.next());
        if delta.is_none() && thought.is_none() {
            return;
        }
        said.say::<wire::MessageUpdate>(&wire::MessageUpdateParams {
            message_id: wire::MessageId(message.to_string()),
            delta: delta.unwrap_or_default().to_owned(),
            thought: thought.map(str::to_owned),
            timestamp: moment(at),
        });
    }
}

impl Turn {
    /// The message under way: this one, begun now if it is new.
    fn open_message(&mut self, id: MessageId, at: Timestamp, said: &mut Said) -> &mut Open {
        if self.message.as_ref().is_none_or(|open| open.id != id) {
            self.end_message(false, at, said);
            said.say::<wire::MessageStart>(&wire::MessageStartParams {
                message_id: wire::MessageId(id.to_string()),
                turn_id: wire::TurnId(self.id.to_string()),
                role: Some(wire::Role::Assistant),
                timestamp: moment(at),
            });
            self.message = None;
        }
        self.message.get_or_insert(Open { id, text: String::new() })
    }

    /// Begins a message if none waits for its end: one that is empty, for clients that wait for a message's end before the
    /// turn's.
    pub(super) fn need_message(&mut self, at: Timestamp, said: &mut Said) {
        if self.held.is_none() && self.message.is_none() {
            self.open_message(MessageId::new(), at, said);
        }
    }

    /// Ends the message that is held back, or the one under way if the turn is cut in the middle of it.
    pub(super) fn end_message(&mut self, aborted: bool, at: Timestamp, said: &mut Said) {
        let open = self.message.take();
        let under_way = open.map(|open| Held { id: open.id, content: open.text, cut: true });
        let Some(held) = self.held.take().or(under_way) else { return };
        self.has_spoken = true;
        said.say::<wire::MessageEnd>(&wire::MessageEndParams {
            message_id: wire::MessageId(held.id.to_string()),
            content: held.content,
            tool_calls: None,
            aborted: (aborted && held.cut).then_some(true),
            timestamp: moment(at),
        });
    }
}
