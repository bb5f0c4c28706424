//! What a request asks for in its address: the ids in its path and its query.
//!
//! What always holds: an id that cannot be one is a thing that is not there, whatever it is made of.

use std::num::NonZeroU64;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use loggia_domain::{SessionId, WorkspaceId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The session a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionPath(pub(crate) SessionId);

/// The workspace a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkspacePath(pub(crate) WorkspaceId);

/// A query, as a type.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

/// Which part of a listing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Paging {
    pub(crate) limit: Option<Limit>,
    pub(crate) cursor: Option<String>,
}

/// How many at most: a number from 1 on.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(crate) struct Limit(NonZeroU64);

impl Limit {
    /// What was asked for, and no more than `most`.
    pub(crate) fn up_to(self, most: usize) -> usize {
        usize::try_from(self.0.get()).unwrap_or(most).min(most)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SessionPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "session").await.map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for WorkspacePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "workspace").await.map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(query)| Self(query)).map_err(|refused| {
            Problem::bad_request(format!("the query cannot be read: {}", refused.body_text()))
        })
    }
}

/// The id in a path.
async fn named<I: FromStr, S: Send + Sync>(parts: &mut Parts, state: &S, what: &str) -> Result<I, Problem> {
    let absent = || Problem::not_found(format!("there is no such {what}"));
    let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| absent())?;
    text.parse().map_err(|_| absent())
}
