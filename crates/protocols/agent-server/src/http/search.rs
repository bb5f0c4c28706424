//! `GET /v1/workspaces/{workspace_id}/search`: the index asked directly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::open_words;

/// What was found, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// The hits.
    pub results: Vec<SearchHit>,
}

/// A place in the code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// How it was found.
    pub kind: HitKind,
    /// Relative to the workspace root.
    pub file_path: String,
    /// Its first line, from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The symbol's name, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text there, perhaps shortened.
    pub snippet: String,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
}

open_words! {
    /// How a place was found; also the query's `kind`.
    pub enum HitKind {
        /// By a symbol's name.
        Symbol = "symbol",
        /// By words.
        Text = "text",
        /// By meaning.
        Vector = "vector",
    }
}
