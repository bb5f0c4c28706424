//! What the daemon does, as OpenTelemetry spans for a collector that somebody named.
//!
//! Knows the variables and the key that name one, and how spans get there. Refuses to know what spans say: those who do
//! the work write them, and put no contents into them.
//!
//! What always holds:
//! - without a collector nothing of this exists: no thread, no connection, and spans are not even made;
//! - spans wait in a queue of bounded length, and whatever the collector does, nobody waits for it;
//! - no thread is started before [`Telemetry::begin`]: until then the process looks at its environment.

mod collector;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanProcessor};
use tokio::runtime::Handle;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::{Layer, Registry};

use crate::config::Config;
use collector::Collector;

/// How long the last spans may take to reach the collector when the daemon ends: people wait for it to end.
const FLUSH: Duration = Duration::from_secs(2);

/// The path a base address is completed with, as the standard says.
const TRACES: &str = "/v1/traces";

/// What the targets of our own spans begin with: the names of our crates.
const OURS: &str = "loggia";

/// Our name, if nobody gives us another.
const SERVICE: &str = "loggia";

/// Spans for a collector.
#[derive(Debug)]
pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
    processor: Arc<OnceLock<BatchSpanProcessor>>,
    /// Where to, if the configuration says so; else the standard variables do.
    endpoint: Option<String>,
    resource: Resource,
}

impl Telemetry {
    /// What was asked for: nothing, as a rule.
    pub(crate) fn asked(config: &Config) -> Option<Self> {
        let of_config = config.otlp_endpoint().map(|base| format!("{}{TRACES}", base.trim_end_matches('/')));
        let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
        let is_named = of_config.is_some() || named.into_iter().any(|name| variable(name).is_some());
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").as_deref() == Some("none");
        (is_named && !is_off).then(|| Self::new(of_config))
    }

    fn new(endpoint: Option<String>) -> Self {
        let processor = Arc::default();
        let resource = resource();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.clone())
            .with_span_processor(Later(Arc::clone(&processor)))
            .build();
        Self { provider, processor, endpoint, resource }
    }

    /// The part of the log that makes our spans known to the collector. What is logged stays here.
    pub(crate) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let ours = filter_fn(|span| span.is_span() && span.target().starts_with(OURS));
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(ours.with_max_level_hint(LevelFilter::INFO))
            .boxed()
    }

    /// Begins to send, on this runtime. If that is not possible, it says so and there are no spans.
    pub(crate) fn begin(&self, runtime: Handle) {
        let mut exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(runtime))
            .with_protocol(Protocol::HttpBinary);
        if let Some(endpoint) = &self.endpoint {
            exporter = exporter.with_endpoint(endpoint.clone());
        }
        match exporter.build() {
            Ok(exporter) => {
                let mut processor = BatchSpanProcessor::builder(exporter).build();
                processor.set_resource(&self.resource);
                // It begins once.
                let _ = self.processor.set(processor);
            }
            Err(error) => tracing::warn!(%error, "telemetry is off"),
        }
    }

    /// Sends what is left, if that takes no time to speak of.
    pub(crate) async fn end(self) {
        let flushed = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FLUSH)).await;
        if let Ok(Err(error)) = flushed {
            tracing::debug!(%error, "the last spans were not sent");
        }
    }
}

/// Who we are: what the standard variables say, and what they leave out.
fn resource() -> Resource {
    let attributes = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let has = |name: &str| {
        attributes.split(',').any(|pair| pair.split_once('=').is_some_and(|(key, _)| key.trim() == name))
    };
    let mut own = Vec::new();
    if variable("OTEL_SERVICE_NAME").is_none() && !has("service.name") {
        own.push(KeyValue::new("service.name", SERVICE));
    }
    if !has("service.version") {
        own.push(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    }
    Resource::builder().with_attributes(own).build()
}

/// A variable that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A processor whose thread is started later. Spans that end before are not sent.
#[derive(Debug)]
struct Later(Arc<OnceLock<BatchSpanProcessor>>);

impl SpanProcessor for Later {
    fn on_start(&self, span: &mut Span, context: &Context) {
        if let Some(processor) = self.0.get() {
            processor.on_start(span, context);
        }
    }

    fn on_end(&self, span: SpanData) {
        if let Some(processor) = self.0.get() {
            processor.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.get().map_or(Ok(()), SpanProcessor::force_flush)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.get().map_or(Ok(()), |processor| processor.shutdown_with_timeout(timeout))
    }
}
