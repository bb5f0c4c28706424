//! Overrides of the host's field schema, as an extension states them. Merging them is the host's affair.

use std::collections::BTreeMap;
use std::num::NonZeroU8;

use serde::{Deserialize, Serialize};

use crate::{Override, nullable};

/// Overrides by segment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaOverrides {
    /// Segment name, like `PID`, to what changes in it.
    #[serde(default, deserialize_with = "nullable::or_default")]
    pub segments: BTreeMap<String, SegmentOverrides>,
}

/// Overrides within one segment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SegmentOverrides {
    /// In the order the extension gave them, which decides where new entries go.
    #[serde(default, deserialize_with = "nullable::or_default")]
    pub fields: Vec<FieldOverride>,
}

/// What changes in one field or component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldOverride {
    /// The field's number, from 1. Existing hosts keep eight bits of it, so a larger one is refused.
    pub field: NonZeroU8,
    /// The component's number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<NonZeroU8>,
    /// The label.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub name: Override<String>,
    /// With which fields it is shown.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub group: Override<String>,
    /// Help text.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub note: Override<String>,
    /// Whether it may be empty.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub required: Override<bool>,
    /// The shortest good value; at most [`crate::limits::MAX_FIELD_LENGTH`] counts.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub minlength: Override<u64>,
    /// The longest good value; at most [`crate::limits::MAX_FIELD_LENGTH`] counts.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub maxlength: Override<u64>,
    /// A regular expression for the whole value.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub pattern: Override<String>,
    /// What kind of value it is.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub datatype: Override<DataType>,
    /// A hint in the empty input.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub placeholder: Override<String>,
    /// Allowed codes and their labels; replaced as a whole, never merged.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub values: Override<BTreeMap<String, String>>,
    /// What a new message starts with.
    #[serde(default, skip_serializing_if = "Override::is_inherit")]
    pub template: Override<String>,
}

/// What kind of value a field has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataType {
    /// `YYYYMMDD`.
    Date,
    /// `YYYYMMDDHHMMSS` with optional fraction and zone.
    DateTime,
    /// A kind the host does not know; it is ignored and the value below stays.
    #[serde(untagged)]
    Other(String),
}
