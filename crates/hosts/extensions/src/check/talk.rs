//! A process that is spoken to frame by frame, with nothing in between that would put up with anything.

use std::time::Duration;

use bytes::BytesMut;
use futures_util::StreamExt;
use loggia_jsonrpc::{
    Body, Incoming, RequestId, read, write_error, write_notification, write_request, write_response,
};
use loggia_protocol_hermes::DIALECT;
use loggia_wire::child::{Child, ChildSpec, Exit, Keeper, spawn};
use loggia_wire::framing::{ContentLength, Inbound};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::codec::{Encoder, FramedRead};

use super::judge::{Answer, cut};
use super::played::Played;

/// As much of what should not have come as is shown.
const SHOWN: usize = 3;

/// An extension that takes so long to take a frame does not read.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// A running extension.
pub(super) struct Talk {
    child: Child,
    frames: FramedRead<pipe::Receiver, ContentLength>,
    codec: ContentLength,
    input: Option<pipe::Sender>,
    next: u64,
    pub(super) played: Played,
    /// What came that should not have.
    pub(super) noise: Noise,
    /// Requests so far.
    pub(super) asked: u64,
}

/// What came that should not have.
#[derive(Debug, Clone, Default)]
pub(super) struct Noise {
    /// Bodies that are no messages.
    pub(super) bodies: Vec<String>,
    /// Requests that hosts refuse.
    pub(super) objections: Vec<String>,
    /// Answers to nobody.
    pub(super) strays: Vec<String>,
    /// Notifications, which no host listens to.
    pub(super) told: Vec<String>,
}

impl Talk {
    pub(super) async fn start(
        keeper: &Keeper,
        spec: ChildSpec,
        frame: usize,
        played: Played,
    ) -> Result<Self, String> {
        let mut child = spawn(keeper, spec).await.map_err(|error| crate::error::with_causes(&error))?;
        let Some((output, input)) = child.take_streams() else {
            return Err("its streams are taken".to_owned());
        };
        let codec = ContentLength::new(frame);
        let frames = FramedRead::new(output, codec.clone());
        let noise = Noise::default();
        Ok(Self { child, frames, codec, input: Some(input), next: 1, played, noise, asked: 0 })
    }

    /// Sends a body as it is. That it was not taken shows in what comes back.
    pub(super) async fn send_body(&mut self, body: &[u8]) {
        let mut frame = BytesMut::new();
        if self.codec.encode(body, &mut frame).is_err() {
            return;
        }
        let Some(input) = &mut self.input else { return };
        let sent = async {
            input.write_all(&frame).await?;
            input.flush().await
        };
        // One that does not read shows by not answering; one that is gone, by the end of its output.
        let _ = timeout(WRITE_LIMIT, sent).await;
    }

    async fn send(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) {
        let mut body = Vec::new();
        // What we say is plain JSON of our own.
        if write(&mut body).is_ok() {
            self.send_body(&body).await;
        }
    }

    pub(super) async fn tell(&mut self, method: &str, params: &Value) {
        self.send(|out| write_notification(out, &DIALECT, method, params)).await;
    }

    /// Asks, and serves whatever it asks itself until its answer is there.
    pub(super) async fn ask(&mut self, method: &str, params: &Value, limit: Duration) -> (Answer, Duration) {
        let (began, id) = (Instant::now(), self.next);
        self.next += 1;
        let request = RequestId::from(id);
        self.send(|out| write_request(out, &DIALECT, &request, method, params)).await;
        let answer = loop {
            match self.hear(began + limit).await {
                Err(None) => break Answer::Silence(limit),
                Err(Some(how)) => break Answer::Gone(how),
                Ok(Some((came, answer))) if came == Some(id) => break answer,
                Ok(Some((_, answer))) => keep(&mut self.noise.strays, answer.words()),
                Ok(None) => {}
            }
        };
        (answer, began.elapsed())
    }

    /// Serves it until it has said nothing for so long; how it ended, if it did, or that it never fell silent.
    pub(super) async fn settle(&mut self, quiet: Duration, limit: Duration) -> Result<(), String> {
        let end = Instant::now() + limit;
        loop {
            match self.hear((Instant::now() + quiet).min(end)).await {
                Err(None) if Instant::now() >= end => {
                    return Err(format!("it is still busy after {} s", limit.as_secs_f32()));
                }
                Err(None) => return Ok(()),
                Err(Some(how)) => return Err(how),
                // What to say about bodies that are no messages, and to nobody else.
                Ok(Some((None, Answer::Error(_)))) => {}
                Ok(Some((_, answer))) => keep(&mut self.noise.strays, answer.words()),
                Ok(None) => {}
            }
        }
    }

    /// The next answer; nothing for everything else, which is dealt with here. An error without words is silence.
    async fn hear(&mut self, deadline: Instant) -> Result<Option<(Option<u64>, Answer)>, Option<String>> {
        let frame = match timeout_at(deadline, self.frames.next()).await {
            Err(_) => return Err(None),
            Ok(None) => return Err(Some(self.end().await)),
            Ok(Some(Err(error))) => return Err(Some(format!("output that cannot be read: {error}"))),
            Ok(Some(Ok(Inbound::Refused(error)))) => return Err(Some(error.to_string())),
            Ok(Some(Ok(Inbound::Frame(frame)))) => frame,
        };
        match read(&frame, &DIALECT) {
            Ok(Body::One(Incoming::Request { id, method, params })) => {
                self.asked += 1;
                let served = self.played.serve(&method, params.map(RawValue::get));
                if let Some(objection) = served.objection {
                    keep(&mut self.noise.objections, objection);
                }
                match served.answer {
                    Ok(result) => self.send(|out| write_response(out, &DIALECT, &id, &result)).await,
                    Err(error) => self.send(|out| write_error(out, &DIALECT, &id, &error)).await,
                }
            }
            Ok(Body::One(Incoming::Notification { method, .. })) => keep(&mut self.noise.told, cut(&method)),
            Ok(Body::One(Incoming::Response { id, outcome })) => {
                let answer = match outcome {
                    Ok(result) => Answer::Result(result.to_owned()),
                    Err(error) => Answer::Error(error),
                };
                return Ok(Some((id.as_ref().and_then(RequestId::sequence), answer)));
            }
            Ok(Body::One(Incoming::Invalid(_)) | Body::Batch(_)) | Err(_) => {
                let begins = String::from_utf8_lossy(&frame);
                keep(&mut self.noise.bodies, cut(&begins));
            }
        }
        Ok(None)
    }

    /// Closes its input and waits for its end.
    pub(super) async fn close_input(&mut self, limit: Duration) -> Option<Exit> {
        self.input = None;
        self.wait_for_exit(limit).await
    }

    /// Waits for its end. What it says meanwhile is dropped.
    pub(super) async fn wait_for_exit(&mut self, limit: Duration) -> Option<Exit> {
        let drain = async { while self.frames.next().await.is_some_and(|frame| frame.is_ok()) {} };
        let ended = async {
            let ((), exit) = tokio::join!(drain, self.child.exited());
            exit
        };
        timeout(limit, ended).await.ok()
    }

    /// The last lines of its stderr.
    pub(super) fn stderr(&self) -> Vec<String> {
        self.child.stderr().lines()
    }

    /// Ends it and all it started.
    pub(super) async fn kill(&mut self) {
        self.input = None;
        self.child.kill().await;
        self.child.ended().await;
        self.child.gone().await;
    }

    async fn end(&mut self) -> String {
        match timeout(Duration::from_secs(1), self.child.exited()).await {
            Ok(exit) => format!("its end with {exit}"),
            Err(_) => "the end of its output, while it goes on".to_owned(),
        }
    }
}

/// Keeps what is shown, and no more.
fn keep(kept: &mut Vec<String>, text: String) {
    if kept.len() < SHOWN && !kept.contains(&text) {
        kept.push(text);
    }
}
