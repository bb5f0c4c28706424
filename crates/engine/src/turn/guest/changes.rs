//! The files an agent wants changed, as one call at the end of its run.
//!
//! A tool of the engine's own: so the changes are judged, asked about, applied and undone like everybody's. What always
//! holds: all of them are proposed or, if one leads out of the workspace, none.

use std::sync::Arc;

use loggia_domain::{
    ArgumentError, BoxFuture, CallId, Demand, FileEdit, JsonText, PreparedCall, Tool, ToolCall, ToolContext,
    ToolEffect, ToolError, ToolSpec,
};
use loggia_tree::{Root, TreeError, TreePath};
use serde::{Deserialize, Serialize};

use crate::changes::MAX_FILE;
use crate::workspace::blocking;

/// The tool's name. Whoever asks about collected changes calls it the same: it is the same thing.
pub(in crate::turn) const APPLY_CHANGES: &str = "apply_changes";

/// How much an agent may want written by one run: it is an event of the journal, and people are shown all of it.
const MAX_CHANGES: usize = 4 << 20;

/// What an agent wants changed, each file once, in the order in which it was first named.
#[derive(Debug, Default)]
pub(super) struct Changes {
    files: Vec<WantedFile>,
    bytes: usize,
}

/// A file as it is to be.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedFile {
    path: String,
    /// What it is to hold; nothing if it is to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    delete: bool,
}

/// The call's arguments.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    files: Vec<WantedFile>,
}

impl Changes {
    /// Notes what a file is to hold; nothing if it is to go. What it was to hold before does not count any more.
    pub(super) fn add(&mut self, path: String, content: Option<String>) -> Result<(), String> {
        self.bytes += path.len() + content.as_ref().map_or(0, String::len);
        if self.bytes > MAX_CHANGES {
            return Err(format!("it wants more than {MAX_CHANGES} bytes written in one run"));
        }
        // A path in another form is the same file; one that is none is refused with the words it came in.
        let path = TreePath::parse(&path).map_or(path, |path| path.to_string());
        let wanted = WantedFile { path, delete: content.is_none(), content };
        match self.files.iter_mut().find(|known| known.path == wanted.path) {
            Some(known) => *known = wanted,
            None => self.files.push(wanted),
        }
        Ok(())
    }

    /// The call that makes them, if there are any.
    pub(super) fn into_call(self) -> Option<ToolCall> {
        if self.files.is_empty() {
            return None;
        }
        let arguments = serde_json::to_string(&Arguments { files: self.files });
        let arguments = JsonText(arguments.expect("texts are always written"));
        Some(ToolCall { id: CallId::new(), provider_id: None, tool: APPLY_CHANGES.to_owned(), arguments })
    }
}

/// Whether a call is the one at the end of a run; agents give their own calls a name.
pub(super) fn is_last(call: &ToolCall) -> bool {
    call.tool == APPLY_CHANGES && call.provider_id.is_none()
}

/// The tool.
pub(super) struct ApplyChanges {
    root: Arc<Root>,
    spec: ToolSpec,
}

impl ApplyChanges {
    pub(super) fn new(root: &Arc<Root>) -> Self {
        let spec = ToolSpec {
            name: APPLY_CHANGES.to_owned(),
            description: "Makes files hold what is given, or deletes them: all of them or none.".to_owned(),
            parameters: JsonText(
                serde_json::json!({
                    "type": "object",
                    "properties": { "files": { "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "path": { "type": "string" },
                            "content": { "type": "string" },
                            "delete": { "type": "boolean" },
                        },
                        "required": ["path"],
                    } } },
                    "required": ["files"],
                })
                .to_string(),
            ),
        };
        Self { root: Arc::clone(root), spec }
    }
}

impl Tool for ApplyChanges {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &JsonText) -> Result<Box<dyn PreparedCall>, ArgumentError> {
        let read: Result<Arguments, _> = serde_json::from_str(&arguments.0);
        let Arguments { files } = read.map_err(|error| ArgumentError(error.to_string()))?;
        if let Some(file) = files.iter().find(|file| file.content.is_some() == file.delete) {
            return Err(ArgumentError(format!("`{}` needs `content`, or `delete: true`", file.path)));
        }
        Ok(Box::new(Prepared { root: Arc::clone(&self.root), files }))
    }
}

struct Prepared {
    root: Arc<Root>,
    files: Vec<WantedFile>,
}

impl PreparedCall for Prepared {
    fn demand(&self) -> Demand {
        let mut demand = Demand::default();
        for file in &self.files {
            let paths = if file.delete { &mut demand.deletes } else { &mut demand.writes };
            // In its plain form, or as written if it has none: then the policy sees that.
            paths.push(
                TreePath::parse(&file.path).map_or_else(|_| file.path.clone(), |path| path.to_string()),
            );
        }
        demand
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolEffect, ToolError>> {
        Box::pin(blocking(move || {
            let Self { root, files } = *self;
            let edits = files.into_iter().map(|file| edit(&root, &context, file));
            let mut edits = edits.collect::<Result<Vec<FileEdit>, ToolError>>()?;
            edits.retain(|edit| edit.before != edit.after);
            match edits.is_empty() {
                true => {
                    Ok(ToolEffect::Output("nothing to change: the files already are like this".to_owned()))
                }
                false => Ok(ToolEffect::Edits(edits)),
            }
        }))
    }
}

/// What a file holds, and what it is to hold.
fn edit(root: &Root, context: &ToolContext, file: WantedFile) -> Result<FileEdit, ToolError> {
    let path = TreePath::parse(&file.path).map_err(|error| refusal(&error.into()))?;
    if !(context.may_read)(path.as_str()) {
        return Err(ToolError::Forbidden(format!(
            "`{path}` may not be read, so nobody can see what changes"
        )));
    }
    let before = match context.overlay.get(path.as_str()) {
        Some(collected) => collected.clone(),
        None => match root.read(&path, MAX_FILE) {
            Ok(file) => Some(file.bytes),
            Err(TreeError::NotFound { .. }) => None,
            Err(error) => return Err(refusal(&error)),
        },
    };
    Ok(FileEdit {
        path: path.as_str().to_owned(),
        before,
        after: file.content.map(String::into_bytes),
        rationale: None,
        acceptance_criteria: Vec::new(),
    })
}

fn refusal(error: &TreeError) -> ToolError {
    match error.is_forbidden() {
        true => ToolError::Forbidden(error.to_string()),
        false => ToolError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(changes: &[(&str, Option<&str>)]) -> String {
        let mut wanted = Changes::default();
        for (path, content) in changes {
            wanted.add((*path).to_owned(), content.map(str::to_owned)).unwrap();
        }
        wanted.into_call().map(|call| call.arguments.0).unwrap_or_default()
    }

    #[test]
    fn the_last_word_about_a_file_counts() {
        assert_eq!(call(&[]), "");
        assert_eq!(
            call(&[("a", Some("1")), ("b", Some("2")), ("./a", None)]),
            r#"{"files":[{"path":"a","delete":true},{"path":"b","content":"2"}]}"#
        );
    }

    #[test]
    fn an_agent_that_wants_too_much_written_is_stopped() {
        let mut wanted = Changes::default();
        let half = "x".repeat(MAX_CHANGES / 2);
        wanted.add("a".to_owned(), Some(half.clone())).unwrap();
        // Also when it is the same file: it was sent.
        let error = wanted.add("a".to_owned(), Some(half)).unwrap_err();
        assert_eq!(error, "it wants more than 4194304 bytes written in one run");
    }
}
