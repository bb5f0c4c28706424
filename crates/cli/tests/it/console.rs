//! A console to attach to.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use loggia_cli::{Attach, Attached, CliError, ColorLevel, Filter, Interrupts, attach};
use loggia_endermux_io::server::{Output, Presence, Socket};
use loggia_endermux_io::{Console, Host, HostError, Server};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};

use crate::house::PATIENCE;
use crate::screen::{Screen, Setting};

/// Does what commands say: `print X` tells the caller X, `much` tells more than 9 MiB, `say X` logs X, `exit N` ends with that
/// status, `fail` fails, `wait` waits for [`Talker::go_on`]. An empty one is told.
#[derive(Default)]
pub(crate) struct Talker {
    pub(crate) console: OnceLock<Console>,
    pub(crate) go_on: Notify,
    pub(crate) started: Notify,
}

impl Host for Talker {
    async fn execute(self: Arc<Self>, _: Presence, command: String, output: Output) -> Result<(), HostError> {
        let (word, rest) = command.split_once(' ').unwrap_or((&command, ""));
        let gone = |gone: loggia_endermux_io::server::Gone| HostError::Failed(gone.to_string());
        match word {
            "" => output.print("(empty)\n").await.map_err(gone)?,
            "print" => output.print(&format!("{rest}\n")).await.map_err(gone)?,
            "parts" => {
                for part in ["one, ", "still one\n", "two"] {
                    output.print(part).await.map_err(gone)?;
                }
            }
            "much" => {
                for _ in 0..9 {
                    let line = format!("{}\n", "x".repeat(1023));
                    output.print(&line.repeat(1024)).await.map_err(gone)?;
                }
                output.print("the last\n").await.map_err(gone)?;
            }
            "say" => self.console.get().unwrap().broadcast(format!("{rest}\n")),
            "exit" => output.finish(rest.parse().unwrap()),
            "wait" => {
                self.started.notify_one();
                self.go_on.notified().await;
            }
            _ => return Err(HostError::Failed(format!("there is no {word}"))),
        }
        Ok(())
    }
}

/// A server on a socket.
pub(crate) struct Place {
    pub(crate) server: Server<Talker>,
    pub(crate) path: PathBuf,
    listening: tokio::task::JoinHandle<()>,
    directory: TempDir,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::in_directory(tempfile::tempdir().unwrap()).await
    }

    async fn in_directory(directory: TempDir) -> Self {
        let path = directory.path().join("console.sock");
        let server = Server::new(Talker::default());
        assert!(server.host().console.set(server.console().clone()).is_ok());
        server.console().set_interactive(true);
        let socket = Socket::bind(&path).await.unwrap();
        let accepting = server.clone();
        let listening = tokio::spawn(async move { accepting.listen(socket).await });
        Self { server, path, listening, directory }
    }

    /// Stops, and takes the file away.
    pub(crate) async fn stop(self) -> TempDir {
        self.server.stop().await;
        self.listening.await.unwrap();
        self.directory
    }

    /// Another server under the same name.
    pub(crate) async fn restart(directory: TempDir) -> Self {
        Self::in_directory(directory).await
    }

    pub(crate) fn console(&self) -> &Console {
        self.server.console()
    }

    /// Waits until so many get logs.
    pub(crate) async fn until_subscribed(&self, count: usize) {
        let mut presence = self.console().presence();
        let all = presence.wait_for(|all| all.iter().filter(|client| client.subscribed).count() == count);
        tokio::time::timeout(PATIENCE, all).await.unwrap().unwrap();
    }

    pub(crate) fn options(&self) -> Attach {
        Attach {
            socket: self.path.clone(),
            color_level: ColorLevel::None,
            filter: Filter::default(),
            read_only: false,
            json: false,
            quiet: false,
            history: None,
            commands: Vec::new(),
            piped: false,
        }
    }

    /// What comes of these commands, and what is on the two streams.
    pub(crate) async fn commands(&self, commands: &[&str], setting: Setting) -> (String, Screen) {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        run(Attach { commands, ..self.options() }, setting, &[]).await
    }
}

/// Attaches with these lines typed, until their end.
pub(crate) async fn run(options: Attach, setting: Setting, lines: &[&str]) -> (String, Screen) {
    let (screen, terminal) = Screen::new(setting);
    let (sender, receiver) = mpsc::channel(16);
    for line in lines {
        sender.send((*line).to_owned()).await.unwrap();
    }
    drop(sender);
    let mut terminal = terminal.with_lines(receiver);
    let attaching = attach(&options, &mut terminal, Interrupts::never());
    let ended = tokio::time::timeout(PATIENCE, attaching).await.unwrap();
    (told(ended), screen)
}

pub(crate) fn told(ended: Result<Attached, CliError>) -> String {
    match ended {
        Ok(ended) => format!("{ended:?}"),
        Err(error) => format!("{error} | {}", error.hint()),
    }
}
