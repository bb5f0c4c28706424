//! One JSON request and its answer, over plain HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// How long an answer may take: a browser that starts on a busy machine is slow.
const ANSWER: Duration = Duration::from_secs(60);

/// Asks `address` and gives the answer's status and body.
pub(super) fn ask(address: &str, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
    let exchange = || -> anyhow::Result<Value> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        read(&mut stream)
    };
    exchange().with_context(|| format!("{method} {path}"))
}

/// Reads as much as the head says: not everybody closes the connection when asked to.
fn read(stream: &mut impl Read) -> anyhow::Result<Value> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        if let Some(answer) = parse(&bytes)? {
            return Ok(answer);
        }
        match stream.read(&mut piece)? {
            0 => bail!("the answer breaks off"),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

/// The body, once it is all there.
fn parse(bytes: &[u8]) -> anyhow::Result<Option<Value>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let body = &bytes[end + 4..];
    let length = length.unwrap_or(0);
    if body.len() < length {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&body[..length]);
    if !status.starts_with('2') {
        bail!("answered {status}: {text}");
    }
    Ok(Some(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_once_it_is_whole() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
        for cut in 0..whole.len() {
            assert_eq!(parse(&whole[..cut]).unwrap(), None);
        }
        assert_eq!(parse(whole).unwrap().unwrap()["a"], 1);
        assert!(parse(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}").is_err());
    }
}
