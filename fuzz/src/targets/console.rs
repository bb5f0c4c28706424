//! A console's whole connection: whatever a client says, the connection ends by itself, everything written is sound
//! messages in the client's own framing, and each request is answered exactly once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use loggia_endermux_io::server::{Output, Presence};
use loggia_endermux_io::{Host, HostError, Server};
use loggia_protocol_endermux::{
    CandidateInfo, ClientOffer, ColorLevel, Envelope, Epoch, Framing, Message, MessageType, Payload as _,
    RequestId, limits,
};
use loggia_wire::framing::LengthPrefixed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::codec::Encoder as _;

use super::stream;

/// A connection that has lasted this long does not end by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries one input: as the bytes of a connection, and as the lines of a client that was let in.
pub fn target(data: &[u8]) {
    converse(data);
    let epoch = match data.len() % 3 {
        0 => Epoch::Fifteen,
        1 => Epoch::Sixteen,
        _ => Epoch::Seventeen,
    };
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let output = converse(&framed(epoch, &lines));
    Said::read(epoch, &output).check(&lines);
}

/// What clients are told; every kind of answer is in it.
struct Echo;

impl Host for Echo {
    async fn complete(
        &self,
        _client: &Presence,
        line: &str,
        at: usize,
    ) -> Result<Vec<CandidateInfo>, HostError> {
        match line.get(..at) {
            Some("") => Err(HostError::Unavailable),
            Some(word) => Ok(vec![CandidateInfo { value: word.to_owned(), ..CandidateInfo::default() }]),
            None => Err(HostError::Failed("the cursor is inside a character".to_owned())),
        }
    }

    async fn execute(
        self: Arc<Self>,
        _client: Presence,
        command: String,
        output: Output,
    ) -> Result<(), HostError> {
        if command.is_empty() {
            return Err(HostError::Failed("nothing to do".to_owned()));
        }
        let _ = output.print(&command).await;
        output.finish(0);
        Ok(())
    }
}

/// A client's greeting and then these messages, in the framing of its epoch.
fn framed(epoch: Epoch, lines: &[&[u8]]) -> BytesMut {
    let hello = Message::Hello(ClientOffer::baseline(epoch, ColorLevel::Indexed8).hello());
    let hello = Envelope::with_id(RequestId::from("hello"), hello).encode();
    let mut bytes = BytesMut::new();
    let mut codec = codec(epoch);
    for body in
        std::iter::once(hello.expect("a greeting can be written").as_slice()).chain(lines.iter().copied())
    {
        codec.encode(body, &mut bytes).expect("a line of an input is below the cap");
    }
    bytes
}

fn codec(epoch: Epoch) -> LengthPrefixed {
    match epoch.framing() {
        Framing::Plain => LengthPrefixed::plain(limits::MAX_FRAME),
        Framing::Compressed => LengthPrefixed::tagged(limits::MAX_FRAME, limits::MAX_INFLATED),
    }
}

/// Says `input` to a server that takes commands, and hears it out.
fn converse(input: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let mut output = Vec::new();
    runtime.expect("a runtime without I/O needs nothing").block_on(async {
        let server = Server::new(Echo);
        server.console().set_interactive(true);
        // Every other connection is so narrow that its writer has to wait.
        let (near, far) = tokio::io::duplex(if input.len().is_multiple_of(2) { 64 } else { 64 * 1024 });
        let (mut far_reader, mut far_writer) = tokio::io::split(far);
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
        let everything = async { tokio::join!(server.serve(near), talk, listen) };
        let ended = tokio::time::timeout(PATIENCE, everything).await;
        let (_, (), heard) = ended.expect("the connection does not end by itself");
        heard.expect("a stream in memory does not fail");
        assert_eq!(server.console().clients().len(), 0, "a client outlived its connection");
    });
    output
}

/// What a client was told after its welcome.
struct Said {
    /// How often each id was answered.
    answers: BTreeMap<String, usize>,
    /// Answers in all, those without an id included.
    count: usize,
}

impl Said {
    fn read(epoch: Epoch, output: &[u8]) -> Self {
        let told = stream::check(&codec(epoch), output, limits::MAX_INFLATED);
        assert_eq!(told.error, None, "the console wrote a broken stream");
        let mut said = Self { answers: BTreeMap::new(), count: 0 };
        for (place, frame) in told.frames().enumerate() {
            let message = Envelope::<Message>::decode(frame);
            let message = message.unwrap_or_else(|error| {
                panic!("{error} in what was written: {}", String::from_utf8_lossy(frame))
            });
            match message.data.message_type() {
                MessageType::Welcome if place == 0 => {}
                MessageType::InteractivityStatus | MessageType::LogForward => {}
                _ => said.add(message.request_id),
            }
        }
        said
    }

    fn add(&mut self, id: Option<RequestId>) {
        self.count += 1;
        if let Some(id) = id {
            *self.answers.entry(id.0).or_default() += 1;
        }
    }

    /// Every request among the lines has its answer, and no line has two.
    fn check(&self, lines: &[&[u8]]) {
        assert!(self.count <= lines.len(), "{} answers to {} messages", self.count, lines.len());
        let mut asked = BTreeMap::<String, usize>::new();
        for line in lines {
            let Ok(message) = Envelope::<Message>::decode(line) else { continue };
            let owed = message.data.message_type().response().is_some();
            if let Some(id) = message.request_id.filter(|_| owed) {
                *asked.entry(id.0).or_default() += 1;
            }
        }
        for (id, times) in asked {
            let answered = self.answers.get(&id).copied().unwrap_or(0);
            assert!(answered >= times, "`{id}` was asked {times} times and answered {answered} times");
        }
    }
}
