//! A server that answers HTTP requests as it is told, byte by byte if need be.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;

/// One thing to do while answering.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes as one chunk.
    Send(Vec<u8>),
    /// Ends the answer as it should be ended.
    End,
    /// Closes the connection.
    Cut,
    /// Says nothing until the other side closes the connection.
    Hang,
    /// Goes on when this was opened.
    Wait(Gate),
}

/// Holds an answer up until a test opens it; it stays open. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gate(Arc<tokio::sync::Semaphore>);

impl Default for Gate {
    /// A closed one.
    fn default() -> Self {
        Self(Arc::new(tokio::sync::Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets everybody through, from any thread.
    pub fn open(&self) {
        self.0.close();
    }

    async fn opened(&self) {
        // Nobody gives permits: it ends when it is closed, which is how it is opened.
        let _ = self.0.acquire().await;
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The code of HTTP.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub steps: Vec<Step>,
}

impl Answer {
    /// Events as they come.
    pub fn stream(steps: Vec<Step>) -> Self {
        Self { status: 200, headers: vec![("content-type".into(), "text/event-stream".into())], steps }
    }

    /// These frames, and a proper end.
    pub fn frames(frames: &[String]) -> Self {
        let sent = frames.iter().map(|frame| Step::Send(frame.clone().into_bytes()));
        Self::stream(sent.chain([Step::End]).collect())
    }

    /// A whole body at once.
    pub fn json(status: u16, body: &str) -> Self {
        let headers = vec![("content-type".into(), "application/json".into())];
        Self { status, headers, steps: vec![Step::Send(body.into()), Step::End] }
    }

    /// The same with this header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// What is answered to whom.
#[derive(Debug)]
struct Answers {
    listing: Option<Answer>,
    others: VecDeque<Answer>,
}

impl Answers {
    fn to(&mut self, request: &Request) -> Option<Answer> {
        match &self.listing {
            Some(listing) if request.head.starts_with("GET ") => Some(listing.clone()),
            _ if self.others.len() > 1 => self.others.pop_front(),
            _ => self.others.front().cloned(),
        }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The first line and the headers.
    pub head: String,
    /// The body; null if it is no JSON.
    pub body: Value,
}

/// A server with answers in order; the last one is given again and again.
#[derive(Debug)]
pub struct Mock {
    /// Where it is, as `http://…`.
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Told when the other side closed a connection on which the server hung.
    closed: mpsc::UnboundedReceiver<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Mock {
    /// Starts one on a free port.
    pub async fn start(answers: Vec<Answer>) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), answers)
    }

    /// The same with one answer to whoever asks what there is (`GET`), however often that is.
    pub async fn start_listing(listing: Answer, answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::play(listener, Answers { listing: Some(listing), others: answers.into() })
    }

    /// The same where somebody listens already.
    pub fn on(listener: TcpListener, answers: Vec<Answer>) -> Self {
        Self::play(listener, Answers { listing: None, others: answers.into() })
    }

    fn play(listener: TcpListener, answers: Answers) -> Self {
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (told, closed) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(answers));
        let seen = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                tokio::spawn(serve(stream, Arc::clone(&answers), Arc::clone(&seen), told.clone()));
            }
        });
        Self { address, requests, closed, task }
    }

    /// What it was asked until now.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until the other side has closed a connection on which it hung.
    pub async fn closed(&mut self) {
        self.closed.recv().await.unwrap();
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address at which nobody listens, and nobody else will while this is kept.
#[derive(Debug)]
pub struct Nobody {
    /// Where nobody is, as `http://…`.
    pub address: String,
    socket: TcpSocket,
}

impl Nobody {
    /// Takes an address.
    #[expect(clippy::new_without_default, reason = "it takes a port each time")]
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { address: format!("http://{}", socket.local_addr().unwrap()), socket }
    }

    /// Somebody comes.
    pub fn listen(self) -> TcpListener {
        self.socket.listen(16).unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Arc<Mutex<Answers>>,
    seen: Arc<Mutex<Vec<Request>>>,
    told: mpsc::UnboundedSender<()>,
) {
    while let Some(request) = read(&mut stream).await {
        let answer = answers.lock().unwrap().to(&request);
        seen.lock().unwrap().push(request);
        let Some(Answer { status, headers, steps }) = answer else { return };
        let mut head = format!("HTTP/1.1 {status} Status\r\ntransfer-encoding: chunked\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        for step in steps {
            let bytes = match step {
                Step::Send(bytes) => [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat(),
                Step::End => b"0\r\n\r\n".to_vec(),
                Step::Cut => return,
                Step::Wait(gate) => {
                    gate.opened().await;
                    continue;
                }
                Step::Hang => {
                    let mut rest = [0; 64];
                    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
                    let _ = told.send(());
                    return;
                }
            };
            if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                return;
            }
            // Lets the other side see every piece on its own.
            tokio::task::yield_now().await;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let head_end = loop {
        if let Some(place) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break place + 4;
        }
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length =
        head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let length: usize = length.unwrap_or(0);
    while bytes.len() < head_end + length {
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or(Value::Null);
    Some(Request { head, body })
}
