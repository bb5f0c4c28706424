//! Who looks on: a person or a program.

use std::time::Duration;

use loggia_client::Lost;
use loggia_protocol_agent_server::{ErrorBody, ServerInfo, ServerMessage, Session};

use super::lines::Lines;
use super::question::{Decision, Question};
use super::view::View;
use super::{Ask, Outcome};
use crate::{CliError, Terminal};

/// Where everything that happens is shown. A program gets lines of JSON and nothing else.
#[derive(Debug)]
pub(super) enum Face<'t> {
    Person(Box<View<'t>>),
    Program(Lines<'t>),
}

impl<'t> Face<'t> {
    pub(super) fn new(terminal: &'t mut Terminal, options: &Ask) -> Self {
        match options.json {
            true => Self::Program(Lines(terminal)),
            false => Self::Person(Box::new(View::new(terminal, options.quiet))),
        }
    }

    /// It ends before there was a session.
    pub(super) fn never_began(&mut self) -> Result<(), CliError> {
        match self {
            Self::Person(_) => Ok(()),
            Self::Program(lines) => lines.end(Outcome::Left),
        }
    }

    pub(super) fn begin(&mut self, session: &Session) -> Result<(), CliError> {
        match self {
            Self::Person(view) => view.begin(session),
            Self::Program(lines) => lines.begin(session)?,
        }
        Ok(())
    }

    pub(super) fn message(&mut self, message: &ServerMessage) -> Result<(), CliError> {
        match self {
            Self::Person(view) => view.message(message),
            Self::Program(lines) => lines.message(message),
        }
    }

    pub(super) fn connected(&mut self, server: &ServerInfo) -> Result<(), CliError> {
        match self {
            Self::Person(view) => view.connected(),
            Self::Program(lines) => lines.connected(server),
        }
    }

    pub(super) fn disconnected(&mut self, why: Lost, retry_in: Duration) -> Result<(), CliError> {
        match self {
            Self::Person(view) => view.disconnected(why),
            Self::Program(lines) => lines.disconnected(why, retry_in),
        }
    }

    /// Tells a person; programs see it in the messages.
    pub(super) fn person(
        &mut self,
        tell: impl FnOnce(&mut View<'t>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match self {
            Self::Person(view) => tell(view),
            Self::Program(_) => Ok(()),
        }
    }

    /// Whether somebody could answer with a key.
    pub(super) fn can_ask(&self) -> bool {
        matches!(self, Self::Person(_))
    }

    /// Whether the answer goes where everything else is seen.
    pub(super) fn is_answer_seen(&self) -> bool {
        matches!(self, Self::Person(view) if view.is_answer_seen())
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(self, Self::Person(view) if view.is_live())
    }

    pub(super) fn decided(
        &mut self,
        question: Option<&Question>,
        decision: &Decision,
        why: &str,
    ) -> Result<(), CliError> {
        self.person(|view| view.decided(question, decision, why))
    }

    pub(super) fn end(
        &mut self,
        outcome: Outcome,
        fault: Option<&ErrorBody>,
        session: &Session,
    ) -> Result<(), CliError> {
        match self {
            Self::Person(view) => view.end(outcome, fault, session),
            Self::Program(lines) => lines.end(outcome),
        }
    }
}
