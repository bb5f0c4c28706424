//! Queries of every kind, and the ones that mean nothing.

use std::sync::Arc;

use loggia_domain::{
    CodeContext, CodeIndex, CodeQuery, CodeQuestion, IndexBuild, IndexError, QueryKind, ReferenceQuery,
    SymbolKind,
};

use crate::support::{House, found, phrase, regex, symbols, text, used};

fn house() -> House {
    House::with(&[
        (
            "src/store.rs",
            "//! Keeps things.\n\n/// Keeps user names.\npub struct UserStore { names: Vec<String> }\n\n\
             impl UserStore {\n    /// Finds a user by name.\n    pub fn find_user(&self, name: &str) -> Option<&String> {\n\
                     self.names.iter().find(|other| *other == name)\n    }\n}\n",
        ),
        (
            "src/main.rs",
            "use crate::store::UserStore;\n\nfn main() {\n    let store: UserStore = make();\n    \
             store.find_user(\"ada\"); // find_user here\n}\n",
        ),
        ("tools/find.py", "def find_user(store, name):\n    return store.find_user(name)\n"),
        ("docs/users.md", "How user names are kept.\n"),
    ])
}

#[tokio::test]
async fn words_find_files_by_how_well_they_fit() {
    let house = house();
    let index = house.built().await;
    assert_eq!(
        found(&index, text("how are user names kept")).await.lines().next(),
        Some("docs/users.md:1-1")
    );
    assert!(found(&index, text("findUser")).await.contains("src/store.rs"));
    let only = CodeQuery { paths: vec!["*.py".to_owned()], ..text("find user") };
    assert_eq!(found(&index, only).await, "tools/find.py:1-2");
    assert_eq!(found(&index, text("zzzz")).await, "");
}

#[tokio::test]
async fn phrases_and_expressions_are_found_exactly_where_they_are() {
    let house = house();
    let index = house.built().await;
    assert_eq!(found(&index, phrase("store.find_user(")).await, "src/main.rs:5-5\ntools/find.py:2-2");
    assert_eq!(found(&index, phrase("ind_use")).await.lines().count(), 4);
    assert_eq!(found(&index, phrase("user store")).await, "");
    assert_eq!(found(&index, regex("def \\w+\\(store")).await, "tools/find.py:1-1");
    assert_eq!(found(&index, regex("^pub struct|^def")).await, "src/store.rs:4-4\ntools/find.py:1-1");
    let one = CodeQuery { limit: 1, ..regex("find_user") };
    assert_eq!(found(&index, one).await, "src/main.rs:5-5");
    let outside = CodeQuery { paths: vec!["!src/".to_owned()], ..regex("find_user") };
    assert_eq!(found(&index, outside).await, "tools/find.py:1-1\ntools/find.py:2-2");
}

#[tokio::test]
async fn symbols_are_found_by_name_kind_and_container() {
    let house = house();
    let index = house.built().await;
    assert_eq!(found(&index, symbols("UserStore")).await, "src/store.rs:4-4 UserStore");
    assert_eq!(
        found(&index, symbols("finduser")).await,
        "src/store.rs:8-10 find_user\ntools/find.py:1-2 find_user"
    );
    let methods = CodeQuery { symbols: vec![SymbolKind::Method], ..symbols("fu") };
    assert_eq!(found(&index, methods).await, "src/store.rs:8-10 find_user");
    assert_eq!(
        found(&index, symbols("UserStore::find_user")).await.lines().next(),
        Some("src/store.rs:8-10 find_user")
    );
    assert_eq!(found(&index, symbols("usrestore")).await, "src/store.rs:4-4 UserStore");
    let finding = index.search(symbols("find_user")).await.unwrap().remove(0);
    let definition = finding.definition.unwrap();
    assert_eq!(definition.container.as_deref(), Some("UserStore"));
    assert_eq!(definition.signature, "pub fn find_user(&self, name: &str) -> Option<&String>");
    assert_eq!(definition.doc, "Finds a user by name.");
}

#[tokio::test]
async fn uses_of_a_name_are_found_with_how_it_is_used() {
    let house = house();
    let index = house.built().await;
    assert_eq!(
        used(&index, "find_user").await,
        "src/main.rs:5 Call store.find_user(\"ada\"); // find_user here\n\
         tools/find.py:2 Call return store.find_user(name)"
    );
    assert_eq!(
        used(&index, "UserStore").await,
        "src/main.rs:1 Import use crate::store::UserStore;\n\
         src/main.rs:4 Type let store: UserStore = make();\n\
         src/store.rs:6 Type impl UserStore {"
    );
    assert_eq!(used(&index, "nobody").await, "");
}

#[tokio::test]
async fn queries_that_mean_nothing_are_refused_with_a_reason() {
    let house = house();
    let index = house.built().await;
    let bad = |query: CodeQuery| {
        let index = &index;
        async move { index.search(query).await.unwrap_err().to_string() }
    };
    assert_eq!(bad(text("  ")).await, "the query cannot be understood: it is empty");
    assert!(bad(regex("(")).await.starts_with("the query cannot be understood: it is no regular expression"));
    assert!(bad(phrase("a\nb")).await.contains("one line is searched at a time"));
    assert!(bad(text(&"x ".repeat(9000))).await.contains("bytes"));
    let paths = CodeQuery { paths: vec!["[".to_owned()], ..text("find") };
    assert!(bad(paths).await.contains("a path"));
    let vectors = index.search(CodeQuery::new("find", QueryKind::Vectors, 5)).await.unwrap_err();
    assert!(matches!(vectors, IndexError::NoVectors(_)));
    let query = ReferenceQuery { name: "a b".to_owned(), limit: 1, paths: Vec::new() };
    assert_eq!(index.references(query).await, Err(IndexError::BadQuery("`a b` is no name".to_owned())));
    let none = CodeQuery { limit: 0, ..text("find") };
    assert_eq!(index.search(none).await, Ok(Vec::new()));
}

#[tokio::test]
async fn what_a_name_is_in_counts_however_many_have_the_name() {
    let house = House::with(&[]);
    for number in 0..150 {
        let text =
            format!("struct Thing{number};\nimpl Thing{number} {{\n    fn new() -> Self {{ Self }}\n}}\n");
        house.write(&format!("f{number:03}.rs"), text);
    }
    let index = house.built().await;
    let query = |text: &str| CodeQuery { limit: 3, ..symbols(text) };
    for text in ["Thing147::new", "thing147.new()", "Thing147<T>::new", "Thing147 new"] {
        assert_eq!(found(&index, query(text)).await.lines().next(), Some("f147.rs:3-3 new"), "{text}");
    }
    // Also one that is only in memory yet.
    house.write("f999.rs", "struct Late;\nimpl Late { fn new() -> Self { Self } }\n");
    index.changed(vec!["f999.rs".to_owned()]).await.unwrap();
    assert_eq!(found(&index, query("Late::new")).await.lines().next(), Some("f999.rs:2-2 new"));
}

#[tokio::test]
async fn files_that_are_not_wanted_crowd_none_out() {
    let house = House::with(&[("docs/one.md", "Something of a session, among other things.\n")]);
    for number in 0..100 {
        house.write(
            &format!("src/f{number}.rs"),
            format!("/// Opens a session.\nfn session_{number}() {{}}\n"),
        );
    }
    let index = house.built().await;
    for kind in [QueryKind::Fused, QueryKind::Text] {
        let query = CodeQuery { paths: vec!["docs/**".to_owned()], ..CodeQuery::new("session", kind, 5) };
        assert_eq!(found(&index, query).await, "docs/one.md:1-1", "{kind:?}");
    }
}

#[tokio::test]
async fn an_expression_may_be_about_the_end_of_a_line() {
    let house = House::with(&[("a.rs", "use a;\nfn one() {\n}\n\nlet x = 1;"), ("b.rs", "use b;\r\n}\r\n")]);
    let index = house.built().await;
    let lines = async |text: &str| found(&index, regex(text)).await.replace('\n', " ");
    assert_eq!(lines(";$").await, "a.rs:1-1 a.rs:5-5 b.rs:1-1");
    assert_eq!(lines("^}$").await, "a.rs:3-3 b.rs:2-2");
    assert_eq!(lines("^fn .*\\{$").await, "a.rs:2-2");
    assert_eq!(lines("^$").await, "a.rs:4-4");
    assert_eq!(lines("^use .*;$").await, "a.rs:1-1 b.rs:1-1");
    assert_eq!(lines("one$").await, "");
}

#[tokio::test]
async fn a_query_that_is_a_name_leads_to_what_it_names_and_others_to_the_line() {
    let house = House::with(&[
        (
            "src/queue.rs",
            "//! A queue.\n\nuse std::fmt;\n\n/// Holds messages for a session.\npub struct MessageQueue {\n    inner: Vec<u8>,\n}\n\n\
             impl MessageQueue {\n    /// Polls once.\n    pub fn poll_queue(&self) -> u8 {\n        self.inner[0]\n    }\n}\n",
        ),
        (
            "src/other.rs",
            "//! poll_queue poll_queue MessageQueue MessageQueue: see there, as poll_queue does.\n\nfn other() {}\n\nfn q() {}\n",
        ),
    ]);
    let index = house.built().await;
    let fused = |text: &str| CodeQuery::new(text, QueryKind::Fused, 10);
    let first = async |text: &str| found(&index, fused(text)).await.lines().next().map(str::to_owned);
    assert_eq!(first("MessageQueue").await.as_deref(), Some("src/queue.rs:6-8 MessageQueue"));
    assert_eq!(first("messagequeue").await.as_deref(), Some("src/queue.rs:6-8 MessageQueue"));
    assert_eq!(first("MessageQueue::poll_queue").await.as_deref(), Some("src/queue.rs:12-14 poll_queue"));
    for text in ["poll_queue", "pollQueue", "pollqueue", "POLL_QUEUE", "poll queue"] {
        assert_eq!(first(text).await.as_deref(), Some("src/queue.rs:12-14 poll_queue"), "{text}");
    }
    // Also what is only in memory yet, beside what is on disk.
    house.write("src/later.rs", "pub fn pollqueue() {}\n");
    index.changed(vec!["src/later.rs".to_owned()]).await.unwrap();
    let both = found(&index, CodeQuery::new("pollQueue", QueryKind::Fused, 10)).await;
    assert_eq!(
        both.lines().take(2).collect::<Vec<_>>(),
        ["src/later.rs:1-1 pollqueue", "src/queue.rs:12-14 poll_queue"]
    );
    // One letter is no word, and still a name.
    assert_eq!(first("Q").await.as_deref(), Some("src/other.rs:5-5 q"));
    // A line in the middle of a piece, and what it is in.
    assert_eq!(first("polls once").await.as_deref(), Some("src/queue.rs:11-12 poll_queue"));
    let found = index.search(fused("MessageQueue")).await.unwrap();
    assert!(found.is_sorted_by(|one, next| one.score >= next.score), "{found:?}");
    let narrow = CodeQuery { limit: 1, ..fused("MessageQueue") };
    assert_eq!(index.search(narrow).await.unwrap().len(), 1);
    assert_eq!(used(&index, "MessageQueue::poll_queue").await, used(&index, "poll_queue").await);
}

#[tokio::test]
async fn a_path_that_is_whole_leads_to_its_file_also_where_others_end_like_it() {
    let house = House::with(&[
        ("Cargo.toml", "[workspace]\nmembers = []\n"),
        ("a/Cargo.toml", "# Cargo.toml Cargo.toml\n[package]\nname = \"a\"\n"),
        ("b/Cargo.toml", "# Cargo.toml Cargo.toml\n[package]\nname = \"b\"\n"),
        ("notes.md", "Cargo.toml, Cargo.toml, and once more Cargo.toml.\n"),
    ]);
    let index = house.built().await;
    let first = index.search(CodeQuery::new("Cargo.toml", QueryKind::Fused, 10)).await.unwrap().remove(0);
    assert_eq!(first.path, "Cargo.toml");
}

#[tokio::test]
async fn a_path_may_be_a_directory() {
    let house = house();
    let index = house.built().await;
    for (path, expected) in
        [("src", 2), ("src/", 2), ("./src", 2), ("tools", 1), ("src/store.rs", 1), ("none", 0)]
    {
        let query = CodeQuery { paths: vec![path.to_owned()], ..phrase("find_user") };
        let found = index.search(query).await.unwrap();
        let mut paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
        paths.dedup();
        assert_eq!(paths.len(), expected, "{path}: {paths:?}");
    }
    for path in ["", "!"] {
        let query = CodeQuery { paths: vec![path.to_owned()], ..phrase("find_user") };
        assert!(matches!(index.search(query).await, Err(IndexError::BadQuery(_))));
    }
}

#[tokio::test]
async fn a_change_of_the_empty_path_is_one_of_all_files() {
    let house = house();
    let index = house.built().await;
    house.write("lib/new/orchard.rs", "fn orchard_gate() {}\n");
    house.remove("tools/find.py");
    index.changed(vec![String::new()]).await.unwrap();
    assert_eq!(found(&index, symbols("orchard_gate")).await, "lib/new/orchard.rs:1-1 orchard_gate");
    assert_eq!(found(&index, phrase("def find_user")).await, "");
}

#[tokio::test]
async fn what_became_a_link_is_not_shown_whatever_it_leads_to() {
    let house = House::with(&[
        ("src/a.rs", "fn open_door() {}\n// password\n"),
        ("lib/b.rs", "fn close_door() { open_door() }\n// password\n"),
    ]);
    let index = house.built().await;
    // Nobody told the index, so what it knows of both is old.
    let secret = "fn open_door() { open_door() }\n// password hunter2\n";
    house.write(".env", secret);
    house.write(".ssh/b.rs", secret);
    house.remove("src/a.rs");
    std::os::unix::fs::symlink("../.env", house.path("src/a.rs")).unwrap();
    std::fs::remove_dir_all(house.path("lib")).unwrap();
    std::os::unix::fs::symlink(".ssh", house.path("lib")).unwrap();
    let fused = CodeQuery::new("open door password", QueryKind::Fused, 20);
    for query in [text("password"), phrase("password"), regex("pass\\w+"), symbols("open_door"), fused] {
        let shown = format!("{query:?} {:?}", index.search(query.clone()).await.unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let question = CodeQuestion {
        text: "open door password".to_owned(),
        context: CodeContext::default(),
        history: Arc::default(),
        limit: 8,
        budget: 4000,
    };
    assert_eq!(index.retrieve(question).await.unwrap().findings, []);
    assert_eq!(used(&index, "open_door").await, "");
    index.build(IndexBuild::Refresh).await.unwrap();
    // What is shown of a file is shown under its own path only.
    assert_eq!(found(&index, phrase("hunter2")).await, ".env:2-2\n.ssh/b.rs:2-2");
}
