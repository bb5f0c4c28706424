//! Trying other weights: chosen on the older half of the questions, judged on the newer half.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use anyhow::Result;
use loggia_index::{FileIndex, Tuning, Way};

use crate::history::Pair;
use crate::retrieval::{Knows, Score, ranked};

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
            let found = ranked(index, pair, Way::Fused, *tuning, Knows::History).await?;
            if place < self.half { older } else { newer }.add(wanted, &found);
        }
        Ok(())
    }

    /// Shows the best ones; all of them to a program, so that several sources of questions can be put together.
    pub(crate) fn tell(mut self, json: bool) {
        if json {
            for (number, (tuning, older, newer)) in self.tried.iter().enumerate() {
                let tuning = format!("{tuning:?}");
                let halves = [older, newer].map(|score| serde_json::json!([score.worth(), score.at_ten()]));
                println!("{}", serde_json::json!({ "tuning": number, "halves": halves, "weights": tuning }));
            }
            return;
        }
        let Some((_, older, newer)) = self.tried.first() else { return };
        println!("now: older half {:.4}, newer half {:.4}", older.worth(), newer.worth());
        self.tried.sort_by(|a, b| b.1.worth().total_cmp(&a.1.worth()));
        for (tuning, older, newer) in self.tried.iter().take(12) {
            println!("older half {:.4}, newer half {:.4}: {tuning:?}", older.worth(), newer.worth());
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

    fn between(&mut self, least: f32, most: f32) -> f32 {
        self.unit().mul_add(most - least, least)
    }

    fn tuning(&mut self, from: &Tuning) -> Tuning {
        Tuning {
            // The code is what the others are measured by.
            fields: [self.between(0.5, 8.0), 1.0, self.between(0.5, 3.0), self.between(0.0, 5.0)],
            lengths: [(); 4].map(|()| self.between(0.1, 1.0)),
            saturation: self.between(0.4, 16.0),
            forms: self.between(0.0, 0.7),
            piece: self.between(0.0, 1.6),
            typed_name: self.between(0.0, 0.7),
            central: self.between(0.0, 0.04),
            tests: self.between(0.6, 1.1),
            prose: self.between(0.6, 1.2),
            data: self.between(0.3, 1.0),
            history: self.between(0.0, 1.5),
            ..*from
        }
    }
}
