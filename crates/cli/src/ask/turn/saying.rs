//! What we say during a turn, and what became of it.
//!
//! What always holds: a prompt that may not have arrived is looked for before it is said again.

use loggia_client::NotSent;
use loggia_protocol_agent_server::{
    AlreadyDecidedDetails, ClientMessage, ErrorBody, ErrorCode, ServerError, Session, SessionStatus,
};

use super::super::Outcome;
use super::super::question::Question;
use super::Turn;
use crate::CliError;

/// What became of something we said.
pub(super) enum Said {
    Prompt(Result<(), NotSent>),
    Answer(Box<Question>, Result<(), NotSent>),
    /// Nobody waits for it.
    Aside,
    Continued(Result<Session, loggia_client::Error>),
    Looked(Result<Session, loggia_client::Error>),
}

impl Turn<'_, '_> {
    pub(super) fn prompt(&mut self) {
        let (speaker, message) = (self.stream.speaker().clone(), self.message.clone());
        self.says.spawn(async move { Said::Prompt(speaker.say(&ClientMessage::UserMessage(message)).await) });
    }

    /// Looks whether the prompt has arrived.
    pub(super) fn look(&mut self) {
        let (client, id) = (self.client.clone(), self.session.session_id.clone());
        self.says.spawn(async move { Said::Looked(client.session(&id).await) });
    }

    pub(super) fn said(&mut self, said: Said) -> Result<(), CliError> {
        match said {
            Said::Prompt(Err(NotSent::MayHaveArrived)) => {
                self.unsure = true;
                if !self.away {
                    self.look();
                }
            }
            Said::Prompt(sent) => sent?,
            // The session goes on telling: if it has arrived, the question goes.
            Said::Answer(question, Err(NotSent::MayHaveArrived)) => self.put(*question)?,
            Said::Answer(_, sent) => sent?,
            Said::Continued(continued) => drop(continued?),
            Said::Looked(looked) => {
                let now = looked?;
                let nothing_came = now.last_seq == self.session.last_seq && now.status == SessionStatus::Idle;
                if std::mem::take(&mut self.unsure) && nothing_came {
                    self.prompt();
                }
            }
            Said::Aside => {}
        }
        Ok(())
    }

    /// The server did not do what we said.
    pub(super) fn refused(&mut self, error: ServerError) -> Result<(), CliError> {
        let ErrorBody { code, message, details, .. } = error.error;
        match code {
            ErrorCode::AlreadyDecided => {
                let details = details.and_then(|details| serde_json::from_value(details.0).ok());
                let Some(AlreadyDecidedDetails { decided_by, approved }) = details else { return Ok(()) };
                self.face.person(|view| view.decided_by(&decided_by, approved))
            }
            // Cancelled when nothing ran any more, answered when nobody asked any more.
            ErrorCode::UnknownRequest => Ok(()),
            ErrorCode::SessionBusy | ErrorCode::Forbidden | ErrorCode::InvalidMessage => {
                Err(CliError::NotTaken { code, message })
            }
            _ => self.face.person(|view| view.aside(&message)),
        }
    }

    /// The first interrupt cancels, the second leaves.
    pub(super) fn interrupt(&mut self) -> Result<Option<Outcome>, CliError> {
        if std::mem::replace(&mut self.interrupted, true) {
            self.face.end(Outcome::Left, None, self.session)?;
            return Ok(Some(Outcome::Left));
        }
        self.questions.clear();
        self.is_shown = false;
        self.keys.rest();
        self.face.person(|view| {
            view.unask()?;
            view.aside("Cancelling; Ctrl-C again leaves.")
        })?;
        let speaker = self.stream.speaker().clone();
        self.says.spawn(async move {
            // If it cannot be said, the second interrupt is the way out.
            let _ = speaker.cancel(None).await;
            Said::Aside
        });
        Ok(None)
    }
}
