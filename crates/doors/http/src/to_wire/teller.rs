//! What one client is told: the journal from where it left off, then what happens, in its own manner.
//!
//! Pure: what the engine tells goes in, texts of messages come out.
//!
//! What always holds:
//! - a client hears every message of every event after the one it named, and none of those before; but a question it
//!   was shown when it came is not repeated at its place;
//! - what only passes is told while it happens and not of the past, but for the text of replies that have no message
//!   of their own: one who was not there gets each as one piece;
//! - nobody hears its own words;
//! - a client is called by its own name only if it is to do something itself. Whatever another connection was given to
//!   do is called another's, also in the past, so that nothing is done twice; what nobody is left to do is handed to
//!   one of that name, once.

use std::collections::BTreeSet;

use loggia_domain::{
    Actor, ApprovalId, AssistantMessage, CallId, Client, Door, Event, EventBody, Executor, MessageId, Role,
    Seq,
};
use loggia_engine::{Orphans, ReplyPiece, Told};
use loggia_protocol_agent_server::{ServerMessage, Token};

use crate::to_wire::journal::{aside, disown, journal};
use crate::to_wire::names::RUN_COMMAND;
use crate::to_wire::past::{Past, PastCall};
use crate::to_wire::{passing, tool};

/// How a client wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manners {
    /// Without the text so far in every piece of a reply.
    pub(crate) delta_only: bool,
}

/// What one client is told.
#[derive(Debug)]
pub(crate) struct Teller {
    past: Past,
    listener: Listener,
    manners: Manners,
    arrival: Arrival,
    /// The last event that was taken in.
    at: Seq,
    /// What it was handed because whoever had been given it has gone.
    inherited: BTreeSet<CallId>,
    /// The reply it is being told, and the text of it so far.
    reply: Option<MessageId>,
    text: String,
}

/// Where a client came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrival {
    /// The last event it knows.
    pub(crate) after: Seq,
    /// The last event there was when it came.
    pub(crate) came: Seq,
    /// The questions it was shown right away.
    pub(crate) shown: BTreeSet<ApprovalId>,
}

/// Who is told.
#[derive(Debug)]
pub(crate) struct Listener(Client);

impl Listener {
    pub(crate) fn new(client: Client) -> Self {
        Self(client)
    }
}

impl Teller {
    /// For a client that came at some point, to be told what follows `past`, which is how it was after `at`.
    pub(crate) fn new(past: Past, at: Seq, listener: Listener, manners: Manners, arrival: Arrival) -> Self {
        let (inherited, text) = (BTreeSet::new(), String::new());
        Self { past, listener, manners, arrival, at, inherited, reply: None, text }
    }

    /// What has been told so far.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// The texts of the messages that tell it.
    pub(crate) fn tell(&mut self, told: &Told) -> Vec<String> {
        match told {
            Told::Event(event) => self.event(event),
            Told::Reply(piece) => self.piece(piece),
            Told::Passing(news) => passing::passing(news).iter().map(ServerMessage::encode).collect(),
        }
    }

    /// Whether it was told everything there was when it came.
    pub(crate) fn is_past_arrival(&self) -> bool {
        self.at >= self.arrival.came
    }

    /// Whether somebody else of this client's name was given something to do that this one could do instead.
    pub(crate) fn may_inherit(&self) -> bool {
        self.is_past_arrival() && self.estate().next().is_some()
    }

    /// What this client is to do because whoever had been given it has gone.
    pub(crate) fn inherit(&mut self, orphans: &Orphans) -> Vec<String> {
        let is_left = |patch| orphans.patches.contains(&patch);
        let is_orphan = |open: &PastCall| {
            orphans.commands.contains(&open.call.id) || open.patches.iter().copied().any(is_left)
        };
        let own = &self.listener.0;
        // One of them, the same for all who ask.
        let heir = |open: &PastCall| {
            let able = |other: &&Client| other.name == own.name && can_do(other, open);
            orphans.there.iter().find(able).is_some_and(|heir| heir.id == own.id)
        };
        let mine: Vec<&PastCall> = self.estate().filter(|open| is_orphan(open) && heir(open)).collect();
        let messages = mine.iter().flat_map(|open| tool::handed_over(open, &own.name, is_left, &self.past));
        let texts = messages.map(|message| message.encode()).collect();
        let taken: Vec<CallId> = mine.iter().map(|open| open.call.id).collect();
        self.inherited.extend(taken);
        texts
    }

    /// What another connection of the same name was given to do, and this client could do instead.
    fn estate(&self) -> impl Iterator<Item = &PastCall> {
        let own = &self.listener.0;
        let others = self.past.handed_out().filter(move |(open, client)| {
            *client != own.id && can_do(own, open) && !self.inherited.contains(&open.call.id)
        });
        let namesakes =
            others.filter(|(open, client)| tool::executor_name(open, *client, &self.past) == own.name);
        namesakes.map(|(open, _)| open)
    }

    fn event(&mut self, event: &Event) -> Vec<String> {
        self.at = event.seq;
        if event.seq <= self.arrival.after {
            self.past.apply(event);
            return Vec::new();
        }
        let mut texts = Vec::new();
        if event.seq > self.arrival.came {
            texts.extend(passing::thinking(event, &self.past).map(|thinking| thinking.encode()));
        }
        if let EventBody::MessageEnded { message, .. } = &event.body {
            texts.extend(self.reply_ended(message, aside(&event.body)));
        }
        let own = self.is_own(&event.body);
        let mut messages = journal(event, &mut self.past);
        match &event.body {
            EventBody::ToolStarted { executor: Executor::Client(client), .. }
                if *client != self.listener.0.id =>
            {
                messages.iter_mut().for_each(|message| disown(message, |name| name == self.listener.0.name));
            }
            EventBody::ApprovalAsked { approval, .. } if self.arrival.shown.remove(approval) => {
                messages.retain(|message| matches!(message, ServerMessage::SessionState(_)));
            }
            _ => {}
        }
        let told =
            messages.iter().filter(|message| !(own && matches!(message, ServerMessage::ClientEcho(_))));
        texts.extend(told.map(ServerMessage::encode));
        texts
    }

    fn piece(&mut self, piece: &ReplyPiece) -> Vec<String> {
        let mut texts = Vec::new();
        if !piece.thought.is_empty() {
            texts.push(passing::thought(&piece.thought).encode());
        }
        if self.reply != Some(piece.message) {
            self.reply = Some(piece.message);
            self.text.clear();
        }
        if !piece.text.is_empty() {
            texts.push(self.token(piece.text.clone()));
        }
        texts
    }

    /// The text of a reply that was not told piece by piece and has no message of its own.
    fn reply_ended(&mut self, message: &AssistantMessage, aside: Option<&str>) -> Option<String> {
        let unheard = self.reply.take() != Some(message.id);
        let whole = aside.filter(|_| unheard).map(|text| {
            self.text.clear();
            self.token(text.to_owned())
        });
        self.text = String::new();
        whole
    }

    fn token(&mut self, token: String) -> String {
        if self.manners.delta_only {
            return ServerMessage::Token(Token { token, cumulative_text: None }).encode();
        }
        self.text.push_str(&token);
        // Lent for the writing: a copy of the whole for every piece would be dear.
        let message =
            ServerMessage::Token(Token { token, cumulative_text: Some(std::mem::take(&mut self.text)) });
        let encoded = message.encode();
        if let ServerMessage::Token(Token { cumulative_text: Some(text), .. }) = message {
            self.text = text;
        }
        encoded
    }

    fn is_own(&self, body: &EventBody) -> bool {
        match body {
            EventBody::TurnStarted { by, .. } | EventBody::InstructionQueued { by, .. } => {
                matches!(by, Actor::Client { id, .. } if *id == self.listener.0.id)
            }
            _ => false,
        }
    }
}

/// Whether a client could do what was handed out. Those of other doors are told in other ways.
fn can_do(client: &Client, open: &PastCall) -> bool {
    let able = match open.call.tool == RUN_COMMAND {
        true => client.abilities.runs_commands,
        false => client.abilities.applies_patches,
    };
    able && client.door == Door::Http && client.role >= Role::Drive
}
