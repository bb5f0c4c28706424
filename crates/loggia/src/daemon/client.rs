//! Asking a daemon over its Unix socket, for the commands that look after it.

use std::io;
use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

/// How long an answer may take: what is asked here costs the daemon nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// Far more than any answer we ask for.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// What a daemon answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Asks, and waits for the answer.
pub(crate) fn ask(socket: &Path, method: Method, path: &str) -> io::Result<Answer> {
    send(socket, method, path, Bytes::new())
}

/// Asks with this JSON, and waits for the answer.
pub(crate) fn send(socket: &Path, method: Method, path: &str, body: Bytes) -> io::Result<Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered = async { tokio::time::timeout(PATIENCE, exchange(socket, method, path, body)).await };
    runtime.block_on(answered).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn exchange(socket: &Path, method: Method, path: &str, body: Bytes) -> io::Result<Answer> {
    let stream = TokioIo::new(UnixStream::connect(socket).await?);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(stream).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Full::new(body)).map_err(io::Error::other)?;
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
    connection.abort();
    Ok(Answer { status, body: body.map_err(io::Error::other)?.to_bytes() })
}

/// A number in the text that Prometheus reads.
pub(crate) fn metric(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let text = "# HELP a_b x\na_b_c 1\na_b 2\na_b{x=\"y\"} 3\n";
        assert_eq!((metric(text, "a_b"), metric(text, "a")), (Some(2), None));
    }
}
