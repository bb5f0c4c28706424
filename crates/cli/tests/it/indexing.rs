//! The code index: built, steered, watched, dropped and searched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use loggia_cli::{
    CliError, IndexBuilding, IndexDrop, IndexOf, IndexShow, IndexSteer, Interrupts, Outcome, Search,
    SearchWay,
};
use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeReference, IndexBuild, IndexControl, IndexDetails,
    IndexError, IndexProgress, IndexState, IndexStatus, IndexStep, ReferenceKind, ReferenceQuery,
    SkippedFile,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::house::House;
use crate::screen::{FILES, Screen, Setting, TERMINAL};

/// An index whose builds end when somebody says so.
struct Slow {
    state: watch::Sender<IndexState>,
    before: IndexState,
    was_cancelled: AtomicBool,
    asked: Mutex<Vec<String>>,
}

impl Slow {
    fn new(state: IndexState) -> Arc<Self> {
        Arc::new(Self {
            state: watch::Sender::new(state),
            before: state,
            was_cancelled: AtomicBool::new(false),
            asked: Mutex::default(),
        })
    }

    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl CodeIndex for Slow {
    fn status(&self) -> IndexStatus {
        let state = *self.state.borrow();
        let (files, done, total) = match state {
            IndexState::Building => (0, 3, 12),
            IndexState::Ready => (12, 12, 12),
            _ => (0, 0, 0),
        };
        let last_error = (state == IndexState::Failed).then(|| "the disk is full".to_owned());
        IndexStatus { state, files, symbols: 30, chunks: 40, bytes: 2_000, done, total, last_error }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        self.note(format!("search {} {:?} {:?} {}", query.text, query.kind, query.matching, query.limit));
        if query.text == "(" {
            return ready(Err(IndexError::BadQuery("it is no regular expression".to_owned())));
        }
        ready(Ok(Vec::new()))
    }

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        let (path, text) = ("src/a.rs".to_owned(), format!("  {}();", query.name));
        ready(Ok(vec![CodeReference { path, line: 7, kind: ReferenceKind::Call, text }]))
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        ready(Ok(()))
    }

    fn build(&self, how: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        self.note(format!("{how:?}"));
        self.state.send_replace(IndexState::Building);
        Box::pin(async move {
            let _ = self.state.subscribe().wait_for(|state| *state != IndexState::Building).await;
            Ok(self.status())
        })
    }

    fn details(&self) -> IndexDetails {
        let progress = IndexProgress {
            step: IndexStep::Text,
            done: 3,
            total: 12,
            per_second: 2.0,
            seconds_left: Some(4.5),
            is_paused: false,
        };
        let is_building = *self.state.borrow() == IndexState::Building;
        IndexDetails {
            progress: is_building.then_some(progress),
            skipped: 2,
            was_cancelled: !is_building && self.was_cancelled.load(Ordering::Relaxed),
            ..IndexDetails::default()
        }
    }

    fn skipped(&self, _: usize) -> Vec<SkippedFile> {
        vec![SkippedFile { path: "big.bin".to_owned(), reason: "it has over 4 MiB".to_owned() }]
    }

    fn control(&self, control: IndexControl) {
        self.note(format!("{control:?}"));
        let is_building = *self.state.borrow() == IndexState::Building;
        if control == IndexControl::Cancel && is_building {
            self.was_cancelled.store(true, Ordering::Relaxed);
            // What was there before stays, and is not what it would be.
            let left = if self.before == IndexState::Ready { IndexState::Stale } else { IndexState::Empty };
            self.state.send_replace(left);
        }
    }

    fn forget(&self) -> BoxFuture<'_, Result<(), IndexError>> {
        self.note("forget".to_owned());
        self.state.send_replace(IndexState::Empty);
        ready(Ok(()))
    }
}

fn of(house: &House) -> IndexOf {
    IndexOf { workspace: house.root(), json: false }
}

fn building(house: &House) -> IndexBuilding {
    IndexBuilding { of: of(house), anew: false }
}

fn looking(house: &House, query: &str, way: SearchWay) -> Search {
    let (kinds, paths) = (Vec::new(), Vec::new());
    Search { of: of(house), query: query.to_owned(), way, kinds, paths, limit: None }
}

#[tokio::test]
async fn a_build_is_shown_while_it_runs_and_told_when_it_is_done() {
    let index = Slow::new(IndexState::Empty);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    let mut interrupts = Interrupts::never();
    let options = IndexBuilding { anew: true, ..building(&house) };
    let build = loggia_cli::index_build(&house.client, options, &mut terminal, &mut interrupts);
    let ending = async {
        screen.until("indexing: words  ███░░░░░░░░░  3 of 12 files  2/s  5 s left").await;
        index.state.send_replace(IndexState::Ready);
    };
    let (outcome, ()) = tokio::join!(build, ending);
    assert_eq!(outcome.unwrap(), Outcome::Done);
    assert_eq!(index.asked(), ["Rebuild"]);
    let done = "ready: 12 files, 30 definitions, 40 pieces of text, 2 KiB on disk\n  2 files are left out; \
                `loggia index status --skipped` tells why\n";
    assert_eq!((screen.out().as_str(), screen.shown().as_str()), (done, done));
}

#[tokio::test]
async fn who_is_no_terminal_sees_no_bar() {
    let index = Slow::new(IndexState::Empty);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let mut interrupts = Interrupts::never();
    let build = loggia_cli::index_build(&house.client, building(&house), &mut terminal, &mut interrupts);
    let ending = async {
        index.state.subscribe().wait_for(|state| *state == IndexState::Building).await.unwrap();
        index.state.send_replace(IndexState::Failed);
    };
    let (outcome, ()) = tokio::join!(build, ending);
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "the code index was not built: the disk is full");
    assert!(error.hint().contains("room on the disk"));
    assert_eq!((screen.out().as_str(), screen.err().as_str()), ("", ""));
}

#[tokio::test]
async fn an_interrupt_cancels_the_build_also_that_of_a_search() {
    let index = Slow::new(IndexState::Empty);
    let house = House::with_index(Arc::clone(&index) as _).await;
    for by_searching in [false, true] {
        let (screen, mut terminal) = Screen::new(TERMINAL);
        let (interrupter, mut interrupts) = Interrupts::channel();
        let interrupting = async {
            screen.until("indexing: words").await;
            interrupter.interrupt();
        };
        let (outcome, ()) = match by_searching {
            false => {
                let options = building(&house);
                let build = loggia_cli::index_build(&house.client, options, &mut terminal, &mut interrupts);
                tokio::join!(build, interrupting)
            }
            true => {
                let options = looking(&house, "list", SearchWay::All);
                let search = loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts);
                tokio::join!(search, interrupting)
            }
        };
        assert_eq!(outcome.unwrap(), Outcome::Cancelled);
        assert_eq!(screen.shown(), "Cancelled; what was there before stays.\n");
        assert_eq!(index.asked().last().unwrap(), "Cancel");
    }
}

#[tokio::test]
async fn a_build_that_somebody_else_cancels_says_so() {
    cancelled_by_somebody_else(IndexState::Empty).await;
    cancelled_by_somebody_else(IndexState::Ready).await;
}

async fn cancelled_by_somebody_else(before: IndexState) {
    let index = Slow::new(before);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    let (_, mut other) = Screen::new(FILES);
    let mut interrupts = Interrupts::never();
    let build = loggia_cli::index_build(&house.client, building(&house), &mut terminal, &mut interrupts);
    let cancelling = async {
        screen.until("indexing: words").await;
        loggia_cli::index_steer(&house.client, of(&house), IndexSteer::Cancel, &mut other).await
    };
    let (outcome, cancelled) = tokio::join!(build, cancelling);
    assert_eq!((outcome.unwrap(), cancelled.unwrap()), (Outcome::Cancelled, Outcome::Done));
    assert_eq!(screen.shown(), "The build was cancelled by somebody else.\n");
}

#[tokio::test]
async fn where_nothing_is_built_there_is_nothing_to_steer() {
    let index = Slow::new(IndexState::Ready);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let steers = [IndexSteer::Pause, IndexSteer::Resume, IndexSteer::Cancel];
    for how in steers {
        loggia_cli::index_steer(&house.client, of(&house), how, &mut terminal).await.unwrap();
    }
    index.state.send_replace(IndexState::Building);
    for how in steers {
        loggia_cli::index_steer(&house.client, of(&house), how, &mut terminal).await.unwrap();
    }
    let steered = "Builds and the making of vectors are held up; `loggia index resume` lets them go on.\n\
                   Builds and the making of vectors go on.\n";
    assert_eq!(
        screen.out(),
        format!(
            "{steered}No build is under way.\n{steered}The build is cancelled; what was there before stays.\n"
        )
    );
    assert_eq!(index.asked(), ["Pause", "Resume", "Cancel", "Pause", "Resume", "Cancel"]);
}

#[tokio::test]
async fn files_that_are_left_out_are_listed_with_the_reasons() {
    let house = House::with_index(Slow::new(IndexState::Ready)).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let options = IndexShow { of: of(&house), skipped: true };
    loggia_cli::index_status(&house.client, options, &mut terminal).await.unwrap();
    assert_eq!(
        screen.out(),
        "ready: 12 files, 30 definitions, 40 pieces of text, 2 KiB on disk\n  2 files are left out:\n    \
         big.bin  it has over 4 MiB\n    … 1 more\n"
    );
    let (screen, mut terminal) = Screen::new(FILES);
    let options = IndexShow { of: IndexOf { json: true, ..of(&house) }, skipped: true };
    loggia_cli::index_status(&house.client, options, &mut terminal).await.unwrap();
    let told: Value = serde_json::from_str(&screen.out()).unwrap();
    assert_eq!((&told["state"], &told["skipped"]), (&"ready".into(), &2.into()));
    assert_eq!(told["skipped_files"][0]["reason"], "it has over 4 MiB");
}

#[tokio::test]
async fn changes_are_told_one_by_one_until_an_interrupt() {
    let index = Slow::new(IndexState::Stale);
    let house = House::with_index(Arc::clone(&index) as _).await;
    for json in [false, true] {
        let (screen, mut terminal) = Screen::new(FILES);
        let (interrupter, mut interrupts) = Interrupts::channel();
        let options = IndexOf { json, ..of(&house) };
        let watching = loggia_cli::index_watch(&house.client, options, &mut terminal, &mut interrupts);
        let changing = async {
            screen.until("3").await;
            index.state.send_replace(IndexState::Ready);
            screen.until("ready").await;
            index.state.send_replace(IndexState::Stale);
            screen.until("stale").await;
            interrupter.interrupt();
        };
        let (outcome, ()) = tokio::join!(watching, changing);
        assert_eq!(outcome.unwrap(), Outcome::Cancelled);
        let lines: Vec<String> = screen.out().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        let states = lines.iter().map(|line| match json {
            true => serde_json::from_str::<Value>(line).unwrap()["state"].as_str().unwrap().to_owned(),
            false => line.split(':').next().unwrap().replace("indexing", "building"),
        });
        assert_eq!(states.collect::<Vec<_>>(), ["building", "ready", "stale"]);
    }
}

#[tokio::test]
async fn an_index_is_dropped_after_a_yes() {
    let index = Slow::new(IndexState::Ready);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let mut interrupts = Interrupts::never();
    let options = |yes| IndexDrop { of: of(&house), yes };
    let (_, mut terminal) = Screen::new(FILES);
    let error = loggia_cli::index_drop(&house.client, options(false), &mut terminal, &mut interrupts).await;
    assert!(matches!(error.unwrap_err(), CliError::NotConfirmed { .. }));
    let (_, mut terminal, _keys) = Screen::with_keys(TERMINAL, "n");
    let no = loggia_cli::index_drop(&house.client, options(false), &mut terminal, &mut interrupts).await;
    assert_eq!(no.unwrap(), Outcome::Refused);
    assert_eq!(index.asked(), Vec::<String>::new());
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "y");
    loggia_cli::index_drop(&house.client, options(false), &mut terminal, &mut interrupts).await.unwrap();
    assert!(screen.err().starts_with("? Drop the code index of /"), "{}", screen.err());
    assert_eq!(screen.out(), "The index is gone; it is built again when somebody next needs it.\n");
    let (_, mut terminal) = Screen::new(FILES);
    loggia_cli::index_drop(&house.client, options(true), &mut terminal, &mut interrupts).await.unwrap();
    assert_eq!(index.asked(), ["forget", "forget"]);
}

#[tokio::test]
async fn each_way_of_looking_is_asked_for_and_faults_are_told_with_what_to_do() {
    let index = Slow::new(IndexState::Ready);
    let house = House::with_index(Arc::clone(&index) as _).await;
    let (screen, mut terminal) = Screen::new(Setting { color_out: true, ..TERMINAL });
    let mut interrupts = Interrupts::never();
    for way in [SearchWay::All, SearchWay::Symbols, SearchWay::Words, SearchWay::Phrase, SearchWay::Regex] {
        let options = Search { limit: Some(3), ..looking(&house, "word", way) };
        let done = loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts).await;
        assert_eq!(done.unwrap(), Outcome::Done);
    }
    assert_eq!(
        index.asked(),
        [
            "search word Fused Words 3",
            "search word Symbols Words 3",
            "search word Text Words 3",
            "search word Text Phrase 3",
            "search word Text Regex 3",
        ]
    );
    assert_eq!((screen.out().as_str(), screen.err()), ("", "Nothing was found.\n".repeat(5)));
    let options = looking(&house, "main", SearchWay::References);
    loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts).await.unwrap();
    let root = house.root();
    assert_eq!(
        screen.out().replace('\u{1b}', "^"),
        format!(
            "^]8;;file://{}/src/a.rs^\\^[1msrc/a.rs:7^[0m^]8;;^\\  ^[2mcall^[0m  ^[1m^[33mmain^[0m();\n",
            root.display()
        )
    );
    let options = looking(&house, "(", SearchWay::Regex);
    let error = loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts).await.unwrap_err();
    assert_eq!(error.to_string(), "the query cannot be understood: it is no regular expression");
    assert!(error.hint().contains("--phrase"), "{}", error.hint());
}

#[tokio::test]
async fn without_an_index_files_are_read_and_nothing_is_waited_for() {
    let house = House::new(&[("a.txt", "one needle\n")], "").await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    let mut interrupts = Interrupts::never();
    let options = looking(&house, "needle", SearchWay::All);
    loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts).await.unwrap();
    assert_eq!(screen.out(), "a.txt:1\n     1 one needle\n\n");
    let build =
        loggia_cli::index_build(&house.client, building(&house), &mut terminal, &mut interrupts).await;
    let error = build.unwrap_err();
    assert!(error.to_string().contains("there is no code index here"), "{error}");
    for (way, paths) in [(SearchWay::Symbols, vec![]), (SearchWay::All, vec!["*.rs".to_owned()])] {
        let options = Search { paths, ..looking(&house, "needle", way) };
        let error = loggia_cli::search(&house.client, options, &mut terminal, &mut interrupts).await;
        assert!(error.unwrap_err().hint().contains("`loggia search WORDS`"));
    }
}
