//! Our peer on both ends.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use loggia_jsonrpc::Dialect;
use loggia_wire::framing::Codec;
use loggia_wire::peer::{Peer, Router, Settings, connect};
use tokio::io::{AsyncRead, AsyncWrite};

use super::payload::{Echo, Load, text};

/// The settings a door would use.
pub fn settings(name: &str) -> Settings {
    Settings::new(name, Dialect::STANDARD)
}

/// Serves the echo.
pub fn router() -> Router {
    Router::new().serve::<Echo, _, _>(|_, params| async move { Ok(params) })
}

/// Answers until the stream ends.
pub async fn serve<R, W, C>(reader: R, writer: W, codec: C)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
    C: Codec,
{
    connect(reader, writer, codec, settings("client"), router()).1.run().await;
}

/// Sends the load and waits for every answer.
pub async fn drive(peer: Peer, load: Load) -> Result<Duration> {
    let params = text(load.bytes);
    let start = Instant::now();
    let mut in_flight = VecDeque::with_capacity(load.window);
    for _ in 0..load.requests {
        if in_flight.len() == load.window {
            let call = in_flight.pop_front().context("a full window")?;
            check(call, &params).await?;
        }
        in_flight.push_back(peer.call::<Echo>(&params));
    }
    for call in in_flight {
        check(call, &params).await?;
    }
    Ok(start.elapsed())
}

async fn check(
    call: impl Future<Output = Result<super::payload::Text, loggia_wire::peer::CallError>>,
    params: &super::payload::Text,
) -> Result<()> {
    let answer = call.await?;
    anyhow::ensure!(answer.text.len() == params.text.len(), "the text came back");
    Ok(())
}

/// Both ends in this process.
pub async fn in_memory<C: Codec + Sync>(codec: C, load: Load) -> Result<Duration> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let server = tokio::spawn(serve(far_reader, far_writer, codec.clone()));
    let (peer, connection) = connect(near_reader, near_writer, codec, settings("server"), Router::new());
    let running = tokio::spawn(connection.run());
    let took = tokio::spawn(drive(peer.clone(), load)).await.context("client task")??;
    peer.close();
    running.await?;
    server.abort();
    Ok(took)
}
