//! What is logged.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use loggia_domain::ModelCatalogue;
use loggia_mock_models::{self as mock, Answer, Mock, frames, text};
use loggia_models::{EndpointKind, Environment, Models};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::contract::{KEY, ask, hear, settings};

/// Everything that was logged, as text.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}: {value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_key_is_in_no_log_whatever_a_provider_answers() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let said = format!("no: {KEY}");
    for kind in EndpointKind::ALL {
        let mut broken = frames(kind, &[text("Hel")]);
        broken.push(mock::error(kind, &said));
        let refused = Answer::json(401, &format!("{{\"error\":\"{said}\"}}"));
        let mock = Mock::start(vec![refused, Answer::frames(&broken)]).await;
        let models = Models::new(settings(kind, &mock.address), Environment::empty());
        for _ in 0..2 {
            hear(&*models.find(None).unwrap(), ask("hello")).await.unwrap_err();
        }
        models.list().await;
        models.doctor().await;
    }
    tracing::info!("the log works");
    let log = log.0.lock().unwrap();
    assert!(log.contains("the log works"));
    assert!(!log.contains(KEY), "{log}");
}
