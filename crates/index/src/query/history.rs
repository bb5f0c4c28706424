//! Which files were changed before for the words of a question.
//!
//! Knows what changes were said to be, and their files. A change counts by the words that it shares with the question, the
//! more the fewer changes have them; a file of many such changes counts more, and one of a change of many files less.

use std::collections::HashMap;

use loggia_domain::PastChange;

use crate::query::Search;
use crate::query::question::Parsed;
use crate::rank::{Scores, rarity};
use crate::words::Words;

/// How much a change counts that is as old as this many others: half of what the newest does.
const HALF_LIFE: f32 = 250.0;

impl Search<'_> {
    /// Adds what past changes say: to the file that they speak for most, so much of the best score as the best of them has
    /// of the question.
    pub(super) fn add_history(
        &self,
        scores: &mut Scores,
        parsed: &Parsed,
        history: &[PastChange],
        weight: f32,
    ) {
        if history.is_empty() || weight <= 0.0 {
            return;
        }
        let (likeness, closest) = likeness(parsed, history);
        let mut by_file: HashMap<&str, f32> = HashMap::new();
        for (age, (change, likeness)) in
            history.iter().zip(likeness).enumerate().filter(|(_, (_, like))| *like > 0.0)
        {
            let fresh = 1.0 / (1.0 + age as f32 / HALF_LIFE);
            let share = likeness * likeness * fresh / (change.files.len().max(1) as f32).sqrt();
            change.files.iter().for_each(|file| *by_file.entry(file).or_default() += share);
        }
        let most = by_file.values().copied().fold(0.0, f32::max);
        if most <= 0.0 {
            return;
        }
        let best = scores.files.iter().copied().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        for (path, share) in by_file {
            if let Some(file) = self.snapshot.find(path) {
                scores.files[file as usize] += weight * best * closest * (share / most).sqrt();
            }
        }
    }
}

/// By change: how much of the question its words are, from nothing to all. And the most that any of them has.
fn likeness(parsed: &Parsed, history: &[PastChange]) -> (Vec<f32>, f32) {
    let forms: HashMap<&str, (usize, f32)> = parsed
        .wanted
        .iter()
        .enumerate()
        .flat_map(|(place, wanted)| wanted.each().map(move |(form, weight)| (form, (place, weight))))
        .collect();
    let mut words = Words::default();
    let mut has = |change: &PastChange| {
        let mut has = vec![0.0_f32; parsed.wanted.len()];
        words.split(&change.subject, |word| {
            if let Some((place, weight)) = forms.get(word) {
                has[*place] = has[*place].max(*weight);
            }
        });
        has
    };
    let rows: Vec<Vec<f32>> = history.iter().map(&mut has).collect();
    let rarities: Vec<f32> = (0..parsed.wanted.len())
        .map(|place| rarity(rows.iter().filter(|has| has[place] > 0.0).count(), history.len() as u64))
        .collect();
    let ideal = rarities.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let of =
        |has: &Vec<f32>| has.iter().zip(&rarities).map(|(has, rarity)| has * rarity).sum::<f32>() / ideal;
    let likeness: Vec<f32> = rows.iter().map(of).collect();
    let closest = likeness.iter().copied().fold(0.0, f32::max);
    (likeness, closest)
}
