//! The floor: the same codec and serde_json, and no peer. One loop that writes and reads, one that answers.
//!
//! No pending table, no routing, no handlers, no limits: what remains is what nobody can save.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bytes::BytesMut;
use loggia_wire::framing::{Codec, Inbound};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use super::payload::{Load, Text, text};

#[derive(Serialize, Deserialize)]
struct Request {
    jsonrpc: String,
    id: u64,
    method: String,
    params: Text,
}

#[derive(Serialize, Deserialize)]
struct Response {
    jsonrpc: String,
    id: u64,
    result: Text,
}

#[derive(Serialize)]
struct RequestOut<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: &'a Text,
}

#[derive(Serialize)]
struct ResponseOut<'a> {
    jsonrpc: &'static str,
    id: u64,
    result: &'a Text,
}

/// Reads whole frames, as many as one read brings.
struct Source<R, C> {
    reader: R,
    codec: C,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin, C: Codec> Source<R, C> {
    fn new(reader: R, codec: C) -> Self {
        Self { reader, codec, buffer: BytesMut::new() }
    }

    /// Waits for the next bytes; false at the end.
    async fn fill(&mut self) -> Result<bool> {
        self.buffer.reserve(64 * 1024);
        Ok(self.reader.read_buf(&mut self.buffer).await? > 0)
    }

    fn next(&mut self) -> Result<Option<bytes::Bytes>> {
        match self.codec.decode(&mut self.buffer)? {
            Some(Inbound::Frame(frame)) => Ok(Some(frame)),
            Some(Inbound::Refused(error)) => Err(error.into()),
            None => Ok(None),
        }
    }
}

/// Answers until the stream ends.
pub async fn serve<R, W, C>(reader: R, mut writer: W, codec: C) -> Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Codec,
{
    let mut encoder = codec.clone();
    let mut source = Source::new(reader, codec);
    let (mut out, mut body) = (BytesMut::new(), Vec::new());
    while source.fill().await? {
        while let Some(frame) = source.next()? {
            let request: Request = serde_json::from_slice(&frame)?;
            body.clear();
            serde_json::to_writer(
                &mut body,
                &ResponseOut { jsonrpc: "2.0", id: request.id, result: &request.params },
            )?;
            encoder.encode(&body, &mut out)?;
        }
        if !out.is_empty() {
            writer.write_all(&out).await?;
            writer.flush().await?;
            out.clear();
        }
    }
    Ok(())
}

/// Sends the load and waits for every answer. Writing and reading go on side by side, or two full pipes would wait
/// for each other.
pub async fn drive<R, W, C>(reader: R, writer: W, codec: C, load: Load) -> Result<Duration>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Codec,
{
    let progress = Progress::default();
    let start = Instant::now();
    tokio::try_join!(
        send_all(writer, codec.clone(), load, &progress),
        receive_all(Source::new(reader, codec), load, &progress)
    )?;
    Ok(start.elapsed())
}

/// How many answers are in, for the writer to keep its window.
#[derive(Default)]
struct Progress {
    answered: AtomicUsize,
    more: Notify,
}

async fn send_all<W: AsyncWrite + Unpin, C: Codec>(
    mut writer: W,
    mut encoder: C,
    load: Load,
    progress: &Progress,
) -> Result<()> {
    let params = text(load.bytes);
    let (mut out, mut body) = (BytesMut::new(), Vec::new());
    let mut sent = 0;
    while sent < load.requests {
        let limit = load.requests.min(progress.answered.load(Relaxed) + load.window);
        if sent == limit {
            progress.more.notified().await;
            continue;
        }
        while sent < limit {
            sent += 1;
            body.clear();
            let request = RequestOut { jsonrpc: "2.0", id: sent as u64, method: "echo", params: &params };
            serde_json::to_writer(&mut body, &request)?;
            encoder.encode(&body, &mut out)?;
        }
        writer.write_all(&out).await?;
        writer.flush().await?;
        out.clear();
    }
    Ok(())
}

async fn receive_all<R: AsyncRead + Unpin, C: Codec>(
    mut source: Source<R, C>,
    load: Load,
    progress: &Progress,
) -> Result<()> {
    let length = text(load.bytes).text.len();
    let mut answered = 0;
    while answered < load.requests {
        anyhow::ensure!(source.fill().await?, "the server left");
        while let Some(frame) = source.next()? {
            let response: Response = serde_json::from_slice(&frame)?;
            answered += 1;
            anyhow::ensure!(response.id == answered as u64, "answers in order");
            anyhow::ensure!(response.result.text.len() == length, "the text came back");
        }
        progress.answered.store(answered, Relaxed);
        progress.more.notify_one();
    }
    Ok(())
}

/// Both ends in this process.
pub async fn in_memory<C: Codec + Sync>(codec: C, load: Load) -> Result<Duration> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let server = tokio::spawn(serve(far_reader, far_writer, codec.clone()));
    let client = tokio::spawn(drive(near_reader, near_writer, codec, load));
    let took = client.await.context("client task")??;
    server.abort();
    Ok(took)
}
