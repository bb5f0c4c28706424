//! The floor: every line was made into a frame long ago, and goes to everybody. Whatever else comes in is sent back.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use bytes::{BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use super::{contender, terminal};

/// Frames that may wait for one terminal.
const QUEUE: usize = 4096;

/// Frames that are written at once, some 64 KiB of them.
const AT_ONCE: usize = 256;

type Terminals = Arc<Mutex<Vec<mpsc::Sender<Bytes>>>>;

pub(super) fn serve(path: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let terminals = Terminals::default();
    let listener = runtime.block_on(async { UnixListener::bind(path) })?;
    let joining = Arc::clone(&terminals);
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            accept(stream, &joining);
        }
    });
    let frame = Bytes::from(terminal::log_frame()?);
    contender::obey(|lines| {
        let terminals = terminals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for _ in 0..lines {
            for terminal in &terminals {
                // One that has gone needs nothing.
                let _ = terminal.blocking_send(frame.clone());
            }
        }
    })
}

fn accept(stream: UnixStream, terminals: &Terminals) {
    let (read, write) = stream.into_split();
    let (sender, queue) = mpsc::channel(QUEUE);
    tokio::spawn(write_all(write, queue));
    let terminals = Arc::clone(terminals);
    tokio::spawn(async move {
        // A terminal that goes is no fault.
        let _ = hear(read, sender, terminals).await;
    });
}

async fn write_all(mut stream: OwnedWriteHalf, mut queue: mpsc::Receiver<Bytes>) -> std::io::Result<()> {
    let (mut frames, mut batch) = (Vec::with_capacity(AT_ONCE), BytesMut::new());
    while queue.recv_many(&mut frames, AT_ONCE).await > 0 {
        batch.clear();
        frames.drain(..).for_each(|frame| batch.extend_from_slice(&frame));
        stream.write_all(&batch).await?;
    }
    Ok(())
}

async fn hear(mut stream: OwnedReadHalf, sender: mpsc::Sender<Bytes>, terminals: Terminals) -> Result<()> {
    loop {
        let length = stream.read_u32().await?;
        let mut frame = BytesMut::with_capacity(4 + length as usize);
        frame.put_u32(length);
        frame.resize(4 + length as usize, 0);
        stream.read_exact(&mut frame[4..]).await?;
        if &frame[4..] == terminal::SUBSCRIBE.as_bytes() {
            terminals.lock().unwrap_or_else(PoisonError::into_inner).push(sender.clone());
        } else {
            sender.send(frame.freeze()).await?;
        }
    }
}
