//! `vector_search`: code by what it means.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, CodeIndex, CodeQuery, Demand, QueryKind, ReadableCode, ToolContext, ToolEffect, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{MAX_OUTPUT, checked, demand, failed, limited};
use crate::desk::{DeskArguments, DeskCall};
use crate::text::Lines;

/// Finds pieces of code by what they mean, also where none of the words stand in them. Shows each with its path and lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VectorSearch {
    /// What the code does, in plain words.
    query: String,
    /// Only in files that match this glob, like "*.rs" or "src/**".
    glob: Option<String>,
    /// At most so many pieces; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

impl DeskArguments for VectorSearch {
    const NAME: &'static str = "vector_search";
    type Desk = dyn CodeIndex;
    type Call = Similar;

    fn check(self) -> Result<Similar, ArgumentError> {
        let query = checked("query", self.query)?;
        let mut query = CodeQuery::new(query, QueryKind::Vectors, limited(self.limit));
        query.paths = self.glob.into_iter().collect();
        Ok(Similar(query))
    }
}

/// A checked call.
pub(super) struct Similar(CodeQuery);

impl DeskCall<dyn CodeIndex> for Similar {
    fn demand(&self) -> Demand {
        demand()
    }

    async fn run(self, index: Arc<dyn CodeIndex>, context: ToolContext) -> Result<ToolEffect, ToolError> {
        let found = ReadableCode::new(&*index, &*context.may_read).search(self.0).await.map_err(failed)?;
        let mut output = Lines::within(MAX_OUTPUT);
        for finding in &found {
            output.push(&format!("{}:{}-{}:", finding.path, finding.start_line, finding.end_line));
            for line in finding.snippet.lines() {
                output.push(&format!("    {line}"));
            }
        }
        if found.is_empty() {
            output.push("[nothing is like that]");
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}
