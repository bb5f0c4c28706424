//! Rows of a table that fills up round by round: ours, and what the floor takes for the same.

use anyhow::{Result, ensure};

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::measure::median;

/// What is measured: its name, unit and bar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) limit: Option<Limit>,
}

impl Row {
    /// One that has a bar.
    pub(crate) const fn limited(what: &'static str, unit: &'static str, limit: Limit) -> Self {
        Self { what, unit, limit: Some(limit) }
    }

    /// One that only orients.
    pub(crate) const fn free(what: &'static str, unit: &'static str) -> Self {
        Self { what, unit, limit: None }
    }
}

/// Everything measured so far.
#[derive(Debug)]
pub(crate) struct Rows {
    part: &'static str,
    rows: &'static [Row],
    /// Whether values count: those of a first round warm up what the system keeps of programs and libraries.
    pub(crate) keep: bool,
    /// By row: ours and the floor's.
    values: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Rows {
    pub(crate) fn new(part: &'static str, rows: &'static [Row]) -> Self {
        Self { part, rows, keep: false, values: vec![Default::default(); rows.len()] }
    }

    /// Takes a value of ours.
    pub(crate) fn ours(&mut self, row: &Row, value: f64) {
        self.take(row, false, value);
    }

    /// Takes a value of the floor.
    pub(crate) fn floor(&mut self, row: &Row, value: f64) {
        self.take(row, true, value);
    }

    /// Takes a value of ours or of the floor.
    pub(crate) fn take(&mut self, row: &Row, is_floor: bool, value: f64) {
        let index = self.rows.iter().position(|other| other.what == row.what);
        if let Some((ours, floor)) = index.and_then(|index| self.values.get_mut(index))
            && self.keep
        {
            if is_floor { floor } else { ours }.push(value);
        }
    }

    /// The medians. A row without a value is an error: a limit that nobody looked at would count as kept.
    pub(crate) fn figures(mut self) -> Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for (row, (ours, floor)) in self.rows.iter().zip(&mut self.values) {
            ensure!(!ours.is_empty(), "nothing was measured of `{}`", row.what);
            let mut figure = Figure::new(self.part, row.what, median(ours), row.unit);
            if !floor.is_empty() {
                figure = figure.beside(median(floor));
            }
            figures.push(match row.limit {
                Some(limit) => figure.limited(limit),
                None => figure,
            });
        }
        Ok(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Row] = &[Row::free("one", "ms"), Row::limited("other", "ms", Limit::AtMost(30.0))];

    #[test]
    fn a_row_without_a_value_is_an_error_and_named() {
        let mut rows = Rows::new("A part", ROWS);
        rows.ours(&ROWS[1], 5.0);
        rows.keep = true;
        rows.ours(&ROWS[0], 1.0);
        rows.floor(&ROWS[1], 2.0);
        let error = rows.figures().unwrap_err();
        assert_eq!(error.to_string(), "nothing was measured of `other`");
        let mut rows = Rows::new("A part", ROWS);
        rows.keep = true;
        ROWS.iter().for_each(|row| rows.ours(row, 1.0));
        assert_eq!(rows.figures().unwrap().len(), 2);
    }
}
