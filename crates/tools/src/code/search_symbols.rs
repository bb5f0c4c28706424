//! `search_symbols`: definitions by their names.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, CodeFinding, CodeIndex, CodeQuery, Demand, QueryKind, ReadableCode, SymbolKind,
    ToolContext, ToolEffect, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::code::{MAX_OUTPUT, checked, demand, failed, limited};
use crate::desk::{DeskArguments, DeskCall};
use crate::text::Lines;

/// Finds where something is defined, by its name: functions, types, methods, constants and more. Parts of names, their
/// first letters and small mistakes are understood. Shows path:line, the kind, the signature and the first line of the
/// documentation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSymbols {
    /// The name, or a part of it, like "quick_sort", "HttpServer" or "HtSrv".
    query: String,
    /// Only definitions of this kind: module, class, struct, enum, enum_member, interface, trait, type, function, method,
    /// macro, constant, variable or field.
    kind: Option<String>,
    /// Only in files that match this glob, like "*.rs" or "src/**".
    glob: Option<String>,
    /// At most so many findings; 20 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

impl DeskArguments for SearchSymbols {
    const NAME: &'static str = "search_symbols";
    type Desk = dyn CodeIndex;
    type Call = Symbols;

    fn check(self) -> Result<Symbols, ArgumentError> {
        let kind = |word: String| {
            SymbolKind::from_word(&word).ok_or_else(|| {
                let words = SymbolKind::ALL.map(SymbolKind::word).join(", ");
                ArgumentError(format!("`kind`: `{word}` is none of {words}"))
            })
        };
        let query = checked("query", self.query)?;
        let mut query = CodeQuery::new(query, QueryKind::Symbols, limited(self.limit));
        query.symbols = self.kind.map(kind).transpose()?.into_iter().collect();
        query.paths = self.glob.into_iter().collect();
        Ok(Symbols(query))
    }
}

/// A checked call.
pub(super) struct Symbols(CodeQuery);

impl DeskCall<dyn CodeIndex> for Symbols {
    fn demand(&self) -> Demand {
        demand()
    }

    async fn run(self, index: Arc<dyn CodeIndex>, context: ToolContext) -> Result<ToolEffect, ToolError> {
        let found = ReadableCode::new(&*index, &*context.may_read).search(self.0).await.map_err(failed)?;
        let mut output = Lines::within(MAX_OUTPUT);
        for finding in &found {
            output.push(&line(finding));
        }
        if found.is_empty() {
            output.push("[no definition has such a name]");
        }
        Ok(ToolEffect::Output(output.finish()))
    }
}

/// `path:line:kind signature  // documentation`, as `search_text` has its places.
fn line(finding: &CodeFinding) -> String {
    let CodeFinding { path, start_line, symbol, definition, .. } = finding;
    let name = symbol.as_deref().unwrap_or_default();
    let Some(definition) = definition else { return format!("{path}:{start_line}:{name}") };
    let mut text = format!("{path}:{start_line}:{} ", definition.kind.word());
    if let Some(container) = &definition.container {
        text.push_str(&format!("[in {container}] "));
    }
    text.push_str(if definition.signature.is_empty() { name } else { &definition.signature });
    if !definition.doc.is_empty() {
        text.push_str(&format!("  // {}", definition.doc));
    }
    text
}
