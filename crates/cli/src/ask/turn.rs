//! The loop of one turn: what the session tells, keys, interrupts, and what we say ourselves. A turn that is under way
//! already is followed to its end before the prompt is said.
//!
//! What always holds: nothing is waited for but the next thing to happen, so a server that is gone, a slow answer or
//! an open question never keeps an interrupt from being noticed. What a turn asks that is not ours is answered by keys
//! alone: whoever said beforehand what may be done did not mean it.

mod asking;
mod attending;
mod ends;
mod going_on;
mod saying;
mod says;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use loggia_client::{Client, Heard, Lost, SessionStream};
use loggia_protocol_agent_server::{
    ErrorBody, MessageFinal, PatchProposed, ServerMessage, Session, SessionStatus, UserMessage,
};
use tokio::time::{Interval, MissedTickBehavior, Sleep};

use super::face::Face;
use super::question::Question;
use super::view::View;
use super::{Approvals, Ask, Outcome, Revive, Reviving};
use crate::spent::Spent;
use crate::terminal::Keys;
use crate::{CliError, Interrupts, Terminal, live};
use attending::Attended;
pub(crate) use attending::{Work, Worked, attend};
use ends::{is_denied, is_held_to_reading, outcome_of, until_late, until_revived};
use going_on::{GoingOn, Last};
use saying::{Prompt, Said};
use says::Says;

/// How often a turn that was cut off with its server is continued: a server that dies three times in a turn dies of it.
const MAX_CONTINUED: u32 = 3;

/// How many proposed changes are kept until somebody asks about them: as many as an engine changes together.
const MAX_PATCHES: usize = 10_000;

/// How long the end of a turn is waited for that was cancelled because we are to end: whoever sent us the signal will not
/// wait long either.
const PATIENCE_AT_END: Duration = Duration::from_secs(3);

/// What is said before another turn is followed.
const UNDER_WAY: &str = "A turn of this session is under way; the prompt is sent when it has ended.";

/// A turn that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// What it took.
    pub(crate) spent: Spent,
}

/// Runs a turn to its end; before that the one that is under way in the session, if there is one.
///
/// # Errors
/// See [`CliError`]; [`CliError::UnderWay`] before anything is done if nobody is there who could answer what the other turn
/// asks.
pub(crate) async fn run(
    client: &Client,
    session: &Session,
    message: UserMessage,
    options: &Ask,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Ended, CliError> {
    let mut keys = terminal.keys.take();
    keys.hush();
    let result = one_by_one(client, session, message, options, terminal, &mut keys, interrupts).await;
    keys.release();
    terminal.keys = keys;
    result
}

async fn one_by_one(
    client: &Client,
    session: &Session,
    message: UserMessage,
    options: &Ask,
    terminal: &mut Terminal,
    keys: &mut Keys,
    interrupts: &mut Interrupts,
) -> Result<Ended, CliError> {
    let mut session = session.clone();
    while is_under_way(&session) {
        if options.json || !keys.are_there() {
            return Err(CliError::UnderWay);
        }
        let mut face = Face::new(terminal, options);
        face.person(|view| view.aside(UNDER_WAY))?;
        let other = follow(client, &session, None, options, face, keys, interrupts).await?;
        // We are to go, or the server was stopped: the prompt is not sent.
        if matches!(other.outcome, Outcome::Left | Outcome::Interrupted) {
            return Ok(Ended { spent: Spent::NOTHING, ..other });
        }
        session = super::open::find(client, options, &session.session_id).await?;
    }
    let face = Face::new(terminal, options);
    follow(client, &session, Some(message), options, face, keys, interrupts).await
}

fn is_under_way(session: &Session) -> bool {
    matches!(session.status, SessionStatus::Running | SessionStatus::WaitingApproval)
}

/// Says a message and follows its turn; without one, the turn that is under way.
async fn follow(
    client: &Client,
    session: &Session,
    message: Option<UserMessage>,
    options: &Ask,
    face: Face<'_>,
    keys: &mut Keys,
    interrupts: &mut Interrupts,
) -> Result<Ended, CliError> {
    let begun = begin(client, session, message, options, face, keys, interrupts).await?;
    let Some(mut turn) = begun else { return Ok(Ended { outcome: Outcome::Left, spent: Spent::NOTHING }) };
    turn.prompt();
    let outcome = turn.go().await?;
    Ok(Ended { outcome, spent: turn.spent })
}

/// A turn whose stream is open; nothing if somebody left before.
async fn begin<'a, 't>(
    client: &'a Client,
    session: &'a Session,
    message: Option<UserMessage>,
    options: &'a Ask,
    face: Face<'t>,
    keys: &'a mut Keys,
    interrupts: &'a mut Interrupts,
) -> Result<Option<Turn<'a, 't>>, CliError> {
    let mut face = face;
    face.begin(session)?;
    interrupts.forget();
    let stream = tokio::select! {
        stream = super::open::stream(client, session, options.revive.as_ref()) => stream?,
        () = interrupts.next() => {
            face.end(Outcome::Left, None, session)?;
            return Ok(None);
        }
    };
    let mut ticks = tokio::time::interval(live::TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    Ok(Some(Turn {
        client,
        session,
        approvals: if message.is_some() { options.approvals } else { Approvals::Ask },
        message,
        // As the server names it. One on another machine knows no links of ours.
        root: options.workspace.canonicalize().unwrap_or_else(|_| options.workspace.clone()),
        revive: options.revive.as_ref(),
        stream,
        face,
        keys,
        interrupts,
        ticks,
        says: Says::default(),
        patches: BTreeMap::new(),
        questions: VecDeque::new(),
        is_shown: false,
        reviving: None,
        fault: None,
        last: Last::default(),
        denied: false,
        interrupted: false,
        leaving: None,
        left_out: 0,
        away: false,
        was_away: false,
        losses: 0,
        prompt: Prompt::Arrived,
        answered: Vec::new(),
        going_on: GoingOn::Settled,
        continued: 0,
        continued_after: 0,
        spent: Spent::NOTHING,
        attended: None,
        heard: session.last_seq,
    }))
}

/// A turn on its way.
struct Turn<'a, 't> {
    client: &'a Client,
    session: &'a Session,
    /// What is said; nothing if a turn is followed that somebody else began.
    message: Option<UserMessage>,
    approvals: Approvals,
    /// The workspace's root.
    root: PathBuf,
    revive: Option<&'a Revive>,
    stream: SessionStream,
    face: Face<'t>,
    keys: &'a mut Keys,
    interrupts: &'a mut Interrupts,
    ticks: Interval,
    /// What we say, while it is on its way.
    says: Says,
    patches: BTreeMap<String, PatchProposed>,
    /// What waits for an answer; the first is asked.
    questions: VecDeque<Question>,
    is_shown: bool,
    reviving: Option<Reviving>,
    /// What went wrong, told before the end.
    fault: Option<ErrorBody>,
    /// What the last end of the turn left to tell.
    last: Last,
    denied: bool,
    interrupted: bool,
    /// When we leave, whatever became of the turn.
    leaving: Option<Pin<Box<Sleep>>>,
    /// How many hunks were left out of changes that were taken.
    left_out: usize,
    /// The server is gone; it was gone during this turn.
    away: bool,
    was_away: bool,
    /// How many connections were lost.
    losses: u32,
    prompt: Prompt,
    /// Questions whose answers were written, and after how many lost connections, until the session says that it has them.
    answered: Vec<(u32, Question)>,
    going_on: GoingOn,
    continued: u32,
    /// The newest event when the turn was last continued.
    continued_after: u64,
    spent: Spent,
    /// What is done about the session's task, whose turns these are.
    attended: Option<Attended>,
    /// The newest event that was heard.
    heard: u64,
}

impl Turn<'_, '_> {
    async fn go(&mut self) -> Result<Outcome, CliError> {
        loop {
            let asks = self.is_shown;
            let moves = self.face.is_live();
            tokio::select! {
                // That something was written is to be known before that its connection was lost. The session, which may
                // tell much, comes after what seldom happens.
                biased;
                Some(said) = self.says.next(), if !self.says.is_empty() => {
                    if let Some(outcome) = self.said(said)? {
                        return Ok(outcome);
                    }
                }
                interrupt = self.interrupts.any() => {
                    if let Some(outcome) = self.interrupt(interrupt)? {
                        return Ok(outcome);
                    }
                }
                () = until_late(&mut self.leaving) => return self.leave(),
                key = self.keys.next(), if asks => self.press(key)?,
                () = until_revived(&mut self.reviving) => {}
                heard = self.stream.next() => {
                    if let Some(outcome) = self.hear(heard.ok_or(CliError::Ended)??)? {
                        return Ok(outcome);
                    }
                }
                done = attending::until_done(&mut self.attended) => {
                    self.worked(done).await?;
                    return Ok(self.outcome_of_work());
                }
                _ = self.ticks.tick(), if moves => self.face.person(View::tick)?,
            }
        }
    }

    fn hear(&mut self, heard: Heard) -> Result<Option<Outcome>, CliError> {
        match heard {
            Heard::Connected(server) => {
                self.face.connected(&server)?;
                self.away = false;
                if self.is_unsure() {
                    self.look();
                }
                // The keys of a question went when the server did.
                if self.is_shown {
                    self.ask(true)?;
                }
                if self.going_on == GoingOn::Unheard {
                    return self.go_on();
                }
            }
            Heard::Disconnected { why, retry_in } => {
                if why == Lost::Stopped {
                    return self.stopped();
                }
                if self.attended.is_none() {
                    self.face.disconnected(why, retry_in)?;
                }
                (self.away, self.was_away) = (true, true);
                self.losses += 1;
                // Each time: one that was dying may have been taken for alive before.
                if self.reviving.is_none() {
                    self.reviving = self.revive.map(Revive::begin);
                }
            }
            Heard::Message(message) => {
                if !self.is_our_echo(&message) && !self.is_others_answer(&message) {
                    self.face.message(&message)?;
                }
                self.notice(&message);
                return self.act(message);
            }
            // Newer than we are, or wrong; the rest can be read.
            _ => {}
        }
        Ok(None)
    }

    /// After a lost connection our own prompt may be told as somebody else's.
    fn is_our_echo(&self, message: &ServerMessage) -> bool {
        // What a step tells its agent is long, and nobody typed it.
        if self.attended.is_some() && self.face.can_ask() && matches!(message, ServerMessage::ClientEcho(_)) {
            return true;
        }
        self.was_away
            && self.face.can_ask()
            && matches!((message, &self.message), (ServerMessage::ClientEcho(echo), Some(ours)) if echo.message == ours.message)
    }

    /// What another turn says is no answer to our prompt, so it does not go where only the answer is read.
    fn is_others_answer(&self, message: &ServerMessage) -> bool {
        !self.is_ours()
            && !self.face.is_answer_seen()
            && matches!(message, ServerMessage::Token(_) | ServerMessage::MessageFinal(_))
    }

    /// Whether what runs is ours: our prompt, or what we asked to be done about a task.
    fn is_ours(&self) -> bool {
        self.message.is_some() || self.attended.is_some()
    }

    fn act(&mut self, message: ServerMessage) -> Result<Option<Outcome>, CliError> {
        match message {
            ServerMessage::PatchProposed(patch) => {
                self.patches.insert(patch.patch_id.0.clone(), patch);
                if self.patches.len() > MAX_PATCHES {
                    self.patches.pop_first();
                }
            }
            ServerMessage::ToolRequestApproval(request) => {
                let question = Question::of_tool(&request, |id| self.patches.remove(id));
                self.put(question)?;
            }
            ServerMessage::CommandRequestApproval(request) if request.requires_approval => {
                self.put(Question::of_command(&request, &self.root))?;
            }
            ServerMessage::SessionState(update) => self.settle(&update)?,
            ServerMessage::ToolExecute(execute) => {
                // A step that only reads is no less done because its agent tried more.
                self.denied |=
                    is_denied(&execute) && !(self.attended.is_some() && is_held_to_reading(&execute));
            }
            ServerMessage::Error(error) if error.stamp.seq.is_some() => self.fault = Some(error.error),
            ServerMessage::Error(error) => self.refused(error)?,
            ServerMessage::MessageFinal(last) => return self.end(&last),
            _ => {}
        }
        Ok(None)
    }

    /// The turn has ended; one that was cut off with its server goes on.
    fn end(&mut self, last: &MessageFinal) -> Result<Option<Outcome>, CliError> {
        let fault = self.fault.take();
        self.spent = self.spent.and(Spent::from(&last.metadata));
        let outcome = match &fault {
            None if self.denied => Outcome::Refused,
            None if last.metadata.success => Outcome::Done,
            None => Outcome::Failed,
            Some(fault) => outcome_of(fault),
        };
        if self.attended.is_some() {
            return self.turn_of_work_ended(outcome, fault.as_ref()).map(|()| None);
        }
        let last_told = Last { files: last.metadata.files_modified, fault };
        if outcome == Outcome::Interrupted && self.was_away && !self.interrupted {
            return self.cut_off(last.stamp.seq, last_told);
        }
        self.last = last_told;
        self.finish(outcome)
    }

    /// Tells how it ended.
    fn finish(&mut self, outcome: Outcome) -> Result<Option<Outcome>, CliError> {
        let Last { files, fault } = std::mem::take(&mut self.last);
        self.face.end(outcome, fault.as_ref(), self.session)?;
        if self.message.is_none() {
            return Ok(Some(outcome));
        }
        self.face.person(|view| view.summary(files, self.left_out, self.spent, self.session))?;
        Ok(Some(outcome))
    }
}
