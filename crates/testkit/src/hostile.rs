//! Peers that misbehave, over any stream and in any framing.
//!
//! They frame their bytes by hand, not with the product's codecs: a codec that is wrong in the same way on both
//! sides would look right.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// How the peer frames its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length` headers.
    ContentLength,
    /// One message per line.
    Lines,
}

/// What the peer does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Declares a shorter or longer body than it sends.
    LieAboutLength,
    /// Declares more than anybody takes.
    DeclareTooMuch,
    /// Begins an answer and never finishes it.
    StallInMidFrame,
    /// Sends notifications and requests as fast as it can, reading nothing.
    Flood,
    /// Answers every request twice.
    AnswerTwice,
    /// Answers with ids nobody used, then properly.
    UnknownIds,
    /// Answers one request, then leaves in the middle of the next answer.
    ExitEarly,
    /// Sends bytes that mean nothing, then answers properly.
    Garbage,
    /// Takes requests and never answers.
    Silent,
}

impl Misbehaviour {
    /// All of them, with the names `peer-kit` takes.
    pub const ALL: [(&'static str, Self); 9] = [
        ("lie-about-length", Self::LieAboutLength),
        ("declare-too-much", Self::DeclareTooMuch),
        ("stall-in-mid-frame", Self::StallInMidFrame),
        ("flood", Self::Flood),
        ("answer-twice", Self::AnswerTwice),
        ("unknown-ids", Self::UnknownIds),
        ("exit-early", Self::ExitEarly),
        ("garbage", Self::Garbage),
        ("silent", Self::Silent),
    ];
}

/// Plays a misbehaving peer until its part is over or the stream ends.
///
/// # Errors
/// When the stream fails, which for most parts is what they are after.
pub async fn play<R, W>(reader: R, mut writer: W, framing: Framing, part: Misbehaviour) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut reader = BufReader::new(reader);
    if part == Misbehaviour::Flood {
        return flood(&mut writer, framing).await;
    }
    let mut served = 0;
    while let Some(id) = next_request(&mut reader, framing).await? {
        served += 1;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"served":{served}}}}}"#);
        let framed = frame(framing, &answer);
        match part {
            Misbehaviour::LieAboutLength => writer.write_all(&lie(framing, &answer)).await?,
            Misbehaviour::DeclareTooMuch => writer.write_all(&declare_too_much(framing)).await?,
            Misbehaviour::StallInMidFrame => {
                writer.write_all(&framed[..framed.len() / 2]).await?;
                writer.flush().await?;
                std::future::pending::<()>().await;
            }
            Misbehaviour::AnswerTwice => writer.write_all(&[framed.clone(), framed].concat()).await?,
            Misbehaviour::UnknownIds => {
                for id in ["4242", "\"nobody\"", "null", "-1", "[]"] {
                    writer
                        .write_all(&frame(framing, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#)))
                        .await?;
                }
                writer.write_all(&framed).await?;
            }
            Misbehaviour::ExitEarly if served > 1 => {
                writer.write_all(&framed[..framed.len() / 2]).await?;
                return writer.flush().await;
            }
            Misbehaviour::ExitEarly => writer.write_all(&framed).await?,
            Misbehaviour::Garbage => {
                for body in ["{", "\u{0}\u{1}", "[1,", "nul", "\"open", "{}{}", "7"] {
                    writer.write_all(&frame(framing, body)).await?;
                }
                writer.write_all(&framed).await?;
            }
            Misbehaviour::Silent | Misbehaviour::Flood => {}
        }
        writer.flush().await?;
    }
    Ok(())
}

async fn flood<W: AsyncWrite + Unpin>(writer: &mut W, framing: Framing) -> std::io::Result<()> {
    let told = frame(framing, r#"{"jsonrpc":"2.0","method":"told","params":[1,2,3]}"#);
    let asked = frame(
        framing,
        r#"{"jsonrpc":"2.0","id":"flood","method":"echo","params":{"text":"again and again"}}"#,
    );
    let burst = [told, asked].concat().repeat(100);
    loop {
        writer.write_all(&burst).await?;
        writer.flush().await?;
        // Elsewhere in the same runtime somebody has to get a word in.
        tokio::task::yield_now().await;
    }
}

/// The next request's id as text; nothing at the end of the stream.
async fn next_request<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    framing: Framing,
) -> std::io::Result<Option<String>> {
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let body = match framing {
            Framing::Lines => line.into_bytes(),
            Framing::ContentLength => {
                let Some(length) =
                    line.strip_prefix("Content-Length: ").and_then(|text| text.trim().parse().ok())
                else {
                    continue;
                };
                reader.read_line(&mut String::new()).await?;
                let mut body = vec![0; length];
                reader.read_exact(&mut body).await?;
                body
            }
        };
        let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        if let (Some(_), Some(id)) = (message.get("method"), message.get("id")) {
            return Ok(Some(id.to_string()));
        }
    }
}

/// A message in its frame.
pub fn frame(framing: Framing, body: &str) -> Vec<u8> {
    match framing {
        Framing::ContentLength => format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
        Framing::Lines => format!("{body}\n").into_bytes(),
    }
}

fn lie(framing: Framing, body: &str) -> Vec<u8> {
    match framing {
        Framing::ContentLength => format!("Content-Length: {}\r\n\r\n{body}", body.len() - 6).into_bytes(),
        // A line cannot lie about its length; two messages on one line is the nearest thing.
        Framing::Lines => format!("{body}{body}\n").into_bytes(),
    }
}

fn declare_too_much(framing: Framing) -> Vec<u8> {
    match framing {
        Framing::ContentLength => b"Content-Length: 99999999999\r\n\r\n".to_vec(),
        Framing::Lines => vec![b'x'; 2 * 1024 * 1024],
    }
}

/// Long enough for anything that is going to happen, short enough for a test that hangs to be noticed.
pub const PATIENCE: Duration = Duration::from_secs(20);
