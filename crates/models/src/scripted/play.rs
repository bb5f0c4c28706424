//! A scripted reply as a stream.
//!
//! Knows the order of things and how long they take, by the runtime's clock. Refuses to know which reply it is.
//! Invariant: nothing comes after an error, and the usage comes last.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use loggia_domain::{ModelError, ModelErrorKind, ReplyPart, ReplyStream};

use crate::scripted::script::{ErrorKind, Part, Reply};

/// Where a stream is in its reply.
struct Place {
    reply: Arc<Reply>,
    part: usize,
    /// How many of a part that repeats itself have been said.
    said: u64,
}

/// Plays a reply.
pub(super) fn play(reply: Arc<Reply>) -> ReplyStream {
    Box::pin(stream::unfold(Place { reply, part: 0, said: 0 }, next))
}

/// The next piece, after whatever waits lie before it.
async fn next(mut place: Place) -> Option<(Result<ReplyPart, ModelError>, Place)> {
    loop {
        let Some(part) = place.reply.parts.get(place.part) else {
            let usage = place.reply.usage.filter(|_| place.part == place.reply.parts.len())?;
            place.part += 1;
            return Some((Ok(ReplyPart::Usage(usage)), place));
        };
        let said = match part {
            Part::Wait(time) => {
                tokio::time::sleep(*time).await;
                None
            }
            Part::Hang => std::future::pending().await,
            Part::Tokens { count, .. } if place.said >= *count => None,
            Part::Tokens { text, .. } => {
                // A stream that is always ready would keep its listener's thread for itself.
                tokio::task::coop::consume_budget().await;
                place.said += 1;
                let piece = ReplyPart::Text(text.clone());
                return Some((Ok(piece), place));
            }
            Part::Say(piece) => Some(Ok(piece.clone())),
            Part::Fail { kind, message, retry_after } => Some(Err(error(*kind, message, *retry_after))),
        };
        place.part += 1;
        place.said = 0;
        match said {
            None => {}
            Some(Ok(piece)) => return Some((Ok(piece), place)),
            Some(Err(error)) => {
                // Nothing comes after an error.
                place.part = usize::MAX;
                return Some((Err(error), place));
            }
        }
    }
}

fn error(kind: ErrorKind, message: &str, retry_after: Option<Duration>) -> ModelError {
    let kind = match kind {
        ErrorKind::Transient => ModelErrorKind::Transient { retry_after },
        ErrorKind::TooLong => ModelErrorKind::TooLong,
        ErrorKind::Permanent => ModelErrorKind::Permanent,
    };
    ModelError::new(kind, message)
}
