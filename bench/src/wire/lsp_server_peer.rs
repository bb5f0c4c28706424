//! `lsp-server` on both ends: blocking streams, a thread per direction, channels between. Its in-memory connection
//! moves no bytes, so it is measured over pipes only.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lsp_server::{Connection, Message, Request, RequestId, Response};

use super::payload::{Load, Text, text};

/// Answers on stdin and stdout until they end.
pub fn serve_stdio() -> Result<()> {
    let (connection, threads) = Connection::stdio();
    for message in &connection.receiver {
        if let Message::Request(request) = message {
            let (id, params): (RequestId, Text) = request.extract("echo").context("an echo")?;
            connection.sender.send(Response::new_ok(id, params).into())?;
        }
    }
    drop(connection);
    threads.join()?;
    Ok(())
}

/// Sends the load to a child and waits for every answer, with a writer thread as the library itself has.
pub fn drive(
    reader: impl std::io::Read,
    writer: impl Write + Send + 'static,
    load: Load,
) -> Result<Duration> {
    let params = text(load.bytes);
    let (outgoing, queue) = std::sync::mpsc::sync_channel::<Message>(load.window);
    let writing = std::thread::spawn(move || -> std::io::Result<()> {
        let mut writer = writer;
        for message in queue {
            message.write(&mut writer)?;
        }
        Ok(())
    });
    let mut reader: Box<dyn BufRead> = Box::new(BufReader::new(reader));
    let start = Instant::now();
    let (mut sent, mut answered) = (0, 0);
    while answered < load.requests {
        while sent - answered < load.window && sent < load.requests {
            sent += 1;
            let id = RequestId::from(i32::try_from(sent)?);
            outgoing.send(Request::new(id, "echo".to_owned(), &params).into())?;
        }
        let Some(Message::Response(response)) = Message::read(&mut reader)? else {
            anyhow::bail!("the server left");
        };
        let result = response.response_result.map_err(|error| anyhow::anyhow!(error.message))?;
        let answer: Text = serde_json::from_value(result)?;
        anyhow::ensure!(answer.text.len() == params.text.len(), "the text came back");
        answered += 1;
    }
    let took = start.elapsed();
    drop(outgoing);
    writing.join().map_err(|_| anyhow::anyhow!("the writer panicked"))??;
    Ok(took)
}
