//! What a workspace says for itself: instructions for the agent, and a suggestion for its rules.

use std::sync::Arc;

use loggia_tree::{Root, TreeError, TreePath};

use crate::engine::Shared;
use crate::policy::Judge;
use crate::workspace::OpenWorkspace;

/// Read in any workspace: it is text for the agent and loosens nothing.
const ALWAYS: &str = "AGENTS.md";

/// Read only in a workspace that is trusted.
const TRUSTED: &str = ".loggia/instructions.md";

/// Rules a workspace suggests. In one that is not trusted they can only tighten.
const SUGGESTION: &str = ".loggia/policy.toml";

/// As much of each as a model should have to read before its work.
const LIMIT: usize = 64 << 10;

/// What is larger than this is no text for anybody to read.
const FAR_TOO_LARGE: u64 = 4 << 20;

impl OpenWorkspace {
    /// The workspace's instructions for the agent.
    pub(crate) async fn instructions(&self, shared: &Shared, judge: Arc<Judge>) -> String {
        let (root, trust) = (Arc::clone(&self.root), Arc::clone(&shared.trust));
        let texts = move || {
            let trusted = trust.is_trusted(root.path());
            let names: &[&str] = if trusted { &[ALWAYS, TRUSTED] } else { &[ALWAYS] };
            let readable = |name: &&&str| is_readable(&root, name, &judge);
            let texts = names.iter().filter(readable).filter_map(|name| text(&root, name));
            texts.collect::<Vec<_>>().join("\n\n")
        };
        tokio::task::spawn_blocking(texts).await.unwrap_or_default()
    }
}

/// The text of the rules a workspace suggests, if it does.
///
/// # Errors
/// If it is there and cannot be read whole: part of the rules is not the rules.
pub(super) fn suggestion_text(root: &Root) -> Result<Option<String>, TreeError> {
    let path = TreePath::parse(SUGGESTION)?;
    if root.stat(&path)?.is_none() {
        return Ok(None);
    }
    let file = root.read(&path, LIMIT as u64)?;
    Ok(Some(String::from_utf8_lossy(&file.bytes).into_owned()))
}

/// Whether the policy lets the file be read that a name really leads to.
fn is_readable(root: &Root, name: &str, judge: &Judge) -> bool {
    let real = TreePath::parse(name).ok().and_then(|path| root.real_path_of(&path).ok());
    real.is_some_and(|real| judge.may_read(real.as_str()))
}

/// A file's text, cut where it gets long; nothing if it is not there or far too large.
fn text(root: &Root, name: &str) -> Option<String> {
    let path = TreePath::parse(name).ok()?;
    root.stat(&path).ok()??;
    match root.read(&path, FAR_TOO_LARGE) {
        Ok(file) => {
            let mut text = String::from_utf8_lossy(&file.bytes).into_owned();
            text.truncate(text.floor_char_boundary(LIMIT));
            Some(text)
        }
        Err(error) => {
            tracing::warn!(%error, "what the workspace says for itself cannot be read");
            None
        }
    }
}
