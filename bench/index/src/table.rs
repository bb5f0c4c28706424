//! Figures, as a table for people or as lines for programs.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

/// One figure: ours, and beside it what it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) unit: &'static str,
    pub(crate) beside: Option<(String, f64)>,
    /// The most that ours, or the ratio if there is something beside it, should be.
    pub(crate) bar: Option<f64>,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, ours: f64, unit: &'static str) -> Self {
        Self { what: what.into(), ours, unit, beside: None, bar: None }
    }

    pub(crate) fn beside(mut self, who: &str, value: f64) -> Self {
        self.beside = Some((who.to_owned(), value));
        self
    }

    pub(crate) const fn at_most(mut self, bar: f64) -> Self {
        self.bar = Some(bar);
        self
    }

    fn ratio(&self) -> Option<f64> {
        self.beside.as_ref().map(|(_, value)| self.ours / value)
    }

    fn verdict(&self) -> &'static str {
        match (self.bar, self.ratio()) {
            (None, _) => "",
            (Some(bar), ratio) if ratio.unwrap_or(self.ours) <= bar => "kept",
            (Some(_), _) => "MISSED",
        }
    }
}

/// Prints figures.
pub(crate) fn print(figures: &[Figure], left_out: &[String], json: bool) {
    if json {
        for figure in figures {
            let line = serde_json::json!({
                "what": figure.what, "ours": figure.ours, "unit": figure.unit, "ratio": figure.ratio(),
                "beside": figure.beside, "bar": figure.bar,
            });
            println!("{line}");
        }
        return;
    }
    println!("| what | ours | beside it | ratio | bar | |");
    println!("|---|---|---|---|---|---|");
    for figure in figures {
        let beside = figure.beside.as_ref();
        let beside =
            beside.map_or(String::new(), |(who, value)| format!("{who}: {}", shown(*value, figure.unit)));
        let ratio = figure.ratio().map_or(String::new(), |ratio| format!("{ratio:.3}"));
        let bar = figure.bar.map_or(String::new(), |bar| format!("≤ {bar}"));
        let ours = shown(figure.ours, figure.unit);
        println!("| {} | {ours} | {beside} | {ratio} | {bar} | {} |", figure.what, figure.verdict());
    }
    left_out.iter().for_each(|what| println!("left out: {what}"));
}

fn shown(value: f64, unit: &str) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0} {unit}"),
        value if value >= 1.0 => format!("{value:.2} {unit}"),
        value => format!("{value:.3} {unit}"),
    }
}

/// The value below which a share of all values lies.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
