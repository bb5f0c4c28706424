//! One endpoint as an operation of the document.

use std::collections::BTreeSet;

use loggia_protocol_agent_server::{CLIENT, Endpoint, MESSAGES, ProblemType, SCHEMAS, SERVER, Scope, Verb};
use serde_json::{Value, json};
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ComponentsBuilder, Content, Header, HttpMethod, PathItem, Ref, RefOr, Required, Response,
    ResponseBuilder, Schema,
};

use super::TOKEN;
use super::facts::{Facts, Holds, MESSAGE_ID, Query, SESSION_ID, TASK_ID, TOKEN_ID, WORKSPACE_ID};
use crate::page;

const JSON: &str = "application/json";
const PROBLEM_JSON: &str = "application/problem+json";

/// Every kind of problem that a client can bring about or has to expect. Our own faults are none: nothing promises
/// them, and a tool that meets one shall say so.
const PROBLEMS: [ProblemType; 12] = [
    ProblemType::BadRequest,
    ProblemType::Unauthorized,
    ProblemType::Forbidden,
    ProblemType::NotFound,
    ProblemType::MethodNotAllowed,
    ProblemType::Conflict,
    ProblemType::StaleRevision,
    ProblemType::TooLarge,
    ProblemType::UnsupportedMediaType,
    ProblemType::InvalidBody,
    ProblemType::RateLimited,
    ProblemType::Unavailable,
];

/// The endpoint in its path. Endpoints that share a path are put together by the builder.
pub(super) fn path_item(endpoint: &Endpoint, facts: &Facts) -> PathItem {
    let method = match endpoint.verb {
        Verb::Get | Verb::WebSocket => HttpMethod::Get,
        Verb::Post => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
        Verb::Delete => HttpMethod::Delete,
    };
    PathItem::new(method, operation(endpoint, facts))
}

/// Adds the bad answers, which operations refer to.
pub(super) fn problem_answers(components: ComponentsBuilder) -> ComponentsBuilder {
    PROBLEMS.iter().fold(components, |components, kind| {
        let (status, title) = kind.status_and_title();
        let mut answer = ResponseBuilder::new().description(title).content(PROBLEM_JSON, body("problem"));
        if [429, 503].contains(&status) {
            let mut header = Header::new(Object::with_type(Type::Integer));
            header.description = Some("Seconds to wait before the next try.".to_owned());
            answer = answer.header("Retry-After", header);
        }
        components.response(kind.as_str(), answer.build())
    })
}

fn operation(endpoint: &Endpoint, facts: &Facts) -> Operation {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(facts.id))
        .summary(Some(facts.summary))
        .tag(tag(endpoint.path))
        .request_body(request(endpoint, facts))
        .securities(Some(endpoint.scope.map(|scope| SecurityRequirement::new(TOKEN, [scope_name(scope)]))));
    for parameter in path_parameters(endpoint.path).chain(facts.query.iter().map(asked_parameter)) {
        operation = operation.parameter(parameter);
    }
    for status in facts.good {
        operation = operation.response(status.to_string(), good_answer(endpoint, facts, *status));
    }
    for status in bad_statuses(endpoint, facts) {
        // A status without a kind of its own is a request that could not be read.
        let kind = PROBLEMS.iter().find(|kind| kind.status_and_title().0 == status);
        let kind = kind.unwrap_or(&ProblemType::BadRequest);
        operation = operation.response(status.to_string(), Ref::from_response_name(kind.as_str()));
    }
    if endpoint.verb == Verb::WebSocket {
        let sent = |sender: &str| -> Vec<&str> {
            MESSAGES.iter().filter(|row| row.sender == sender).map(|row| row.name).collect()
        };
        let messages = json!({ "client": sent(CLIENT), "server": sent(SERVER) });
        let extensions = ExtensionsBuilder::new().add("x-websocket-messages", messages).build();
        operation = operation.extensions(Some(extensions)).description(Some(
            "Opens a WebSocket with the subprotocol `loggia.v1`. Without an upgrade it is answered with a problem.",
        ));
    }
    operation.build()
}

/// The subject of a path, for putting operations into groups.
fn tag(path: &str) -> &str {
    match path.split('/').nth(2) {
        Some("pair" | "page") => "tokens",
        Some("schemas" | "openapi.json") => "contract",
        Some(subject @ ("workspaces" | "sessions" | "models" | "tokens" | "tasks")) => subject,
        _ => "server",
    }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Drive => "drive",
        Scope::Admin => "admin",
    }
}

fn request(endpoint: &Endpoint, facts: &Facts) -> Option<RequestBody> {
    let required = if facts.optional_body { Required::False } else { Required::True };
    let request = RequestBodyBuilder::new().required(Some(required));
    match (endpoint.request, facts.takes) {
        (Some(name), _) => Some(request.content(JSON, body(name)).build()),
        (None, Some(media)) => Some(request.content(media, text()).build()),
        (None, None) => None,
    }
}

fn good_answer(endpoint: &Endpoint, facts: &Facts, status: u16) -> Response {
    let answer = ResponseBuilder::new().description(match status {
        101 => "The stream is open",
        201 => "It is new",
        202 => "Begun",
        204 => "Done; there is nothing to tell",
        _ => "Done",
    });
    let answer = if endpoint.path.ends_with("/policy") {
        let mut header = Header::new(Object::with_type(Type::String));
        header.description = Some("The policy's revision, for `If-Match`.".to_owned());
        answer.header("ETag", header)
    } else {
        answer
    };
    match (endpoint.answer, facts.media) {
        (Some(name), _) => answer.content(JSON, body(name)).build(),
        (None, Some(media)) if media.ends_with("json") && media != super::facts::LINES => {
            answer.content(media, Content::new(Some(Object::with_type(Type::Object)))).build()
        }
        // Of any kind, and so of any shape: one of the page's files is JSON.
        (None, Some(media @ "*/*")) => answer.content(media, Content::default()).build(),
        (None, Some(media)) => answer.content(media, text()).build(),
        (None, None) => answer.build(),
    }
}

fn bad_statuses(endpoint: &Endpoint, facts: &Facts) -> BTreeSet<u16> {
    // Any request may be unreadable, come from a foreign page, use another method, or come at a bad moment.
    let mut all = BTreeSet::from([400, 403, 405, 503]);
    if endpoint.scope.is_some() {
        all.extend([401, 429]);
    }
    if endpoint.path.contains('{') {
        all.insert(404);
    }
    // Its directory or its policy may no longer be what they were, or it may be busy with something else.
    if endpoint.path.contains("{workspace_id}") || endpoint.path.contains("{session_id}") {
        all.insert(409);
    }
    // It may not be where that can happen.
    if endpoint.path.contains("{task_id}") {
        all.insert(409);
    }
    if matches!(endpoint.verb, Verb::Post | Verb::Put) {
        all.extend([413, 415]);
    }
    if endpoint.request.is_some() || facts.takes.is_some() {
        all.extend([408, 422]);
    }
    if endpoint.verb == Verb::WebSocket {
        all.insert(426);
    }
    // Guessing a code is guessing a token.
    if endpoint.path == "/v1/pair" {
        all.extend([401, 429]);
    }
    all.extend(facts.bad);
    all
}

/// The parameters in a path, in its order.
fn path_parameters(path: &str) -> impl Iterator<Item = Parameter> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let schema = match name {
            "workspace_id" => id(WORKSPACE_ID),
            "session_id" => id(SESSION_ID),
            "token_id" => id(TOKEN_ID),
            "file" => words(page::names()),
            "task_id" => id(TASK_ID),
            "message_id" => id(MESSAGE_ID),
            "plugin" | "extension" => string().min_length(Some(1)).build().into(),
            _ => words(SCHEMAS.iter().map(|row| row.name)),
        };
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(schema))
            .build()
    })
}

fn asked_parameter(query: &Query) -> Parameter {
    let (place, schema) = match query.holds {
        Holds::Id(pattern) => (ParameterIn::Query, id(pattern)),
        Holds::Text(shortest) => (ParameterIn::Query, string().min_length(Some(shortest)).build().into()),
        Holds::Number(least) => {
            let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least));
            (ParameterIn::Query, number.build().into())
        }
        Holds::Words(list) => (ParameterIn::Query, words(list.iter().copied())),
        Holds::Revision => (ParameterIn::Header, id(r#"^(\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$"#)),
    };
    let required = if query.required { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(query.name)
        .parameter_in(place)
        .required(required)
        .description(Some(query.about))
        .schema(Some(schema))
        .build()
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn id(pattern: &str) -> RefOr<Schema> {
    string().pattern(Some(pattern)).build().into()
}

fn words<'a>(list: impl Iterator<Item = &'a str>) -> RefOr<Schema> {
    string().enum_values(Some(list.map(Value::from))).build().into()
}

/// A body of the protocol.
fn body(name: &str) -> Content {
    Content::new(Some(Ref::from_schema_name(name)))
}

/// Text that is no JSON.
fn text() -> Content {
    Content::new(Some(Object::with_type(Type::String)))
}
