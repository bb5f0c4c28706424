//! A way to a server on which one thing is lost so many times, and every connection with it. Afterwards nothing is.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What is lost.
#[derive(Clone, Copy)]
pub(crate) enum Loses {
    /// A stream's message of this number; its greeting is 0.
    Message(usize),
    /// The request that has these words.
    Request(&'static str),
}

/// Begins a way to this server.
pub(crate) async fn losing(server: SocketAddr, what: Loses, times: usize) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let lost = watch::Sender::new(0);
        while let Ok((client, _)) = listener.accept().await {
            // A server that is not there takes nothing.
            if let Ok(server) = TcpStream::connect(server).await {
                tokio::spawn(carry(client, server, what, times, lost.clone()));
            }
        }
    });
    address
}

async fn carry(client: TcpStream, server: TcpStream, what: Loses, times: usize, lost: watch::Sender<usize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let mut other = lost.subscribe();
    let forth = async {
        let (mut came, mut carried) = (Vec::new(), 0);
        while let Ok(1..) = from_client.read_buf(&mut came).await {
            let end = if *lost.borrow() == times { None } else { what.begins(&came) };
            // Its first bytes may have gone already; the rest does not.
            let end = end.map(|end| end.max(carried));
            if to_server.write_all(&came[carried..end.unwrap_or(came.len())]).await.is_err() {
                return;
            }
            carried = came.len();
            if end.is_some() {
                lost.send_modify(|lost| *lost += 1);
                return;
            }
        }
    };
    tokio::select! {
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
        () = forth => {}
        _ = other.changed() => {}
    }
}

impl Loses {
    /// Where in what came it begins, if it came.
    fn begins(self, came: &[u8]) -> Option<usize> {
        match self {
            Self::Request(words) => find(came, words),
            Self::Message(number) => {
                // Requests may have come before it.
                let upgrade = find(came, "websocket")?;
                let head = upgrade + find(&came[upgrade..], "\r\n\r\n")? + 4;
                let begins = (0..number).try_fold(head, |at, _| Some(at + frame(came.get(at..)?)?))?;
                (came.len() > begins).then_some(begins)
            }
        }
    }
}

fn find(bytes: &[u8], words: &str) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words.as_bytes())
}

/// The length of a client's frame, with the mask that it has; see RFC 6455, section 5.2.
fn frame(bytes: &[u8]) -> Option<usize> {
    let mask = 4;
    Some(match bytes.get(1)? & 0x7f {
        126 => 4 + mask + usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?])),
        127 => panic!("no test says so much"),
        short => 2 + mask + usize::from(short),
    })
}
