//! A connection that could not begin: everybody is told why.
//!
//! Client libraries write before they read. One that finds nobody reading crashes its host, so for a moment every
//! request is answered with the same error.

use std::time::Duration;

use bytes::BytesMut;
use loggia_jsonrpc::{Body, ErrorObject, Incoming, RequestId, read, write_batch, write_error};
use loggia_protocol_autohand::DIALECT;
use loggia_wire::framing::Inbound;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::codec::{Decoder, Encoder};
use tokio_util::sync::CancellationToken;

use crate::framing::Framing;
use crate::serve::input::{End, Input};

/// How long requests are answered: longer than a client takes from starting us to its first write.
const PATIENCE: Duration = Duration::from_secs(1);

/// Says once what is wrong, and again to everybody who asks for something, until input ends or a moment has passed.
pub(super) async fn answer_all<R, W>(
    error: &ErrorObject,
    mut input: Input<R>,
    mut writer: W,
    mut framing: Framing,
    end: &End,
    stop: &CancellationToken,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let answered = async {
        let mut target = BytesMut::new();
        frame(&mut framing, &one(error, &RequestId::null()), &mut target);
        let mut source = BytesMut::new();
        loop {
            while let Ok(Some(inbound)) = framing.decode(&mut source) {
                let answer = match inbound {
                    Inbound::Frame(body) => answer(error, &body),
                    Inbound::Refused(_) => Some(one(error, &RequestId::null())),
                };
                if let Some(answer) = answer {
                    frame(&mut framing, &answer, &mut target);
                }
            }
            writer.write_all(&target).await?;
            writer.flush().await?;
            target.clear();
            if input.read_buf(&mut source).await? == 0 {
                return Ok::<(), std::io::Error>(());
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        result = tokio::time::timeout(PATIENCE, answered) => {
            if let Ok(Err(error)) = result {
                tracing::debug!(%error, "a client has gone before it was told why nothing began");
            }
        }
        () = end.reached() => {}
    }
}

/// The answer to whatever a message is; nothing if it wants none.
fn answer(error: &ErrorObject, body: &[u8]) -> Option<Vec<u8>> {
    match read(body, &DIALECT) {
        Ok(Body::One(message)) => id(&message).map(|id| one(error, &id)),
        Ok(Body::Batch(members)) => {
            let ids = members.iter().filter_map(|member| id(&Body::member(member, &DIALECT)));
            let answers: Vec<Vec<u8>> = ids.map(|id| one(error, &id)).collect();
            let mut out = Vec::new();
            write_batch(&mut out, answers.iter().map(Vec::as_slice));
            (!answers.is_empty()).then_some(out)
        }
        Err(_) => Some(one(error, &RequestId::null())),
    }
}

fn id(message: &Incoming<'_>) -> Option<RequestId> {
    match message {
        Incoming::Request { id, .. } => Some(id.clone()),
        Incoming::Invalid(_) => Some(RequestId::null()),
        Incoming::Notification { .. } | Incoming::Response { .. } => None,
    }
}

fn one(error: &ErrorObject, id: &RequestId) -> Vec<u8> {
    let mut out = Vec::new();
    write_error(&mut out, &DIALECT, id, error).expect("an error of ours is JSON");
    out
}

fn frame(framing: &mut Framing, body: &[u8], target: &mut BytesMut) {
    framing.encode(body, target).expect("an error is shorter than any cap");
}
