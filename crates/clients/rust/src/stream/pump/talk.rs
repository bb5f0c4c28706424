//! One connection, from its greeting to its end.

use std::time::Duration;

use futures_util::{Sink, SinkExt, StreamExt};
use tokio::sync::oneshot;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Error as SocketError, Message};

use super::pulse::{Check, Pulse};
use super::{End, Pump};
use crate::StreamError;
use crate::stream::dial::{Dial, MAX_HEARD_BYTES};
use crate::stream::heard::{Heard, Lost};
use crate::stream::speaker::{NotSent, Said};

/// How long saying goodbye may take.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(1);

/// What is between the connection and those on this side of it.
struct State {
    pulse: Pulse,
    /// What was read and waits for room, with its size. Nothing more is read until then.
    waiting: Option<(Heard, usize)>,
    /// What was handed to the connection and is not written yet. Nothing more is handed over until then.
    unwritten: Option<Unwritten>,
}

/// A message on its way, with whoever wants to know when it is written.
struct Unwritten(Option<oneshot::Sender<Result<(), NotSent>>>);

impl Unwritten {
    fn tell(self, outcome: Result<(), NotSent>) {
        if let Some(written) = self.0 {
            // Whoever asked may have left.
            let _ = written.send(outcome);
        }
    }
}

impl<D: Dial> Pump<D> {
    /// Talks on a connection until it ends.
    pub(super) async fn talk(&mut self, socket: WebSocketStream<D::Io>) -> End {
        self.place.connected();
        let mut state = State { pulse: Pulse::new(), waiting: None, unwritten: None };
        let end = self.talk_with(socket, &mut state).await;
        if let Some(unwritten) = state.unwritten {
            unwritten.tell(Err(NotSent::MayHaveArrived));
        }
        end
    }

    async fn talk_with(&mut self, socket: WebSocketStream<D::Io>, state: &mut State) -> End {
        let (mut sink, mut source) = socket.split();
        if let Err(end) = hand_over(&mut sink, Message::text(self.hello.clone()), None, state).await {
            return end;
        }
        loop {
            let bytes = state.waiting.as_ref().map_or(0, |(_, bytes)| *bytes);
            // Read outside of the selection, which still holds on to the queue.
            let mut frame = None;
            let step = tokio::select! {
                () = self.leave.cancelled() => Err(End::Left),
                room = self.queue.room(bytes), if state.waiting.is_some() => match room {
                    Ok(room) => {
                        if let Some((heard, _)) = state.waiting.take() {
                            room.fill(Ok(heard));
                        }
                        state.pulse.beat();
                        Ok(())
                    }
                    Err(nobody) => Err(nobody.into()),
                },
                flushed = sink.flush(), if state.unwritten.is_some() => match flushed {
                    Ok(()) => {
                        if let Some(unwritten) = state.unwritten.take() {
                            unwritten.tell(Ok(()));
                        }
                        Ok(())
                    }
                    Err(error) => Err(end_of(&error)),
                },
                Some(said) = self.said.recv(), if state.unwritten.is_none() => say(&mut sink, said, state).await,
                read = source.next(), if state.waiting.is_none() => {
                    state.pulse.beat();
                    frame = Some(read);
                    Ok(())
                }
                () = tokio::time::sleep_until(state.pulse.next_look()) => look(&mut sink, state).await,
            };
            match step.and_then(|()| frame.map_or(Ok(()), |frame| self.read(frame, state))) {
                Ok(()) => {}
                Err(End::Left) => {
                    goodbye(&mut sink).await;
                    return End::Left;
                }
                Err(end) => return end,
            }
        }
    }

    /// Takes what came.
    fn read(&mut self, frame: Option<Result<Message, SocketError>>, state: &mut State) -> Result<(), End> {
        match frame {
            Some(Ok(Message::Text(text))) => {
                let heard = self.hear(text.as_str());
                if matches!(heard, Some(Heard::Connected(_))) {
                    state.pulse.greeted();
                }
                state.waiting = heard.map(|heard| (heard, text.len()));
                Ok(())
            }
            Some(Ok(Message::Binary(_))) => {
                Err(StreamError::Strange("messages are text, and it sent a binary one".to_owned()).into())
            }
            Some(Ok(Message::Close(frame))) => Err(closed(frame.as_ref())),
            // Pings are answered by the library, with the next read.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(()),
            Some(Err(error)) => Err(end_of(&error)),
            None => Err(End::Lost(Lost::Cut)),
        }
    }
}

/// Hands a message to the connection, which writes it as far as it can.
async fn hand_over<S: Sink<Message, Error = SocketError> + Unpin>(
    sink: &mut S,
    message: Message,
    written: Option<oneshot::Sender<Result<(), NotSent>>>,
    state: &mut State,
) -> Result<(), End> {
    // There is room for one: the last was written.
    state.unwritten = Some(Unwritten(written));
    sink.feed(message).await.map_err(|error| end_of(&error))
}

/// Says what somebody on this side wants said, unless it was taken back.
async fn say<S: Sink<Message, Error = SocketError> + Unpin>(
    sink: &mut S,
    said: Said,
    state: &mut State,
) -> Result<(), End> {
    if said.written.is_closed() {
        return Ok(());
    }
    hand_over(sink, Message::text(said.text), Some(said.written), state).await
}

/// Finds out whether the other end is there.
async fn look<S: Sink<Message, Error = SocketError> + Unpin>(
    sink: &mut S,
    state: &mut State,
) -> Result<(), End> {
    if state.waiting.is_some() {
        // We are the quiet end: we do not read because nobody listens. The server must not think that we are gone.
        state.pulse.beat();
    } else if state.pulse.look() == Check::Dead {
        return Err(End::Lost(Lost::Silent));
    }
    match (state.unwritten.is_some(), state.waiting.is_some()) {
        // Something is on its way already and shows as much.
        (true, _) => Ok(()),
        (false, true) => hand_over(sink, Message::Pong(Bytes::new()), None, state).await,
        (false, false) => hand_over(sink, Message::Ping(Bytes::new()), None, state).await,
    }
}

/// Closes as the protocol wants it, if the other end is quick enough.
async fn goodbye<S: Sink<Message, Error = SocketError> + Unpin>(sink: &mut S) {
    let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
    let said = tokio::time::timeout(GOODBYE_DEADLINE, sink.send(Message::Close(Some(frame)))).await;
    if !matches!(said, Ok(Ok(()))) {
        tracing::debug!("a stream was left without a goodbye");
    }
}

/// What a close frame means.
fn closed(frame: Option<&CloseFrame>) -> End {
    /// What RFC 6455 calls a close frame without a code.
    const NO_CODE: u16 = 1005;
    if frame.is_some_and(|frame| frame.code == CloseCode::Normal) {
        // The session has ended, and everything was told.
        return End::Left;
    }
    let (code, reason) = frame.map_or((NO_CODE, ""), |frame| (frame.code.into(), frame.reason.as_str()));
    match StreamError::of_close(code, reason) {
        Some(error) => End::Over(error),
        None => End::Lost(Lost::of_close(code)),
    }
}

/// What an error of the connection means: that it is lost, unless the next one would only repeat it.
fn end_of(error: &SocketError) -> End {
    tracing::debug!(%error, "a stream's connection fails");
    match error {
        SocketError::Capacity(_) => End::Over(StreamError::TooLarge { limit: MAX_HEARD_BYTES }),
        SocketError::Utf8(_) => End::Over(StreamError::Strange(error.to_string())),
        _ => End::Lost(Lost::Cut),
    }
}
