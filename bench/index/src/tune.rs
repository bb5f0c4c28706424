//! Trying other weights: chosen on the older half of the questions, judged on the newer half.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Result;
use loggia_index::{FileIndex, Tuning, Way};

use crate::history::Pair;
use crate::retrieval::{Score, ranked};

/// Weights that are tried, each with how well it does on either half.
pub(crate) struct Tuner {
    tried: Vec<(Tuning, Score, Score)>,
    half: usize,
}

impl Tuner {
    /// Draws weights around the present ones, which come first.
    pub(crate) fn new(count: usize, pairs: usize) -> Self {
        let mut draw = Draw(20_261_116);
        let mut tried = vec![(Tuning::default(), Score::default(), Score::default())];
        for _ in 0..count {
            tried.push((draw.tuning(&Tuning::default()), Score::default(), Score::default()));
        }
        if count == 0 {
            tried.clear();
        }
        Self { tried, half: pairs / 2 }
    }

    /// Tries all of them on a question.
    pub(crate) async fn add(
        &mut self,
        index: &FileIndex,
        place: usize,
        pair: &Pair,
        wanted: &[&String],
    ) -> Result<()> {
        for (tuning, older, newer) in &mut self.tried {
            let found = ranked(index, pair, Way::Fused, *tuning, false).await?;
            if place < self.half { older } else { newer }.add(wanted, &found);
        }
        Ok(())
    }

    /// Shows the best ones.
    pub(crate) fn tell(mut self) {
        let Some((_, older, newer)) = self.tried.first() else { return };
        println!(
            "now: older half {:.4}, newer half {:.4} (recall@10 {:.3})",
            older.worth(),
            newer.worth(),
            newer.at_ten()
        );
        self.tried.sort_by(|a, b| b.1.worth().total_cmp(&a.1.worth()));
        for (tuning, older, newer) in self.tried.iter().take(12) {
            println!(
                "older {:.4} newer {:.4} (recall@10 {:.3}) {tuning:?}",
                older.worth(),
                newer.worth(),
                newer.at_ten()
            );
        }
    }
}

/// Numbers that look random and are the same in every run.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Between a third and three times a value, or sometimes none of it.
    fn near(&mut self, value: f32) -> f32 {
        let factor = (self.unit() * 2.0 - 1.0).mul_add(1.1, 0.0).exp();
        if self.unit() < 0.05 { 0.0 } else { value * factor }
    }

    fn tuning(&mut self, from: &Tuning) -> Tuning {
        Tuning {
            fields: from.fields.map(|value| self.near(value)),
            lengths: from.lengths.map(|_| self.unit()),
            saturation: self.near(from.saturation).max(0.2),
            forms: self.unit(),
            piece: self.near(from.piece),
            typed_name: self.near(from.typed_name),
            central: self.near(from.central),
            tests: 0.5 + self.unit() * 0.8,
            prose: 0.4 + self.unit() * 0.9,
            data: 0.2 + self.unit() * 0.8,
            ..*from
        }
    }
}
