//! What stands before the line of a conversation, and what the word at its cursor may become.

use std::borrow::Cow;
use std::path::PathBuf;

use reedline::{Completer, CompletionResult, Prompt, PromptEditMode, PromptHistorySearch, Span, Suggestion};

use super::complete;

/// What stands before the line.
pub(super) const MARK: &str = "› ";

/// Completes commands and files of a workspace.
pub(super) struct Names(pub(super) PathBuf);

impl Completer for Names {
    fn complete(&mut self, line: &str, cursor: usize) -> CompletionResult {
        let (start, names) = complete::complete(line, cursor, &self.0);
        let suggestion = |(value, remark): (String, Option<&str>)| Suggestion {
            append_whitespace: !value.ends_with('/'),
            value,
            description: remark.map(str::to_owned),
            span: Span::new(start, cursor.max(start)),
            ..Suggestion::default()
        };
        CompletionResult::fresh(names.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// What stands before the line.
pub(super) struct Mark;

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(MARK)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search {}: ", search.term))
    }
}
