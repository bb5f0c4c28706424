//! What a request asks for in its address: the ids in its path and its query.
//!
//! What always holds: an id that cannot be one is a thing that is not there, whatever it is made of; a number is digits
//! and nothing else.

mod query;

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use loggia_domain::{DocumentId, SessionId, TaskId, WorkspaceId};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error};

use crate::problem::Problem;

/// The session a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionPath(pub(crate) SessionId);

/// The workspace a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkspacePath(pub(crate) WorkspaceId);

/// The task a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskPath(pub(crate) TaskId);

/// The open message a path names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessagePath(pub(crate) DocumentId);

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
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit(u64);

impl Limit {
    /// What was asked for, and no more than `most`.
    pub(crate) fn up_to(self, most: usize) -> usize {
        usize::try_from(self.0).unwrap_or(most).min(most)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            0 => Err(D::Error::custom("must be 1 or more")),
            most => Ok(Self(most)),
        }
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

impl<S: Send + Sync> FromRequestParts<S> for TaskPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "task").await.map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for MessagePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "message").await.map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let asked = query::read(parts.uri.query().unwrap_or_default());
        asked.map(Self).map_err(|fault| Problem::bad_request(format!("the query cannot be read: {fault}")))
    }
}

/// A whole number as people write it: digits, and neither a sign nor a space.
pub(crate) fn whole_number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The id in a path.
async fn named<I: FromStr, S: Send + Sync>(parts: &mut Parts, state: &S, what: &str) -> Result<I, Problem> {
    let absent = || Problem::not_found(format!("there is no such {what}"));
    let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| absent())?;
    text.parse().map_err(|_| absent())
}
