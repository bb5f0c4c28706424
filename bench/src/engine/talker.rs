//! A model that does what its instruction says, as fast as it is heard.
//!
//! `say N` replies with N tokens at once; `stream N` lets everybody hear each of them before the next, as a model
//! that takes its time does; `silence` says one word and then nothing; `stuck` runs a command that heeds no signal;
//! `change FROM TO` changes every file of [`files`](super::undo) from one version to another in one patch.

use std::sync::Arc;
use std::task::Poll;

use anyhow::{Context, Result};
use futures_util::{StreamExt, stream};
use loggia_domain::{
    BoxFuture, JsonText, Model, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelMessage,
    ModelName, ModelRequest, ReplyPart, ReplyStream,
};

use super::{cancel, undo};

/// What it says, over and over.
pub(super) const TOKEN: &str = "tok ";

#[derive(Debug)]
struct Talker;

/// The only model there is.
#[derive(Debug)]
pub(super) struct OnlyTalker;

impl ModelCatalogue for OnlyTalker {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Talker))
    }
}

impl Model for Talker {
    fn info(&self) -> ModelInfo {
        // No window that is filled by accident.
        ModelInfo::new(ModelName("talker".to_owned()), 100_000_000, true)
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let stream = match request.messages.last() {
            Some(ModelMessage::User(text)) => obey(text)
                .map_err(|error| ModelError::new(ModelErrorKind::Permanent, format!("{text}: {error}"))),
            _ => Ok(said(1)),
        };
        Box::pin(async move { stream })
    }
}

fn obey(text: &str) -> Result<ReplyStream> {
    let mut words = text.split(' ');
    let verb = words.next();
    let mut number = || words.next().context("a number is missing").and_then(|word| Ok(word.parse()?));
    match verb {
        Some("say") => Ok(said(number()?)),
        Some("stream") => {
            let tokens = stream::iter(0..number()?).then(async |_| {
                be_heard().await;
                Ok(ReplyPart::Text(TOKEN.to_owned()))
            });
            Ok(tokens.boxed())
        }
        Some("silence") => {
            let word = stream::iter([Ok(ReplyPart::Text(TOKEN.to_owned()))]);
            Ok(word.chain(stream::pending()).boxed())
        }
        Some("stuck") => {
            let line = format!("trap '' TERM INT HUP; echo {}; while :; do sleep 1; done", cancel::DEAF);
            Ok(call("run_command", &serde_json::json!({ "command": line })))
        }
        Some("change") => {
            let arguments = serde_json::json!({ "diff": undo::diff(number()?, number()?) });
            Ok(call("apply_patch", &arguments))
        }
        _ => anyhow::bail!("no such instruction"),
    }
}

/// Calls a tool and says nothing.
fn call(tool: &str, arguments: &serde_json::Value) -> ReplyStream {
    let arguments = JsonText(arguments.to_string());
    let call = ReplyPart::Call { provider_id: None, tool: tool.to_owned(), arguments };
    stream::iter([Ok(call)]).boxed()
}

/// Lets everybody who was woken go first, without looking at timers and sockets as tokio's own yield does: that
/// would cost more than what is measured.
pub(super) async fn be_heard() {
    let mut heard = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut heard, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn said(tokens: u64) -> ReplyStream {
    stream::iter(0..tokens).map(|_| Ok(ReplyPart::Text(TOKEN.to_owned()))).boxed()
}
