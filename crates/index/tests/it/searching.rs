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
