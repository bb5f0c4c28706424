//! Task sources: does a reference belong to the plugin, which task is it, what does the task say?

use std::fmt;

use loggia_jsonrpc::{Json, Method, Order};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, number, truth, words_of};
use crate::{ReferenceId, WorkUnit};

/// Hands the provider its configuration. The first call to a provider's process.
#[derive(Debug)]
pub struct ProviderInit;

impl Method for ProviderInit {
    const NAME: &'static str = "provider.init";
    const ORDER: Order = Order::Ordered;
    type Params = ProviderInitParams;
    type Result = ProviderInitResult;
}

/// The configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInitParams {
    /// As the user wrote it, an object; `{}` when there is none.
    #[serde(default = "Json::object")]
    pub config: Json,
}

/// What the provider can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Json")]
pub struct ProviderInitResult {
    /// Its capabilities; absent means "as the manifest says", which an empty list does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<ProviderCapability>>,
}

impl From<Json> for ProviderInitResult {
    fn from(Json(value): Json) -> Self {
        Self { capabilities: words_of(&value, "capabilities") }
    }
}

/// Something a provider can do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderCapability {
    /// Fetch a task; every provider can.
    Read,
    /// Capture a task's text.
    Snapshot,
    /// List tasks.
    List,
    /// Say something about a task.
    Comment,
    /// Move a task on.
    UpdateStatus,
    /// Read what was said about a task.
    FetchComments,
    /// Add and remove labels.
    ManageLabels,
    /// Tie a task to a branch.
    LinkBranch,
    /// Propose a branch for merging.
    CreatePr,
    /// Hand out attachments.
    DownloadAttachment,
    /// Make tasks; no method goes with it.
    CreateWorkUnit,
    /// Read smaller tasks; no method goes with it.
    FetchSubtasks,
    /// A word we do not know.
    #[serde(untagged)]
    Other(String),
}

impl ProviderCapability {
    /// The capability without which a method must not be called; none for those every provider has.
    pub fn needed_by(method: &str) -> Option<Self> {
        Some(match method {
            "provider.fetch" => Self::Read,
            "provider.snapshot" => Self::Snapshot,
            "provider.list" => Self::List,
            "provider.addComment" => Self::Comment,
            "provider.updateStatus" => Self::UpdateStatus,
            "provider.fetchComments" => Self::FetchComments,
            "provider.addLabels" | "provider.removeLabels" => Self::ManageLabels,
            "provider.linkBranch" | "provider.unlinkBranch" | "provider.getLinkedBranch" => Self::LinkBranch,
            "provider.createPR" => Self::CreatePr,
            "provider.downloadAttachment" => Self::DownloadAttachment,
            _ => return None,
        })
    }
}

/// Asks whether a reference belongs to this provider.
#[derive(Debug)]
pub struct ProviderMatch;

impl Method for ProviderMatch {
    const NAME: &'static str = "provider.match";
    const ORDER: Order = Order::Ordered;
    type Params = ProviderMatchParams;
    type Result = ProviderMatchResult;
}

/// The reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderMatchParams {
    /// As the user typed it.
    pub input: String,
}

/// Whether it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderMatchResult {
    /// Whether the reference belongs to this provider.
    pub matches: bool,
}

/// Asks which task a reference means.
#[derive(Debug)]
pub struct ProviderParse;

impl Method for ProviderParse {
    const NAME: &'static str = "provider.parse";
    const ORDER: Order = Order::Ordered;
    type Params = ProviderParseParams;
    type Result = ProviderParseResult;
}

/// The reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderParseParams {
    /// As the user typed it, scheme included.
    pub input: String,
}

/// The task, or why there is none. Both are successful answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ParseFields", into = "ParseFields")]
pub enum ProviderParseResult {
    /// The reference means this task.
    Parsed(ReferenceId),
    /// The reference means nothing, because.
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct ParseFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<ReferenceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl TryFrom<ParseFields> for ProviderParseResult {
    type Error = &'static str;

    fn try_from(fields: ParseFields) -> Result<Self, Self::Error> {
        match fields {
            ParseFields { error: Some(error), .. } => Ok(Self::Refused(error)),
            ParseFields { id: Some(id), .. } => Ok(Self::Parsed(id)),
            ParseFields { id: None, error: None } => Err("either `id` or `error` is needed"),
        }
    }
}

impl From<ProviderParseResult> for ParseFields {
    fn from(result: ProviderParseResult) -> Self {
        match result {
            ProviderParseResult::Parsed(id) => Self { id: Some(id), error: None },
            ProviderParseResult::Refused(error) => Self { id: None, error: Some(error) },
        }
    }
}

/// Fetches a task.
#[derive(Debug)]
pub struct ProviderFetch;

impl Method for ProviderFetch {
    const NAME: &'static str = "provider.fetch";
    const ORDER: Order = Order::Ordered;
    type Params = ProviderFetchParams;
    type Result = WorkUnit;
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderFetchParams {
    /// What `provider.parse` said.
    pub id: ReferenceId,
}

/// Captures a task's text for keeping.
#[derive(Debug)]
pub struct ProviderSnapshot;

impl Method for ProviderSnapshot {
    const NAME: &'static str = "provider.snapshot";
    const ORDER: Order = Order::Ordered;
    type Params = ProviderSnapshotParams;
    type Result = ProviderSnapshotResult;
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSnapshotParams {
    /// What `provider.parse` said; not the id of the work unit.
    pub id: ReferenceId,
}

/// The text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSnapshotResult {
    /// The task in words, usually Markdown.
    pub content: String,
    /// Whatever else the provider knows. Known from peers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
}

/// Lists tasks.
#[derive(Debug)]
pub struct ProviderList;

impl Method for ProviderList {
    const NAME: &'static str = "provider.list";
    const ORDER: Order = Order::Ordered;
    type Params = ListParams;
    type Result = ListResult;
}

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListParams {
    /// What they have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<ListFilter>,
    /// At most this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Leave out this many first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// What the wanted tasks have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListFilter {
    /// How they stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Labels they bear.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// Tasks. Written as the specification says; also read from a bare list, which some plugins return.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResult {
    /// The tasks, which may be sparse.
    pub items: Vec<WorkUnit>,
    /// How many there are in all, where the plugin says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more, where the plugin says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl ListResult {
    /// Whether to ask for another page; silence means no.
    pub fn has_more(&self) -> bool {
        self.has_more.unwrap_or(false)
    }
}

impl<'de> Deserialize<'de> for ListResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ListResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `items`, or a list of work units")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ListResult, A::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            #[serde(deserialize_with = "null_as_default")]
            items: Vec<WorkUnit>,
            #[serde(default, deserialize_with = "number")]
            total: Option<u64>,
            #[serde(default, deserialize_with = "truth")]
            has_more: Option<bool>,
        }
        let Fields { items, total, has_more } = Fields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ListResult { items, total, has_more })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ListResult, A::Error> {
        let items = Vec::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(ListResult { items, total: None, has_more: None })
    }
}
