//! Tools that ask a workspace's code index: where something is defined, where it is used, what means the same.
//!
//! Made like those of desks. What always holds: findings in files that may not be read are not told; every output is
//! bounded, and has its places as `path:line`.

mod find_references;
mod search_symbols;
mod vector_search;

use std::sync::Arc;

use loggia_domain::{ArgumentError, CodeIndex, Demand, IndexError, Tool, ToolError};

use crate::desk::DeskTool;

/// How long a query may be, in bytes: longer ones are no words to look for.
const MAX_QUERY: usize = 1024;

/// How many findings there are unless the call says otherwise.
const FINDINGS: usize = 20;

/// How many a call may ask for: more are not read with care.
const MAX_FINDINGS: usize = 100;

/// How much is shown.
const MAX_OUTPUT: usize = 64 * 1024;

/// The tools for an index. The one that searches by meaning is there only where vectors are.
pub fn for_index(index: &Arc<dyn CodeIndex>) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![
        DeskTool::<search_symbols::SearchSymbols>::over(index),
        DeskTool::<find_references::FindReferences>::over(index),
    ];
    if index.details().vectors.is_some() {
        tools.push(DeskTool::<vector_search::VectorSearch>::over(index));
    }
    tools
}

/// Every file may be looked at, as when text is searched for.
fn demand() -> Demand {
    Demand { reads: vec![".".to_owned()], ..Demand::default() }
}

/// A text to look for that is one.
fn checked(field: &str, text: String) -> Result<String, ArgumentError> {
    match text.trim().is_empty() || text.len() > MAX_QUERY {
        true => Err(ArgumentError(format!("`{field}` is empty or over {MAX_QUERY} bytes long"))),
        false => Ok(text),
    }
}

fn limited(limit: Option<u64>) -> usize {
    limit.map_or(FINDINGS, |limit| usize::try_from(limit).unwrap_or(MAX_FINDINGS).clamp(1, MAX_FINDINGS))
}

fn failed(error: IndexError) -> ToolError {
    ToolError::Failed(format!("{error}; `search_text` reads the files themselves"))
}
