//! Tools that ask an index: what they tell of its findings, and of whom they tell nothing.

use std::sync::Arc;

use loggia_domain::{
    BoxFuture, CodeFinding, CodeIndex, CodeQuery, CodeReference, Definition, IndexBuild, IndexError,
    IndexState, IndexStatus, JsonText, ReferenceKind, ReferenceQuery, SymbolKind, ToolContext, ToolEffect,
    ToolError,
};

/// An index with one definition and one use of it, each also in a file that may not be read.
struct Fake;

impl CodeIndex for Fake {
    fn status(&self) -> IndexStatus {
        IndexStatus {
            state: IndexState::Ready,
            files: 2,
            symbols: 2,
            chunks: 2,
            bytes: 1,
            done: 0,
            total: 0,
            last_error: None,
        }
    }

    fn search(&self, query: CodeQuery) -> BoxFuture<'_, Result<Vec<CodeFinding>, IndexError>> {
        let finding = |path: &str| CodeFinding {
            path: path.to_owned(),
            start_line: 3,
            end_line: 9,
            symbol: Some("sort".to_owned()),
            snippet: "fn sort() {}".to_owned(),
            score: 1.0,
            definition: Some(Definition {
                kind: SymbolKind::Method,
                container: Some("List".to_owned()),
                signature: "fn sort(&mut self)".to_owned(),
                doc: "Sorts it.".to_owned(),
            }),
        };
        let found = match query.text.as_str() {
            "sort" => Ok(vec![finding("src/list.rs"), finding(".env")]),
            // As an index does it: no more than was asked for, and what may not be read first.
            "crowd" => {
                let secret = std::iter::repeat_with(|| finding(".env")).take(100);
                Ok(secret.chain([finding("src/list.rs")]).take(query.limit).collect())
            }
            "nothing" => Ok(Vec::new()),
            _ => Err(IndexError::Unavailable("it is damaged".to_owned())),
        };
        Box::pin(std::future::ready(found))
    }

    fn references(&self, query: ReferenceQuery) -> BoxFuture<'_, Result<Vec<CodeReference>, IndexError>> {
        let place = |path: &str| CodeReference {
            path: path.to_owned(),
            line: 7,
            kind: ReferenceKind::Call,
            text: format!("    list.{}();", query.name),
        };
        Box::pin(std::future::ready(Ok(vec![place("src/main.rs"), place(".env")])))
    }

    fn changed(&self, _: Vec<String>) -> BoxFuture<'_, Result<(), IndexError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn build(&self, _: IndexBuild) -> BoxFuture<'_, Result<IndexStatus, IndexError>> {
        Box::pin(std::future::ready(Ok(self.status())))
    }
}

/// What a call tells, or why it does not.
async fn call(name: &str, arguments: &str) -> Result<String, String> {
    let index: Arc<dyn CodeIndex> = Arc::new(Fake);
    let tools = loggia_tools::for_index(&index);
    let tool = tools.iter().find(|tool| tool.spec().name == name).ok_or("there is no such tool")?;
    let prepared = tool.prepare(&JsonText(arguments.to_owned())).map_err(|error| error.0)?;
    assert_eq!(prepared.demand().reads, ["."]);
    let context = ToolContext { may_read: Arc::new(|path| path != ".env"), overlay: Arc::default() };
    match prepared.run(context).await {
        Ok(ToolEffect::Output(text)) => Ok(text),
        Ok(other) => Err(format!("{other:?}")),
        Err(ToolError::Failed(why) | ToolError::Forbidden(why)) => Err(why),
    }
}

#[tokio::test]
async fn definitions_are_told_with_their_places_and_those_in_secret_files_are_not() {
    let told = call("search_symbols", r#"{"query":"sort","kind":"method"}"#).await.unwrap();
    assert_eq!(told.trim_end(), "src/list.rs:3:method [in List] fn sort(&mut self)  // Sorts it.");
    let told = call("search_symbols", r#"{"query":"crowd","limit":2}"#).await.unwrap();
    assert_eq!(told.lines().count(), 1, "what is not told takes no place from others: {told}");
    assert!(told.starts_with("src/list.rs:3:"), "{told}");
    let told = call("search_symbols", r#"{"query":"nothing"}"#).await.unwrap();
    assert_eq!(told.trim_end(), "[no definition has such a name]");
}

#[tokio::test]
async fn uses_are_told_with_how_they_use_it() {
    let told = call("find_references", r#"{"name":"sort"}"#).await.unwrap();
    assert_eq!(told.trim_end(), "src/main.rs:7:call: list.sort();");
}

#[tokio::test]
async fn what_cannot_be_asked_or_answered_says_why() {
    let why = call("search_symbols", r#"{"query":"sort","kind":"verb"}"#).await.unwrap_err();
    assert!(why.contains("`verb` is none of module, class"), "{why}");
    let why = call("search_symbols", r#"{"query":" "}"#).await.unwrap_err();
    assert!(why.contains("`query` is empty"), "{why}");
    let why = call("search_symbols", r#"{"query":"broken"}"#).await.unwrap_err();
    assert!(why.contains("it is damaged; `search_text` reads the files"), "{why}");
    // Nobody makes vectors here, so nobody is told of a search by them.
    assert_eq!(call("vector_search", r#"{"query":"sort"}"#).await.unwrap_err(), "there is no such tool");
}
