//! A document that is a tree: getting and patching values by path.
//!
//! Invariant: a patch changes the text only where it must. JSON and TOML can always be changed in place; where a piece of
//! YAML cannot, the patch is refused, for writing the document anew would lose its comments.

use loggia_domain::MessagePatch;

use crate::limits::MAX_MESSAGE;
use crate::tree::edit::{Edit, Refusal, edit_for};
use crate::tree::node::Node;
use crate::tree::path::{self, TreePathError};
use crate::tree::{TreeError, TreeFormat, json, json_splice, toml_splice, yaml_splice};

/// A document and what it says.
#[derive(Debug, Clone)]
pub(crate) struct TreeDocument {
    text: String,
    format: TreeFormat,
    root: Node,
}

impl TreeDocument {
    pub(crate) fn read(text: String, format: TreeFormat) -> Result<Self, TreeError> {
        let root = format.read(&text)?;
        Ok(Self { text, format, root })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn format(&self) -> TreeFormat {
        self.format
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// What stands at a path: a scalar as its text, anything else as JSON; nothing if the path leads nowhere.
    pub(crate) fn get(&self, path: &str) -> Result<Option<String>, TreePathError> {
        let steps = path::parse(path)?;
        let found = steps.iter().try_fold(&self.root, |node, step| node.step(step));
        Ok(found.map(|node| match node.value {
            crate::tree::node::Value::Null => "null".to_owned(),
            _ => node.scalar().unwrap_or_else(|| json::write_compact(node)),
        }))
    }

    /// Applies one patch.
    pub(crate) fn apply(&mut self, patch: &MessagePatch) -> Result<(), Refusal> {
        let Some(edit) = edit_for(&self.root, patch)? else { return Ok(()) };
        let text = match self.format {
            TreeFormat::Json => json_splice::spliced(&self.text, &self.root, &edit),
            TreeFormat::Yaml => {
                yaml_splice::spliced(&self.text, &self.root, &edit).ok_or(Refusal::NotInPlace)?
            }
            TreeFormat::Toml => toml_splice::spliced(&self.text, &edit)?,
        };
        if text.len() > MAX_MESSAGE {
            return Err(Refusal::TooLong);
        }
        let root = self.format.read(&text).map_err(|_| Refusal::NotInPlace)?;
        // In TOML, tables come after everything else.
        if !root.says_the_same(&after(&self.root, &edit)) {
            return Err(Refusal::NotInPlace);
        }
        (self.text, self.root) = (text, root);
        Ok(())
    }
}

/// What the document says after an edit.
fn after(root: &Node, edit: &Edit) -> Node {
    let mut root = root.clone();
    edit.apply(&mut root);
    root
}
