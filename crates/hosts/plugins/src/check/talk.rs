//! One process of a plugin, spoken to line by line, with nothing in between that would hide what it says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures_util::StreamExt;
use loggia_jsonrpc::{Body, ErrorObject, Incoming, RequestId, read};
use loggia_protocol_mehrhof::{DIALECT, StreamEvent, unwrap_result};
use loggia_wire::child::{Child, ChildSpec, Exit, Keeper, SpawnError, spawn};
use loggia_wire::framing::{Inbound, Lines};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::codec::FramedRead;

use super::judge::{Answer, Heard, cut};

/// As many of each kind as are kept and shown: a plugin may never stop.
pub(super) const SHOWN_NOISE: usize = 3;

/// As much of a stray line as is looked at: more than is shown of it.
const SHOWN_BYTES: usize = 1024;

/// What a plugin wrote that nobody asked for.
#[derive(Debug, Default, Clone)]
pub(super) struct Noise {
    /// Lines that are no messages.
    pub(super) lines: u64,
    /// The first of them.
    pub(super) shown: Vec<String>,
    /// Answers to calls that nobody made.
    pub(super) wrong_ids: Vec<String>,
    /// Requests and notifications that plugins have no business with.
    pub(super) uncalled: Vec<String>,
}

/// Something a plugin said.
pub(super) enum Message {
    Answer { id: Option<RequestId>, answer: Answer },
    Event(StreamEvent),
}

/// One process of a plugin.
pub(super) struct Talk {
    child: Child,
    lines: FramedRead<Box<dyn tokio::io::AsyncRead + Send + Unpin>, Lines>,
    input: Option<Box<dyn tokio::io::AsyncWrite + Send + Unpin>>,
    next: u64,
    pub(super) noise: Noise,
}

impl Talk {
    pub(super) async fn start(
        keeper: &Keeper,
        mut spec: ChildSpec,
        line: usize,
        complaints: Arc<AtomicU64>,
    ) -> Result<Self, SpawnError> {
        let name = spec.name.clone();
        spec.on_stderr = Some(Arc::new(move |_| {
            complaints.fetch_add(1, Relaxed);
        }));
        let mut child = spawn(keeper, spec).await?;
        let Some((output, input)) = child.take_streams() else {
            let source = std::io::Error::other("its streams are taken");
            return Err(SpawnError::Keeper { program: name, source });
        };
        let output: Box<dyn tokio::io::AsyncRead + Send + Unpin> = Box::new(output);
        let lines = FramedRead::new(output, Lines::new(line));
        Ok(Self { child, lines, input: Some(Box::new(input)), next: 1, noise: Noise::default() })
    }

    /// Sends a call; its id.
    pub(super) async fn send(&mut self, method: &str, params: Option<&Value>) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if let Some(params) = params {
            request["params"] = params.clone();
        }
        self.send_line(&request.to_string()).await;
        id
    }

    /// Sends a line as it is. That it was not taken shows in what comes back.
    pub(super) async fn send_line(&mut self, line: &str) {
        let Some(input) = &mut self.input else { return };
        let sent = async {
            input.write_all(line.as_bytes()).await?;
            input.write_all(b"\n").await?;
            input.flush().await
        };
        // A plugin that does not read shows by not answering; one that is gone, by the end of its output.
        let _ = timeout(Duration::from_secs(10), sent).await;
    }

    /// Calls a method. Events that come before the answer are dropped.
    pub(super) async fn ask(&mut self, method: &str, params: Option<&Value>, limit: Duration) -> Heard {
        let began = Instant::now();
        let id = self.send(method, params).await;
        let answer = self.wait_for(id, began + limit, limit).await;
        Heard { answer, took: began.elapsed() }
    }

    /// The answer to a call.
    pub(super) async fn wait_for(&mut self, id: u64, deadline: Instant, limit: Duration) -> Answer {
        loop {
            match self.hear(deadline, limit).await {
                Err(answer) => return answer,
                Ok(Message::Event(_)) => {}
                Ok(Message::Answer { id: came, answer }) => {
                    if came.as_ref().and_then(RequestId::sequence) == Some(id) {
                        return answer;
                    }
                    // Nobody else is asked anything meanwhile, so an error to nobody is about this call.
                    if came.as_ref().is_none_or(RequestId::is_null) && matches!(answer, Answer::Error(_)) {
                        return answer;
                    }
                    let id = came.map_or_else(|| "none".to_owned(), |id| cut(&id.to_string()));
                    keep(&mut self.noise.wrong_ids, id);
                }
            }
        }
    }

    /// The next thing it says, or why there is none.
    pub(super) async fn hear(&mut self, deadline: Instant, limit: Duration) -> Result<Message, Answer> {
        loop {
            // Whoever never stops talking has not answered either.
            if Instant::now() >= deadline {
                return Err(Answer::Silence(limit));
            }
            let line = match timeout_at(deadline, self.lines.next()).await {
                Err(_) => return Err(Answer::Silence(limit)),
                Ok(None) => return Err(Answer::Gone(self.end().await)),
                Ok(Some(Err(error))) => return Err(Answer::Gone(format!("its output broken: {error}"))),
                Ok(Some(Ok(Inbound::Refused(error)))) => {
                    return Err(Answer::Gone(format!("a line that cannot be taken: {error}")));
                }
                Ok(Some(Ok(Inbound::Frame(frame)))) => frame,
            };
            if let Some(message) = self.sort(&line) {
                return Ok(message);
            }
        }
    }

    fn sort(&mut self, line: &[u8]) -> Option<Message> {
        let is_object = line.trim_ascii_start().first() == Some(&b'{');
        match read(line, &DIALECT) {
            Ok(Body::One(Incoming::Response { id, outcome })) if is_object => {
                Some(Message::Answer { id, answer: tidy(outcome, line) })
            }
            Ok(Body::One(Incoming::Notification { method, params })) if method == "stream" => {
                let event = params.and_then(|params| serde_json::from_str(params.get()).ok());
                Some(Message::Event(event.unwrap_or(StreamEvent::Misshapen {
                    kind: "stream".to_owned(),
                    data: loggia_jsonrpc::Json::object(),
                    problem: "`type` is missing".to_owned(),
                })))
            }
            Ok(Body::One(Incoming::Notification { method, .. } | Incoming::Request { method, .. })) => {
                keep(&mut self.noise.uncalled, cut(&method));
                None
            }
            _ => {
                self.noise.lines += 1;
                if self.noise.shown.len() < SHOWN_NOISE {
                    let begins = &line[..line.len().min(SHOWN_BYTES)];
                    self.noise.shown.push(cut(&String::from_utf8_lossy(begins)));
                }
                None
            }
        }
    }

    /// Closes its input and waits for its end; how it ended, if it did in time.
    pub(super) async fn leave(&mut self, limit: Duration) -> Option<Exit> {
        self.input = None;
        self.wait_for_exit(limit).await
    }

    /// Waits for its end. What it says meanwhile is dropped.
    pub(super) async fn wait_for_exit(&mut self, limit: Duration) -> Option<Exit> {
        let output = self.lines.get_mut();
        let mut rest = [0; 4096];
        let drain = async { while matches!(output.read(&mut rest).await, Ok(read) if read > 0) {} };
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
pub(super) fn keep(kept: &mut Vec<String>, text: String) {
    if kept.len() < SHOWN_NOISE && !kept.contains(&text) {
        kept.push(text);
    }
}

/// An answer, with the forms of errors that hosts have to guess at told apart.
fn tidy(outcome: Result<&RawValue, ErrorObject>, line: &[u8]) -> Answer {
    match outcome {
        Ok(result) => match unwrap_result(result) {
            Ok(result) => Answer::Result(result.to_owned()),
            Err(error) => Answer::Untidy(error, "an error inside `result`"),
        },
        Err(error) => {
            let whole: Value = serde_json::from_slice(line).unwrap_or_default();
            let given = &whole["error"];
            if given["code"].is_i64() && given["message"].is_string() {
                Answer::Error(error)
            } else if given.is_string() {
                Answer::Untidy(error, "an `error` that is text alone")
            } else {
                Answer::Untidy(error, "an `error` without `code` and `message`")
            }
        }
    }
}
