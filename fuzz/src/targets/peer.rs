//! A whole connection: whatever the other side says, the connection ends by itself, everything it wrote is JSON-RPC,
//! and each request was answered exactly once.
//!
//! The limits are so small that ordinary inputs reach them.

use std::time::Duration;

use bytes::BytesMut;
use loggia_jsonrpc::{
    Body, Dialect, Incoming, Json, Method, NoParams, Notification, Order, Presumed, codes, presume, read,
};
use loggia_wire::framing::{Codec, ContentLength, Lines};
use loggia_wire::peer::{CloseReason, Limits, Router, Settings, connect};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::yield_now;

use super::stream::{self, Item};

/// Above anything an input or its echo can be.
const CAP: usize = 1 << 20;

/// A connection that has lasted this long does not end by itself.
const PATIENCE: Duration = Duration::from_secs(10);

const LIMITS: Limits = Limits { in_flight: 4, held_bytes: 4096, outbox_bytes: 512, batch_members: 8 };

/// Tries one input.
pub fn target(data: &[u8]) {
    let lines = stream::check(&Lines::new(CAP), data, CAP);
    let answers = converse(&Lines::new(CAP), data, Ends::Cleanly);
    answers.check(&Expected::for_items(&lines.items));

    let framed = frame_each_line(data);
    let frames = stream::check(&ContentLength::new(CAP), &framed, CAP);
    let answers = converse(&ContentLength::new(CAP), &framed, Ends::Cleanly);
    answers.check(&Expected::for_items(&frames.items));

    if data.starts_with(b"Content-") {
        converse(&ContentLength::new(CAP), data, Ends::Somehow);
    }
}

/// Every line as a frame, empty ones included.
fn frame_each_line(data: &[u8]) -> BytesMut {
    let mut framed = BytesMut::new();
    for line in data.split(|byte| *byte == b'\n') {
        let written = tokio_util::codec::Encoder::encode(&mut ContentLength::new(CAP), line, &mut framed);
        written.expect("a line of an input is below the cap");
    }
    framed
}

/// Answers at once or a little later, depending on what is to be echoed.
struct Echo;
impl Method for Echo {
    const NAME: &'static str = "echo";
    type Params = Json;
    type Result = Json;
}

struct Step;
impl Method for Step {
    const NAME: &'static str = "step";
    const ORDER: Order = Order::Ordered;
    type Params = Json;
    type Result = Json;
}

struct Abort;
impl Method for Abort {
    const NAME: &'static str = "abort";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = bool;
}

struct Told;
impl Notification for Told {
    const NAME: &'static str = "told";
    type Params = Json;
}

fn router() -> Router {
    Router::new()
        .serve::<Echo, _, _>(|_, params| async move {
            if !params.0.is_number() {
                yield_now().await;
            }
            Ok(params)
        })
        .serve::<Step, _, _>(|_, params| async move {
            if !params.0.is_number() {
                yield_now().await;
            }
            Ok(params)
        })
        .serve::<Abort, _, _>(|_, _| async move {
            yield_now().await;
            Ok(true)
        })
        .listen::<Told, _, _>(|_, _| yield_now())
}

/// How a conversation has to end.
#[derive(PartialEq, Eq)]
enum Ends {
    /// Because the other side had no more to say.
    Cleanly,
    /// For any reason.
    Somehow,
}

/// Says `input` to a connection that has two calls of its own open, and hears it out.
fn converse<C: Codec>(codec: &C, input: &[u8], ends: Ends) -> Answers {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let mut output = Vec::new();
    runtime.expect("a runtime without I/O needs nothing").block_on(async {
        // Every other connection is so narrow that its writer has to wait.
        let (near, far) = tokio::io::duplex(if input.len().is_multiple_of(2) { 64 } else { 64 * 1024 });
        let (near_reader, near_writer) = tokio::io::split(near);
        let (mut far_reader, mut far_writer) = tokio::io::split(far);
        let settings = Settings { limits: LIMITS, ..Settings::new("fuzz", Dialect::STANDARD) };
        let (peer, connection) = connect(near_reader, near_writer, codec.clone(), settings, router());
        let calls = (peer.call::<Echo>(&Json::object()), peer.call::<Abort>(&NoParams {}));
        let talk = async {
            for piece in stream::pieces(input) {
                // A connection that broke off does not listen any more.
                if far_writer.write_all(piece).await.is_err() {
                    return;
                }
            }
            let _ = far_writer.shutdown().await;
        };
        let listen = far_reader.read_to_end(&mut output);
        let everything = async { tokio::join!(connection.run(), talk, listen, calls.0, calls.1) };
        let ended = tokio::time::timeout(PATIENCE, everything).await;
        let (reason, ..) = ended.expect("the connection does not end by itself");
        assert!(
            ends == Ends::Somehow || matches!(reason, CloseReason::EndOfStream),
            "the connection ended because {reason}"
        );
        assert_eq!(peer.pending_calls(), 0, "a call outlived its connection");
    });
    let written = stream::check(codec, &output, CAP);
    assert_eq!(written.error, None, "the connection wrote a broken stream");
    Answers::read(written.frames())
}

/// The ids that were answered, sorted; a null id is counted.
#[derive(Debug, Default)]
struct Answers {
    ids: Vec<String>,
    nulls: usize,
}

impl Answers {
    fn read<'a>(frames: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut answers = Self::default();
        for frame in frames {
            match read(frame, &Dialect::STANDARD) {
                Ok(Body::One(message)) => answers.add(&message),
                Ok(Body::Batch(members)) => {
                    for member in members {
                        answers.add(&Body::member(member, &Dialect::STANDARD));
                    }
                }
                Err(error) => panic!("{error} in what was written: {}", String::from_utf8_lossy(frame)),
            }
        }
        answers.ids.sort();
        answers
    }

    fn add(&mut self, message: &Incoming<'_>) {
        match message {
            Incoming::Response { id, outcome } => {
                if let Err(error) = outcome {
                    assert_ne!(error.code, codes::INTERNAL_ERROR, "a handler failed that cannot: {error}");
                }
                match id {
                    Some(id) => self.ids.push(id.to_string()),
                    None => self.nulls += 1,
                }
            }
            // The two calls of our own.
            Incoming::Request { method, .. } if matches!(&**method, "echo" | "abort") => {}
            other => panic!("{other:?} was written"),
        }
    }

    fn check(&self, expected: &Expected) {
        assert_eq!(self.ids, expected.ids, "not every request was answered exactly once");
        assert!(
            (expected.nulls..=expected.nulls + expected.perhaps_nulls).contains(&self.nulls),
            "{} answers have no id; expected were {} and perhaps {} more",
            self.nulls,
            expected.nulls,
            expected.perhaps_nulls
        );
    }
}

/// Which answers an input asks for.
#[derive(Debug, Default)]
struct Expected {
    ids: Vec<String>,
    nulls: usize,
    perhaps_nulls: usize,
}

impl Expected {
    fn for_items(items: &[Item]) -> Self {
        let mut expected = Self::default();
        for item in items {
            match item {
                Item::Refused(_) => expected.nulls += 1,
                Item::Frame(frame) => expected.add_frame(frame),
            }
        }
        expected.ids.sort();
        expected
    }

    fn add_frame(&mut self, frame: &[u8]) {
        if let Some(Presumed::Result { .. }) = presume(frame, &Dialect::STANDARD) {
            // What looks like an answer is read by the caller it names. Without one nobody looks closer, so nobody
            // tells the other side that it is broken.
            self.perhaps_nulls += 1;
            return;
        }
        match read(frame, &Dialect::STANDARD) {
            Ok(Body::One(message)) => self.add(&message),
            Ok(Body::Batch(members)) if members.len() > LIMITS.batch_members => self.nulls += 1,
            Ok(Body::Batch(members)) => {
                for member in members {
                    self.add(&Body::member(member, &Dialect::STANDARD));
                }
            }
            Err(_) => self.nulls += 1,
        }
    }

    fn add(&mut self, message: &Incoming<'_>) {
        match message {
            Incoming::Request { id, .. } if id.is_null() => self.nulls += 1,
            Incoming::Request { id, .. } => self.ids.push(id.to_string()),
            Incoming::Invalid(_) => self.nulls += 1,
            Incoming::Notification { .. } | Incoming::Response { .. } => {}
        }
    }
}
