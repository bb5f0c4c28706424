//! What handlers read from files of the engine: policies, and which workspaces are trusted.
//!
//! The only place of the endpoints that does, and never on a thread that other requests wait for.

use std::sync::Arc;

use loggia_domain::{Policy, Workspace, WorkspaceId};
use loggia_engine::EngineError;

use crate::door::Inner;
use crate::rest::{Answer, blocking};

/// How a workspace stands.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) workspace: Workspace,
    /// The revision of its policy, unless that cannot be read.
    pub(super) revision: Result<u64, EngineError>,
    pub(super) trusted: bool,
}

/// A workspace's policy.
pub(super) async fn policy(inner: &Inner, id: WorkspaceId) -> Answer<Arc<Policy>> {
    let engine = inner.parts.engine.clone();
    Ok(blocking(move || engine.policy(id)).await??)
}

/// How these workspaces stand, in their order.
pub(super) async fn standings(inner: &Inner, workspaces: Vec<Workspace>) -> Answer<Vec<Standing>> {
    let engine = inner.parts.engine.clone();
    let standing = move |workspace: Workspace| Standing {
        revision: engine.policy(workspace.id).map(|policy| policy.revision),
        trusted: engine.is_trusted(&workspace.root),
        workspace,
    };
    blocking(move || workspaces.into_iter().map(standing).collect()).await
}

/// How one workspace stands.
pub(super) async fn standing(inner: &Inner, workspace: Workspace) -> Answer<Standing> {
    let mut all = standings(inner, vec![workspace]).await?;
    Ok(all.pop().expect("as many as were asked for"))
}
