//! What a user does, as fast as it goes, and how long it takes. The same for the daemon and for the floor.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde::Deserialize;
use tokio::task::JoinSet;

use super::daemon::Running;
use super::plain::Plain;
use super::socket::Socket;

/// A user of a server.
pub(super) struct User<'a> {
    server: &'a Running,
    plain: Plain,
    /// What a session is opened with.
    body: String,
}

#[derive(Deserialize)]
struct Opened {
    session_id: String,
}

impl<'a> User<'a> {
    pub(super) async fn of(server: &'a Running) -> Result<Self> {
        let body = server.prepare().await?;
        Ok(Self { server, plain: Plain::connect(server.address, &server.token).await?, body })
    }

    /// Opens a session; its id and the milliseconds it took.
    pub(super) async fn open(&mut self) -> Result<(String, f64)> {
        let request = self.plain.request("POST", "/v1/sessions", &self.body);
        let start = Instant::now();
        let answer = self.plain.ask(&request).await?;
        let took = milliseconds(start);
        let opened: Opened = serde_json::from_slice(answer)?;
        Ok((opened.session_id, took))
    }

    /// A session that is followed.
    pub(super) async fn follow(&mut self) -> Result<Socket> {
        let (session, _) = self.open().await?;
        Socket::open(self.server.address, &self.server.token, &session, true).await
    }
}

/// Milliseconds until a new server has answered its first request.
pub(super) async fn first_answer(server: &Running) -> Result<f64> {
    let mut plain = Plain::connect(server.address, &server.token).await?;
    let request = plain.request("GET", "/v1/health", "");
    plain.ask(&request).await?;
    Ok(milliseconds(server.started))
}

/// A turn: milliseconds from the instruction to the end, of which so many tokens were heard.
pub(super) async fn turn(socket: &mut Socket, prompt: &str, tokens: usize) -> Result<f64> {
    let start = Instant::now();
    socket.prompt(prompt).await?;
    let heard = socket.turn().await?;
    let took = milliseconds(start);
    ensure!(heard == tokens, "{heard} of {tokens} tokens were heard");
    Ok(took)
}

/// A turn in each of these sessions at once: milliseconds of each, and until the last has ended.
pub(super) async fn together(
    sockets: Vec<Socket>,
    prompt: &str,
    tokens: usize,
) -> Result<(Vec<Socket>, Vec<f64>, f64)> {
    let start = Instant::now();
    let mut turns = JoinSet::new();
    for mut socket in sockets {
        let prompt = prompt.to_owned();
        turns.spawn(async move { turn(&mut socket, &prompt, tokens).await.map(|took| (socket, took)) });
    }
    let (mut sockets, mut times) = (Vec::new(), Vec::new());
    while let Some(ended) = turns.join_next().await {
        let (socket, took) = ended??;
        sockets.push(socket);
        times.push(took);
    }
    Ok((sockets, times, milliseconds(start)))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
