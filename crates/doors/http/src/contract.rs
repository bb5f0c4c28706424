//! The contract as the server tells it: an OpenAPI 3.1 document of every endpoint, and the JSON Schema of every
//! message and body.
//!
//! Knows the tables of the protocol and what they leave open: statuses, parameters, media types. Refuses to know
//! handlers; tests hold the two together. Both texts are made once, when they are first asked for, and never change
//! while the server runs.

mod components;
mod facts;
mod operation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use loggia_protocol_agent_server::{ENDPOINTS, SCHEMAS};
use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApiBuilder, PathsBuilder};

/// The name of the security scheme.
const TOKEN: &str = "token";

/// What our schemas are written in. OpenAPI's own dialect adds words that we do not use.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const ABOUT: &str = "One coding agent, many doors: sessions, workspaces, policies and models over HTTP, and a \
     WebSocket stream for each session. Bad answers are `application/problem+json` with a stable `type`. The \
     messages of the streams have their schemas at `/v1/schemas/{name}`, by their `type`.";

const ABOUT_TOKEN: &str = "A token of the server. Its scope is `read`, `drive` or `admin`, each including the ones \
     before it; an operation names the least one it needs. A browser, which cannot set headers on a WebSocket, gives \
     its token as the subprotocol `bearer.TOKEN` beside `loggia.v1`.";

static OPENAPI: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string(&document()).expect("a document of text and numbers"));

static SCHEMA_TEXTS: LazyLock<BTreeMap<&str, String>> =
    LazyLock::new(|| SCHEMAS.iter().map(|row| (row.name, row.text())).collect());

/// The OpenAPI document, as JSON.
pub(crate) fn openapi() -> &'static str {
    &OPENAPI
}

/// The JSON Schema of a message or a body, by its name.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    SCHEMA_TEXTS.get(name).map(String::as_str)
}

fn document() -> Value {
    let info = InfoBuilder::new()
        .title("Loggia agent server")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()));
    let mut paths = PathsBuilder::new();
    for endpoint in ENDPOINTS {
        paths = paths.path(endpoint.path, operation::path_item(endpoint, facts::of(endpoint)));
    }
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some(ABOUT_TOKEN.to_owned());
    let components = operation::problem_answers(ComponentsBuilder::new())
        .security_scheme(TOKEN, SecurityScheme::Http(bearer))
        .build();
    let mut document =
        OpenApiBuilder::new().info(info.build()).paths(paths).components(Some(components)).build();
    document.json_schema_dialect = Some(DIALECT.to_owned());
    let mut document = serde_json::to_value(document).expect("a document of text and numbers");
    // The builder's schemas know neither `const` nor `if`, so ours are put in as they are.
    document["components"]["schemas"] = Value::Object(components::schemas());
    document
}
