//! A provider of models that says at once whatever it is asked for, and `curl`, which asks it.
//!
//! It speaks as the OpenAI chat completions do, one event a token. Nothing is looked up and nothing is kept.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{StreamExt, stream};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::TOKEN;
use crate::engine::world::threads;
use crate::process::{Process, Timed};

/// A provider that runs, and ends with this.
#[derive(Debug)]
pub(super) struct Provider {
    runtime: Option<Runtime>,
    address: SocketAddr,
}

impl Provider {
    /// Starts it.
    pub(super) fn start() -> Result<Self> {
        let runtime = threads()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/{count}/v1/chat/completions", post(reply));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { runtime: Some(runtime), address })
    }

    /// Has `curl` ask for so many tokens.
    pub(super) fn ask(&self, count: usize) -> Result<Timed> {
        let url = format!("http://{}/{count}/v1/chat/completions", self.address);
        let body =
            r#"{"model":"bench","stream":true,"messages":[{"role":"user","content":"say something"}]}"#;
        let arguments =
            ["--silent", "--no-buffer", "--header", "content-type: application/json", "--data", body, &url];
        curl(&arguments)?.run_to_end()
    }

    /// How long `curl` takes to say its version, in milliseconds.
    #[expect(clippy::unused_self, reason = "the floor is asked in one way")]
    pub(super) fn version(&self) -> Result<f64> {
        Ok(curl(&["--version"])?.run_to_end()?.end)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::ZERO);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what people ask a provider with when they have no agent")]
fn curl(arguments: &[&str]) -> Result<Process> {
    let mut command = Command::new("curl");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::start(command)
}

async fn reply(Path(count): Path<usize>) -> Response {
    let token = format!(
        "data: {{\"id\":\"bench\",\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{TOKEN:?}}}}}]}}\n\n"
    );
    let token = Bytes::from(token);
    let tokens = stream::repeat(token).take(count);
    let end = stream::iter([Bytes::from_static(b"data: [DONE]\n\n")]);
    let body = Body::from_stream(tokens.chain(end).map(Ok::<_, std::convert::Infallible>));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
