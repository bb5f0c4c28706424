//! Asking the host and turning what it says into a message.

use std::future::Future;
use std::sync::Arc;

use loggia_protocol_endermux::{
    CompletionResponse, Hook, Message, RequestId, Selected, SyntaxHighlightResponse,
};
use tokio::time::timeout;

use super::host::{ClientId, Host, HostError, Presence};
use super::outbox::Outbox;
use super::output::{Answer, Output};
use super::session::Question;
use super::shared::Shared;
use crate::extras;
use crate::limits::ANSWER_LIMIT;

/// Asks for one client.
#[derive(Debug)]
pub(super) struct Asker<'a, H> {
    pub(super) shared: &'a Arc<Shared<H>>,
    pub(super) selected: &'a Selected,
    pub(super) outbox: &'a Arc<Outbox>,
    pub(super) client: ClientId,
}

/// The host did, and nothing more can be said on this connection.
#[derive(Debug)]
pub(super) struct Panicked;

impl<H: Host> Asker<'_, H> {
    /// The answer, if there is one to send. A panic in one of the host's short answers unwinds through here.
    pub(super) async fn ask(
        &self,
        id: Option<RequestId>,
        question: Question,
    ) -> Result<Option<Message>, Panicked> {
        let Some(presence) = self.shared.console.member(self.client) else { return Ok(None) };
        let host = &*self.shared.host;
        Ok(match question {
            Question::Complete { line, at } => {
                let found = within_limit(host.complete(&presence, &line, at)).await;
                let found = found.map(|candidates| CompletionResponse { candidates }.into());
                Some(found.unwrap_or_else(|error| failure(error, Hook::Complete)))
            }
            Question::Highlight { line } => {
                let highlighted = within_limit(host.highlight(&presence, &line)).await;
                let answer = highlighted
                    .map(|highlighted| SyntaxHighlightResponse { command: line, highlighted }.into());
                Some(answer.unwrap_or_else(|error| failure(error, Hook::Highlight)))
            }
            Question::Parse { line, at, on_wire } => {
                let parsed = within_limit(host.parse(&presence, &line, at)).await;
                let answer = parsed.map(|parsed| parsed.response(line, on_wire).into());
                Some(answer.unwrap_or_else(|error| failure(error, Hook::Parse)))
            }
            Question::Execute { command } => self.execute(id, presence, command).await?,
        })
    }

    /// In a task of its own: a client that leaves does not take its command back.
    async fn execute(
        &self,
        id: Option<RequestId>,
        presence: Presence,
        command: String,
    ) -> Result<Option<Message>, Panicked> {
        let awaited = self.selected.capabilities.contains_key(extras::RESULT);
        let answer = id.filter(|_| awaited).map(|id| Answer::new(Arc::clone(self.outbox), id));
        let output = Output::new(answer.clone(), presence.color_level);
        let shared = Arc::clone(self.shared);
        let run = async move {
            let executed = Arc::clone(&shared.host).execute(presence, command, output);
            shared.cut.run_until_cancelled(executed).await.unwrap_or(Err(HostError::Unavailable))
        };
        let outcome = self.shared.tasks.spawn(run).await.map_err(|_| Panicked)?;
        Ok(match (outcome, answer) {
            (Ok(()), Some(answer)) => {
                answer.taken();
                None
            }
            (Ok(()), None) => None,
            // The end was told already: it counts.
            (Err(_), Some(answer)) if !answer.claim() => None,
            (Err(error), _) => Some(failure(error, Hook::Execute)),
        })
    }
}

async fn within_limit<T>(answer: impl Future<Output = Result<T, HostError>>) -> Result<T, HostError> {
    let late = |_| Err(HostError::Failed(format!("no answer within {} s", ANSWER_LIMIT.as_secs())));
    timeout(ANSWER_LIMIT, answer).await.unwrap_or_else(late)
}

fn failure(error: HostError, hook: Hook) -> Message {
    error.fault(hook).failure().into()
}
