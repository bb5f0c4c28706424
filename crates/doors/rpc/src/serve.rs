//! The life of a connection: it begins, is served, and ends in good order.

mod failed;
mod input;

use std::sync::Arc;
use std::time::Duration;

use loggia_protocol_autohand::limits::{EXIT_BUDGET, MAX_LINE_BYTES};
use loggia_protocol_autohand::{AgentEndReason, DIALECT, SessionEndReason, SessionType};
use loggia_wire::peer::{Connection, Limits, Peer, Settings, connect};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Parts, StartError};
use crate::framing::Framing;
use crate::launch::{Launch, LaunchError};
use crate::{calls, life, pump};
use input::{End, Input};

/// How long the first line waits for the client's first byte, which tells how it frames. Every known client writes at once;
/// one that only listens gets its first line after this, unnoticed.
const FIRST_BYTE: Duration = Duration::from_millis(20);

/// How long calls that were read before the end of input may take to be answered.
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// How long a prompt may take to reach its session.
const LAST_PROMPT: Duration = Duration::from_millis(50);

/// How long a turn may take to end.
const LAST_TURN: Duration = Duration::from_millis(300);

/// How long the last lines may wait for a client that does not read.
const LAST_LINES: Duration = Duration::from_millis(100);

/// How long what is queued may take to be written.
const LAST_BYTES: Duration = Duration::from_millis(150);

/// How long the removal of a session that nobody used may be waited for. Such a one has no turn, so that time is not taken.
const LAST_SWEEP: Duration = LAST_TURN;

/// A little more than the connection gives itself for that.
const GRACE: Duration = Duration::from_millis(50);

/// The least patient client kills us soon after this.
const _: () = {
    let steps = [LAST_ANSWERS, LAST_PROMPT, LAST_TURN, LAST_LINES, LAST_BYTES, GRACE];
    let (mut sum, mut step) = (0, 0);
    while step < steps.len() {
        sum += steps[step].as_millis();
        step += 1;
    }
    assert!(sum < EXIT_BUDGET.as_millis());
};

/// How a process that served a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code.
    pub code: u8,
    /// Why it could not start, for people who read standard error.
    pub reason: Option<String>,
}

impl Exit {
    const DONE: Self = Self { code: 0, reason: None };

    fn failed(error: &StartError) -> Self {
        Self { code: 1, reason: Some(error.to_string()) }
    }
}

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// The client closed its side.
    EndOfInput,
    /// The stream broke: the client may come back.
    Broken,
    /// Whoever runs us wants it.
    Stopped,
    /// The client asked for it.
    Asked,
}

/// Serves one client until it goes, or until `stop` is cancelled.
///
/// Whatever happens, the last lines are written and everything is over within 800 milliseconds of the end of
/// input or of `stop`. A client that no longer takes our bytes is served until its input ends. End of input and `stop`
/// abort the turn that such a client began, unless somebody else is on its session, and remove a session that it opened
/// and in which nothing was said; a reader that fails instead is a client that vanished, whose turn goes on.
///
/// # Cancel safety
/// Dropping the future ends the connection without a word. A turn under way goes on, as for a client that vanished.
pub async fn serve<R, W>(
    parts: Parts,
    launch: Result<Launch, LaunchError>,
    reader: R,
    writer: W,
    stop: CancellationToken,
) -> Exit
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let framing = Framing::new();
    let end = Arc::new(End::default());
    let mut input = Input::new(reader, framing.clone(), Arc::clone(&end));
    let begin = async { tokio::join!(Door::start(parts, launch), input.look(FIRST_BYTE)).0 };
    let begun = tokio::select! {
        biased;
        () = stop.cancelled() => return Exit::DONE,
        begun = begin => begun,
    };
    let door = match begun {
        Ok(door) => door,
        Err(error) => {
            failed::answer_all(&error.to_error(), input, writer, framing, &end, &stop).await;
            return Exit::failed(&error);
        }
    };
    // However this ends, nothing of the connection outlives it.
    let _life = door.life.clone().drop_guard();
    let router = calls::router(&door, &framing);
    let (peer, connection) = connect(input, writer, framing, settings(&door), router);
    let running = begin_session(&door, &peer, connection).await;
    let why = tokio::select! {
        biased;
        () = stop.cancelled() => Leaving::Stopped,
        () = door.leave.cancelled() => Leaving::Asked,
        () = end.reached() => if end.is_broken() { Leaving::Broken } else { Leaving::EndOfInput },
        _ = peer.closed() => Leaving::Broken,
    };
    shut_down(&door, &peer, why).await;
    finish(running).await;
    // A client that vanished may come back to it.
    if why != Leaving::Broken {
        // It is removed also if nobody waits for that.
        let _ = tokio::time::timeout(LAST_SWEEP, door.discard(&door.place())).await;
    }
    Exit::DONE
}

/// Tells a client, and again whenever it asks for something, why nothing can begin: for whoever has no engine to serve it
/// with. Ends with its input, with `stop`, or after a moment.
pub async fn refuse<R, W>(reason: String, reader: R, writer: W, stop: CancellationToken) -> Exit
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let error = StartError::from(LaunchError::Refused(reason));
    let (framing, end) = (Framing::new(), Arc::new(End::default()));
    let mut input = Input::new(reader, framing.clone(), Arc::clone(&end));
    input.look(FIRST_BYTE).await;
    failed::answer_all(&error.to_error(), input, writer, framing, &end, &stop).await;
    Exit::failed(&error)
}

fn settings(door: &Door) -> Settings {
    // A prompt with images may be as long as a line; a second one may wait behind it.
    let limits = Limits { held_bytes: 2 * MAX_LINE_BYTES, ..Limits::default() };
    Settings { limits, drain: LAST_BYTES, ..Settings::new(door.client.name.clone(), DIALECT) }
}

/// Says the first words, before anything that the client sent is looked at.
async fn begin_session<R, W>(
    door: &Arc<Door>,
    peer: &Peer,
    connection: Connection<R, W, Framing>,
) -> JoinHandle<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let place = door.place();
    let how = if place.resumed { SessionType::Resume } else { SessionType::Startup };
    pump::send(peer, &life::begin(&place, how)).await;
    let running = tokio::spawn(async move {
        connection.run().await;
    });
    pump::start(door, place, peer.clone());
    running
}

/// Ends the turn and says the last words. Nothing is said after them.
async fn shut_down(door: &Door, peer: &Peer, why: Leaving) {
    if matches!(why, Leaving::EndOfInput | Leaving::Asked) {
        // What was read before is still answered, if that does not take long.
        let _ = tokio::time::timeout(LAST_ANSWERS, door.served()).await;
    }
    door.close();
    // A prompt that was taken in this moment has reached its session when this is over; none is taken after it.
    let _ = tokio::time::timeout(LAST_PROMPT, door.hold()).await;
    let place = door.place();
    if why != Leaving::Broken {
        place.leave_turn(LAST_TURN).await;
    }
    let reason = match why {
        Leaving::Asked => AgentEndReason::Completed,
        Leaving::EndOfInput | Leaving::Broken | Leaving::Stopped => AgentEndReason::Aborted,
    };
    let last_words = async {
        let _held = door.hold().await;
        let mut said = place.fall_silent();
        said.notices.push(life::end(&place, SessionEndReason::Exit));
        said.notices.push(life::last(&place, reason));
        pump::send(peer, &said.notices).await;
    };
    // A client that does not read does not hear them.
    let _ = tokio::time::timeout(LAST_LINES, last_words).await;
    place.stop.cancel();
    peer.close();
}

/// Waits until what is queued is written, and no longer than that may take.
async fn finish(mut running: JoinHandle<()>) {
    if tokio::time::timeout(LAST_BYTES + GRACE, &mut running).await.is_err() {
        running.abort();
    }
}
