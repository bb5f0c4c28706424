//! Figures: what was measured, beside what, and which limit it has to keep.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One measured figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figure {
    /// What it is part of.
    pub part: String,
    /// What was measured.
    pub what: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: String,
    /// The same without an engine, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The limit we set ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Whether it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A limit we set ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The value is no larger.
    AtMost(f64),
    /// The value is no smaller.
    AtLeast(f64),
    /// The value is so many times the floor, or more.
    ShareOfFloor(f64),
    /// The value is so many times the floor, or less.
    TimesFloor(f64),
    /// The value is the floor and so much more, or less.
    OverFloor(f64),
}

impl Figure {
    /// A figure without floor and limit.
    pub(crate) fn new(part: &str, what: impl Into<String>, value: f64, unit: &str) -> Self {
        Self {
            part: part.to_owned(),
            what: what.into(),
            value,
            unit: unit.to_owned(),
            floor: None,
            limit: None,
            met: None,
            note: None,
        }
    }

    /// With what the same takes without an engine.
    pub(crate) fn beside(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self
    }

    /// With a limit; the floor, if it needs one, comes first.
    pub(crate) fn limited(mut self, limit: Limit) -> Self {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        self.limit = Some(limit);
        self.met = Some(match limit {
            Limit::AtMost(most) => self.value <= most,
            Limit::AtLeast(least) => self.value >= least,
            Limit::ShareOfFloor(share) => ratio >= share,
            Limit::TimesFloor(times) => ratio <= times,
            Limit::OverFloor(more) => self.floor.is_some_and(|floor| self.value <= floor + more),
        });
        self
    }

    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The value divided by the floor.
    pub fn ratio(&self) -> Option<f64> {
        self.floor.map(|floor| self.value / floor)
    }
}

/// The figures as people read them.
pub fn render(figures: &[Figure]) -> String {
    let mut text = String::new();
    let mut part = None;
    for figure in figures {
        if part != Some(&figure.part) {
            part = Some(&figure.part);
            let _ = writeln!(text, "\n{}", figure.part);
        }
        let value = format!("{} {}", number(figure.value), figure.unit);
        let _ = write!(text, "  {:<44} {value:>18}", figure.what);
        if let (Some(floor), Some(ratio)) = (figure.floor, figure.ratio()) {
            let _ = write!(text, "   {ratio:>5.2} of the floor's {}", number(floor));
        }
        if let (Some(limit), Some(met)) = (figure.limit, figure.met) {
            let limit = match limit {
                Limit::AtMost(most) => format!("at most {}", number(most)),
                Limit::AtLeast(least) => format!("at least {}", number(least)),
                Limit::ShareOfFloor(share) => format!("at least {share:.2}"),
                Limit::TimesFloor(times) => format!("at most {times:.2}"),
                Limit::OverFloor(more) => format!("at most {} more", number(more)),
            };
            let _ = write!(text, "   {limit}: {}", if met { "kept" } else { "MISSED" });
        }
        if let Some(note) = &figure.note {
            let _ = write!(text, "   ({note})");
        }
        text.push('\n');
    }
    text
}

/// Three digits that count, thousands whole.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
