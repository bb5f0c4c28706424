//! What we say during a turn, and what became of it.
//!
//! What always holds: a prompt that may not have arrived is looked for before it is said again, and so is an answer. That
//! something was written says little: a connection takes what its server never reads. What the session tells says it.

use std::time::Duration;

use loggia_client::NotSent;
use loggia_protocol_agent_server::{
    AlreadyDecidedDetails, ClientMessage, ErrorBody, ErrorCode, ServerError, ServerMessage, Session,
    SessionStatus, Stamp,
};

use super::super::Outcome;
use super::super::question::Question;
use super::super::view::View;
use super::{PATIENCE_AT_END, Turn};
use crate::interrupts::Interrupt;
use crate::{CliError, terminal};

/// How long it takes until somebody looks again who got no answer, though the stream is there.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Where the prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// On its way to a connection.
    Saying,
    /// Written, after so many lost connections.
    Written(u32),
    /// Lost with its connection, perhaps.
    MayBeLost,
    /// The session has it, or there is none.
    Arrived,
}

/// What became of something we said.
pub(super) enum Said {
    Prompt(Result<(), NotSent>),
    Answer(Box<Question>, Result<(), NotSent>),
    /// Nobody waits for it.
    Aside,
    /// With how many connections were lost when it was asked.
    Continued(u32, Result<Session, loggia_client::Error>),
    Looked(u32, Result<Session, loggia_client::Error>),
}

impl Turn<'_, '_> {
    /// Says the prompt, if there is one.
    pub(super) fn prompt(&mut self) {
        let Some(message) = self.message.clone() else { return };
        self.prompt = Prompt::Saying;
        let speaker = self.stream.speaker().clone();
        self.says.spawn(async move { Said::Prompt(speaker.say(&ClientMessage::UserMessage(message)).await) });
    }

    /// Whether the prompt or an answer was written to a connection that was lost, and nothing shows that it arrived.
    pub(super) fn is_unsure(&self) -> bool {
        self.is_prompt_unsure() || self.answered.iter().any(|(losses, _)| *losses < self.losses)
    }

    fn is_prompt_unsure(&self) -> bool {
        match self.prompt {
            Prompt::Written(losses) => losses < self.losses,
            Prompt::MayBeLost => true,
            Prompt::Saying | Prompt::Arrived => false,
        }
    }

    /// Looks what has arrived.
    pub(super) fn look(&mut self) {
        self.look_after(Duration::ZERO);
    }

    fn look_after(&mut self, pause: Duration) {
        let (client, id, losses) = (self.client.clone(), self.session.session_id.clone(), self.losses);
        self.says.spawn(async move {
            tokio::time::sleep(pause).await;
            Said::Looked(losses, client.session(&id).await)
        });
    }

    /// What the journal got since we began shows that the prompt is in it.
    pub(super) fn notice(&mut self, message: &ServerMessage) {
        let seq = seq_of(message);
        self.heard = self.heard.max(seq.unwrap_or(0));
        if seq.is_some_and(|seq| seq > self.session.last_seq) {
            self.prompt = Prompt::Arrived;
        }
    }

    pub(super) fn said(&mut self, said: Said) -> Result<Option<Outcome>, CliError> {
        match said {
            Said::Prompt(Err(NotSent::MayHaveArrived)) if self.prompt == Prompt::Saying => {
                self.prompt = Prompt::MayBeLost;
                if !self.away {
                    self.look();
                }
            }
            Said::Prompt(Err(NotSent::MayHaveArrived)) => {}
            Said::Prompt(sent) => {
                sent?;
                if self.prompt == Prompt::Saying {
                    self.prompt = Prompt::Written(self.losses);
                }
            }
            // The session goes on telling: if it has arrived, the question goes.
            Said::Answer(question, Err(NotSent::MayHaveArrived)) => self.put(*question)?,
            Said::Answer(question, sent) => {
                sent?;
                self.answered.push((self.losses, *question));
            }
            Said::Continued(losses, continued) => return self.continued(losses, continued),
            Said::Looked(losses, Ok(now)) if losses == self.losses => return self.looked(&now),
            Said::Looked(_, Err(error)) if error.problem().is_some() => return Err(error.into()),
            // It may have gone over a connection that was lost with the server before.
            Said::Looked(losses, Err(_)) if losses == self.losses && !self.away => {
                self.look_after(LOOK_AGAIN);
            }
            // The connection was lost again: the next one looks again.
            Said::Looked(..) | Said::Aside => {}
        }
        Ok(None)
    }

    /// Says again what the session does not have.
    fn looked(&mut self, now: &Session) -> Result<Option<Outcome>, CliError> {
        let old = self.answered.extract_if(.., |(losses, _)| *losses < self.losses);
        let lost: Vec<Question> = old
            .map(|(_, question)| question)
            .filter(|question| now.state.pending_approvals.contains(&question.id))
            .collect();
        for question in lost {
            self.face.person(|view| view.aside("The answer did not arrive."))?;
            self.put(question)?;
        }
        if !self.is_prompt_unsure() {
            return Ok(None);
        }
        if now.last_seq != self.session.last_seq || now.status != SessionStatus::Idle {
            self.prompt = Prompt::Arrived;
        } else if self.interrupted {
            return self.finish(Outcome::Cancelled);
        } else {
            self.prompt();
        }
        Ok(None)
    }

    /// The server did not do what we said.
    pub(super) fn refused(&mut self, error: ServerError) -> Result<(), CliError> {
        let ErrorBody { code, message, details, .. } = error.error;
        match code {
            ErrorCode::AlreadyDecided => {
                let details = details.and_then(|details| serde_json::from_value(details.0).ok());
                let Some(AlreadyDecidedDetails { decided_by, approved }) = details else { return Ok(()) };
                self.face.person(|view| view.decided_by(&decided_by, approved, false))
            }
            // Cancelled when nothing ran any more, answered when nobody asked any more.
            ErrorCode::UnknownRequest => Ok(()),
            ErrorCode::SessionBusy | ErrorCode::Forbidden | ErrorCode::InvalidMessage => {
                Err(CliError::NotTaken { code, message })
            }
            _ => self.face.person(|view| view.aside(&message)),
        }
    }

    /// The first interrupt cancels, the second leaves. Who is to end cancels and does not wait long, and not at all for a
    /// server that is gone. A turn that is not ours is left as it is.
    pub(super) fn interrupt(&mut self, interrupt: Interrupt) -> Result<Option<Outcome>, CliError> {
        let says = match interrupt {
            Interrupt::Suspend => return self.suspend().map(|()| None),
            _ if !self.is_ours() => return self.leave().map(Some),
            Interrupt::Cancel => "Cancelling; Ctrl-C again leaves.",
            Interrupt::End if self.away => return self.leave().map(Some),
            Interrupt::End => {
                self.leaving = Some(Box::pin(tokio::time::sleep(PATIENCE_AT_END)));
                "Cancelling."
            }
        };
        self.keys.forget();
        if std::mem::replace(&mut self.interrupted, true) {
            // One that is cancelled already may still come to its end before we do.
            return if interrupt == Interrupt::End { Ok(None) } else { self.leave().map(Some) };
        }
        self.questions.clear();
        self.is_shown = false;
        self.keys.rest();
        self.face.person(|view| {
            view.unask()?;
            view.aside(says)
        })?;
        let speaker = self.stream.speaker().clone();
        self.says.spawn(async move {
            // If it cannot be said, the second interrupt is the way out.
            let _ = speaker.cancel(None).await;
            Said::Aside
        });
        Ok(None)
    }

    /// Leaves; the turn may go on.
    pub(super) fn leave(&mut self) -> Result<Outcome, CliError> {
        self.face.end(Outcome::Left, None, self.session)?;
        Ok(Outcome::Left)
    }

    /// Stops the process, with the terminal as it was found. When it goes on, what was asked is asked again.
    fn suspend(&mut self) -> Result<(), CliError> {
        self.face.person(View::unask)?;
        self.keys.release();
        terminal::stop();
        self.keys.hush();
        self.is_shown = false;
        self.ask(false)
    }
}

/// A message's place in the journal, if it has one.
fn seq_of(message: &ServerMessage) -> Option<u64> {
    let stamp: &Stamp = match message {
        ServerMessage::Plan(message) => &message.stamp,
        ServerMessage::RetrieveStatus(message) => &message.stamp,
        ServerMessage::ToolExecute(message) => &message.stamp,
        ServerMessage::MessageFinal(message) => &message.stamp,
        ServerMessage::Error(message) => &message.stamp,
        ServerMessage::ClientEcho(message) => &message.stamp,
        ServerMessage::SessionNotice(message) => &message.stamp,
        ServerMessage::SessionState(message) => &message.stamp,
        ServerMessage::PatchProposed(message) => &message.stamp,
        ServerMessage::ToolRequestApproval(message) => &message.stamp,
        ServerMessage::CommandRequestApproval(message) => &message.stamp,
        _ => return None,
    };
    stamp.seq
}
