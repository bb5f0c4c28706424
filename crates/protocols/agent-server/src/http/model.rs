//! Models: which there are and which is the default.

use loggia_jsonrpc::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::SessionModel;
use crate::server::{ModelCapability, TokenUsage};
use crate::words::open_words;

/// `GET /v1/models`. A provider that cannot be reached is told beside the others' models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    /// What can be used.
    pub models: Vec<ListedModel>,
    /// Who could not be asked.
    #[serde(default)]
    pub errors: Vec<ProviderProblem>,
}

/// A model that can be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What it can do beyond reading and writing text; absent when nobody said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<ModelAbility>,
    /// What it costs; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
}

open_words! {
    /// Something a model can do beyond reading and writing text.
    pub enum ModelAbility {
        /// Call tools.
        Tools = "tools",
        /// Look at images.
        Images = "images",
        /// Think before it replies.
        Reasoning = "reasoning",
    }
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPrice {
    /// In.
    pub input_usd: f64,
    /// In, when the provider had them cached.
    pub cached_input_usd: f64,
    /// Out.
    pub output_usd: f64,
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CurrentModel {
    /// Who serves it.
    pub provider: String,
    /// Its name there.
    pub model_name: String,
    /// The provider's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub options: Option<Json>,
    /// Whether somebody chose it with `PUT`; otherwise it is the one that the server was configured with, or found. The
    /// server says so, whatever it is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
    /// Why it cannot be used, if it cannot. The server says so, whatever it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// `POST /v1/models/test`: one short call, which may cost something.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestModelParams {
    /// Which; the model of new sessions otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SessionModel>,
}

/// How the call went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestModelResult {
    /// Which model was asked; absent when none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SessionModel>,
    /// Whether it replied.
    pub works: bool,
    /// In words.
    pub message: String,
    /// What to do, when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// How long its first piece took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_piece_ms: Option<u64>,
    /// What the call used, if the provider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}
