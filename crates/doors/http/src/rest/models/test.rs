//! `POST /v1/models/test`: one short call.
//!
//! What always holds: it ends within [`TIME_LIMIT`], holds no session, and is told what it cost where that is known. A
//! model that does not work is an answer, not a problem of the request.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use futures_util::StreamExt as _;
use loggia_domain::{
    Model, ModelError, ModelErrorKind, ModelMessage, ModelRequest, ModelTrouble, ReplyPart, Usage,
};
use loggia_protocol_agent_server::{TestModelParams, TestModelResult};

use super::{known, session_model};
use crate::body::MaybeBody;
use crate::rest::{Answer, Shared};
use crate::to_wire;

/// How long a model may take: a server on this machine may have to read it from a disk first.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// How much it may write: some refuse less.
const MAX_OUTPUT: u64 = 16;

/// How many pieces are heard: one that does not keep to its limit is not listened to for long.
const MAX_PIECES: usize = 256;

const QUESTION: &str = "Reply with the single word: ok";

pub(crate) async fn test(
    State(inner): Shared,
    MaybeBody(params): MaybeBody<TestModelParams>,
) -> Answer<Json<TestModelResult>> {
    let name = match &params.model {
        Some(wanted) => Some(known(&inner, wanted, "/model").await?),
        None => inner.parts.engine.default_model(),
    };
    let model = match inner.parts.models.find(name.as_ref()) {
        Ok(model) => model,
        Err(error) => return Ok(Json(failed(name.as_ref().map(session_model), &error))),
    };
    let name = model.info().name;
    if name.is_none() {
        let message = "no model is set, so only searches answer".to_owned();
        let error = ModelError::new(ModelErrorKind::NotConfigured, message);
        return Ok(Json(failed(None, &error)));
    }
    let asked = Some(session_model(&name));
    let called = tokio::time::timeout(TIME_LIMIT, call(&*model)).await.unwrap_or_else(|_| {
        let message = format!("it did not end its reply within {} seconds", TIME_LIMIT.as_secs());
        let error = ModelError::new(ModelErrorKind::Transient { retry_after: None }, message);
        Err(error.with(ModelTrouble::TimedOut))
    });
    Ok(Json(match called {
        Ok((first, usage)) => {
            let first_piece_ms = u64::try_from(first.as_millis()).unwrap_or(u64::MAX);
            let message = format!("it replied after {first_piece_ms} ms");
            let (first_piece_ms, usage) = (Some(first_piece_ms), usage.map(to_wire::usage));
            TestModelResult { model: asked, works: true, message, hint: None, first_piece_ms, usage }
        }
        Err(error) => failed(asked, &error),
    }))
}

/// Asks; tells how long the first piece took, and what was used if the provider said so.
async fn call(model: &dyn Model) -> Result<(Duration, Option<Usage>), ModelError> {
    let request = ModelRequest {
        messages: vec![ModelMessage::User(QUESTION.to_owned())],
        tools: std::sync::Arc::from([]),
        max_output: Some(MAX_OUTPUT),
        thinking: None,
    };
    let started = Instant::now();
    let mut reply = model.reply(request).await?.take(MAX_PIECES);
    let (mut first, mut usage) = (None, None);
    while let Some(part) = reply.next().await {
        match part? {
            ReplyPart::Usage(used) => usage = Some(used),
            ReplyPart::Switched { .. } => {}
            ReplyPart::Text(_) | ReplyPart::Thought(_) | ReplyPart::Call { .. } => {
                first.get_or_insert_with(|| started.elapsed());
            }
        }
    }
    // A model that only thought, or was cut short, has been there all the same.
    Ok((first.unwrap_or_else(|| started.elapsed()), usage))
}

fn failed(model: Option<loggia_protocol_agent_server::SessionModel>, error: &ModelError) -> TestModelResult {
    let hint = match error.kind {
        ModelErrorKind::Transient { .. } => "try again in a while; see whether the provider can be reached",
        ModelErrorKind::TooLong => "choose a model that can look at more",
        ModelErrorKind::Permanent => "look at the key and at the model's name",
        ModelErrorKind::NotConfigured => "set a key or start a server, then choose a model",
    };
    let (message, hint) = (error.message.clone(), Some(hint.to_owned()));
    TestModelResult { model, works: false, message, hint, first_piece_ms: None, usage: None }
}
