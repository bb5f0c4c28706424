//! The list of tokens on disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use loggia_domain::Timestamp;
use loggia_protocol_agent_server::Scope;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::auth::secret::SecretHash;
use crate::auth::tokens::{Token, TokenError};
use crate::private_file;

/// Stands at the top of the file.
const HEADER: &str = "# Who may come in, and as what. Tokens themselves are not here, only their SHA-256.\n\
# Change this through the server, at `/v1/tokens`: it rewrites the file.\n\n";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListText {
    #[serde(default)]
    token: Vec<TokenText>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenText {
    id: String,
    name: String,
    scope: Scope,
    sha256: String,
    /// Whether it is the one that is also in the file `token`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    first: bool,
    /// Milliseconds since 1970.
    created_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_used_ms: Option<i64>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_ms: Option<i64>,
}

/// Reads a list; an empty one if there is no file.
pub(super) fn read(path: &Path) -> Result<Vec<Arc<Token>>, TokenError> {
    let failed = |source| TokenError::Io { path: path.to_owned(), source };
    let Some(text) = private_file::read(path).map_err(failed)? else { return Ok(Vec::new()) };
    let damaged = |problem: String| TokenError::Damaged { path: path.to_owned(), problem };
    let list: ListText = toml::from_str(&text).map_err(|error| damaged(error.message().to_owned()))?;
    let token = |text: TokenText| {
        let hash = SecretHash::from_hex(&text.sha256)
            .ok_or_else(|| damaged(format!("`sha256` of `{}` is not 64 hexadecimal digits", text.name)))?;
        Ok(Arc::new(Token {
            id: text.id,
            name: text.name,
            scope: text.scope,
            created: Timestamp(text.created_ms),
            hash,
            is_first: text.first,
            last_used: AtomicI64::new(text.last_used_ms.unwrap_or(0)),
            expires: text.expires_ms.map(Timestamp),
            revoked: CancellationToken::new(),
        }))
    };
    list.token.into_iter().map(token).collect()
}

/// Writes a list.
pub(super) fn write(path: &Path, tokens: &[Arc<Token>]) -> Result<(), TokenError> {
    let row = |token: &Arc<Token>| TokenText {
        id: token.id.clone(),
        name: token.name.clone(),
        scope: token.scope,
        sha256: token.hash.to_hex(),
        first: token.is_first,
        created_ms: token.created.0,
        last_used_ms: Some(token.last_used.load(Ordering::Relaxed)).filter(|at| *at != 0),
        expires_ms: token.expires.map(|at| at.0),
    };
    let list = ListText { token: tokens.iter().map(row).collect() };
    let text = toml::to_string(&list).map_err(std::io::Error::other);
    let written = text.and_then(|text| private_file::write(path, &format!("{HEADER}{text}")));
    written.map_err(|source| TokenError::Io { path: path.to_owned(), source })
}
