//! `/v1/models`: which there are, which new sessions use, and whether one works.

mod test;

pub(crate) use test::test;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loggia_domain::{ModelAbilities, ModelInfo, ModelName, Price};
use loggia_protocol_agent_server::{
    CurrentModel, ListedModel, ModelAbility, ModelCapability, ModelList, ModelPrice, ProviderProblem,
    SessionModel,
};

use crate::body::Body;
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, blocking};
use crate::to_wire::dollars;
use crate::{model_name, nearest};

/// How many names are suggested for one that is not known.
const SUGGESTED: usize = 3;

pub(crate) async fn list(State(inner): Shared) -> Json<ModelList> {
    let listing = inner.parts.models.list().await;
    let problem = |(provider, error): (String, loggia_domain::ModelError)| ProviderProblem {
        provider,
        message: error.message,
    };
    Json(ModelList {
        models: listing.models.iter().map(listed).collect(),
        errors: listing.errors.into_iter().map(problem).collect(),
    })
}

pub(crate) async fn current(State(inner): Shared) -> Answer<Json<CurrentModel>> {
    if let Some(name) = inner.parts.engine.default_model() {
        let problem = inner.parts.models.find(Some(&name)).err().map(|error| error.message);
        return Ok(Json(CurrentModel { problem, ..chosen_model(&name) }));
    }
    let found = inner.parts.models.find(None).ok().map(|model| model.info().name);
    let name = found.filter(|name| !name.is_none());
    let name = name.ok_or_else(|| Problem::not_found("no model is set; choose one with PUT"))?;
    let problem = super::health::default_problem(&inner);
    Ok(Json(CurrentModel { chosen: false, problem, ..chosen_model(&name) }))
}

pub(crate) async fn set_current(
    State(inner): Shared,
    Body(wanted): Body<CurrentModel>,
) -> Answer<Json<CurrentModel>> {
    let is_empty = |options: &serde_json::Value| {
        options.is_null() || options.as_object().is_some_and(serde_json::Map::is_empty)
    };
    if wanted.options.as_ref().is_some_and(|options| !is_empty(&options.0)) {
        return Err(Problem::field("/options", "this model takes no options; leave them out"));
    }
    if wanted.provider == ModelName::GUESTS {
        let expected = "a plugin's agent is chosen for a session; not every workspace has it";
        return Err(Problem::field("/provider", expected));
    }
    let wanted = SessionModel { provider: wanted.provider, model_name: wanted.model_name };
    let name = known(&inner, &wanted, "").await?;
    let set = name.clone();
    blocking(move || inner.parts.engine.set_default_model(set)).await??;
    Ok(Json(chosen_model(&name)))
}

pub(crate) async fn forget_current(State(inner): Shared) -> Answer<StatusCode> {
    blocking(move || inner.parts.engine.forget_default_model()).await??;
    Ok(StatusCode::NO_CONTENT)
}

/// The engine's name for what can take a session's turns: a model that there is, or an agent of a plugin. Whether that
/// agent is there depends on the workspace, and the engine says it.
pub(super) async fn usable(inner: &Inner, wanted: &SessionModel, within: &str) -> Answer<ModelName> {
    let name = model_name::join(&wanted.provider, &wanted.model_name);
    match name.guest() {
        Some(_) => Ok(name),
        None => known(inner, wanted, within).await,
    }
}

/// The engine's name for a model that there is. `within` points at where the two names were.
async fn known(inner: &Inner, wanted: &SessionModel, within: &str) -> Answer<ModelName> {
    let name = model_name::join(&wanted.provider, &wanted.model_name);
    let Err(error) = inner.parts.models.find(Some(&name)) else { return Ok(name) };
    let listing = inner.parts.models.list().await;
    let mut names: Vec<&str> = listing.models.iter().map(|model| model.name.0.as_str()).collect();
    names.sort_by_key(|other| nearest::distance(&name.0, other));
    names.truncate(SUGGESTED);
    let nearest =
        if names.is_empty() { String::new() } else { format!("; the nearest are: {}", names.join(", ")) };
    Err(Problem::field(format!("{within}/model_name"), format!("{}{nearest}", error.message)))
}

/// A name in its two parts.
pub(super) fn session_model(name: &ModelName) -> SessionModel {
    let (provider, model_name) = model_name::split(name);
    SessionModel { provider, model_name }
}

fn chosen_model(name: &ModelName) -> CurrentModel {
    let SessionModel { provider, model_name } = session_model(name);
    CurrentModel { provider, model_name, chosen: true, ..CurrentModel::default() }
}

/// A model as clients see it: in the list, and in the server's hello.
pub(crate) fn listed(info: &ModelInfo) -> ListedModel {
    let SessionModel { provider, model_name } = session_model(&info.name);
    ListedModel {
        provider,
        model_name,
        // All that every model here is used for: the agent talks, and changes code.
        capabilities: vec![ModelCapability::Chat, ModelCapability::Refactor],
        context_tokens: Some(info.context_tokens),
        local: info.local,
        abilities: abilities(info.abilities),
        price: info.price.map(price),
    }
}

fn abilities(abilities: ModelAbilities) -> Vec<ModelAbility> {
    let ModelAbilities { tools, images, reasoning } = abilities;
    let all =
        [(tools, ModelAbility::Tools), (images, ModelAbility::Images), (reasoning, ModelAbility::Reasoning)];
    all.into_iter().filter(|(can, _)| *can).map(|(_, ability)| ability).collect()
}

fn price(price: Price) -> ModelPrice {
    ModelPrice {
        input_usd: dollars(price.input),
        cached_input_usd: dollars(price.cached_input),
        output_usd: dollars(price.output),
    }
}
