//! What the editor knows about the moment of a prompt: files, selection, diagnostics, terminal, git.
//!
//! Everything is optional. A list that is absent was not looked at; a list that is empty was, and nothing
//! was there. In an update the difference matters: absent keeps what is known, empty clears it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ids::{ContentHash, Timestamp};
use crate::words::open_words;

/// The editor's state, whole (with a prompt) or in part (with an update).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EditorContext {
    /// The file being edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_editor: Option<ActiveEditor>,
    /// The other open files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_editors: Option<Vec<OpenEditor>>,
    /// Errors and warnings the editor shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<Diagnostic>>,
    /// The last command in the editor's terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_output: Option<TerminalOutput>,
    /// The state of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_context: Option<GitContext>,
    /// What the user named with `@`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mentions: Option<Vec<Mention>>,
    /// The slash command the message began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<SlashCommand>,
}

/// The file being edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveEditor {
    /// Relative to the workspace root.
    pub file_path: String,
    /// The editor's name for the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The lines on the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_range: Option<LineRange>,
    /// What the buffer holds. It differs from the disk when there are unsaved changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<ContentHash>,
}

/// A range of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// Where it begins.
    pub start: Position,
    /// Where it ends; before this character.
    pub end: Position,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub character: u32,
}

/// A range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineRange {
    /// The first line.
    pub start: u32,
    /// The last line.
    pub end: u32,
}

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenEditor {
    /// Relative to the workspace root.
    pub file_path: String,
    /// Whether it has unsaved changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_dirty: Option<bool>,
    /// Whether it can be seen or is behind another tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<bool>,
}

/// An error or a warning at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// Relative to the workspace root.
    pub file_path: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it says.
    pub message: String,
    /// The line.
    pub line: u32,
    /// The character in the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character: Option<u32>,
    /// Who says it: a compiler, a linter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

open_words! {
    /// How bad a diagnostic is.
    pub enum Severity {
        /// It does not work.
        Error = "error",
        /// It may not work.
        Warning = "warning",
        /// Good to know.
        Information = "information",
        /// A suggestion.
        Hint = "hint",
    }
}

/// What a command in the editor's terminal printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalOutput {
    /// The command line.
    pub command: String,
    /// How it ended; absent while it runs or when a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What it printed.
    #[serde(default)]
    pub stdout: String,
    /// What it complained about.
    #[serde(default)]
    pub stderr: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// The state of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GitContext {
    /// The branch; absent when none is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Files in the next commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged_files: Option<Vec<String>>,
    /// Files with changes that are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_files: Option<Vec<String>>,
    /// The last commits, newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent_commits: Option<Vec<Commit>>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash, perhaps shortened.
    pub sha: String,
    /// Its message.
    pub message: String,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Something the user named with `@`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Mention {
    /// A file.
    File {
        /// Relative to the workspace root.
        path: String,
    },
    /// A function, a type, a variable.
    Symbol {
        /// Its name.
        name: String,
        /// Where it is defined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_path: Option<String>,
        /// On which line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// Of a kind this version does not know. It is passed over: the message's text still names it.
    #[serde(other)]
    #[schemars(transform = any_other_kind)]
    Unknown,
}

/// The reader takes every other `type` for [`Mention::Unknown`]; the derived schema knows only its name.
fn any_other_kind(variant: &mut Schema) {
    variant.insert(
        "properties".to_owned(),
        json!({ "type": { "type": "string", "not": { "enum": ["file", "symbol"] } } }),
    );
}

open_words! {
    /// The slash command a message began with; it decides what context the server adds.
    pub enum SlashCommand {
        /// Diagnostics, terminal output and the git diff.
        Fix = "/fix",
        /// Test files, source files and the last test output.
        Test = "/test",
        /// The selection or the function around it, and nothing else.
        Explain = "/explain",
        /// The file, what depends on it and what it imports.
        Refactor = "/refactor",
    }
}
