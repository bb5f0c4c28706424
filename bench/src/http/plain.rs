//! HTTP as it is on the wire, so that a client costs next to nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The largest answer there is here.
const MAX_ANSWER: usize = 1024 * 1024;

/// A connection that is asked one thing after the other.
#[derive(Debug)]
pub(super) struct Plain {
    stream: TcpStream,
    host: String,
    token: String,
    buffer: Vec<u8>,
}

impl Plain {
    pub(super) async fn connect(address: SocketAddr, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            host: address.to_string(),
            token: token.to_owned(),
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// A request as bytes.
    pub(super) fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{kind}content-length: {}\r\n\r\n{body}",
            self.host,
            self.token,
            body.len()
        )
        .into_bytes()
    }

    /// Asks, and gives the body of a good answer.
    pub(super) async fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (start, length) = loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server hung up");
            ensure!(self.buffer.len() < MAX_ANSWER, "the answer is too large");
            if let Some(found) = head(&self.buffer)? {
                break found;
            }
        };
        while self.buffer.len() < start + length {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server hung up");
        }
        Ok(&self.buffer[start..start + length])
    }
}

/// Where the body begins and how long it is, once the whole head is there.
fn head(bytes: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    ensure!(status.starts_with('2'), "the answer is {head}");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    let length = length.context("an answer with a length")?.parse()?;
    Ok(Some((end + 4, length)))
}
