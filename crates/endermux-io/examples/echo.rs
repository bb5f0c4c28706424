//! A console that logs every command it is given, for as long as it runs: `cargo run --example echo -- console.sock`.

use std::sync::{Arc, OnceLock};

use loggia_endermux_io::server::{Output, Presence, Socket};
use loggia_endermux_io::{Console, Host, HostError, Server};
use loggia_protocol_endermux::CandidateInfo;

#[derive(Default)]
struct Echo {
    console: OnceLock<Console>,
}

impl Host for Echo {
    async fn complete(&self, _: &Presence, line: &str, at: usize) -> Result<Vec<CandidateInfo>, HostError> {
        let words = ["help", "hello", "quit"].into_iter().filter(|word| word.starts_with(&line[..at]));
        let candidate = |word: &str| CandidateInfo {
            value: word.to_owned(),
            display: word.to_owned(),
            description: None,
        };
        Ok(words.map(candidate).collect())
    }

    async fn execute(
        self: Arc<Self>,
        client: Presence,
        command: String,
        output: Output,
    ) -> Result<(), HostError> {
        let line = format!("{}: {command}\n", client.id);
        if output.is_awaited() {
            output.print(&line).await.map_err(|gone| HostError::Failed(gone.to_string()))?;
            output.finish(0);
        } else if let Some(console) = self.console.get() {
            console.broadcast(line);
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("where? name a path for the socket")?;
    let server = Server::new(Echo::default());
    let _ = server.host().console.set(server.console().clone());
    server.console().set_interactive(true);
    server.listen(Socket::bind(path).await?).await;
    Ok(())
}
