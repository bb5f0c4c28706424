//! The text that Prometheus reads.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;

use crate::metrics::{BUCKETS, Metrics};

/// Metrics as text.
#[derive(Debug, Default)]
pub(crate) struct Text(String);

impl Text {
    /// Something that only rises.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, help, "counter");
        self.row(name, &[], value);
    }

    /// Something that goes up and down.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "gauge");
        self.row(name, &[], value);
    }

    /// What kind of metric the next rows are.
    pub(crate) fn head(&mut self, name: &str, help: &str, kind: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes everything");
    }

    /// One row. Label values are ours and need no quoting.
    pub(crate) fn row(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        writeln!(self.0, "{name}{labels} {value}").expect("a string takes everything");
    }

    /// What the door counted itself.
    pub(crate) fn door(&mut self, metrics: &Metrics) {
        let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        self.gauge("loggia_sockets", "WebSockets that are open", of(&metrics.sockets));
        self.counter("loggia_messages_in_total", "Messages clients sent", of(&metrics.messages_in));
        self.counter("loggia_messages_out_total", "Messages clients were sent", of(&metrics.messages_out));
        self.head("loggia_http_answers_total", "Answers by the class of their status", "counter");
        for (class, counter) in metrics.answers.iter().enumerate() {
            self.row("loggia_http_answers_total", &[("class", &format!("{}xx", class + 1))], of(counter));
        }
        let name = "loggia_http_answer_seconds";
        self.head(name, "How long answers took", "histogram");
        let mut below = 0;
        let bucket = format!("{name}_bucket");
        for (counter, bound) in metrics.times.iter().zip(BUCKETS) {
            below += of(counter);
            self.row(&bucket, &[("le", &seconds(bound))], below);
        }
        below += metrics.times.last().map_or(0, of);
        self.row(&bucket, &[("le", "+Inf")], below);
        self.row(&format!("{name}_sum"), &[], seconds(of(&metrics.time)));
        self.row(&format!("{name}_count"), &[], below);
    }

    /// All of it.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// Microseconds as seconds.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn times_are_counted_in_every_bucket_they_fit() {
        let metrics = Metrics::default();
        metrics.answered(StatusCode::OK, Duration::from_micros(100));
        metrics.answered(StatusCode::NOT_FOUND, Duration::from_micros(600));
        metrics.answered(StatusCode::OK, Duration::from_secs(2));
        let mut text = Text::default();
        text.door(&metrics);
        let text = text.finish();
        for row in [
            "loggia_http_answers_total{class=\"2xx\"} 2",
            "loggia_http_answers_total{class=\"4xx\"} 1",
            "loggia_http_answer_seconds_bucket{le=\"0.0001\"} 1",
            "loggia_http_answer_seconds_bucket{le=\"0.0005\"} 1",
            "loggia_http_answer_seconds_bucket{le=\"0.001\"} 2",
            "loggia_http_answer_seconds_bucket{le=\"1\"} 2",
            "loggia_http_answer_seconds_bucket{le=\"+Inf\"} 3",
            "loggia_http_answer_seconds_sum 2.0007",
            "loggia_http_answer_seconds_count 3",
        ] {
            assert!(text.lines().any(|line| line == row), "{row}\n{text}");
        }
    }
}
