//! Commands for a server that knows nothing of ours: epoch 15, no results, no backlog. Its frames are made by hand.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, mpsc};

use loggia_cli::{Attach, ColorLevel, Filter, Interrupts, Look, Terminal, Width, attach};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use crate::console::{run, told};
use crate::screen::FILES;

/// What a server does at a command: it says something, or nothing, and goes on, or closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoesOn,
    Closes,
}

/// A place for a server.
struct Place {
    directory: TempDir,
    listener: UnixListener,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("console.sock")).unwrap();
        Self { directory, listener }
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("console.sock")
    }

    fn options(&self, commands: &[&str]) -> Attach {
        Attach {
            socket: self.socket(),
            color_level: ColorLevel::None,
            filter: Filter::default(),
            read_only: false,
            json: false,
            quiet: false,
            history: None,
            commands: commands.iter().map(|command| (*command).to_owned()).collect(),
            piped: false,
        }
    }
}

async fn say(stream: &mut UnixStream, message: &Value) {
    let text = message.to_string();
    stream.write_u32(u32::try_from(text.len()).unwrap()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
}

async fn log(stream: &mut UnixStream, text: &str) {
    say(stream, &json!({"type": "LOG_FORWARD", "data": {"rendered": text}})).await;
}

/// Takes the first that speaks epoch 15; the others are closed, as servers do that do not know them.
async fn accept(listener: &UnixListener) -> UnixStream {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0; 5];
        stream.read_exact(&mut first).await.unwrap();
        if first[4] != b'{' {
            continue;
        }
        let length = u32::from_be_bytes(first[..4].try_into().unwrap());
        let mut rest = vec![0; length as usize - 1];
        stream.read_exact(&mut rest).await.unwrap();
        if !String::from_utf8(rest).unwrap().contains("transportEpochRange") {
            return stream;
        }
    }
}

/// Serves one client, and does this at its commands.
async fn serve(listener: UnixListener, mut at: impl AsyncFnMut(&str, &mut UnixStream) -> Then) {
    let mut stream = accept(&listener).await;
    let capabilities = json!({"command_execute": 1, "log_forward": 1, "interactivity_status": 1});
    let data = json!({"transportEpoch": 15, "selectedCapabilities": capabilities});
    say(&mut stream, &json!({"type": "WELCOME", "requestId": "hello", "data": data})).await;
    say(&mut stream, &json!({"type": "INTERACTIVITY_STATUS", "data": {"available": true}})).await;
    while let Ok(length) = stream.read_u32().await {
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).await.unwrap();
        let message: Value = serde_json::from_slice(&body).unwrap();
        let Some(command) = message["data"]["command"].as_str() else { continue };
        if at(command, &mut stream).await == Then::Closes {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_results_is_listened_to_until_it_is_silent() {
    let place = Place::new();
    let options = place.options(&["list"]);
    let serving = tokio::spawn(serve(place.listener, async |_: &str, stream: &mut UnixStream| {
        log(stream, "There are 2 players\n").await;
        log(stream, "no line end").await;
        Then::GoesOn
    }));
    let (ended, screen) = run(options, FILES, &[]).await;
    assert_eq!((ended.as_str(), screen.out().as_str()), ("Done", "There are 2 players\nno line end\n"));
    serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_without_results_gets_lines_as_existing_clients_send_them() {
    let place = Place::new();
    let options = Attach { piped: true, ..place.options(&[]) };
    let serving = tokio::spawn(serve(place.listener, async |command: &str, stream: &mut UnixStream| {
        log(stream, &format!("{command:?}\n")).await;
        Then::GoesOn
    }));
    let (ended, screen) = run(options, FILES, &["  list \n", "\n", " \n", "say  hi"]).await;
    assert_eq!((ended.as_str(), screen.out().as_str()), ("Done", "\"list\"\n\"say  hi\"\n"));
    serving.await.unwrap();
}

/// What comes of commands for a server that ends at `stop`.
async fn stopped(commands: &[&str]) -> (String, String) {
    let place = Place::new();
    let options = place.options(commands);
    let serving = tokio::spawn(serve(place.listener, async |command: &str, stream: &mut UnixStream| {
        log(stream, &format!("{command} it is\n")).await;
        if command == "stop" { Then::Closes } else { Then::GoesOn }
    }));
    let (ended, screen) = run(options, FILES, &[]).await;
    serving.await.unwrap();
    (ended, screen.out())
}

#[tokio::test]
async fn a_server_that_closes_has_ended_its_last_command() {
    assert_eq!(stopped(&["stop"]).await, ("Done".to_owned(), "stop it is\n".to_owned()));
    let (ended, out) = stopped(&["stop", "list"]).await;
    assert!(ended.starts_with("the connection to the console was lost before the answer came | "), "{ended}");
    assert_eq!(out, "stop it is\n");
}

/// Takes nothing until whoever holds the other end lets go, then everything.
struct Gate(mpsc::Receiver<()>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nothing is ever sent: it ends when the sender is gone.
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_faster_than_it_was_shown_is_told() {
    let place = Place::new();
    let options = place.options(&["list"]);
    let (release, gate) = mpsc::channel();
    let mut release = Some(release);
    let serving = tokio::spawn(serve(place.listener, async move |_: &str, stream: &mut UnixStream| {
        log(stream, "held up here\n").await;
        // Twice as much as may wait for whoever shows it; all of it is read before the output goes on.
        for _ in 0..9 {
            log(stream, &"x".repeat(900_000)).await;
        }
        release = None;
        Then::Closes
    }));
    let look = Look {
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        width: Width::Given(Arc::new(AtomicUsize::new(60))),
        color_out: false,
        color_err: false,
    };
    let errors = Written::default();
    let mut terminal = Terminal::new(Gate(gate), errors.clone(), look);
    let ended = told(attach(&options, &mut terminal, Interrupts::never()).await);
    serving.await.unwrap();
    let errors = String::from_utf8(errors.0.lock().unwrap().clone()).unwrap();
    assert_eq!(ended, "Done");
    assert!(errors.starts_with("warning: ") && errors.contains(" messages of the log skipped"), "{errors}");
}
