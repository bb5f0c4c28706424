//! `GET /metrics`, for Prometheus.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};

use crate::metrics::Text;
use crate::rest::{Answer, Shared};

/// The text format's version.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

pub(crate) async fn metrics(State(inner): Shared) -> Answer<([(HeaderName, HeaderValue); 1], String)> {
    let engine = &inner.parts.engine;
    let workspaces = engine.workspaces().await?;
    let counts = engine.counts();
    let mut text = Text::default();
    text.door(&inner.metrics);
    text.gauge("loggia_uptime_seconds", "How long the server has been up", inner.started.elapsed().as_secs());
    text.gauge("loggia_workspaces", "Registered workspaces", workspaces.len());
    let activity = engine.activity();
    text.gauge("loggia_sessions_loaded", "Sessions in memory", activity.loaded);
    text.gauge("loggia_sessions_running", "Sessions whose turn runs", activity.running);
    text.gauge("loggia_sessions_waiting", "Sessions whose turn waits for an answer", activity.waiting);
    text.gauge("loggia_clients", "Clients on sessions", activity.clients);
    text.counter("loggia_turns_started_total", "Turns that began or went on", counts.turns_started);
    text.counter("loggia_turns_ended_total", "Turns that ended", counts.turns_ended);
    text.counter("loggia_tokens_in_total", "Tokens models were sent", counts.tokens_in);
    text.counter("loggia_tokens_out_total", "Tokens models wrote", counts.tokens_out);
    text.counter("loggia_tool_calls_total", "Tools that were called", counts.tool_calls);
    text.counter("loggia_approvals_asked_total", "Questions put to people", counts.approvals_asked);
    text.counter("loggia_approvals_decided_total", "Questions answered", counts.approvals_decided);
    let indexes =
        workspaces.iter().filter_map(|workspace| Some((workspace.id, (inner.parts.index)(workspace)?)));
    let indexes: Vec<_> = indexes.map(|(id, index)| (id.to_string(), index.status())).collect();
    if !indexes.is_empty() {
        text.head("loggia_index_files", "Files in an index", "gauge");
        indexes
            .iter()
            .for_each(|(id, status)| text.row("loggia_index_files", &[("workspace", id)], status.files));
        text.head("loggia_index_bytes", "An index's size on disk", "gauge");
        indexes
            .iter()
            .for_each(|(id, status)| text.row("loggia_index_bytes", &[("workspace", id)], status.bytes));
    }
    Ok(([(CONTENT_TYPE, TEXT)], text.finish()))
}
