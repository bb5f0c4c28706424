//! What is stored of a task's beginning.
//!
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use std::path::PathBuf;

use loggia_domain::{Commit, JsonText, TaskAgents, TaskBranch, TaskStart, WorkItem, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{StoredActor, Str, Text};

#[derive(Serialize, Deserialize)]
pub(in crate::rows) struct StoredStart<'a> {
    reference: Str<'a>,
    provider: Str<'a>,
    key: Str<'a>,
    item: StoredItem<'a>,
    source: Str<'a>,
    home: Text<WorkspaceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<StoredBranch<'a>>,
    commit_prefix: Str<'a>,
    agents: StoredAgents<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    environment: Vec<(Str<'a>, Str<'a>)>,
    by: StoredActor<'a>,
}

impl<'a> From<&'a TaskStart> for StoredStart<'a> {
    fn from(start: &'a TaskStart) -> Self {
        let TaskStart {
            reference,
            provider,
            key,
            item,
            source,
            home,
            branch,
            commit_prefix,
            agents,
            environment,
            by,
        } = start;
        Self {
            reference: reference.into(),
            provider: provider.into(),
            key: key.into(),
            item: item.into(),
            source: source.into(),
            home: Text(*home),
            branch: branch.as_ref().map(Into::into),
            commit_prefix: commit_prefix.into(),
            agents: agents.into(),
            environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            by: by.into(),
        }
    }
}

impl From<StoredStart<'_>> for TaskStart {
    fn from(row: StoredStart<'_>) -> Self {
        let StoredStart {
            reference,
            provider,
            key,
            item,
            source,
            home,
            branch,
            commit_prefix,
            agents,
            environment,
            by,
        } = row;
        Self {
            reference: reference.into(),
            provider: provider.into(),
            key: key.into(),
            item: item.into(),
            source: source.into(),
            home: home.0,
            branch: branch.map(Into::into),
            commit_prefix: commit_prefix.into(),
            agents: agents.into(),
            environment: environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            by: by.into(),
        }
    }
}

/// A work item.
#[derive(Serialize, Deserialize)]
struct StoredItem<'a> {
    key: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Str<'a>>,
    title: Str<'a>,
    description: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,
    tags: Vec<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    location: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<Str<'a>>,
    /// The provider's own JSON, as text.
    more: Str<'a>,
}

impl<'a> From<&'a WorkItem> for StoredItem<'a> {
    fn from(item: &'a WorkItem) -> Self {
        let WorkItem {
            key,
            label,
            kind,
            title,
            description,
            status,
            priority,
            tags,
            location,
            provider,
            more,
        } = item;
        Self {
            key: key.into(),
            label: label.as_ref().map(Into::into),
            kind: kind.as_ref().map(Into::into),
            title: title.into(),
            description: description.into(),
            status: status.as_ref().map(Into::into),
            priority: *priority,
            tags: tags.iter().map(Into::into).collect(),
            location: location.as_ref().map(Into::into),
            provider: provider.as_ref().map(Into::into),
            more: (&more.0).into(),
        }
    }
}

impl From<StoredItem<'_>> for WorkItem {
    fn from(row: StoredItem<'_>) -> Self {
        let StoredItem {
            key,
            label,
            kind,
            title,
            description,
            status,
            priority,
            tags,
            location,
            provider,
            more,
        } = row;
        Self {
            key: key.into(),
            label: label.map(Into::into),
            kind: kind.map(Into::into),
            title: title.into(),
            description: description.into(),
            status: status.map(Into::into),
            priority,
            tags: tags.into_iter().map(Into::into).collect(),
            location: location.map(Into::into),
            provider: provider.map(Into::into),
            more: JsonText(more.into()),
        }
    }
}

/// A task's branch.
#[derive(Serialize, Deserialize)]
struct StoredBranch<'a> {
    name: Str<'a>,
    base: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Str<'a>>,
    /// Paths that are no text are refused before a task begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<PathBuf>,
}

impl<'a> From<&'a TaskBranch> for StoredBranch<'a> {
    fn from(branch: &'a TaskBranch) -> Self {
        let TaskBranch { name, base, from, tree } = branch;
        let from = from.as_ref().map(|commit| (&commit.0).into());
        Self { name: name.into(), base: base.into(), from, tree: tree.clone() }
    }
}

impl From<StoredBranch<'_>> for TaskBranch {
    fn from(row: StoredBranch<'_>) -> Self {
        let StoredBranch { name, base, from, tree } = row;
        let from = from.map(|commit| Commit(commit.into()));
        Self { name: name.into(), base: base.into(), from, tree }
    }
}

/// Which agents do the work.
#[derive(Serialize, Deserialize)]
struct StoredAgents<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    any: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planning: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    implementing: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reviewing: Option<Str<'a>>,
}

impl<'a> From<&'a TaskAgents> for StoredAgents<'a> {
    fn from(agents: &'a TaskAgents) -> Self {
        let TaskAgents { any, planning, implementing, reviewing } = agents;
        Self {
            any: any.as_ref().map(Into::into),
            planning: planning.as_ref().map(Into::into),
            implementing: implementing.as_ref().map(Into::into),
            reviewing: reviewing.as_ref().map(Into::into),
        }
    }
}

impl From<StoredAgents<'_>> for TaskAgents {
    fn from(row: StoredAgents<'_>) -> Self {
        let StoredAgents { any, planning, implementing, reviewing } = row;
        Self {
            any: any.map(Into::into),
            planning: planning.map(Into::into),
            implementing: implementing.map(Into::into),
            reviewing: reviewing.map(Into::into),
        }
    }
}
