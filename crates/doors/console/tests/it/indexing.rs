//! The code index at the console: looked at, built, steered, dropped and searched.

use std::sync::{Arc, Mutex};

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, Definition, IndexBuild, IndexControl, IndexDetails,
    IndexError, IndexProgress, IndexState, IndexStatus, IndexStep, SkippedFile, SymbolKind,
};
use loggia_endermux_io::client::Options;
use loggia_protocol_endermux::ColorLevel;
use tokio::sync::watch;

use crate::support::{House, finish};

/// An index whose builds go on until somebody cancels them.
struct Slow {
    state: watch::Sender<IndexState>,
    asked: Mutex<Vec<String>>,
}

impl Slow {
    fn new(state: IndexState) -> Arc<Self> {
        Arc::new(Self { state: watch::Sender::new(state), asked: Mutex::default() })
    }

    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl CodeIndex for Slow {
    fn status(&self) -> IndexStatus {
        let state = *self.state.borrow();
        IndexStatus {
            state,
            files: 3,
            symbols: 4,
            chunks: 5,
            bytes: 1025,
            done: 1,
            total: 3,
            last_error: None,
        }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        self.note(format!("search {} {:?}", query.text, query.kind));
        if query.text == "nothing" {
            return ready(Ok(Vec::new()));
        }
        if query.text == "key" {
            let found = |path: &str| CodeFinding {
                path: path.to_owned(),
                start_line: 1,
                end_line: 1,
                symbol: None,
                snippet: "key = ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned(),
                score: 1.0,
                definition: None,
            };
            return ready(Ok(vec![found(".env"), found("src/key.rs")]));
        }
        let definition = Definition {
            kind: SymbolKind::Method,
            container: Some("List".to_owned()),
            signature: "fn sort(&mut self)".to_owned(),
            doc: String::new(),
        };
        let found = CodeFinding {
            path: "src/list.rs".to_owned(),
            start_line: 7,
            end_line: 9,
            symbol: Some("sort".to_owned()),
            snippet: "fn sort(&mut self) {\n    \u{1b}[2Jheap();\n}\n// more\n".to_owned(),
            score: 1.0,
            definition: Some(definition),
        };
        ready(Ok(vec![found]))
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        ready(Ok(()))
    }

    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        self.note(format!("{how:?}"));
        self.state.send_replace(IndexState::Building);
        Box::pin(async move {
            let mut state = self.state.subscribe();
            let _ = state.wait_for(|state| *state != IndexState::Building).await;
            match *self.state.borrow() {
                IndexState::Ready => Ok(self.status()),
                _ => Err(IndexError::Cancelled),
            }
        })
    }

    fn details(&self) -> IndexDetails {
        let progress = IndexProgress {
            step: IndexStep::Text,
            done: 1,
            total: 3,
            per_second: 1.0,
            seconds_left: Some(2.0),
            is_paused: false,
        };
        let is_building = *self.state.borrow() == IndexState::Building;
        let notes = vec!["it is old".to_owned()];
        IndexDetails {
            progress: is_building.then_some(progress),
            skipped: 2,
            notes,
            ..IndexDetails::default()
        }
    }

    fn skipped(&self, limit: usize) -> Vec<SkippedFile> {
        self.note(format!("skipped {limit}"));
        vec![SkippedFile { path: "big.bin".to_owned(), reason: "too large".to_owned() }]
    }

    fn control(&self, control: IndexControl) {
        self.note(format!("{control:?}"));
        if control == IndexControl::Cancel {
            self.state.send_replace(IndexState::Stale);
        }
    }

    fn forget(&self) -> BoxFuture<'_, Result<(), IndexError>> {
        self.note("forget".to_owned());
        ready(Ok(()))
    }
}

#[tokio::test]
async fn an_index_is_looked_at_and_dropped() {
    let index = Slow::new(IndexState::Ready);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let terminal = house.terminal().await;
    for (command, expected) in [
        (
            "index",
            "ready: 3 files, 4 definitions, 5 pieces of text, 2 KiB on disk\n  it is old\n  left out: 2; `index \
             skipped` tells why\n[0]",
        ),
        ("index skipped", "big.bin  too large\n… 1 more\n[0]"),
        ("index pause", "builds are held up until `index resume`\n[0]"),
        ("index resume", "builds go on\n[0]"),
        ("index cancel", "no build is under way\n[0]"),
        ("index drop", "the index is gone\n[0]"),
        (
            "index biuld",
            "error: there is no `index biuld`\n`index` goes on with skipped, build, rebuild, pause, resume, cancel, \
             drop\n[2]",
        ),
    ] {
        assert_eq!(terminal.run(command).await, expected, "{command}");
    }
    assert_eq!(*index.asked.lock().unwrap(), ["skipped 100", "Pause", "Resume", "Cancel", "forget"]);
    let offered = terminal.client.complete("index pa", 8).await.unwrap();
    assert_eq!(offered[0].value, "pause");
}

#[tokio::test]
async fn a_build_goes_on_behind_its_command_and_tells_its_steps() {
    let index = Slow::new(IndexState::Empty);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (terminal, other) = (house.terminal().await, house.terminal().await);
    for (command, end, told) in [
        ("index build", IndexState::Stale, "error: the build was cancelled\n[7]"),
        ("index rebuild", IndexState::Ready, "ready: 3 files, 4 definitions"),
    ] {
        let running = terminal.client.run(command).await.unwrap();
        let ending = async {
            index.state.subscribe().wait_for(|state| *state == IndexState::Building).await.unwrap();
            assert!(other.run("index").await.contains("\n  indexing: words, 1 of 3 files, 2 s left\n"));
            assert_eq!(other.run("index pause").await, "builds are held up until `index resume`\n[0]");
            assert_eq!(other.run("index resume").await, "builds go on\n[0]");
            match end {
                IndexState::Ready => drop(index.state.send_replace(IndexState::Ready)),
                _ => assert_eq!(other.run("index cancel").await, "the build is cancelled\n[0]"),
            }
        };
        let (text, ()) = tokio::join!(finish(running), ending);
        assert!(text.contains(told), "{text}");
    }
    let expected = ["Refresh", "Pause", "Resume", "Cancel", "Rebuild", "Pause", "Resume"];
    assert_eq!(*index.asked.lock().unwrap(), expected);
}

#[tokio::test]
async fn the_steps_of_a_build_are_told() {
    let index = Slow::new(IndexState::Empty);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let mut terminal = house.terminal().await;
    terminal.client.execute("index build").await.unwrap();
    terminal.until("indexing: words, 1 of 3 files").await;
    index.state.send_replace(IndexState::Ready);
    terminal.until("ready: 3 files").await;
}

#[tokio::test]
async fn code_is_found_and_cannot_drive_the_terminal() {
    let index = Slow::new(IndexState::Ready);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let terminal = house.terminal().await;
    assert_eq!(
        terminal.run("search sort a list").await,
        "src/list.rs:7  sort  method in List\n     7 fn sort(&mut self) {\n     8     heap();\n     9 }\n[0]"
    );
    assert_eq!(terminal.run("search nothing").await, "nothing was found\n[0]");
    assert_eq!(terminal.run("search").await, "error: `search` needs WORDS\nusage: search WORDS…\n[2]");
    assert_eq!(*index.asked.lock().unwrap(), ["search sort a list Fused", "search nothing Fused"]);
    let coloured = house.mute(Options::new(ColorLevel::Indexed16)).await.run("search SORT").await;
    assert!(coloured.contains("fn \u{1b}[95msort\u{1b}[0m(&mut self)"), "{coloured:?}");
}

#[tokio::test]
async fn what_the_policy_hides_is_not_found_and_secrets_are_masked() {
    let house = House::with_index(Slow::new(IndexState::Ready)).await;
    let terminal = house.terminal().await;
    assert_eq!(terminal.run("search key").await, "src/key.rs:1\n     1 key = [masked: github token]\n[0]");
}

#[tokio::test]
async fn without_an_index_commands_say_so() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    for command in ["index", "index build", "search list"] {
        assert_eq!(terminal.run(command).await, "error: there is no code index here\n[5]", "{command}");
    }
}
