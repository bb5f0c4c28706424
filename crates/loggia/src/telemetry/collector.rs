//! The way to a collector: one small request at a time, each over a connection of its own.
//!
//! Knows TCP, TLS and HTTP/1. What always holds: a request takes no longer than its time, an answer no more than its
//! room, and trouble is told once until it is over.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{HttpClient, HttpError};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_rustls::TlsConnector;

use super::variable;

/// How long a request may take, unless the standard variables say otherwise: the standard's own value.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is read of an answer. Collectors answer with a few bytes, or with a page that says what is wrong.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// A way to a collector.
#[derive(Debug)]
pub(super) struct Collector {
    runtime: Handle,
    road: Arc<Road>,
}

#[derive(Debug)]
struct Road {
    /// Made for the first request that needs it: reading all certificates of a system takes its time.
    tls: OnceLock<Arc<ClientConfig>>,
    patience: Duration,
    /// Whether it is known that nothing arrives.
    is_blocked: AtomicBool,
}

impl Collector {
    /// On this runtime: whoever has spans to send is none of its threads.
    pub(super) fn new(runtime: Handle) -> Self {
        let road = Road { tls: OnceLock::new(), patience: patience(), is_blocked: AtomicBool::new(false) };
        Self { runtime, road: Arc::new(road) }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let road = Arc::clone(&self.road);
        let sent = self.runtime.spawn(async move { road.send(request).await });
        Box::pin(async move { Ok(sent.await??) })
    }
}

impl Road {
    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Bytes>> {
        let collector = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let answer = tokio::time::timeout(self.patience, self.exchange(request)).await;
        let answer = answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let trouble = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answers {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        let was_blocked = self.is_blocked.swap(trouble.is_some(), Ordering::Relaxed);
        match trouble {
            Some(error) if !was_blocked => {
                tracing::warn!(collector, error, "telemetry is not taken; everything else goes on");
            }
            None if was_blocked => tracing::info!(collector, "telemetry is taken again"),
            Some(_) | None => {}
        }
        answer
    }

    async fn exchange(&self, request: Request<Bytes>) -> io::Result<Response<Bytes>> {
        let uri = request.uri().clone();
        let no_host = || io::Error::new(io::ErrorKind::InvalidInput, "the address has no host");
        let host = uri.host().ok_or_else(no_host)?.trim_start_matches('[').trim_end_matches(']');
        let is_encrypted = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        if !is_encrypted {
            return post(stream, request, &uri).await;
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let stream = TlsConnector::from(self.tls()?).connect(name, stream).await?;
        post(stream, request, &uri).await
    }

    fn tls(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(tls) = self.tls.get() {
            return Ok(Arc::clone(tls));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots())
            .with_no_client_auth();
        Ok(Arc::clone(self.tls.get_or_init(|| Arc::new(tls))))
    }
}

async fn post<S>(stream: S, request: Request<Bytes>, uri: &Uri) -> io::Result<Response<Bytes>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut parts, body) = request.into_parts();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().map_err(io::Error::other)?;
    if let Some(authority) = uri.authority() {
        parts.headers.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(io::Error::other)?);
    }
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    let request = Request::from_parts(parts, Full::new(body));
    let (head, body) = sender.send_request(request).await.map_err(io::Error::other)?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(io::Error::other)?;
    drop(connection);
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// Whose certificates are believed: those the standard variable names, else those the system believes.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let named = ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
    if let Some(path) = named.into_iter().find_map(variable) {
        match CertificateDer::pem_file_iter(&path) {
            Ok(found) => roots.add_parsable_certificates(found.flatten()),
            Err(error) => {
                tracing::warn!(path, %error, "the collector's certificate cannot be read");
                (0, 0)
            }
        };
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    roots
}

fn patience() -> Duration {
    let named = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
    let milliseconds = named.into_iter().find_map(|name| variable(name)?.parse().ok());
    milliseconds.map_or(PATIENCE, Duration::from_millis)
}
