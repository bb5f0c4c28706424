//! How far a stream was told, so that nothing is told twice.
//!
//! Knows no connections: it is told when a new one begins. The rules it lives by are the server's:
//! - events are numbered, numbers rise, and the messages of one event share its number;
//! - a new connection begins with the session's state, which stands for the newest event there is, and every open
//!   question under its old number; then comes the past after the asked number, then the present. The open questions
//!   are those the state names, so their numbers say nothing about how far we are;
//! - the running reply is told from its beginning to everybody who comes late.
//!
//! What always holds: an event counts as told only with its successor, so a connection that is cut between two messages
//! of one event is picked up before that event, and what was told of it is passed over. The state only goes forward.

use std::collections::{BTreeMap, BTreeSet};

use loggia_protocol_agent_server::{
    ClientEcho, CommandRequestApproval, Message, MessageFinal, PatchProposed, Plan, RetrieveStatus,
    ServerError, ServerMessage, SessionNotice, SessionState, SessionStateUpdate, Stamp, Token, ToolExecute,
    ToolRequestApproval,
};

/// How many questions are remembered: sessions have a handful open, a large change one for each file.
const MAX_QUESTIONS: usize = 4096;

/// How far a stream was told.
#[derive(Debug)]
pub(super) struct Place {
    /// Everything up to here is not wanted.
    floor: u64,
    /// The newest event of which something was told.
    current: Option<Current>,
    /// What of it a new connection is going to repeat, by type.
    repeats: BTreeMap<&'static str, u32>,
    /// The newest event when this connection began, until the state that stands for it has come.
    newest: Option<u64>,
    /// The questions this connection began with; nothing before its first state.
    open: Option<BTreeSet<String>>,
    /// Questions that were told and may be repeated: number and id.
    questions: BTreeSet<(u64, String)>,
    /// The state as it was last told.
    state: Option<SessionState>,
    /// The number of the newest state that was told: what comes of the past is older than it.
    state_seq: u64,
    reply: Reply,
}

#[derive(Debug)]
struct Current {
    seq: u64,
    /// How many messages of each type were told.
    told: BTreeMap<&'static str, u32>,
}

impl Place {
    /// Wants everything after this event.
    pub(super) fn new(after: u64) -> Self {
        Self {
            floor: after,
            current: None,
            repeats: BTreeMap::new(),
            newest: None,
            open: None,
            questions: BTreeSet::new(),
            state: None,
            state_seq: 0,
            reply: Reply::default(),
        }
    }

    /// After which event a new connection has to begin.
    pub(super) fn after(&self) -> u64 {
        self.current.as_ref().map_or(self.floor, |current| current.seq.saturating_sub(1))
    }

    /// A new connection begins.
    pub(super) fn connected(&mut self) {
        self.repeats = self.current.as_ref().map(|current| current.told.clone()).unwrap_or_default();
        self.newest = None;
        self.open = None;
        self.reply.repeated = true;
    }

    /// The server has greeted, and says what the newest event is.
    pub(super) fn greeted(&mut self, newest: Option<u64>) {
        self.newest = newest;
    }

    /// The message, or what of it is new; `None` if all of it was told before.
    pub(super) fn take(&mut self, message: ServerMessage) -> Option<ServerMessage> {
        match message {
            ServerMessage::Token(token) => self.reply.take(token).map(ServerMessage::Token),
            ServerMessage::SessionState(update) => {
                self.change(&update).then_some(ServerMessage::SessionState(update))
            }
            message => {
                let new = match durable(&message) {
                    Some(Durable { kind, seq, question: None }) => self.advance(kind, seq),
                    Some(Durable { kind, seq, question: Some(id) }) => self.ask(kind, seq, id),
                    None => true,
                };
                // A reply ends with its turn, or with the tools it calls.
                if new && matches!(message, ServerMessage::MessageFinal(_) | ServerMessage::ToolExecute(_)) {
                    self.reply = Reply::default();
                }
                new.then_some(message)
            }
        }
    }

    /// Whether a state is another than the last, and not an older one.
    fn change(&mut self, update: &SessionStateUpdate) -> bool {
        self.forget_questions(&update.state);
        let (seq, is_older) = match update.stamp.seq {
            Some(seq) => {
                self.advance(SessionStateUpdate::TYPE, seq);
                (seq, seq <= self.state_seq)
            }
            None => {
                let seq = self.snapshot_seq(&update.state);
                (seq, seq < self.state_seq)
            }
        };
        if is_older {
            return false;
        }
        self.state_seq = seq;
        if self.state.as_ref() == Some(&update.state) {
            return false;
        }
        self.state = Some(update.state.clone());
        true
    }

    /// The event after which the session was as a state without a number says. The first one of a connection is as new
    /// as can be, and names the open questions; another, the last word of a server that stops, is as old as we are.
    fn snapshot_seq(&mut self, state: &SessionState) -> u64 {
        if self.open.is_some() {
            return self.current.as_ref().map_or(self.floor, |current| current.seq).max(self.floor);
        }
        let approvals = state.pending_approvals.iter().map(|open| open.0.clone());
        let patches = state.pending_patches.iter().map(|open| open.0.clone());
        self.open = Some(approvals.chain(patches).collect());
        self.newest.unwrap_or(self.state_seq)
    }

    /// Whether a message of an event is new.
    fn advance(&mut self, kind: &'static str, seq: u64) -> bool {
        match &mut self.current {
            Some(current) if seq < current.seq => false,
            Some(current) if seq == current.seq => match self.repeats.get_mut(kind) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => {
                    *current.told.entry(kind).or_default() += 1;
                    true
                }
            },
            _ if seq <= self.floor => false,
            _ => {
                self.repeats.clear();
                self.current = Some(Current { seq, told: BTreeMap::from([(kind, 1)]) });
                true
            }
        }
    }

    /// Whether a question is new. The number of one that the connection began with says nothing about how far we are.
    fn ask(&mut self, kind: &'static str, seq: u64, id: &str) -> bool {
        if !self.open.as_ref().is_some_and(|open| open.contains(id)) {
            self.advance(kind, seq);
        }
        let new = self.questions.insert((seq, id.to_owned()));
        if self.questions.len() > MAX_QUESTIONS {
            self.questions.pop_first();
        }
        new
    }

    /// Forgets the questions that no connection will repeat: neither open nor after our place.
    fn forget_questions(&mut self, state: &SessionState) {
        let after = self.after();
        self.questions.retain(|(seq, id)| {
            *seq > after
                || state.pending_approvals.iter().any(|open| open.0 == *id)
                || state.pending_patches.iter().any(|open| open.0 == *id)
        });
    }
}

/// A message that has a place in the journal.
struct Durable<'a> {
    kind: &'static str,
    seq: u64,
    /// The id of what it asks, if it asks something.
    question: Option<&'a str>,
}

fn durable(message: &ServerMessage) -> Option<Durable<'_>> {
    let (kind, stamp, question): (_, &Stamp, _) = match message {
        ServerMessage::Plan(plan) => (Plan::TYPE, &plan.stamp, None),
        ServerMessage::RetrieveStatus(status) => (RetrieveStatus::TYPE, &status.stamp, None),
        ServerMessage::ToolExecute(execute) => (ToolExecute::TYPE, &execute.stamp, None),
        ServerMessage::MessageFinal(reply) => (MessageFinal::TYPE, &reply.stamp, None),
        ServerMessage::Error(error) => (ServerError::TYPE, &error.stamp, None),
        ServerMessage::ClientEcho(echo) => (ClientEcho::TYPE, &echo.stamp, None),
        ServerMessage::SessionNotice(notice) => (SessionNotice::TYPE, &notice.stamp, None),
        ServerMessage::PatchProposed(patch) => (PatchProposed::TYPE, &patch.stamp, Some(&*patch.patch_id.0)),
        ServerMessage::ToolRequestApproval(ask) => {
            (ToolRequestApproval::TYPE, &ask.stamp, Some(&*ask.request_id.0))
        }
        ServerMessage::CommandRequestApproval(ask) => {
            (CommandRequestApproval::TYPE, &ask.stamp, Some(&*ask.command_id.0))
        }
        ServerMessage::Hello(_)
        | ServerMessage::Thinking(_)
        | ServerMessage::Token(_)
        | ServerMessage::SessionState(_)
        | ServerMessage::ToolOutput(_)
        | ServerMessage::DialogRequest(_)
        | ServerMessage::DialogClosed(_)
        | ServerMessage::WindowOpened(_)
        | ServerMessage::WindowClosed(_) => return None,
    };
    stamp.seq.map(|seq| Durable { kind, seq, question })
}

/// What was told of the running reply: its length and a hash, since it may be long.
#[derive(Debug)]
struct Reply {
    bytes: usize,
    hash: u64,
    /// A new connection has begun and tells the reply from its beginning.
    repeated: bool,
}

impl Default for Reply {
    fn default() -> Self {
        Self { bytes: 0, hash: FNV_BASIS, repeated: false }
    }
}

impl Reply {
    fn take(&mut self, mut token: Token) -> Option<Token> {
        if std::mem::take(&mut self.repeated) && self.bytes > 0 {
            match token.token.get(..self.bytes) {
                Some(start) if fnv(FNV_BASIS, start) == self.hash => {
                    token.token.drain(..self.bytes);
                    if token.token.is_empty() {
                        return None;
                    }
                }
                // Another reply, told from its beginning.
                _ => *self = Self::default(),
            }
        }
        self.bytes += token.token.len();
        self.hash = fnv(self.hash, &token.token);
        Some(token)
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: it can be continued, and here nobody gains from a collision.
fn fnv(hash: u64, text: &str) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections as lines of messages, in and out: `tool@3` an event, `ask:q@3` a question, `state:q,r` the state,
    /// `"text"` a piece of the reply, `hello@3` a greeting with the newest event. A line that begins with `>` is a new connection and shows where it begins.
    fn told(after: u64, connections: &[&str]) -> String {
        let mut place = Place::new(after);
        let mut out = Vec::new();
        for messages in connections {
            out.push(format!(">{}", place.after()));
            place.connected();
            for word in messages.split_whitespace() {
                if let Some(newest) = word.strip_prefix("hello@") {
                    place.greeted(newest.parse().ok());
                } else if let Some(message) = place.take(message(word)) {
                    out.push(word_of(&message, word));
                }
            }
        }
        out.join(" ")
    }

    fn message(word: &str) -> ServerMessage {
        let text = if let Some(text) = word.strip_prefix('"') {
            format!(r#"{{"type":"assistant.token","token":"{}"}}"#, text.trim_end_matches('"'))
        } else if let Some(open) = word.strip_prefix("state:") {
            let (open, seq) = open.split_once('@').unwrap_or((open, "null"));
            let open: Vec<&str> = open.split(',').filter(|id| !id.is_empty()).collect();
            format!(r#"{{"type":"session.state","state":{{"pending_approvals":{open:?}}},"seq":{seq}}}"#)
        } else {
            let (what, seq) = word.split_once('@').unwrap();
            match what.split_once(':') {
                Some((_, id)) => format!(
                    r#"{{"type":"tool.request_approval","request_id":"{id}","tool_name":"t","args":{{}},"risk_level":"low","seq":{seq}}}"#
                ),
                None if what == "tool" => format!(
                    r#"{{"type":"tool.execute","tool_name":"t","args":{{}},"status":"started","seq":{seq}}}"#
                ),
                None if what == "final" => format!(
                    r#"{{"type":"assistant.message_final","message":"m","metadata":{{"tokens_used":0,"files_modified":0,"success":true}},"seq":{seq}}}"#
                ),
                None => format!(r#"{{"type":"client.echo","from":"f","message":"m","seq":{seq}}}"#),
            }
        };
        ServerMessage::decode(&text).unwrap()
    }

    fn word_of(message: &ServerMessage, word: &str) -> String {
        match message {
            ServerMessage::Token(token) => format!("{:?}", token.token),
            _ => word.to_owned(),
        }
    }

    #[test]
    fn an_event_is_told_once_and_picked_up_before_it_is_complete() {
        assert_eq!(
            told(
                0,
                &[
                    "state: echo@1 tool@3 tool@3 echo@3",
                    "state: tool@3 tool@3 echo@3 final@3 tool@7",
                    "tool@7 final@9"
                ]
            ),
            ">0 state: echo@1 tool@3 tool@3 echo@3 >2 final@3 tool@7 >6 final@9"
        );
    }

    #[test]
    fn a_server_that_begins_too_early_repeats_nothing() {
        assert_eq!(told(5, &["echo@4 echo@5 tool@6", "echo@1 tool@6 echo@7"]), ">5 tool@6 >5 echo@7");
    }

    #[test]
    fn an_open_question_is_told_once_and_hides_nothing_before_it() {
        // Open since 9, told first; the past then comes in full, the question's own place included.
        assert_eq!(
            told(5, &["state:q ask:q@9 echo@6 tool@8 ask:q@9 echo@10", "state:q ask:q@9 echo@10 echo@11"]),
            ">5 state:q ask:q@9 echo@6 tool@8 echo@10 >9 echo@11"
        );
    }

    #[test]
    fn a_question_older_than_our_place_is_told_all_the_same() {
        assert_eq!(told(20, &["state:q ask:q@9 echo@21"]), ">20 state:q ask:q@9 echo@21");
    }

    #[test]
    fn a_question_that_was_cut_off_is_not_asked_again() {
        assert_eq!(
            told(5, &["state: ask:q@6", "state:q ask:q@6 ask:q@6 echo@7"]),
            ">5 state: ask:q@6 >5 state:q echo@7"
        );
    }

    #[test]
    fn questions_nobody_will_repeat_are_forgotten() {
        let mut place = Place::new(0);
        for seq in 1..100 {
            place.take(message(&format!("echo@{}", seq * 2)));
            place.take(message(&format!("ask:q{seq}@{}", seq * 2 + 1)));
            place.take(message("state:q1"));
        }
        assert_eq!(place.questions.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>(), ["q1", "q99"]);
    }

    #[test]
    fn the_same_state_is_told_once() {
        assert_eq!(told(0, &["state: state: state:q", "state:q state:"]), ">0 state: state:q >0 state:");
    }

    #[test]
    fn an_older_state_is_not_told_after_a_newer_one() {
        assert_eq!(
            told(0, &["state: echo@1 state:q@2 state:r@3", "state:s state:r@3 state:s@4 echo@5"]),
            ">0 state: echo@1 state:q@2 state:r@3 >2 state:s echo@5"
        );
    }

    #[test]
    fn the_past_does_not_take_the_state_back() {
        assert_eq!(
            told(0, &["hello@4 state:s echo@1 state:q@2 state:r@3 state:s@4 state:t@5"]),
            ">0 state:s echo@1 state:t@5"
        );
        // The last word of a server that stops while it still tells the past.
        assert_eq!(told(0, &["hello@4 state:s echo@1 state:q@2 state:q"]), ">0 state:s echo@1");
        // A server that comes back with less than it had told.
        assert_eq!(told(0, &["state: state:q@7", "hello@5 state:r"]), ">0 state: state:q@7 >6");
    }

    #[test]
    fn a_cut_after_the_open_questions_skips_nothing_of_the_past() {
        assert_eq!(
            told(
                5,
                &["state:q ask:q@9", "state:q ask:q@9 echo@6", "state:q ask:q@9 echo@6 tool@8 state:q@9"]
            ),
            ">5 state:q ask:q@9 >5 echo@6 >5 tool@8"
        );
        // Answered in the meantime: the past holds it at its place, and it is not asked again.
        assert_eq!(
            told(5, &["state:q ask:q@9 echo@6", "state: tool@8 ask:q@9 state:q@9 echo@10"]),
            ">5 state:q ask:q@9 echo@6 >5 state: tool@8 state:q@9 echo@10"
        );
    }

    #[test]
    fn a_question_that_is_asked_later_moves_our_place() {
        assert_eq!(
            told(
                8,
                &["hello@9 state:q ask:q@9 state:q@9 ask:r@12", "state:q,r ask:q@9 ask:r@12 state:q,r@12"]
            ),
            ">8 state:q ask:q@9 ask:r@12 >11 state:q,r"
        );
    }

    #[test]
    fn the_running_reply_goes_on_where_it_was() {
        assert_eq!(
            told(0, &[r#"echo@1 "Hel" "lo""#, r#"echo@1 "Hello,you" "!""#]),
            r#">0 echo@1 "Hel" "lo" >0 ",you" "!""#
        );
        assert_eq!(told(0, &[r#""Hello""#, r#""Hello" "!""#]), r#">0 "Hello" >0 "!""#);
    }

    #[test]
    fn another_reply_is_told_from_its_beginning() {
        assert_eq!(told(0, &[r#""Hello""#, r#""Good" "bye""#]), r#">0 "Hello" >0 "Good" "bye""#);
        // The same words again, after a tool that was called in between.
        assert_eq!(told(0, &[r#""Hello""#, r#"tool@2 "Hello""#]), r#">0 "Hello" >0 tool@2 "Hello""#);
    }

    #[test]
    fn a_tool_that_is_repeated_does_not_repeat_the_reply_after_it() {
        assert_eq!(
            told(0, &[r#"tool@2 "Hello""#, r#"tool@2 "Hello,you""#]),
            r#">0 tool@2 "Hello" >1 ",you""#
        );
    }
}
