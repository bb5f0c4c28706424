//! `GET …/search?q=&kind=`: the index asked directly; without one, the text tool reads the files.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use loggia_domain::{CodeFinding, CodeIndex, CodeQuery, JsonText, QueryKind, WorkspaceId};
use loggia_protocol_agent_server::{HitKind, ProblemType, SearchHit, SearchResult};
use serde::Deserialize;

use crate::ask::{Asked, Limit, WorkspacePath};
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::{Answer, Shared};

/// How many hits there are unless the client says otherwise.
const HITS: usize = 20;

/// How many it may ask for; the text tool shows no more either.
const MAX_HITS: usize = 200;

/// How long a query may be: longer ones are no words to look for.
const MAX_QUERY_BYTES: usize = 4096;

/// How long the files are read at most: then the query was too common, or the workspace too large for it.
const DEADLINE: Duration = Duration::from_secs(20);

/// The tool that finds lines.
const SEARCH_TEXT: &str = "search_text";

#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    q: String,
    kind: Option<String>,
    limit: Option<Limit>,
}

pub(crate) async fn search(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    Asked(wanted): Asked<Wanted>,
) -> Answer<Json<SearchResult>> {
    let kind = wanted.kind.map(HitKind::from);
    if let Some(HitKind::Other(word)) = &kind {
        let detail = format!("kind: `{word}` is not one of `symbol`, `text`, `vector`");
        return Err(Problem::bad_request(detail));
    }
    if wanted.q.trim().is_empty() || wanted.q.len() > MAX_QUERY_BYTES {
        return Err(Problem::bad_request(format!("q: has 1 to {MAX_QUERY_BYTES} bytes")));
    }
    let limit = wanted.limit.map_or(HITS, |limit| limit.up_to(MAX_HITS));
    let workspace = inner.parts.engine.workspace(id).await?;
    let results = match ((inner.parts.index)(&workspace), kind) {
        (Some(index), kind) => in_index(&*index, wanted.q, kind, limit).await?,
        (None, None | Some(HitKind::Text)) => in_files(&inner, id, &wanted.q, limit).await?,
        (None, Some(kind)) => {
            let detail = format!("there is no code index here to look for a {kind} in; use the kind `text`");
            return Err(Problem::of(ProblemType::Conflict, detail));
        }
    };
    Ok(Json(SearchResult { results }))
}

async fn in_index(
    index: &dyn CodeIndex,
    text: String,
    kind: Option<HitKind>,
    limit: usize,
) -> Answer<Vec<SearchHit>> {
    let how = match kind {
        Some(HitKind::Symbol) => QueryKind::Symbols,
        Some(HitKind::Text) => QueryKind::Text,
        Some(HitKind::Vector) => QueryKind::Vectors,
        _ => QueryKind::Fused,
    };
    let findings = index.search(CodeQuery::new(text, how, limit)).await?;
    let hit = |finding: CodeFinding| SearchHit {
        kind: kind.clone().unwrap_or(if finding.symbol.is_some() { HitKind::Symbol } else { HitKind::Text }),
        file_path: finding.path,
        start_line: finding.start_line,
        end_line: finding.end_line,
        name: finding.symbol,
        snippet: finding.snippet,
        score: f64::from(finding.score),
    };
    Ok(findings.into_iter().take(limit).map(hit).collect())
}

async fn in_files(inner: &Inner, id: WorkspaceId, text: &str, limit: usize) -> Answer<Vec<SearchHit>> {
    let arguments = JsonText(serde_json::json!({ "query": text }).to_string());
    let looking = inner.parts.engine.look(id, SEARCH_TEXT, &arguments);
    let found = tokio::time::timeout(DEADLINE, looking).await.map_err(|_| {
        Problem::of(ProblemType::Unavailable, "reading the files took too long; look for something rarer")
    })??;
    Ok(found.lines().filter_map(line_hit).take(limit).collect())
}

/// A line of the text tool: `path:line:text`. Its remarks, in brackets, are none.
fn line_hit(line: &str) -> Option<SearchHit> {
    let mut from = 0;
    // A path may hold colons; the first one that is followed by a number and another one ends it.
    while let Some(colon) = line[from..].find(':').map(|at| from + at) {
        let rest = &line[colon + 1..];
        if let Some((number, text)) = rest.split_once(':')
            && let Ok(number) = number.parse::<u32>()
        {
            return Some(SearchHit {
                kind: HitKind::Text,
                file_path: line[..colon].to_owned(),
                start_line: number,
                end_line: number,
                name: None,
                snippet: text.to_owned(),
                score: 1.0,
            });
        }
        from = colon + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_text_tool_are_read() {
        let hit = |line: &str| line_hit(line).map(|hit| (hit.file_path, hit.start_line, hit.snippet));
        let of = |path: &str, line, text: &str| Some((path.to_owned(), line, text.to_owned()));
        assert_eq!(hit("src/a.rs:12:let x: u8 = 1;"), of("src/a.rs", 12, "let x: u8 = 1;"));
        assert_eq!(hit("a:b.rs:3:x"), of("a:b.rs", 3, "x"));
        assert_eq!(hit("a.rs:3:"), of("a.rs", 3, ""));
        assert_eq!(hit("[no line matches; ignored and binary files are not searched]"), None);
    }
}
