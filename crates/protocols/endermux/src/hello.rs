//! The two messages of a handshake that succeeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ColorLevel, VersionRange, lenient};

/// A client's first message. Everything is optional when read: each absence has its own refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hello {
    /// The one epoch an epoch-15 client speaks.
    #[serde(deserialize_with = "lenient::some_int", skip_serializing_if = "Option::is_none")]
    pub transport_epoch: Option<i32>,
    /// The epochs a client of epoch 16 or later speaks.
    #[serde(deserialize_with = "lenient::nullable_object", skip_serializing_if = "Option::is_none")]
    pub transport_epoch_range: Option<VersionRange>,
    /// The client's colours; an unknown word reads as absent.
    #[serde(deserialize_with = "lenient::color", skip_serializing_if = "Option::is_none")]
    pub color_level: Option<ColorLevel>,
    /// What the client can do, in which versions.
    #[serde(deserialize_with = "lenient::object_map", skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<BTreeMap<String, Option<VersionRange>>>,
    /// What the client cannot do without.
    #[serde(deserialize_with = "lenient::nullable_texts", skip_serializing_if = "Option::is_none")]
    pub required_capabilities: Option<Vec<Option<String>>>,
}

/// Accepts a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Welcome {
    /// The epoch of the connection.
    #[serde(deserialize_with = "lenient::int")]
    pub transport_epoch: i32,
    /// The version of each negotiated capability. Absence is checked by the client.
    #[serde(deserialize_with = "lenient::int_map", skip_serializing_if = "Option::is_none")]
    pub selected_capabilities: Option<BTreeMap<String, Option<i32>>>,
}
