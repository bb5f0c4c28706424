//! `/v1/tokens`: who may come in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use loggia_protocol_agent_server::{
    CreateTokenParams, CreatedToken, ProblemType, Scope, Secret, TokenId, TokenInfo, TokenList,
};

use crate::auth::tokens::{Token, TokenError};
use crate::body::Body;
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, blocking};
use crate::to_wire::moment::moment;

pub(crate) async fn list(State(inner): Shared) -> Json<TokenList> {
    let tokens = inner.auth.tokens.list().iter().map(|token| info(token)).collect();
    Json(TokenList { tokens })
}

pub(crate) async fn create(
    State(inner): Shared,
    Body(params): Body<CreateTokenParams>,
) -> Answer<(StatusCode, Json<CreatedToken>)> {
    let (token, made) = make(inner, params.name, params.scope, "/name").await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { token, info: info(&made) })))
}

pub(crate) async fn revoke(
    State(inner): Shared,
    path: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Answer<StatusCode> {
    let absent = || Problem::not_found("there is no such token");
    let Path(id) = path.map_err(|_| absent())?;
    let revoked = blocking(move || inner.auth.tokens.revoke(&id)).await?;
    if revoked.map_err(|error| unusable(&error))? { Ok(StatusCode::NO_CONTENT) } else { Err(absent()) }
}

/// Makes a token.
pub(super) async fn make(
    inner: Arc<Inner>,
    name: String,
    scope: Scope,
    pointer: &str,
) -> Answer<(Secret, Arc<Token>)> {
    let made = blocking(move || inner.auth.tokens.create(&name, scope)).await?;
    made.map_err(|error| refusal(&error, pointer))
}

/// What is wrong with a token that is to be made.
pub(super) fn refusal(error: &TokenError, pointer: &str) -> Problem {
    match error {
        TokenError::Name => Problem::field(pointer, error.to_string()),
        TokenError::TooMany => Problem::of(ProblemType::Conflict, error.to_string()),
        TokenError::Io { .. } | TokenError::Damaged { .. } => unusable(error),
    }
}

fn info(token: &Token) -> TokenInfo {
    TokenInfo {
        token_id: TokenId(token.id.clone()),
        name: token.name.clone(),
        scope: token.scope,
        created_at: moment(token.created),
        last_used_at: token.last_used().map(moment),
        expires_at: token.expires.map(moment),
    }
}

pub(super) fn unusable(error: &TokenError) -> Problem {
    tracing::error!(error = error as &dyn std::error::Error, "tokens cannot be written");
    Problem::of(ProblemType::Unavailable, "the list of tokens cannot be written; the server's log says more")
}
