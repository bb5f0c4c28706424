//! What clients ask, and where their lines go.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_endermux_io::server::{ClientId, Output, Presence};
use loggia_endermux_io::{Host, HostError, Log as _};
use loggia_protocol_endermux::CandidateInfo;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::chunk::Chunk;
use crate::vocabulary::Vocabulary;

/// The longest line that is passed on at once. What is longer was not typed.
pub(crate) const MAX_INPUT: usize = 64 * 1024;

/// How many lines may wait for the program to read them.
pub(crate) const INPUT_QUEUE: usize = 256;

/// How many reads of output may wait for whoever gave a command and waits for what it says.
const SAID_QUEUE: usize = 256;

/// A program does not tell when it is done with a line: it is when nothing has come for so long.
const QUIET: Duration = Duration::from_millis(500);

/// How long somebody is told what comes after a line, if it does not end.
const AT_MOST: Duration = Duration::from_secs(30);

/// How long those who wait for an answer may take to read it after the program's end. Whoever reads takes a moment, and
/// nobody waits longer for the others.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Who sent a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Somebody attached.
    Client(ClientId),
    /// Whoever sits where we were started.
    Keyboard,
}

/// What the program is given to read.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line with its end, or the beginning of one.
    Line(Source, Vec<u8>),
    /// How a line of the keyboard goes on that was not whole.
    More(Vec<u8>),
    /// Nothing more comes from the keyboard.
    End,
}

/// What answers clients.
#[derive(Debug)]
pub(crate) struct Desk {
    input: mpsc::Sender<Input>,
    vocabulary: Mutex<Vocabulary>,
    /// What the program says, for those who wait for it.
    pub(crate) said: broadcast::Sender<Chunk>,
    /// Those who pass it on.
    telling: TaskTracker,
    /// The program has ended, and no other is started.
    ended: CancellationToken,
}

impl Desk {
    pub(crate) fn new(input: mpsc::Sender<Input>, vocabulary: Vocabulary) -> Self {
        Self {
            input,
            vocabulary: Mutex::new(vocabulary),
            said: broadcast::Sender::new(SAID_QUEUE),
            telling: TaskTracker::new(),
            ended: CancellationToken::new(),
        }
    }

    /// The program has ended for good: whoever waits for an answer gets the rest of it, and its end.
    pub(crate) async fn finish(&self) {
        self.ended.cancel();
        self.telling.close();
        if timeout(LAST_ANSWERS, self.telling.wait()).await.is_err() {
            tracing::debug!("somebody does not read what the program said last");
        }
    }

    /// What can be completed.
    pub(crate) fn vocabulary(&self) -> MutexGuard<'_, Vocabulary> {
        // It is whole after every step.
        self.vocabulary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues all lines of a command, or none.
    fn queue(&self, client: ClientId, command: &str) -> Result<(), HostError> {
        let lines: Vec<&str> = if command.is_empty() { vec![""] } else { command.lines().collect() };
        if lines.iter().any(|line| line.len() > MAX_INPUT) {
            return Err(HostError::Failed(format!("the line is over {MAX_INPUT} bytes and was not sent")));
        }
        let places = self.input.try_reserve_many(lines.len()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => {
                HostError::Failed("the program does not read its input; the line was not sent".to_owned())
            }
            mpsc::error::TrySendError::Closed(()) => HostError::Unavailable,
        })?;
        for (place, line) in places.zip(lines) {
            place.send(Input::Line(Source::Client(client), format!("{line}\n").into_bytes()));
        }
        Ok(())
    }
}

impl Host for Desk {
    async fn complete(&self, _: &Presence, line: &str, at: usize) -> Result<Vec<CandidateInfo>, HostError> {
        Ok(self.vocabulary().complete(line, at))
    }

    async fn highlight(&self, client: &Presence, line: &str) -> Result<String, HostError> {
        Ok(self.vocabulary().highlight(line, client.color_level))
    }

    async fn execute(
        self: Arc<Self>,
        client: Presence,
        command: String,
        output: Output,
    ) -> Result<(), HostError> {
        if self.ended.is_cancelled() {
            return Err(HostError::Unavailable);
        }
        // Before the program can answer. Whoever has the log hears it there, and once is enough.
        let said = (output.is_awaited() && !client.subscribed).then(|| self.said.subscribe());
        self.queue(client.id, &command)?;
        match said {
            // It ends within a bounded time, and with the program.
            Some(said) => {
                self.telling.spawn(pass_on(said, output, self.ended.clone()));
            }
            None => output.finish(0),
        }
        Ok(())
    }
}

/// Tells whoever gave a command what the program says, until it is quiet or has ended.
async fn pass_on(mut said: broadcast::Receiver<Chunk>, output: Output, ended: CancellationToken) {
    let latest = Instant::now() + AT_MOST;
    loop {
        let quiet = Instant::now() + QUIET;
        let next = tokio::select! {
            next = timeout_at(quiet.min(latest), said.recv()) => next.ok(),
            () = ended.cancelled() => last(&mut said),
        };
        let text = match next {
            Some(Ok(chunk)) => chunk.text(output.color_level()).into_owned(),
            Some(Err(RecvError::Lagged(_))) => "… some lines skipped\n".to_owned(),
            Some(Err(RecvError::Closed)) | None => break,
        };
        if output.print(&text).await.is_err() {
            return;
        }
    }
    output.finish(0);
}

/// What a program that has ended said and was not passed on yet. Nothing is waited for.
fn last(said: &mut broadcast::Receiver<Chunk>) -> Option<Result<Chunk, RecvError>> {
    match said.try_recv() {
        Ok(chunk) => Some(Ok(chunk)),
        Err(TryRecvError::Lagged(lines)) => Some(Err(RecvError::Lagged(lines))),
        Err(TryRecvError::Empty | TryRecvError::Closed) => None,
    }
}
