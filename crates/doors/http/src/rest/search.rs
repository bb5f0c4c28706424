//! `GET …/search?q=&kind=` and `…/references?name=`: the index, as the engine lets people search it; without one, the text
//! tool reads the files.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use loggia_domain::{
    CodeFinding, CodeQuery, CodeReference, IndexState, JsonText, QueryKind, ReferenceQuery, SymbolKind,
    TextMatch, WorkspaceId,
};
use loggia_engine::SearchError;
use loggia_protocol_agent_server::{
    self as wire, HitKind, PartialAnswer, ProblemType, Reference, ReferenceList, SearchHit, SearchResult,
};
use serde::Deserialize;

use crate::ask::{Asked, Limit, WorkspacePath};
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::{Answer, Shared};

/// How many hits there are unless the client says otherwise.
const HITS: usize = 20;

/// How many it may ask for.
const MAX_HITS: usize = CodeQuery::MAX_LIMIT;

/// How long a query may be: longer ones are no words to look for.
const MAX_QUERY_BYTES: usize = 4096;

/// How long the files are read at most: then the query was too common, or the workspace too large for it.
const DEADLINE: Duration = Duration::from_secs(20);

/// What is said to a filter where there is no index.
const NO_FILTERS: &str = "there is no code index here, and without one there are no filters; leave `match`, `symbol_kind` and `path` out";

/// The tool that finds lines.
const SEARCH_TEXT: &str = "search_text";

#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    q: String,
    kind: Option<String>,
    #[serde(rename = "match")]
    matching: Option<String>,
    symbol_kind: Option<String>,
    path: Option<String>,
    limit: Option<Limit>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Used {
    name: String,
    path: Option<String>,
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
    let matching = matching(wanted.matching, kind.as_ref())?;
    let symbols = symbols(wanted.symbol_kind.as_deref())?;
    let paths = globs(wanted.path.as_deref())?;
    // How words are read means something to text only, so whoever says it means text.
    let kind = if matching == TextMatch::Words { kind } else { Some(HitKind::Text) };
    let limit = wanted.limit.map_or(HITS, |limit| limit.up_to(MAX_HITS));
    let query = CodeQuery { matching, symbols, paths, ..CodeQuery::new(wanted.q, how(kind.as_ref()), limit) };
    let results: Vec<SearchHit> = match inner.parts.engine.search_code(id, query.clone()).await {
        Ok(found) => found.into_iter().map(|finding| hit(finding, kind.as_ref())).collect(),
        Err(SearchError::NoIndex) => without_index(&inner, id, &query, kind).await?,
        Err(error) => return Err(error.into()),
    };
    let partial = partial(&inner, id, results.len() >= limit).await?;
    Ok(Json(SearchResult { results, partial }))
}

pub(crate) async fn references(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    Asked(used): Asked<Used>,
) -> Answer<Json<ReferenceList>> {
    let name = used.name.trim().to_owned();
    if name.is_empty() || name.len() > MAX_QUERY_BYTES {
        return Err(Problem::bad_request(format!("name: has 1 to {MAX_QUERY_BYTES} bytes")));
    }
    let limit = used.limit.map_or(HITS, |limit| limit.up_to(MAX_HITS));
    let query = ReferenceQuery { name, limit, paths: globs(used.path.as_deref())? };
    let found = inner.parts.engine.find_references(id, query).await?;
    let partial = partial(&inner, id, found.len() >= limit).await?;
    Ok(Json(ReferenceList { references: found.into_iter().map(reference).collect(), partial }))
}

/// Why an answer may not be the whole one: what the index lacks is told before what was not asked for.
async fn partial(inner: &Inner, id: WorkspaceId, is_full: bool) -> Answer<Option<PartialAnswer>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let state = (inner.parts.index)(&workspace).map(|index| index.status().state);
    Ok(match state {
        Some(IndexState::Building) => Some(PartialAnswer::Building),
        Some(IndexState::Stale | IndexState::Failed) => Some(PartialAnswer::Stale),
        _ => is_full.then_some(PartialAnswer::Limit),
    })
}

fn reference(found: CodeReference) -> Reference {
    let kind = match found.kind {
        loggia_domain::ReferenceKind::Call => wire::ReferenceKind::Call,
        loggia_domain::ReferenceKind::Type => wire::ReferenceKind::Type,
        loggia_domain::ReferenceKind::Import => wire::ReferenceKind::Import,
        loggia_domain::ReferenceKind::Value => wire::ReferenceKind::Value,
    };
    Reference { file_path: found.path, line: found.line, kind, text: found.text }
}

/// How the words are read.
fn matching(word: Option<String>, kind: Option<&HitKind>) -> Answer<TextMatch> {
    let matching = match word.map(wire::TextMatch::from) {
        None | Some(wire::TextMatch::Words) => TextMatch::Words,
        Some(wire::TextMatch::Phrase) => TextMatch::Phrase,
        Some(wire::TextMatch::Regex) => TextMatch::Regex,
        Some(wire::TextMatch::Other(word)) => {
            let detail = format!("match: `{word}` is not one of `words`, `phrase`, `regex`");
            return Err(Problem::bad_request(detail));
        }
    };
    if matching != TextMatch::Words && !matches!(kind, None | Some(HitKind::Text)) {
        return Err(Problem::bad_request("match: goes with the kind `text` only"));
    }
    Ok(matching)
}

/// The kinds of definitions, as words with commas between them.
fn symbols(words: Option<&str>) -> Answer<Vec<SymbolKind>> {
    let kind = |word: &str| {
        SymbolKind::from_word(word).ok_or_else(|| {
            let allowed: Vec<String> =
                SymbolKind::ALL.iter().map(|kind| format!("`{}`", kind.word())).collect();
            Problem::bad_request(format!("symbol_kind: `{word}` is not one of {}", allowed.join(", ")))
        })
    };
    let kinds: Vec<SymbolKind> = parts(words).map(kind).collect::<Answer<_>>()?;
    match kinds.is_empty() && words.is_some() {
        true => Err(Problem::bad_request("symbol_kind: has no kind in it; leave it out for all of them")),
        false => Ok(kinds),
    }
}

/// Globs with commas between them. A comma between braces belongs to its glob, as in `*.{rs,toml}`. Whoever says that there
/// are some has to say which.
fn globs(words: Option<&str>) -> Answer<Vec<String>> {
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let parts = words.unwrap_or_default().split(is_end).map(str::trim);
    let globs: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
    match globs.is_empty() && words.is_some() {
        true => Err(Problem::bad_request("path: has no glob in it; leave it out to search everywhere")),
        false => Ok(globs),
    }
}

/// What stands between commas.
fn parts(words: Option<&str>) -> impl Iterator<Item = &str> {
    words.unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn how(kind: Option<&HitKind>) -> QueryKind {
    match kind {
        Some(HitKind::Symbol) => QueryKind::Symbols,
        Some(HitKind::Text) => QueryKind::Text,
        Some(HitKind::Vector) => QueryKind::Vectors,
        _ => QueryKind::Fused,
    }
}

fn hit(finding: CodeFinding, kind: Option<&HitKind>) -> SearchHit {
    let found_by = if finding.symbol.is_some() { HitKind::Symbol } else { HitKind::Text };
    let definition = finding.definition;
    SearchHit {
        kind: kind.cloned().unwrap_or(found_by),
        file_path: finding.path,
        start_line: finding.start_line,
        end_line: finding.end_line,
        name: finding.symbol,
        snippet: finding.snippet,
        // Four places are more than anybody can tell apart.
        score: (f64::from(finding.score) * 1e4).round() / 1e4,
        symbol_kind: definition.as_ref().map(|definition| definition.kind.word().to_owned()),
        container: definition.as_ref().and_then(|definition| definition.container.clone()),
        signature: definition
            .as_ref()
            .map(|definition| definition.signature.clone())
            .filter(|text| !text.is_empty()),
        doc: definition.map(|definition| definition.doc).filter(|text| !text.is_empty()),
    }
}

/// What can be found where there is no index: words in files.
async fn without_index(
    inner: &Inner,
    id: WorkspaceId,
    query: &CodeQuery,
    kind: Option<HitKind>,
) -> Answer<Vec<SearchHit>> {
    if query.matching != TextMatch::Words || !query.symbols.is_empty() || !query.paths.is_empty() {
        return Err(Problem::of(ProblemType::Conflict, NO_FILTERS));
    }
    match kind {
        None | Some(HitKind::Text) => in_files(inner, id, &query.text, query.limit).await,
        Some(kind) => {
            let detail = format!("there is no code index here to look for a {kind} in; use the kind `text`");
            Err(Problem::of(ProblemType::Conflict, detail))
        }
    }
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
                symbol_kind: None,
                container: None,
                signature: None,
                doc: None,
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
    fn globs_may_hold_choices() {
        let check = |words: Option<&str>, expected: &[&str]| assert_eq!(globs(words).unwrap(), expected);
        check(
            Some("src/**/*.{rs,toml}, !tests/**,,{a,b{c,d}}"),
            &["src/**/*.{rs,toml}", "!tests/**", "{a,b{c,d}}"],
        );
        // The index says what is wrong with it.
        check(Some("{a,b"), &["{a,b"]);
        check(None, &[]);
        assert!(globs(Some("")).is_err() && globs(Some(" , ")).is_err());
    }

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
