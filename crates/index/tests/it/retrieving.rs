//! Questions: what is found, who asks, what fits into a budget.

use std::sync::Arc;

use loggia_domain::{
    CodeContext, CodeIndex, CodeQuery, CodeQuestion, PastChange, QueryKind, RetrievalStage, Retrieved,
};
use loggia_index::FileIndex;

use crate::support::{House, shown};

fn house() -> House {
    House::with(&[
        (
            "src/session.rs",
            "//! Sessions of people.\n\n/// Opens a session for a person.\npub fn open_session(name: &str) -> Session {\n    \
             Session { name: name.to_owned() }\n}\n\npub struct Session { name: String }\n",
        ),
        (
            "src/login.rs",
            "use crate::session::open_session;\n\n/// Checks the password and opens a session.\n\
             pub fn log_in(name: &str, password: &str) {\n    check(password);\n    open_session(name);\n}\n",
        ),
        (
            "src/copy_of_login.rs",
            "use crate::session::open_session;\n\n/// Checks the password and opens a session.\n\
             pub fn log_in(name: &str, password: &str) {\n    check(password);\n    open_session(name);\n}\n",
        ),
        ("src/draw.rs", "/// Draws a line.\npub fn draw_line() {}\n"),
        ("tests/login.rs", "fn a_wrong_password_opens_no_session() { log_in(\"a\", \"b\"); }\n"),
        ("docs/login.md", "How logging in checks a password.\n"),
    ])
}

async fn ask(index: &FileIndex, text: &str, change: impl FnOnce(&mut CodeQuestion)) -> Retrieved {
    let context = CodeContext::default();
    let mut question =
        CodeQuestion { text: text.to_owned(), context, history: Arc::default(), limit: 8, budget: 4000 };
    change(&mut question);
    index.retrieve(question).await.unwrap()
}

#[tokio::test]
async fn a_question_finds_pieces_with_where_they_are_from() {
    let house = house();
    let index = house.built().await;
    let retrieved = ask(&index, "Where are passwords checked when logging in?", |_| {}).await;
    let best = &retrieved.findings[0];
    assert!(best.path.contains("login"), "{}", shown(&retrieved.findings));
    assert!(best.snippet.contains("password"));
    let stages: Vec<RetrievalStage> = retrieved.stages.iter().map(|count| count.stage).collect();
    assert_eq!(stages, [RetrievalStage::Symbols, RetrievalStage::Text, RetrievalStage::Ranking]);
    assert!(retrieved.stages.iter().all(|count| count.results > 0));
    assert!(retrieved.tokens > 0);
    // What another piece says as well is said once.
    let copies = retrieved
        .findings
        .iter()
        .filter(|found| found.path.ends_with("login.rs") && found.path.starts_with("src"));
    assert_eq!(copies.count(), 1, "{}", shown(&retrieved.findings));
}

#[tokio::test]
async fn who_asks_counts() {
    let house = house();
    let index = house.built().await;
    let plain = ask(&index, "what is drawn or opened here", |_| {}).await;
    assert!(!plain.findings.is_empty());
    for change in [
        (|question: &mut CodeQuestion| question.context.open_files.push("src/draw.rs".to_owned()))
            as fn(&mut _),
        |question| question.context.mentions.push("draw.rs".to_owned()),
        |question| question.context.diagnostics.push("src/draw.rs".to_owned()),
    ] {
        let place = |retrieved: &Retrieved| {
            let found = retrieved.findings.iter().position(|found| found.path == "src/draw.rs");
            found.unwrap_or(usize::MAX)
        };
        let before = place(&ask(&index, "session", |_| {}).await);
        let after = place(&ask(&index, "session", change).await);
        assert!(after < before, "{after} {before}");
    }
    // What changed lately counts among what fits.
    let plain = ask(&index, "password", |_| {}).await;
    let before = plain.findings.len() - 1;
    let path = plain.findings[before].path.clone();
    let changed = ask(&index, "password", |question| question.context.recent.push(path.clone())).await;
    let after = changed.findings.iter().position(|found| found.path == path);
    assert!(before > 0 && after.is_some_and(|after| after < before), "{}", shown(&changed.findings));
    let named = ask(&index, "why does `draw_line` not open a session", |_| {}).await;
    assert_eq!(named.findings[0].path, "src/draw.rs", "{}", shown(&named.findings));
    let by_path = ask(&index, "session in src/draw.rs", |_| {}).await;
    assert!(by_path.findings.iter().take(2).any(|found| found.path == "src/draw.rs"));
}

#[tokio::test]
async fn a_budget_is_kept_and_what_had_no_room_is_counted() {
    let house = house();
    let index = house.built().await;
    let all = ask(&index, "session", |_| {}).await;
    assert!(all.findings.len() > 2);
    let one = ask(&index, "session", |question| question.limit = 1).await;
    assert_eq!(one.findings.len(), 1);
    assert!(one.left_out > 0);
    let tight = ask(&index, "session", |question| question.budget = all.tokens / 2).await;
    assert!(tight.tokens <= all.tokens / 2 && tight.findings.len() < all.findings.len());
    assert!(tight.left_out > 0);
    let none = ask(&index, "session", |question| question.budget = 0).await;
    assert_eq!((none.findings.len(), none.tokens), (0, 0));
    let nothing = ask(&index, "zzzz qqqq", |_| {}).await;
    assert_eq!(nothing.findings, vec![]);
    let recent = ask(&index, "zzzz qqqq", |question| question.context.recent.push("src/draw.rs".to_owned()));
    assert_eq!(recent.await.findings, vec![], "what changed last is no answer by that alone");
}

#[tokio::test]
async fn a_question_may_be_asked_as_a_fused_query_and_of_symbols() {
    let house = house();
    let index = house.built().await;
    let found = index.search(CodeQuery::new("open a session", QueryKind::Fused, 3)).await.unwrap();
    assert!(found.len() <= 3);
    assert!(found.iter().any(|found| found.path == "src/session.rs"), "{}", shown(&found));
    let rest =
        CodeQuery { paths: vec!["docs/".to_owned()], ..CodeQuery::new("password", QueryKind::Fused, 3) };
    assert_eq!(shown(&index.search(rest).await.unwrap()), "docs/login.md:1-1");
    let named =
        index.search(CodeQuery::new("where do we open a new session", QueryKind::Symbols, 2)).await.unwrap();
    assert_eq!(named[0].symbol.as_deref(), Some("open_session"));
}

#[tokio::test]
async fn files_that_were_changed_for_the_same_words_count_more() {
    let house = house();
    let index = house.built().await;
    let change = |subject: &str, files: &[&str]| PastChange {
        subject: subject.to_owned(),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
    };
    let knowing = async |text: &str, history: Vec<PastChange>| {
        let found = ask(&index, text, |question| question.history = history.into()).await.findings;
        found.into_iter().map(|found| found.path).collect::<Vec<_>>()
    };
    let flicker = vec![
        change("Stop the flicker of strokes", &["src/draw.rs", "src/gone.rs"]),
        change("Log people in", &["src/login.rs"]),
    ];
    // No file has the word; a change had it.
    assert_eq!(knowing("flicker", Vec::new()).await, Vec::<String>::new());
    assert_eq!(knowing("flicker", flicker.clone()).await, ["src/draw.rs"]);
    assert_eq!(knowing("flickering", flicker.clone()).await, ["src/draw.rs"]);
    assert_eq!(knowing("zzzz", flicker).await, Vec::<String>::new());
    let before = knowing("password", Vec::new()).await;
    let history = vec![change("Ask for the password once more", &["tests/login.rs"])];
    let after = knowing("password", history).await;
    let place = |paths: &[String]| paths.iter().position(|path| path == "tests/login.rs").unwrap();
    assert!(place(&after) < place(&before), "{before:?} {after:?}");
}

#[tokio::test]
async fn a_question_may_be_longer_than_what_is_read_of_it() {
    let house = house();
    let index = house.built().await;
    let long = format!("where is the password checked? {}", "ä qq::zz 7\n".repeat(1000));
    let found = ask(&index, &long, |_| {}).await;
    assert!(found.findings[0].path.contains("login"), "{}", shown(&found.findings));
}
