//! The work unit: a task as a provider tells it.
//!
//! Only its id is demanded. Lists hold sparse units, simple plugins fill five fields, and one odd value must
//! not lose a task: status, kind and dates stay the text they came as, and what cannot be read at all is left out.

use loggia_jsonrpc::Json;
use serde::{Deserialize, Serialize};

use crate::lenient::{as_text, number, readable, readable_entries, text, text_of, texts};
use crate::{AttachmentId, CommentId, WorkUnitId};

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkUnit {
    /// The provider's internal name, often a short hash.
    pub id: WorkUnitId,
    /// What the task is called where it is from.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The short form of that, for the names of branches and commits.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// What kind of task: `story`, `bug`, `issue`…
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The provider's name.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The task in one line.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The task in full; may be empty.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it stands, in the provider's words.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How urgent it is: 1 to 5, 1 the most urgent.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Its labels.
    #[serde(default, deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Who works on it.
    #[serde(default, deserialize_with = "readable_entries", skip_serializing_if = "Vec::is_empty")]
    pub assignees: Vec<Person>,
    /// What was said about it.
    #[serde(default, deserialize_with = "readable_entries", skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// Files that belong to it.
    #[serde(default, deserialize_with = "readable_entries", skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Names of smaller tasks in it.
    #[serde(default, deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<String>,
    /// The title as part of a branch's name.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Where it is from.
    #[serde(default, deserialize_with = "readable", skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// When it was made, as the provider wrote it; usually RFC 3339. Text, so that a bad date harms nothing.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last changed, as the provider wrote it.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Whatever else the provider knows, an object; guards read flags from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
}

impl WorkUnit {
    /// A task of which no more is known than its name and its line.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: WorkUnitId(id.into()),
            external_id: None,
            external_key: None,
            task_type: None,
            provider: None,
            title: Some(title.into()),
            description: None,
            status: None,
            priority: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            comments: Vec::new(),
            attachments: Vec::new(),
            subtasks: Vec::new(),
            slug: None,
            source: None,
            created_at: None,
            updated_at: None,
            metadata: None,
        }
    }

    /// A line to show for the task: its title, or the best name there is.
    pub fn headline(&self) -> &str {
        let named = [&self.title, &self.external_key, &self.external_id];
        named.into_iter().flatten().find(|text| !text.is_empty()).unwrap_or(&self.id.0)
    }
}

/// Where a work unit is from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Json")]
pub struct Source {
    /// The reference it was fetched by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Its address, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl From<Json> for Source {
    /// Text alone is the reference.
    fn from(Json(value): Json) -> Self {
        match value.is_object() {
            true => Self { reference: text_of(&value, "reference"), url: text_of(&value, "url") },
            false => Self { reference: as_text(value), url: None },
        }
    }
}

/// Somebody.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Json")]
pub struct Person {
    /// The provider's name of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Login name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

impl From<Json> for Person {
    /// Text alone is the name.
    fn from(Json(value): Json) -> Self {
        if !value.is_object() {
            return Self { name: as_text(value), ..Self::default() };
        }
        let of = |key| text_of(&value, key);
        Self { id: of("id"), name: of("name"), email: of("email"), username: of("username") }
    }
}

/// Something said about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its name.
    #[serde(default, deserialize_with = "readable", skip_serializing_if = "Option::is_none")]
    pub id: Option<CommentId>,
    /// The words.
    pub body: String,
    /// Who said it.
    #[serde(default, deserialize_with = "readable", skip_serializing_if = "Option::is_none")]
    pub author: Option<Person>,
    /// When, as the provider wrote it.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// A file that belongs to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its name in calls.
    pub id: AttachmentId,
    /// Its name for people.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its address.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its kind.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, deserialize_with = "number", skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}
