//! A console that tests attach to: a server of the library on a thread of its own.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use loggia_endermux_io::server::{Output, Presence, Socket};
use loggia_endermux_io::{Console, Host, HostError, Server};
use loggia_protocol_endermux::{CandidateInfo, ColorLevel};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::stage::Stage;

/// The commands there are.
const WORDS: [&str; 5] = ["print", "say", "say-it", "exit", "later"];

/// Does what commands say: `print X` tells the caller X, `say X` logs X, `exit N` ends with that status, an empty one does nothing. What `la` may become
/// it tells when [`ConsoleStage::answer`] lets it.
#[derive(Default)]
pub(crate) struct Talker {
    console: OnceLock<Console>,
    asked: Notify,
    answer: Notify,
}

impl Host for Talker {
    async fn complete(&self, _: &Presence, line: &str, at: usize) -> Result<Vec<CandidateInfo>, HostError> {
        if line.starts_with("la") {
            self.asked.notify_one();
            self.answer.notified().await;
        }
        let words = WORDS.into_iter().filter(|word| word.starts_with(&line[..at]));
        let candidate = |word: &str| CandidateInfo {
            value: word.to_owned(),
            display: word.to_owned(),
            description: Some(format!("does {word}")),
        };
        Ok(words.map(candidate).collect())
    }

    async fn highlight(&self, client: &Presence, line: &str) -> Result<String, HostError> {
        if client.color_level == ColorLevel::None {
            return Ok(line.to_owned());
        }
        let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        let color = if WORDS.contains(&word) { 32 } else { 31 };
        Ok(format!("\u{1b}[{color}m{word}\u{1b}[m{rest}"))
    }

    async fn execute(self: Arc<Self>, _: Presence, command: String, output: Output) -> Result<(), HostError> {
        let (word, rest) = command.split_once(' ').unwrap_or((&command, ""));
        match word {
            "" => {}
            "print" => {
                output
                    .print(&format!("{rest}\n"))
                    .await
                    .map_err(|gone| HostError::Failed(gone.to_string()))?;
            }
            "say" => self.console.get().unwrap().broadcast(format!("{rest}\n")),
            "exit" => output.finish(rest.parse().unwrap()),
            _ => return Err(HostError::Failed(format!("there is no {word}"))),
        }
        Ok(())
    }
}

/// A stage with a console.
pub(crate) struct ConsoleStage {
    pub(crate) stage: Stage,
    pub(crate) path: PathBuf,
    runtime: Runtime,
    server: Option<Server<Talker>>,
}

impl ConsoleStage {
    pub(crate) fn new() -> Self {
        let mut stage = Self::without_server();
        stage.start();
        stage
    }

    pub(crate) fn without_server() -> Self {
        let stage = Stage::new();
        let path = stage.path("console.sock");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { stage, path, runtime: runtime.unwrap(), server: None }
    }

    /// Starts the server, or another one.
    pub(crate) fn start(&mut self) {
        let server = Server::new(Talker::default());
        assert!(server.host().console.set(server.console().clone()).is_ok());
        server.console().set_interactive(true);
        let socket = self.runtime.block_on(Socket::bind(&self.path)).unwrap();
        let accepting = server.clone();
        self.runtime.spawn(async move { accepting.listen(socket).await });
        self.server = Some(server);
    }

    /// Stops it; its file is gone, or soon will be.
    pub(crate) fn stop(&mut self) {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.stop());
        while self.path.exists() {
            std::thread::yield_now();
        }
    }

    pub(crate) fn console(&self) -> &Console {
        self.server.as_ref().unwrap().console()
    }

    /// Waits until so many get logs.
    pub(crate) fn until_subscribed(&self, count: usize) {
        let mut presence = self.console().presence();
        let all = presence.wait_for(|all| all.iter().filter(|client| client.subscribed).count() == count);
        self.runtime.block_on(async {
            tokio::time::timeout(crate::pty::screen::PATIENCE, all).await.unwrap().unwrap()
        });
    }

    /// Waits until it was asked what `la` may become.
    pub(crate) fn until_asked(&self) {
        let asked = &self.server.as_ref().unwrap().host().asked;
        self.runtime.block_on(async {
            tokio::time::timeout(crate::pty::screen::PATIENCE, asked.notified()).await.unwrap();
        });
    }

    /// Lets that be answered.
    pub(crate) fn answer(&self) {
        self.server.as_ref().unwrap().host().answer.notify_one();
    }

    /// The command with its socket, to be completed.
    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let socket = self.path.to_str().unwrap();
        self.stage.command(&[&["attach", "-s", socket], arguments].concat())
    }
}
