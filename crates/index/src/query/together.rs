//! A query by all ways of looking together, as people search.
//!
//! Ranks as a question is answered, and shows the lines that were looked for, in what definition they are. A query that is
//! a name leads to what is defined by it first.

use std::sync::Arc;

use loggia_domain::{CodeContext, CodeFinding, CodeQuery, CodeQuestion, Definition, IndexError};

use crate::chunks::with_comment;
use crate::facts::{Facts, Symbol};
use crate::query::excerpt::snippet;
use crate::query::filter::PathFilter;
use crate::query::fused::Ranking;
use crate::query::question::{self, Parsed};
use crate::query::symbols::MAX_SHOWN;
use crate::query::words::{WINDOW, window};
use crate::query::{Search, unavailable};
use crate::tuning::Tuning;
use crate::vectors::Similar;

impl Search<'_> {
    /// What fits a query by all signs, best first.
    pub(super) fn together(
        &self,
        query: &CodeQuery,
        similar: &[Similar],
    ) -> Result<Vec<CodeFinding>, IndexError> {
        let filter = PathFilter::new(&query.paths)?;
        let tuning = Tuning::default();
        let parsed = question::parse(&query.text, tuning.forms);
        let mut findings = self.exactly(query)?;
        let question = CodeQuestion {
            text: query.text.clone(),
            context: CodeContext::default(),
            history: Arc::default(),
            limit: query.limit,
            budget: usize::MAX,
        };
        let ranking = self.ranked(&parsed, &question, &filter, &tuning, similar).map_err(unavailable)?;
        let best = ranking.files.first().map_or(0.0, |ranked| ranked.score);
        // What is defined by the name that a query is stands above everything else: in its own order, and comparable with
        // what comes after it.
        findings.iter_mut().for_each(|finding| finding.score = finding.score.mul_add(0.01, best));
        // Some pieces may be what is defined by the query, and are there already, or come to the same lines.
        for limit in [query.limit, query.limit.saturating_mul(2)] {
            let more = CodeQuestion { limit, ..question.clone() };
            let left_out = self.fill(&mut findings, &ranking, &parsed, &more)?;
            if findings.len() >= query.limit || left_out == 0 {
                break;
            }
        }
        findings.truncate(query.limit);
        Ok(findings)
    }

    /// Adds the best pieces that are not there yet. Says how many others there are.
    fn fill(
        &self,
        findings: &mut Vec<CodeFinding>,
        ranking: &Ranking,
        parsed: &Parsed,
        question: &CodeQuestion,
    ) -> Result<usize, IndexError> {
        let packed = self.pack(&ranking.files, question)?;
        for mut finding in packed.findings {
            self.narrow(&mut finding, ranking, parsed)?;
            // Of a long definition only the beginning is shown.
            let is_there = |other: &CodeFinding| {
                other.path == finding.path
                    && other.start_line <= finding.end_line
                    && finding.start_line <= other.end_line.min(other.start_line + MAX_SHOWN)
            };
            if !findings.iter().any(is_there) {
                findings.push(finding);
            }
        }
        Ok(packed.left_out)
    }

    /// Shows of a piece the lines that have most of what was looked for, and in what they are.
    fn narrow(
        &self,
        finding: &mut CodeFinding,
        ranking: &Ranking,
        parsed: &Parsed,
    ) -> Result<(), IndexError> {
        let Some(file) = self.snapshot.find(&finding.path) else { return Ok(()) };
        let close = ranking.files.iter().find(|ranked| ranked.file == file);
        let Some(close) = close.and_then(|ranked| ranked.close.as_ref()) else { return Ok(()) };
        let lines: Vec<&str> = close.text.lines().collect();
        let before = finding.start_line as usize - 1;
        let piece = lines.get(before..lines.len().min(finding.end_line as usize)).unwrap_or_default();
        // One that is there for its meaning, or for who has it open, is shown as it is.
        let Some((first, last)) = window(&piece.join("\n"), &parsed.wanted, &ranking.rarity) else {
            return Ok(());
        };
        let facts = self.snapshot.outline(file).map_err(unavailable)?.unwrap_or_default();
        let (first, mut last) = (finding.start_line - 1 + first, finding.start_line - 1 + last);
        let around = innermost(&facts, first).or_else(|| described(&facts, &lines, first));
        if let Some(symbol) = around.filter(|symbol| symbol.start_line > last) {
            // With what it describes, if that is near.
            last = if symbol.start_line - first < WINDOW { symbol.start_line } else { last };
        }
        (finding.start_line, finding.end_line) = (first, last);
        finding.snippet = snippet(&close.text, first, last);
        finding.symbol = around.map(|symbol| symbol.name.to_string());
        finding.definition = around.map(Definition::from);
        Ok(())
    }
}

/// The smallest definition that a line is in.
fn innermost(facts: &Facts, line: u32) -> Option<&Symbol> {
    let around = facts.symbols.iter().filter(|symbol| symbol.start_line <= line && line <= symbol.end_line);
    around.min_by_key(|symbol| symbol.end_line - symbol.start_line)
}

/// The definition whose comment a line is in.
fn described<'f>(facts: &'f Facts, lines: &[&str], line: u32) -> Option<&'f Symbol> {
    let after = facts.symbols.iter().filter(|symbol| symbol.start_line > line);
    let next = after.min_by_key(|symbol| symbol.start_line)?;
    (with_comment(lines, 0, next.start_line) <= line).then_some(next)
}
