//! A terminal byte by byte: it costs little, and does the same with both contenders.

use std::path::Path;

use anyhow::{Result, ensure};
use loggia_protocol_endermux::{Envelope, LogForward, Message};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::LINE;

const HELLO: &str = r#"{"type":"HELLO","requestId":"h","data":{"transportEpoch":15,"colorLevel":"NONE","capabilities":{"log_forward":{"min":1,"max":1},"completion":{"min":1,"max":1}},"requiredCapabilities":["log_forward"]}}"#;
const PING: &str = r#"{"type":"PING","requestId":"p","data":{}}"#;
const COMPLETE: &str =
    r#"{"type":"COMPLETION_REQUEST","requestId":"c","data":{"command":"gamemode sur","cursor":12}}"#;

/// Asks for lines.
pub(super) const SUBSCRIBE: &str = r#"{"type":"LOG_SUBSCRIBE","data":{}}"#;

/// One line on the wire.
pub(super) fn log_frame() -> Result<Vec<u8>> {
    let body = Envelope::plain(Message::LogForward(LogForward::new(LINE))).encode()?;
    let mut frame = u32::try_from(body.len())?.to_be_bytes().to_vec();
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// A terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    stream: UnixStream,
    line: usize,
    buffer: Vec<u8>,
}

impl Terminal {
    /// One that is let in.
    pub(super) async fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).await?;
        let mut terminal = Self { stream, line: log_frame()?.len(), buffer: vec![0; 256 * 1024] };
        terminal.say(HELLO).await?;
        terminal.synchronise().await?;
        Ok(terminal)
    }

    /// Asks for lines; every one from now on will come.
    pub(super) async fn subscribe(&mut self) -> Result<()> {
        self.say(SUBSCRIBE).await?;
        self.synchronise().await
    }

    /// Takes so many lines.
    pub(super) async fn hear(&mut self, lines: usize) -> Result<()> {
        let mut left = lines * self.line;
        while left > 0 {
            let most = left.min(self.buffer.len());
            let read = self.stream.read(&mut self.buffer[..most]).await?;
            ensure!(read > 0, "the server has gone");
            left -= read;
        }
        Ok(())
    }

    /// Asks for a completion, and hears it.
    pub(super) async fn complete(&mut self) -> Result<()> {
        self.say(COMPLETE).await?;
        let answer = self.frame().await?;
        ensure!(answer.contains("COMPLETION_"), "no completion: {answer}");
        Ok(())
    }

    /// Waits until everything that was said before is done.
    async fn synchronise(&mut self) -> Result<()> {
        self.say(PING).await?;
        // The floor says it as it came.
        while !self.frame().await?.contains(r#""requestId":"p""#) {}
        Ok(())
    }

    async fn say(&mut self, message: &str) -> Result<()> {
        self.stream.write_u32(u32::try_from(message.len())?).await?;
        Ok(self.stream.write_all(message.as_bytes()).await?)
    }

    async fn frame(&mut self) -> Result<String> {
        let mut body = vec![0; self.stream.read_u32().await? as usize];
        self.stream.read_exact(&mut body).await?;
        Ok(String::from_utf8(body)?)
    }
}
