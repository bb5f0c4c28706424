//! Requests per second: a session looked at, beside a bare axum handler that answers the same bytes.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Result;
use axum::body::Bytes;
use tokio::task::JoinSet;

use super::plain::Plain;
use super::{bare, door::OpenDoor, progress};
use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::engine::world::{scratch, threads};
use crate::measure::{median, rate};

const PART: &str = "GET /v1/sessions/{id}";

/// Connections that ask one thing after the other.
const CONNECTIONS: usize = 16;

/// Requests of each in a round.
const REQUESTS: usize = 2000;

/// Our share of the bare handler's requests.
const SHARE: f64 = 0.6;

/// Measures in this process; the clients are so simple that they need no other.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(requests(rounds))
}

async fn requests(rounds: usize) -> Result<Vec<Figure>> {
    let directory = scratch()?;
    let door = OpenDoor::open(directory.path()).await?;
    let path = format!("/v1/sessions/{}", door.session().await?);
    let mut one = Plain::connect(door.address, &door.token).await?;
    let request = one.request("GET", &path, "");
    let body = Bytes::copy_from_slice(one.ask(&request).await?);
    let bytes = body.len();
    let floor = bare::serve(body).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        progress(&format!("requests: round {round} of {rounds}"));
        let door = load(door.address, &door.token, &path).await?;
        let bare = load(floor, "", &path).await?;
        // The first warms up.
        if round > 0 {
            ours.push(door);
            theirs.push(bare);
        }
    }
    drop(one);
    door.close().await?;
    let note = format!("{CONNECTIONS} connections, answers of {bytes} bytes; clients on the same cores");
    let figure = Figure::new(PART, "requests", median(&mut ours), "/s").beside(median(&mut theirs));
    Ok(vec![figure.limited(Limit::ShareOfFloor(SHARE)).noted(note)])
}

/// Requests per second.
async fn load(address: SocketAddr, token: &str, path: &str) -> Result<f64> {
    let mut asking = JoinSet::new();
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(Plain::connect(address, token).await?);
    }
    let start = Instant::now();
    for mut client in clients {
        let request = client.request("GET", path, "");
        asking.spawn(async move {
            for _ in 0..REQUESTS {
                client.ask(&request).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked??;
    }
    Ok(rate(CONNECTIONS * REQUESTS, start.elapsed()))
}
