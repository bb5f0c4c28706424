//! `async-lsp` on both ends, with the same echo.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_lsp::router::Router;
use async_lsp::{MainLoop, ServerSocket};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::payload::{Load, Text, text};

enum Echo {}

impl lsp_types::request::Request for Echo {
    type Params = Text;
    type Result = Text;
    const METHOD: &'static str = "echo";
}

/// Answers until the stream ends.
pub async fn serve<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(reader: R, writer: W) {
    let (server, _client) = MainLoop::new_server(|_| {
        let mut router: Router<()> = Router::new(());
        router.request::<Echo, _>(|(), params| async move { Ok(params) });
        router
    });
    // The end of the stream is an error to it; here it is how measuring ends.
    let _ = server.run_buffered(reader.compat(), writer.compat_write()).await;
}

/// Sends the load over a stream and waits for every answer.
pub async fn drive<R, W>(reader: R, writer: W, load: Load) -> Result<Duration>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (client, server) = MainLoop::new_client(|_| Router::<()>::new(()));
    let running = tokio::spawn(async move {
        let _ = client.run_buffered(reader.compat(), writer.compat_write()).await;
    });
    // Its loop panics when the last socket is gone, so one is kept until the loop is stopped.
    let took = tokio::spawn(send(server.clone(), load)).await.context("client task")??;
    running.abort();
    drop(server);
    Ok(took)
}

async fn send(server: ServerSocket, load: Load) -> Result<Duration> {
    let params = text(load.bytes);
    let start = Instant::now();
    let mut in_flight = VecDeque::with_capacity(load.window);
    for _ in 0..load.requests {
        if in_flight.len() == load.window {
            let call: tokio::task::JoinHandle<_> = in_flight.pop_front().context("a full window")?;
            let answer: Result<Text, async_lsp::Error> = call.await?;
            anyhow::ensure!(answer?.text.len() == params.text.len(), "the text came back");
        }
        // Its request future sends nothing until it is polled, so pipelining takes a task per request.
        let (server, params) = (server.clone(), params.clone());
        in_flight.push_back(tokio::spawn(async move { server.request::<Echo>(params).await }));
    }
    for call in in_flight {
        anyhow::ensure!(call.await??.text.len() == params.text.len(), "the text came back");
    }
    Ok(start.elapsed())
}

/// Both ends in this process.
pub async fn in_memory(load: Load) -> Result<Duration> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let server = tokio::spawn(serve(far_reader, far_writer));
    let took = drive(near_reader, near_writer, load).await?;
    server.abort();
    Ok(took)
}
