//! A command that was given together with the wish to hear what becomes of it.

use std::sync::Arc;

use loggia_protocol_endermux::{AnswerFailure, CommandExecute, LogForward, Message, answer};

use super::RequestError;
use super::link::{Asked, Link};

/// A command under way. While its output is not read the whole connection waits, so that none of it is lost; dropping
/// this leaves the command to itself.
#[derive(Debug)]
pub struct Running {
    asked: Asked,
    ended: bool,
}

/// What a command says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Some of its output.
    Output(String),
    /// Its end, with 0 for a good one. Nothing follows.
    Ended {
        /// How.
        status: i32,
    },
}

pub(super) async fn start(link: &Arc<Link>, command: &str) -> Result<Running, RequestError> {
    let request = Message::CommandExecute(CommandExecute { command: command.to_owned() });
    Ok(Running { asked: link.start(request).await?, ended: false })
}

impl Running {
    /// What it says next; none after its end.
    ///
    /// # Errors
    /// [`RequestError`] when the server refuses the command or the connection ends; nothing follows.
    pub async fn next(&mut self) -> Option<Result<Said, RequestError>> {
        if self.ended {
            return None;
        }
        let said = match self.asked.next().await {
            None => Err(RequestError::Closed),
            Some(message) => said(answer::<LogForward>(message)),
        };
        self.ended = !matches!(said, Ok(Said::Output(_)));
        Some(said)
    }
}

fn said(answer: Result<LogForward, AnswerFailure>) -> Result<Said, RequestError> {
    let log = answer?;
    Ok(match log.status {
        None => Said::Output(log.rendered),
        Some(status) => Said::Ended { status },
    })
}
