//! A turn that was cut off with its server goes on with the next one.
//!
//! What always holds: it is asked to go on once at a time, and [`MAX_CONTINUED`] times in all. Whether it was heard is
//! known from an answer alone: a server that dies before it answers leaves that to the next connection.

use loggia_protocol_agent_server::{ErrorBody, ErrorCode, ProblemType, Session};

use super::super::Outcome;
use super::saying::Said;
use super::{MAX_CONTINUED, Turn};
use crate::CliError;

/// Whether a turn was asked to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoingOn {
    /// It was not, or it does.
    Settled,
    /// It was; `again` after one that may not have been heard.
    Asked { again: bool },
    /// It was, and no server said what became of it.
    Unheard,
}

/// What the end of a turn left to tell.
#[derive(Debug, Default)]
pub(super) struct Last {
    pub(super) files: u64,
    pub(super) fault: Option<ErrorBody>,
}

impl Turn<'_, '_> {
    /// Somebody stopped the server. To start another one would be to undo what they did.
    pub(super) fn stopped(&mut self) -> Result<Option<Outcome>, CliError> {
        let message = "the server was stopped by `loggia stop`".to_owned();
        let fault = ErrorBody { code: ErrorCode::Internal, message, details: None, recoverable: true };
        self.last = Last { fault: Some(fault), ..Last::default() };
        self.finish(Outcome::Interrupted)
    }

    /// The turn was cut off by the event of this number.
    pub(super) fn cut_off(&mut self, seq: Option<u64>, last: Last) -> Result<Option<Outcome>, CliError> {
        self.last = last;
        // The end of a piece that was continued since, told late.
        let is_past = seq.is_some_and(|seq| seq <= self.continued_after);
        if is_past || self.going_on != GoingOn::Settled {
            return Ok(None);
        }
        self.go_on()
    }

    /// Asks the turn to go on, unless that was done too often.
    pub(super) fn go_on(&mut self) -> Result<Option<Outcome>, CliError> {
        if self.continued == MAX_CONTINUED {
            return self.finish(Outcome::Interrupted);
        }
        self.continued += 1;
        self.going_on = GoingOn::Asked { again: self.going_on == GoingOn::Unheard };
        self.face.person(|view| view.aside("The turn was cut off; it goes on."))?;
        let (client, id, losses) = (self.client.clone(), self.session.session_id.clone(), self.losses);
        self.says.spawn(async move { Said::Continued(losses, client.continue_session(&id).await) });
        Ok(None)
    }

    /// What became of it, asked after so many lost connections.
    pub(super) fn continued(
        &mut self,
        losses: u32,
        continued: Result<Session, loggia_client::Error>,
    ) -> Result<Option<Outcome>, CliError> {
        let again = self.going_on == GoingOn::Asked { again: true };
        match continued {
            Ok(session) => {
                self.continued_after = session.last_seq;
                self.going_on = GoingOn::Settled;
            }
            Err(error) => match error.problem().map(|problem| &problem.kind) {
                // It runs already: it was heard the first time.
                Some(ProblemType::Conflict) if again => self.going_on = GoingOn::Settled,
                Some(_) => return Err(error.into()),
                None => {
                    self.going_on = GoingOn::Unheard;
                    // The next server is there already; otherwise it is asked when it comes.
                    if !self.away && self.losses > losses {
                        return self.go_on();
                    }
                }
            },
        }
        Ok(None)
    }
}
