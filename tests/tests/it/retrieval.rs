//! Code that an index finds for an instruction: told to the model once, and never in the way of a turn.

use std::sync::{Arc, Mutex};

use loggia_domain::{
    BoxFuture, CodeContext, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, IndexBuild, IndexError,
    IndexState, IndexStatus, Instruction, Intent, ModelMessage, ModelRequest, Preset, QueryKind, Repository,
    Retrieved, TurnEnd, WhenBusy,
};
use tokio::sync::watch;

use crate::world;

const LOOKS: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "find_files", arguments = { glob = "*" } } }]

    [[reply]]
    parts = [{ text = "Found." }]
"#;

/// An index that finds what it is told to.
pub(crate) struct FakeIndex {
    state: IndexState,
    found: Vec<(QueryKind, Vec<CodeFinding>)>,
    /// What was looked for.
    queries: Mutex<Vec<CodeQuery>>,
    /// Whether it answers at all.
    awake: watch::Sender<bool>,
    asked: watch::Sender<usize>,
}

impl FakeIndex {
    pub(crate) fn new(
        state: IndexState,
        found: impl IntoIterator<Item = (QueryKind, Vec<CodeFinding>)>,
    ) -> Arc<Self> {
        Arc::new(Self {
            state,
            found: found.into_iter().collect(),
            queries: Mutex::default(),
            awake: watch::Sender::new(true),
            asked: watch::Sender::new(0),
        })
    }

    pub(crate) fn asked(&self) -> usize {
        *self.asked.borrow()
    }

    /// Waits until it has been asked so often.
    async fn until_asked(&self, times: usize) {
        drop(self.asked.subscribe().wait_for(|asked| *asked >= times).await);
    }
}

impl CodeIndex for FakeIndex {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            state: self.state,
            files: 1,
            symbols: 1,
            chunks: 1,
            bytes: 1,
            done: 0,
            total: 0,
            last_error: None,
        }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        Box::pin(async move {
            let found = self.found.iter().find(|(kind, _)| *kind == query.kind);
            self.queries.lock().unwrap().push(query);
            self.asked.send_modify(|asked| *asked += 1);
            let mut awake = self.awake.subscribe();
            drop(awake.wait_for(|awake| *awake).await);
            match found {
                Some((_, found)) => Ok(found.clone()),
                None => Err(IndexError::Unavailable("its files are damaged".to_owned())),
            }
        })
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        Box::pin(async { Ok(()) })
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(async { Ok(self.status()) })
    }
}

pub(crate) fn finding(path: &str, lines: (u32, u32), snippet: &str) -> CodeFinding {
    let (start_line, end_line) = lines;
    let snippet = snippet.to_owned();
    CodeFinding {
        path: path.to_owned(),
        start_line,
        end_line,
        symbol: None,
        snippet,
        score: 1.0,
        definition: None,
    }
}

const ALL: [QueryKind; 4] = [QueryKind::Symbols, QueryKind::Text, QueryKind::Vectors, QueryKind::Fused];

/// An index that finds the same however it is asked.
pub(crate) fn finds(found: &[CodeFinding]) -> Arc<FakeIndex> {
    FakeIndex::new(IndexState::Ready, ALL.map(|kind| (kind, found.to_vec())))
}

/// Everything a request says.
pub(crate) fn said(request: &ModelRequest) -> String {
    let text = |message: &ModelMessage| match message {
        ModelMessage::System(text) | ModelMessage::User(text) => text.clone(),
        ModelMessage::Shown { text, .. } | ModelMessage::Assistant { text, .. } => text.clone(),
        ModelMessage::ToolResult { output, .. } => output.clone(),
    };
    request.messages.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_was_found_is_told_with_its_place_before_the_first_step() {
    let index = finds(&[
        finding("src/sort.rs", (3, 7), "fn quick_sort() {}"),
        finding("src/list.rs", (12, 12), "struct List;"),
        finding(".env", (1, 1), "PASSWORD=hunter2"),
    ]);
    let world = world().index(Arc::clone(&index) as _).start(LOOKS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("make sorting faster").await, TurnEnd::Done);
    let requests = world.model.requests();
    let Some(ModelMessage::User(found)) = requests[0].messages.last() else { panic!("{requests:?}") };
    for told in ["src/sort.rs, lines 3 to 7:\n```\nfn quick_sort() {}\n```", "src/list.rs, lines 12 to 12:"] {
        assert!(found.contains(told), "{found}");
    }
    assert!(!found.contains("hunter2"), "what the policy keeps from tools is kept from hints: {found}");
    // Once: the model has seen it, and can look for itself.
    assert!(!said(&requests[1]).contains("quick_sort"), "{}", said(&requests[1]));
    assert_eq!(index.asked(), 4);
    let queries = index.queries.lock().unwrap();
    assert!(queries.iter().all(|query| query.text == "make sorting faster"), "{queries:?}");
    assert_eq!(queries.iter().map(|query| query.kind).collect::<Vec<_>>(), ALL);
    assert!(alice.text().contains("retrieved 3 by Symbols\n"), "{}", alice.text());
}

/// An index that only hears what is known of whoever asks.
#[derive(Default)]
struct Listening(Mutex<Vec<CodeQuestion>>);

impl CodeIndex for Listening {
    fn status(&self) -> IndexStatus {
        finds(&[]).status()
    }

    fn search(&self, _: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn retrieve(&self, question: CodeQuestion) -> BoxFuture<'_, Result<Retrieved, IndexError>> {
        self.0.lock().unwrap().push(question);
        Box::pin(async { Ok(Retrieved::default()) })
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        Box::pin(async { Ok(()) })
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(async { Ok(self.status()) })
    }
}

#[tokio::test]
async fn what_the_client_has_open_and_what_the_session_changed_is_told_to_the_index() {
    const WRITES: &str = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "new.rs", content = "new\n" } } }]

        [[reply]]
        parts = [{ text = "Written." }]

        [[reply]]
        parts = [{ text = "Looked." }]
    "#;
    let index = Arc::new(Listening::default());
    let world = world().index(Arc::clone(&index) as _).start(WRITES).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("write it").await, TurnEnd::Done);
    let nearby = CodeContext {
        open_files: vec!["a.rs".to_owned()],
        mentions: vec!["Thing".to_owned()],
        diagnostics: vec!["b.rs".to_owned()],
        recent: vec!["c.rs".to_owned()],
    };
    let instruction =
        Instruction { text: "look".to_owned(), nearby: nearby.clone(), ..Instruction::default() };
    alice.seat.intend(Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let asked = index.0.lock().unwrap().clone();
    let told: Vec<CodeContext> = asked.into_iter().map(|question| question.context).collect();
    let recent = vec!["new.rs".to_owned(), "c.rs".to_owned()];
    assert_eq!(told, [CodeContext::default(), CodeContext { recent, ..nearby }]);
}

#[tokio::test]
async fn what_the_last_commits_changed_is_told_to_the_index_after_what_the_session_changed() {
    const WRITES: &str = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "new.rs", content = "new\n" } } }]

        [[reply]]
        parts = [{ text = "Written." }]

        [[reply]]
        parts = [{ text = "Looked." }]
    "#;
    let index = Arc::new(Listening::default());
    let world = world().in_repository().index(Arc::clone(&index) as _).start(WRITES).await;
    for path in ["old.rs", "newer.rs"] {
        std::fs::write(world.root().join(path), "word\n").unwrap();
        world.repository().checkpoint(world.root(), path.to_owned(), path.to_owned()).await.unwrap();
    }
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("write it").await, TurnEnd::Done);
    assert_eq!(alice.play("look").await, TurnEnd::Done);
    let told = index.0.lock().unwrap().iter().map(|asked| asked.context.recent.join(" ")).collect::<Vec<_>>();
    assert_eq!(told, ["newer.rs old.rs", "new.rs newer.rs old.rs"]);
    // And what these commits said they were for.
    let asked = index.0.lock().unwrap().last().unwrap().clone();
    let changes =
        asked.history.iter().map(|change| format!("{}: {}", change.subject, change.files.join(" ")));
    assert_eq!(changes.collect::<Vec<_>>(), ["newer.rs: newer.rs", "old.rs: old.rs"]);
}

#[tokio::test]
async fn where_many_commits_take_too_long_to_tell_few_are_and_no_turn_waits_for_them() {
    const LOOKED: &str = r#"
        [[reply]]
        parts = [{ text = "Looked." }]
    "#;
    for (are_few_quick, expected) in [(true, 10), (false, 0)] {
        let index = Arc::new(Listening::default());
        let world = world().in_repository().index(Arc::clone(&index) as _).start(LOOKED).await;
        for number in 0..20 {
            let path = format!("{number}.rs");
            std::fs::write(world.root().join(&path), "word\n").unwrap();
            world.repository().checkpoint(world.root(), path.clone(), path).await.unwrap();
        }
        world.repository().hang_after("lately");
        let (_, mut alice) = world.play(Preset::Ask).await;
        let repository = world.repository();
        let go_on = async {
            if are_few_quick {
                repository.until_hanging().await;
            }
        };
        let (end, ()) = tokio::join!(alice.play("look"), go_on);
        assert_eq!(end, TurnEnd::Done);
        let asked = index.0.lock().unwrap().clone();
        let subjects: Vec<_> = asked[0].history.iter().map(|change| change.subject.as_str()).collect();
        let latest: Vec<_> = (0..20).rev().take(expected).map(|number| format!("{number}.rs")).collect();
        assert_eq!(subjects, latest);
    }
}

#[tokio::test]
async fn an_index_that_fails_fails_no_turn() {
    let found = vec![finding("src/sort.rs", (3, 7), "fn quick_sort() {}")];
    for (works, hint) in [(vec![], false), (vec![(QueryKind::Text, found)], true)] {
        let index = FakeIndex::new(IndexState::Ready, works);
        let world = world().index(Arc::clone(&index) as _).start(LOOKS).await;
        let (_, mut alice) = world.play(Preset::Ask).await;
        assert_eq!(alice.play("make sorting faster").await, TurnEnd::Done);
        assert_eq!(index.asked(), 4);
        assert_eq!(said(&world.model.requests()[0]).contains("quick_sort"), hint);
    }
}

#[tokio::test]
async fn an_index_that_is_not_ready_is_not_asked() {
    for (state, asked) in [
        (IndexState::Empty, 0),
        // Its last finished state can be asked.
        (IndexState::Building, 4),
        (IndexState::Failed, 0),
        (IndexState::Stale, 4),
        (IndexState::Ready, 4),
    ] {
        let index = FakeIndex::new(state, ALL.map(|kind| (kind, Vec::new())));
        let world = world().index(Arc::clone(&index) as _).start(LOOKS).await;
        let (_, mut alice) = world.play(Preset::Ask).await;
        assert_eq!(alice.play("make sorting faster").await, TurnEnd::Done);
        assert_eq!(index.asked(), asked, "{state:?}");
    }
}

#[tokio::test]
async fn what_was_found_leaves_room_in_a_small_window() {
    let long = "let word = 1;\n".repeat(1000);
    let found: Vec<CodeFinding> =
        (0..20).map(|number| finding(&format!("src/{number}.rs"), (1, 1000), &long)).collect();
    let world = world().index(finds(&found)).start(&format!("context_tokens = 4000\n{LOOKS}")).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("make sorting faster").await, TurnEnd::Done);
    let said = said(&world.model.requests()[0]);
    assert!(said.contains("src/0.rs"), "the best of it is told: {said}");
    assert!(said.len() / 4 < 4000, "about {} tokens for a window of 4000", said.len() / 4);
}

#[tokio::test]
async fn secrets_in_instructions_and_in_what_was_found_stay_here() {
    const SECRET: &str = "correct-horse-battery-staple";
    let index = finds(&[finding("src/a.rs", (1, 1), &format!("const KEY: &str = \"{SECRET}\";"))]);
    let world = world().secret(SECRET).file("AGENTS.md", format!("The key is {SECRET}.")).index(index);
    let world = world.start(LOOKS).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("go").await;
    let said = said(&world.model.requests()[0]);
    assert!(said.contains("The key is [masked: known secret].") && said.contains("const KEY"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}

#[tokio::test]
async fn an_index_that_never_answers_holds_no_turn_up() {
    let index = finds(&[finding("src/sort.rs", (3, 7), "fn quick_sort() {}")]);
    index.awake.send_replace(false);
    let world = world().index(Arc::clone(&index) as _).start(LOOKS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("make sorting faster").await, TurnEnd::Done);
    assert_eq!(index.asked(), 1, "and is not asked four times");
}

#[tokio::test]
async fn a_slow_index_is_waited_for_and_a_stuck_one_is_cancelled_with_its_turn() {
    let index = finds(&[finding("src/sort.rs", (3, 7), "fn quick_sort() {}")]);
    let world = world().index(Arc::clone(&index) as _).start(LOOKS).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    index.awake.send_replace(false);
    alice.prompt("make sorting faster").await.unwrap();
    index.until_asked(1).await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert!(world.model.requests().is_empty());
    alice.prompt("make sorting faster").await.unwrap();
    index.until_asked(2).await;
    index.awake.send_replace(true);
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(said(&world.model.requests()[0]).contains("quick_sort"));
}
