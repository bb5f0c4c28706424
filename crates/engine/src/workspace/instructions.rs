//! What a workspace says for itself: instructions for the agent, and a suggestion for its rules.

use std::sync::Arc;

use loggia_tree::{Root, TreePath};

use crate::workspace::OpenWorkspace;

/// Read in any workspace: it is text for the agent and loosens nothing.
const ALWAYS: &str = "AGENTS.md";

/// Read only in a workspace that is trusted.
const TRUSTED: &str = ".loggia/instructions.md";

/// Rules a workspace suggests. In one that is not trusted they can only tighten.
const SUGGESTION: &str = ".loggia/policy.toml";

/// As much of each as a model should have to read before its work.
const LIMIT: u64 = 64 << 10;

impl OpenWorkspace {
    /// The workspace's instructions for the agent.
    pub(crate) async fn instructions(&self, trusted: bool) -> String {
        let root = Arc::clone(&self.root);
        let names: &'static [&'static str] = if trusted { &[ALWAYS, TRUSTED] } else { &[ALWAYS] };
        let texts =
            move || names.iter().filter_map(|name| text(&root, name)).collect::<Vec<_>>().join("\n\n");
        tokio::task::spawn_blocking(texts).await.unwrap_or_default()
    }

    /// The text of the rules the workspace suggests, if it does.
    pub(super) fn suggestion_text(&self) -> Option<String> {
        text(&self.root, SUGGESTION)
    }
}

/// A file's text; nothing if it is not there, too large or not text.
fn text(root: &Root, name: &str) -> Option<String> {
    let path = TreePath::parse(name).ok()?;
    root.stat(&path).ok()??;
    match root.read(&path, LIMIT) {
        Ok(file) => Some(String::from_utf8_lossy(&file.bytes).into_owned()),
        Err(error) => {
            tracing::warn!(%error, "what the workspace says for itself cannot be read");
            None
        }
    }
}
