//! What is done to every row between two multiplications.
//!
//! Knows the functions of the model that are no multiplication, each in one pass over its rows. Refuses to know layers.
//! candle has all of them: here they are two to seven times as quick, since the compiler makes vector instructions of
//! them, and they work on the threads of whoever calls and not on threads of candle's own, which nobody can end and which
//! wait for each other without sleeping. What always holds: what comes out differs from the exact value by at most some
//! parts in a million.

use std::ops::Add as _;

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, bail};
use rayon::prelude::*;

/// Numbers that a thread takes at once: enough to be worth the handing over, and little enough for its cache.
const PIECE: usize = 16 * 1024;

/// Numbers that are added up side by side; the compiler does not change the order of additions by itself.
const LANES: usize = 8;

/// What keeps a row without any difference from being divided by nothing, as the model was trained.
const EPSILON: f32 = 1e-12;

/// Adds the same row to every row.
pub(super) struct Add(pub(super) Vec<f32>);

/// Adds the same row to every row, and lets each number through as far as it is positive: the exact GELU.
pub(super) struct AddGelu(pub(super) Vec<f32>);

/// Adds another matrix and the same row to every row, and gives each row a mean and a spread.
pub(super) struct AddNorm {
    /// What is added to every row.
    pub(super) added: Vec<f32>,
    /// The spread of each column.
    pub(super) spread: Vec<f32>,
    /// The mean of each column.
    pub(super) mean: Vec<f32>,
}

/// Makes shares of every row that add up to one.
pub(super) struct Softmax;

impl InplaceOp1 for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        each_row(numbers(storage, layout)?, self.0.len(), |row| {
            row.iter_mut().zip(&self.0).for_each(|(number, added)| *number += added);
        });
        Ok(())
    }
}

impl InplaceOp1 for AddGelu {
    fn name(&self) -> &'static str {
        "add-gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        each_row(numbers(storage, layout)?, self.0.len(), |row| {
            row.iter_mut().zip(&self.0).for_each(|(number, added)| *number = gelu(*number + added));
        });
        Ok(())
    }
}

impl InplaceOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let width = layout.dims().last().copied().unwrap_or(1);
        each_row(numbers(storage, layout)?, width, |row| {
            let highest = fold(row, f32::NEG_INFINITY, |number| number, f32::max);
            row.iter_mut().for_each(|number| *number = exp(*number - highest));
            let share = 1.0 / fold(row, 0.0, |number| number, f32::add);
            row.iter_mut().for_each(|number| *number *= share);
        });
        Ok(())
    }
}

impl InplaceOp2 for AddNorm {
    fn name(&self) -> &'static str {
        "add-norm"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        other: &CpuStorage,
        other_layout: &Layout,
    ) -> Result<()> {
        let width = self.added.len();
        let rows = numbers(storage, layout)?;
        let (CpuStorage::F32(other), Some((begin, end))) = (other, other_layout.contiguous_offsets()) else {
            bail!("what is added is no plain matrix")
        };
        let piece = PIECE.next_multiple_of(width);
        rows.par_chunks_mut(piece).zip(other[begin..end].par_chunks(piece)).for_each(|(rows, others)| {
            for (row, other) in rows.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                self.row(row, other);
            }
        });
        Ok(())
    }
}

impl AddNorm {
    fn row(&self, row: &mut [f32], other: &[f32]) {
        for ((number, other), added) in row.iter_mut().zip(other).zip(&self.added) {
            *number += other + added;
        }
        let width = row.len() as f32;
        let mean = fold(row, 0.0, |number| number, f32::add) / width;
        row.iter_mut().for_each(|number| *number -= mean);
        let variance = fold(row, 0.0, |number| number * number, f32::add) / width;
        let factor = 1.0 / (variance + EPSILON).sqrt();
        for ((number, spread), mean) in row.iter_mut().zip(&self.spread).zip(&self.mean) {
            *number = *number * factor * spread + mean;
        }
    }
}

/// The numbers of a matrix whose rows stand one after the other.
fn numbers<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((begin, end))) => Ok(&mut numbers[begin..end]),
        _ => bail!("this is no plain matrix"),
    }
}

fn each_row(numbers: &mut [f32], width: usize, work: impl Fn(&mut [f32]) + Sync) {
    let piece = PIECE.next_multiple_of(width);
    numbers.par_chunks_mut(piece).for_each(|rows| rows.chunks_exact_mut(width).for_each(&work));
}

/// Brings what is taken of each number of a row together to one, several side by side.
fn fold(row: &[f32], start: f32, take: impl Fn(f32) -> f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; LANES];
    let pieces = row.chunks_exact(LANES);
    let rest = pieces.remainder().iter().fold(start, |all, number| join(all, take(*number)));
    for piece in pieces {
        lanes.iter_mut().zip(piece).for_each(|(lane, number)| *lane = join(*lane, take(*number)));
    }
    lanes.into_iter().fold(rest, join)
}

fn gelu(number: f32) -> f32 {
    0.5 * number * (1.0 + erf(number * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function, wrong by at most 4e-7: a quotient of polynomials, as Eigen and XLA have it. Beyond four it is one.
fn erf(number: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let number = number.clamp(-4.0, 4.0);
    let square = number * number;
    number * polynomial(square, &ABOVE) / polynomial(square, &BELOW)
}

/// The exponential function of a number that is not above zero, wrong by at most one part in a million. Below −87, where
/// it is less than anything that can be written, it is taken to be at −87.
fn exp(number: f32) -> f32 {
    // Cephes' numbers for what is left between two powers of two.
    const REST: [f32; 7] =
        [1.987_569_2e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5, 1.0];
    // Adding so much leaves no place for a fraction: the sum is rounded, and its last bits are the whole number.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_FRONT: f32 = 0.693_359_4;
    const LN_2_BACK: f32 = -2.121_944_4e-4;
    let number = number.max(-87.0);
    let rounded = number * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = number - whole * LN_2_FRONT - whole * LN_2_BACK;
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    (1.0 + rest * polynomial(rest, &REST)) * power
}

/// A polynomial; its highest power first.
fn polynomial<const COUNT: usize>(number: f32, factors: &[f32; COUNT]) -> f32 {
    let mut value = 0.0;
    for factor in factors {
        value = value * number + factor;
    }
    value
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;

    /// How far a function is from the exact one at most, over a range of numbers.
    fn worst(from: f32, to: f32, difference: impl Fn(f32) -> f64) -> f64 {
        let steps = 100_000_u32;
        let numbers = (0..=steps).map(|step| from + (to - from) * (step as f32 / steps as f32));
        numbers.map(|number| difference(number).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn gelu_is_the_exact_one() {
        let exact = |number: f32| {
            let number = f64::from(number);
            0.5 * number * (1.0 + candle_core::cpu::erf::erf_f64(number / 2.0_f64.sqrt()))
        };
        let worst = worst(-10.0, 10.0, |number| f64::from(gelu(number)) - exact(number));
        assert!(worst < 2e-6, "{worst}");
    }

    #[test]
    fn exp_is_right_to_one_part_in_a_million() {
        let worst = worst(-87.0, 0.0, |number| f64::from(exp(number)) / f64::from(number).exp() - 1.0);
        assert!(worst < 1e-6, "{worst}");
        assert_eq!((exp(0.0), exp(-1e30)), (1.0, exp(-87.0)));
    }

    /// A matrix with nothing special about it, of more rows than a thread takes at once.
    fn matrix(width: usize) -> Tensor {
        let rows = PIECE / width + 3;
        let numbers = (0_u16..).map(|number| f32::from(number % 1009) / 100.0 - 5.0).take(rows * width);
        Tensor::from_vec(numbers.collect(), (rows, width), &Device::Cpu).unwrap()
    }

    fn row(width: usize, factor: f32) -> Vec<f32> {
        (0_u16..).map(|number| f32::from(number % 13) * factor).take(width).collect()
    }

    fn assert_near(found: &Tensor, expected: &Tensor) {
        let worst = (found - expected).unwrap().abs().unwrap().flatten_all().unwrap().max(0).unwrap();
        let worst = worst.to_scalar::<f32>().unwrap();
        assert!(worst < 1e-5, "{worst}");
    }

    #[test]
    fn every_row_gets_what_is_added() {
        let matrix = matrix(384);
        let added = row(384, 0.25);
        let expected = matrix.broadcast_add(&Tensor::new(&added[..], &Device::Cpu).unwrap()).unwrap();
        let found = matrix.copy().unwrap();
        found.inplace_op1(&Add(added.clone())).unwrap();
        assert_near(&found, &expected);
        let found = matrix.copy().unwrap();
        found.inplace_op1(&AddGelu(added)).unwrap();
        assert_near(&found, &expected.gelu_erf().unwrap());
    }

    #[test]
    fn shares_are_those_of_candle_for_rows_of_any_width() {
        for width in [2, 7, 8, 29, 256] {
            let matrix = matrix(width);
            let expected = candle_nn::ops::softmax_last_dim(&matrix).unwrap();
            matrix.inplace_op1(&Softmax).unwrap();
            assert_near(&matrix, &expected);
        }
    }

    #[test]
    fn the_norm_is_that_of_candle() {
        let (matrix, other) = (matrix(384), matrix(384).affine(-0.5, 0.125).unwrap());
        let (added, spread, mean) = (row(384, 0.5), row(384, 0.1), row(384, -0.3));
        let tensor = |numbers: &[f32]| Tensor::new(numbers, &Device::Cpu).unwrap();
        let sum = (&matrix + &other).unwrap().broadcast_add(&tensor(&added)).unwrap();
        let expected = candle_nn::ops::layer_norm_slow(&sum, &tensor(&spread), &tensor(&mean), EPSILON);
        matrix.inplace_op2(&other, &AddNorm { added, spread, mean }).unwrap();
        assert_near(&matrix, &expected.unwrap());
    }
}
