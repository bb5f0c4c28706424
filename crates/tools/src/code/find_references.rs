//! `find_references`: where a name is used.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, CodeIndex, Demand, ReadableCode, ReferenceKind, ReferenceQuery, ToolContext, ToolEffect,
    ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{MAX_OUTPUT, checked, demand, failed, limited};
use crate::desk::{DeskArguments, DeskCall};
use crate::text::Lines;

/// Finds where a name is used: called, meant as a type, imported, read or passed on. Shows path:line, how it is used and
/// the line. Names are compared as they are written; two things of one name are not told apart.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindReferences {
    /// The whole name, as it is written, without what it is in: "quick_sort", not "sort::quick_sort".
    name: String,
    /// Only in files that match this glob, like "*.rs" or "src/**".
    glob: Option<String>,
    /// At most so many places; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

impl DeskArguments for FindReferences {
    const NAME: &'static str = "find_references";
    type Desk = dyn CodeIndex;
    type Call = References;

    fn check(self) -> Result<References, ArgumentError> {
        Ok(References(ReferenceQuery {
            name: checked("name", self.name)?,
            limit: limited(self.limit),
            paths: self.glob.into_iter().collect(),
        }))
    }
}

/// A checked call.
pub(super) struct References(ReferenceQuery);

impl DeskCall<dyn CodeIndex> for References {
    fn demand(&self) -> Demand {
        demand()
    }

    async fn run(self, index: Arc<dyn CodeIndex>, context: ToolContext) -> Result<ToolEffect, ToolError> {
        let found =
            ReadableCode::new(&*index, &*context.may_read).references(self.0).await.map_err(failed)?;
        let mut output = Lines::within(MAX_OUTPUT);
        for place in &found {
            let how = match place.kind {
                ReferenceKind::Call => "call",
                ReferenceKind::Type => "type",
                ReferenceKind::Import => "import",
                ReferenceKind::Value => "value",
            };
            output.push(&format!("{}:{}:{how}: {}", place.path, place.line, place.text.trim()));
        }
        if found.is_empty() {
            output.push("[no use of that name is known; `search_text` finds it in any text]");
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}
