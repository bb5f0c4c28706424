//! `GET /v1/workspaces/{workspace_id}/search` and `…/references`: the index asked directly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::open_words;

/// What was found, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// The hits.
    pub results: Vec<SearchHit>,
    /// Whether there may be more, in the files or beyond the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<PartialAnswer>,
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
    /// What the symbol is, if it is one and the index knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_kind: Option<String>,
    /// The name of what the symbol is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The symbol's head, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The first line of its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
}

open_words! {
    /// How the words of a search for text are read; the query's `match`.
    pub enum TextMatch {
        /// As words: places rank by how many of them they hold.
        Words = "words",
        /// As they stand, within one line.
        Phrase = "phrase",
        /// As a regular expression within one line.
        Regex = "regex",
    }
}

/// Where a name is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceList {
    /// The places.
    pub references: Vec<Reference>,
    /// Whether there may be more, in the files or beyond the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<PartialAnswer>,
}

open_words! {
    /// Why an answer may not be the whole one.
    pub enum PartialAnswer {
        /// There are as many as were asked for.
        Limit = "limit",
        /// The index is being built.
        Building = "building",
        /// The index is not up to date, or not finished.
        Stale = "stale",
    }
}

/// A place where a name is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// Relative to the workspace root.
    pub file_path: String,
    /// The line, from 1.
    pub line: u32,
    /// How it is used.
    pub kind: ReferenceKind,
    /// The line's text.
    pub text: String,
}

open_words! {
    /// How a name is used.
    pub enum ReferenceKind {
        /// It is called, or something is made of it.
        Call = "call",
        /// It stands for a type.
        Type = "type",
        /// It is brought in from elsewhere.
        Import = "import",
        /// It is read, written or passed on.
        Value = "value",
    }
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
