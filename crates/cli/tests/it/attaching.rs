//! Attaching to a console, with lines from a channel.

use loggia_cli::{Attach, ColorLevel, Filter, Interrupts, Level, attach};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use crate::console::{Place, run, told};
use crate::screen::{FILES, Screen};

#[tokio::test]
async fn a_command_says_its_output_and_ends_with_its_status() {
    let place = Place::new().await;
    let (ended, screen) = place.commands(&["print hello"], FILES).await;
    assert_eq!((ended.as_str(), screen.out().as_str(), screen.err().as_str()), ("Done", "hello\n", ""));
    let (ended, screen) = place.commands(&["parts", "exit 3", "print never"], FILES).await;
    assert_eq!((ended.as_str(), screen.out().as_str()), ("Failed(3)", "one, still one\ntwo\n"));
    let (ended, screen) = place.commands(&["nonsense"], FILES).await;
    assert!(ended.starts_with("Failed to execute command: there is no nonsense | "), "{ended}");
    assert_eq!(screen.out(), "");
}

#[tokio::test]
async fn each_piped_line_is_a_command_and_the_first_failure_counts() {
    let place = Place::new().await;
    let options = Attach { piped: true, ..place.options() };
    let (ended, screen) =
        run(options, FILES, &["print one\n", "\n", "exit 4\n", "exit 5\n", "print two"]).await;
    assert_eq!((ended.as_str(), screen.out().as_str()), ("Failed(4)", "one\n(empty)\ntwo\n"));
}

#[tokio::test]
async fn commands_for_programs_are_records() {
    let place = Place::new().await;
    let commands = vec!["print \u{1b}[31mred\u{1b}[m".to_owned(), "exit 3".to_owned()];
    let (_, screen) = run(Attach { commands, json: true, ..place.options() }, FILES, &[]).await;
    let records: Vec<Value> = screen.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        records,
        [
            json!({"command": "print \u{1b}[31mred\u{1b}[m", "output": "red\n", "status": 0}),
            json!({"command": "exit 3", "output": "", "status": 3}),
        ]
    );
}

#[tokio::test]
async fn a_record_that_is_cut_says_so() {
    let place = Place::new().await;
    let commands = vec!["much".to_owned(), "print little".to_owned()];
    let (ended, screen) = run(Attach { commands, json: true, ..place.options() }, FILES, &[]).await;
    assert_eq!(
        (ended.as_str(), screen.err().as_str()),
        ("Done", "warning: the output is over 8 MiB; the record has its beginning\n")
    );
    let records: Vec<Value> = screen.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let output = records[0]["output"].as_str().unwrap();
    assert!(output.len() > 8 * 1024 * 1024 - 2048 && !output.contains("the last"), "{}", output.len());
    assert_eq!((&records[0]["truncated"], &records[0]["status"]), (&json!(true), &json!(0)));
    assert_eq!(records[1], json!({"command": "print little", "output": "little\n", "status": 0}));
}

#[tokio::test]
async fn a_server_that_takes_no_commands_is_told_so() {
    let place = Place::new().await;
    place.console().set_interactive(false);
    let (ended, _) = place.commands(&["print hello"], FILES).await;
    assert!(ended.starts_with("the server takes no commands now | "), "{ended}");
}

#[tokio::test]
async fn a_connection_that_is_lost_under_a_command_is_an_error() {
    let place = Place::new().await;
    let given = place.commands(&["wait"], FILES);
    let cut = async {
        place.server.host().started.notified().await;
        let id = place.console().clients()[0].id;
        assert!(place.console().disconnect(id));
        place.server.host().go_on.notify_one();
    };
    let ((ended, _), ()) = tokio::join!(given, cut);
    assert!(ended.starts_with("the connection to the console was lost"), "{ended}");
}

#[tokio::test]
async fn nobody_there_is_told_with_what_to_do() {
    let place = Place::new().await;
    let options = Attach { commands: vec!["x".to_owned()], ..place.options() };
    let directory = place.stop().await;
    let (ended, _) = run(options.clone(), FILES, &[]).await;
    assert!(ended.starts_with("nobody listens on `") && ended.contains(" | start the server"), "{ended}");
    // Where there is no place for anybody, nobody is waited for.
    let nowhere = directory.path().join("none/console.sock");
    let staying = Staying::start(Attach { socket: nowhere, commands: Vec::new(), ..options.clone() });
    let ended = staying.ended.await.unwrap();
    assert!(ended.starts_with("nobody listens on `"), "{ended}");
    // Nor where the name is too long for anybody.
    let too_long = directory.path().join("x".repeat(120));
    let staying = Staying::start(Attach { socket: too_long, commands: Vec::new(), ..options });
    let ended = staying.ended.await.unwrap();
    assert!(ended.contains(" | a socket's path has at most 100 bytes"), "{ended}");
}

#[tokio::test]
async fn a_refusal_is_told_in_plain_words() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("console.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let length = stream.read_u32().await.unwrap();
            let mut body = vec![0; length as usize];
            stream.read_exact(&mut body).await.unwrap();
            let data = json!({
                "reason": "unsupported_transport_epoch", "message": "Unsupported transport epoch",
                "expectedTransportEpoch": 18, "missingRequiredCapabilities": [],
            });
            let reject = json!({"type": "REJECT", "requestId": "hello", "data": data}).to_string();
            stream.write_u32(u32::try_from(reject.len() + 1).unwrap()).await.unwrap();
            stream.write_u8(0).await.unwrap();
            stream.write_all(reject.as_bytes()).await.unwrap();
        }
    });
    let place = Place::new().await;
    let staying = Staying::start(Attach { socket, ..place.options() });
    let ended = staying.ended.await.unwrap();
    assert!(ended.starts_with("the server is newer: it speaks transport epoch 18"), "{ended}");
}

/// A console that stays, with somebody who types.
struct Staying {
    screen: Screen,
    typing: Option<mpsc::Sender<String>>,
    ended: tokio::task::JoinHandle<String>,
}

impl Staying {
    fn start(options: Attach) -> Self {
        let (screen, terminal) = Screen::new(FILES);
        let (typing, lines) = mpsc::channel(16);
        let ended = tokio::spawn(async move {
            let mut terminal = terminal.with_lines(lines);
            told(attach(&options, &mut terminal, Interrupts::never()).await)
        });
        Self { screen, typing: Some(typing), ended }
    }

    async fn says(&self, line: &str) {
        self.typing.as_ref().unwrap().send(line.to_owned()).await.unwrap();
    }

    async fn leaves(mut self) -> (String, Screen) {
        self.typing = None;
        (self.ended.await.unwrap(), self.screen)
    }
}

#[tokio::test]
async fn logs_and_answers_come_in_and_what_was_logged_before_as_well() {
    let place = Place::new().await;
    place.console().broadcast("before\n");
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    staying.screen.until("before\n").await;
    staying.says("print mine").await;
    staying.screen.until("mine\n").await;
    staying.says("say everybody's").await;
    staying.screen.until("everybody's\n").await;
    staying.says("exit 7").await;
    staying.screen.until("status 7").await;
    staying.says("nonsense").await;
    staying.screen.until("there is no nonsense").await;
    let (ended, screen) = staying.leaves().await;
    assert_eq!(ended, "Done");
    assert_eq!(screen.out(), "before\nmine\neverybody's\n");
    assert!(
        screen.err().contains("It ended with status 7.\nerror: Failed to execute command"),
        "{}",
        screen.err()
    );
}

#[tokio::test]
async fn an_empty_line_is_sent_where_it_may_mean_something() {
    let place = Place::new().await;
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    staying.says("print before").await;
    staying.screen.until("before\n").await;
    staying.says("\n").await;
    staying.screen.until("(empty)\n").await;
    // There is nothing to say about an empty line that was not sent.
    place.console().set_interactive(false);
    staying.screen.until("The server takes no commands now.\n").await;
    staying.says("\n").await;
    staying.says("print never").await;
    staying.screen.until("the line was not sent.").await;
    let (_, screen) = staying.leaves().await;
    assert_eq!(screen.err().matches("the line was not sent.").count(), 1, "{}", screen.err());
}

#[tokio::test]
async fn the_end_of_input_waits_for_what_was_given() {
    let place = Place::new().await;
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    staying.says("wait").await;
    staying.says("print last").await;
    place.server.host().started.notified().await;
    let leaving = staying.leaves();
    place.server.host().go_on.notify_one();
    let (ended, screen) = leaving.await;
    assert_eq!((ended.as_str(), screen.out().as_str()), ("Done", "last\n"));
}

#[tokio::test]
async fn a_server_that_comes_back_is_attached_to_again() {
    let place = Place::new().await;
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    let directory = place.stop().await;
    staying.screen.until("The connection was lost").await;
    staying.says("print lost").await;
    staying.screen.until("Nobody is there; the line was not sent.").await;
    let place = Place::restart(directory).await;
    place.until_subscribed(1).await;
    staying.screen.until("Attached again to ").await;
    staying.says("print found").await;
    staying.screen.until("found\n").await;
    assert_eq!(staying.leaves().await.1.out(), "found\n");
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_waited_for() {
    let place = Place::new().await;
    let options = place.options();
    let directory = place.stop().await;
    let staying = Staying::start(options);
    staying.screen.until("Waiting for it; Ctrl-C leaves.").await;
    let place = Place::restart(directory).await;
    place.until_subscribed(1).await;
    assert_eq!(staying.leaves().await.0, "Done");
}

#[tokio::test]
async fn no_commands_now_is_shown_and_the_line_is_not_sent() {
    let place = Place::new().await;
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    staying.says("print before").await;
    staying.screen.until("before\n").await;
    place.console().set_interactive(false);
    staying.screen.until("The server takes no commands now.\n").await;
    staying.says("print never").await;
    staying.screen.until("the line was not sent.").await;
    assert_eq!(staying.leaves().await.1.out(), "before\n");
}

#[tokio::test]
async fn lines_are_kept_back_by_filters_and_hostile_ones_are_made_harmless() {
    let place = Place::new().await;
    let grep = Some(regex::Regex::new("^\\[.*(one|two|end)").unwrap());
    let filter = Filter { grep, level: Some(Level::Warn) };
    let color_level = ColorLevel::Indexed16;
    let staying = Staying::start(Attach { filter, color_level, read_only: true, ..place.options() });
    place.until_subscribed(1).await;
    for line in [
        "[12:00:00 INFO]: one\n",
        "[12:00:00 WARN]: one\n",
        "[12:00:00 ERROR]: three\n",
        "\u{1b}[31m[12:00:00 ERROR]: two\u{1b}[2J\u{1b}]0;x\u{7}\n",
        "[WARN] end\n",
    ] {
        place.console().broadcast(line);
    }
    staying.screen.until("end\n").await;
    assert_eq!(
        staying.screen.out(),
        "[12:00:00 WARN]: one\n\u{1b}[31m[12:00:00 ERROR]: two\u{1b}[0m\n[WARN] end\n"
    );
    staying.ended.abort();
}

#[tokio::test]
async fn who_may_only_read_negotiates_no_commands() {
    let place = Place::new().await;
    let staying = Staying::start(Attach { read_only: true, json: true, ..place.options() });
    place.until_subscribed(1).await;
    place.console().broadcast("[x WARN] slow\nmore\n");
    staying.screen.until("more").await;
    assert_eq!(
        staying.screen.out(),
        "{\"line\":\"[x WARN] slow\",\"level\":\"warn\"}\n{\"line\":\"more\",\"level\":null}\n"
    );
    assert!(staying.screen.err().contains("Nothing can be sent."), "{}", staying.screen.err());
    staying.ended.abort();
}

#[tokio::test]
async fn a_flood_is_shown_or_its_gap_is_told_and_the_newest_line_is_there() {
    let place = Place::new().await;
    let staying = Staying::start(place.options());
    place.until_subscribed(1).await;
    for number in 0..100_000 {
        place.console().broadcast(format!("line {number}\n"));
        if number % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    staying.says("print still here").await;
    staying.screen.until("still here\n").await;
    staying.screen.until("line 99999\n").await;
    staying.leaves().await;
}
