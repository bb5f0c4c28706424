//! Memory while a peer floods: one that never reads, and one that reads everything.

use std::time::{Duration, Instant};

use anyhow::Result;
use loggia_wire::framing::Lines;
use loggia_wire::peer::connect;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::CAP;
use super::ours::{router, settings};
use crate::measure::memory;

/// What a flood did to us.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Flooded {
    /// Frames we took from the flood.
    pub frames: u64,
    /// Resident KiB before it.
    pub before: u64,
    /// The most resident KiB during it, as sampled ten times a second.
    pub peak: u64,
}

/// Floods our peer for a while with requests and notifications.
pub async fn flood(seconds: u64, reads_answers: bool) -> Result<Flooded> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    let (reader, writer) = tokio::io::split(near);
    let (mut far_reader, mut far_writer) = tokio::io::split(far);
    let (peer, connection) = connect(reader, writer, Lines::new(CAP), settings("flood"), router());
    let serving = tokio::spawn(connection.run());
    let reading = tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        while reads_answers && far_reader.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
        std::future::pending::<()>().await;
        drop(far_reader);
    });
    let burst = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"again and again"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"told","params":{}}"#,
        "\n",
        "not json\n"
    )
    .repeat(500);
    let (before, _) = memory();
    let flooding = tokio::spawn(async move { while far_writer.write_all(burst.as_bytes()).await.is_ok() {} });
    let mut peak = before;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        peak = peak.max(memory().0);
    }
    flooding.abort();
    peer.close();
    reading.abort();
    serving.await?;
    Ok(Flooded { frames: peer.stats().frames, before, peak })
}
