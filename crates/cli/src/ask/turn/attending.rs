//! Something that is done about a task: its turns are followed, and what they ask is answered, until the server says what
//! came of all of it.
//!
//! What always holds: it ends with the server's answer or with its loss, however many turns there were before.

use std::pin::Pin;
use std::time::Duration;

use loggia_client::Client;
use loggia_protocol_agent_server::{ErrorBody, Session, Task};

use super::super::face::Face;
use super::super::{Ask, Outcome};
use super::{Turn, begin};
use crate::{CliError, Interrupts, Terminal};

/// How long the stream may take to tell what the answer is ahead of: it is on its way already.
const LAG: Duration = Duration::from_secs(2);

/// Something that is done about a task, to the server's answer.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Task, loggia_client::Error>> + Send>>;

/// What is done, and what is known of it.
pub(super) struct Attended {
    work: Option<Work>,
    answer: Option<Result<Task, loggia_client::Error>>,
    /// How the last turn ended.
    last: Option<Outcome>,
}

/// What came of it.
pub(crate) struct Worked {
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// What the server said at its end; nothing if we left before, or it was stopped.
    pub(crate) answer: Option<Result<Task, loggia_client::Error>>,
}

/// Does something about the task of a session, and shows what happens until it is done.
///
/// # Errors
/// See [`CliError`]. That it came to nothing is told by the answer.
pub(crate) async fn attend(
    client: &Client,
    session: &Session,
    work: Work,
    options: &Ask,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Worked, CliError> {
    let mut keys = terminal.keys.take();
    keys.hush();
    let face = Face::new(terminal, options);
    let done = async {
        let Some(mut turn) = begin(client, session, None, options, face, &mut keys, interrupts).await? else {
            return Ok(Worked { outcome: Outcome::Left, answer: None });
        };
        turn.approvals = options.approvals;
        turn.face.person(|view| {
            view.follows_task();
            Ok(())
        })?;
        turn.attended = Some(Attended { work: Some(work), answer: None, last: None });
        let outcome = turn.go().await?;
        Ok(Worked { outcome, answer: turn.attended.and_then(|attended| attended.answer) })
    };
    let done = done.await;
    keys.release();
    terminal.keys = keys;
    done
}

impl Turn<'_, '_> {
    /// A turn of the task ended; another one may follow.
    pub(super) fn turn_of_work_ended(
        &mut self,
        outcome: Outcome,
        fault: Option<&ErrorBody>,
    ) -> Result<(), CliError> {
        if let Some(attended) = &mut self.attended {
            attended.last = Some(outcome);
        }
        let session = self.session;
        self.face.person(|view| view.end(outcome, fault, session))
    }

    /// The server has answered. What its stream has not told yet is shown first.
    pub(super) async fn worked(
        &mut self,
        answer: Result<Task, loggia_client::Error>,
    ) -> Result<(), CliError> {
        let is_there = answer.is_ok() || answer.as_ref().is_err_and(|error| error.problem().is_some());
        if let Some(attended) = &mut self.attended {
            attended.answer = Some(answer);
        }
        if is_there && let Ok(now) = self.client.session(&self.session.session_id).await {
            let caught_up = async {
                while self.heard < now.last_seq {
                    let Some(Ok(heard)) = self.stream.next().await else { break };
                    self.hear(heard)?;
                }
                Ok::<(), CliError>(())
            };
            // What is late is in the journal.
            if let Ok(caught_up) = tokio::time::timeout(LAG, caught_up).await {
                caught_up?;
            }
        }
        let session = self.session;
        self.face.person(|view| view.end(Outcome::Done, None, session))
    }

    /// How all of it ended.
    pub(super) fn outcome_of_work(&self) -> Outcome {
        let Some(Attended { answer, last, .. }) = &self.attended else { return Outcome::Failed };
        match answer {
            _ if self.interrupted || *last == Some(Outcome::Cancelled) => Outcome::Cancelled,
            Some(Ok(_)) if self.denied => Outcome::Refused,
            Some(Ok(_)) => Outcome::Done,
            Some(Err(error)) if error.problem().is_none() => Outcome::Interrupted,
            _ => match last {
                Some(last @ (Outcome::ModelFailed | Outcome::LimitReached | Outcome::Interrupted)) => *last,
                _ => Outcome::Failed,
            },
        }
    }
}

/// Until the server has answered; for ever if nothing is asked.
pub(super) async fn until_done(attended: &mut Option<Attended>) -> Result<Task, loggia_client::Error> {
    match attended.as_mut().and_then(|attended| attended.work.as_mut()) {
        Some(work) => {
            let answer = work.await;
            if let Some(attended) = attended {
                attended.work = None;
            }
            answer
        }
        None => std::future::pending().await,
    }
}
