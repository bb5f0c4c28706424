//! Models: which there are and which is the default.

use loggia_jsonrpc::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server::ModelCapability;

/// `GET /v1/models`. A provider that cannot be reached is told beside the others' models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    /// What can be used.
    pub models: Vec<ListedModel>,
    /// Who could not be asked.
    #[serde(default)]
    pub errors: Vec<ProviderProblem>,
}

/// A model that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedModel {
    /// Who serves it.
    pub provider: String,
    /// Its name there.
    pub model_name: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<ModelCapability>,
    /// How much it can read at once, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Whether it runs on this machine.
    pub local: bool,
}

/// A provider that could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderProblem {
    /// Which.
    pub provider: String,
    /// Why, in words.
    pub message: String,
}

/// `GET` and `PUT /v1/models/current`: the model of new sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentModel {
    /// Who serves it.
    pub provider: String,
    /// Its name there.
    pub model_name: String,
    /// The provider's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub options: Option<Json>,
}
