//! The layers of all-MiniLM-L6-v2.
//!
//! Knows BERT as this model has it: six layers of 384 numbers, and the mean of what comes out of the last. Refuses to
//! know texts: it is given numbers of tokens. The tokens of all texts of a batch stand below each other in one matrix, and
//! only attention looks at the texts one by one: so no text is padded, nothing has to be masked, and what is not there is
//! not computed. What always holds: a vector has [`WIDTH`] numbers and the length one.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::{Embedding, Linear, Module, VarBuilder};
use rayon::prelude::*;

use crate::minilm::steps::{Add, AddGelu, AddNorm, Softmax};

/// How many numbers a vector has.
pub(super) const WIDTH: usize = 384;

/// Tokens of a text that are looked at; its authors trained the model with texts no longer than that.
pub(super) const MAX_TOKENS: usize = 256;

const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD_WIDTH: usize = WIDTH / HEADS;
const INNER_WIDTH: usize = 1536;
const VOCABULARY: usize = 30_522;
const PLACES: usize = 512;
const TOKEN_TYPES: usize = 2;

/// The model, ready to be used.
pub(super) struct Model {
    tokens: Embedding,
    /// One row per place in a text.
    places: Embedding,
    norm: AddNorm,
    layers: Vec<Layer>,
}

/// Attention, then two multiplications of which the first makes rows wider.
struct Layer {
    /// Queries, keys and values beside each other.
    attended: Linear,
    attended_step: Add,
    attention: Linear,
    attention_step: AddNorm,
    inner: Linear,
    inner_step: AddGelu,
    outer: Linear,
    outer_step: AddNorm,
}

/// Where the tokens of a text stand in the matrix.
struct Rows {
    first: usize,
    count: usize,
}

impl Model {
    /// Makes the model of the bytes of its file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let weights = VarBuilder::from_slice_safetensors(bytes, DType::F32, &Device::Cpu)?;
        let embeddings = weights.pp("embeddings");
        let tokens = embeddings.get((VOCABULARY, WIDTH), "word_embeddings.weight")?;
        let places = embeddings.get((PLACES, WIDTH), "position_embeddings.weight")?;
        // All tokens have the first type.
        let types = embeddings.get((TOKEN_TYPES, WIDTH), "token_type_embeddings.weight")?;
        let layers = weights.pp("encoder.layer");
        Ok(Self {
            tokens: Embedding::new(tokens, WIDTH),
            places: Embedding::new(places, WIDTH),
            norm: norm(types.get(0)?.to_vec1()?, &embeddings)?,
            layers: (0..LAYERS).map(|number| Layer::read(&layers.pp(number))).collect::<Result<_>>()?,
        })
    }

    /// One vector per text. A text has at least one token and at most [`MAX_TOKENS`].
    pub(super) fn vectors(&self, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let mut rows = Vec::with_capacity(texts.len());
        let mut places = Vec::new();
        for text in texts {
            rows.push(Rows { first: places.len(), count: text.len() });
            places.extend((0_u32..).take(text.len()));
        }
        let column = |numbers: Vec<u32>| Tensor::new(numbers, &Device::Cpu);
        let mut states = self.tokens.forward(&column(texts.concat())?)?;
        states.inplace_op2(&self.places.forward(&column(places)?)?, &self.norm)?;
        for layer in &self.layers {
            states = layer.forward(&states, &rows)?;
        }
        rows.iter().map(|rows| Ok(unit(rows.of(&states)?.mean(0)?.to_vec1()?))).collect()
    }
}

impl Layer {
    fn read(weights: &VarBuilder<'_>) -> Result<Self> {
        let attention = weights.pp("attention");
        let (attended, attended_step) = attended(&attention.pp("self"))?;
        let (attention, found) = (attention.pp("output.dense"), attention.pp("output"));
        let (inner, outer) = (weights.pp("intermediate.dense"), weights.pp("output.dense"));
        let matrix = |of: &VarBuilder<'_>, from, to| candle_nn::linear_no_bias(from, to, of.clone());
        Ok(Self {
            attended,
            attended_step: Add(attended_step),
            attention_step: norm(column(&attention, WIDTH, "bias")?, &found)?,
            attention: matrix(&attention, WIDTH, WIDTH)?,
            inner_step: AddGelu(column(&inner, INNER_WIDTH, "bias")?),
            inner: matrix(&inner, WIDTH, INNER_WIDTH)?,
            outer_step: norm(column(&outer, WIDTH, "bias")?, &weights.pp("output"))?,
            outer: matrix(&outer, INNER_WIDTH, WIDTH)?,
        })
    }

    fn forward(&self, states: &Tensor, texts: &[Rows]) -> Result<Tensor> {
        let attended = self.attended.forward(states)?;
        attended.inplace_op1(&self.attended_step)?;
        let found = texts.par_iter().map(|rows| attend(&rows.of(&attended)?)).collect::<Result<Vec<_>>>()?;
        let found = self.attention.forward(&Tensor::cat(&found, 0)?)?;
        found.inplace_op2(states, &self.attention_step)?;
        let inner = self.inner.forward(&found)?;
        inner.inplace_op1(&self.inner_step)?;
        let outer = self.outer.forward(&inner)?;
        outer.inplace_op2(&found, &self.outer_step)?;
        Ok(outer)
    }
}

impl Rows {
    fn of(&self, matrix: &Tensor) -> Result<Tensor> {
        matrix.narrow(0, self.first, self.count)
    }
}

/// Queries, keys and values as one multiplication, which is quicker than three, and what is added to them. Queries are
/// scaled here once and for all, so that attention need not do it.
fn attended(weights: &VarBuilder<'_>) -> Result<(Linear, Vec<f32>)> {
    let scale = 1.0 / (HEAD_WIDTH as f64).sqrt();
    let mut matrices = Vec::new();
    let mut added = Vec::new();
    for (name, factor) in [("query", scale), ("key", 1.0), ("value", 1.0)] {
        let part = weights.pp(name);
        matrices.push((part.get((WIDTH, WIDTH), "weight")? * factor)?);
        added.extend((part.get(WIDTH, "bias")? * factor)?.to_vec1::<f32>()?);
    }
    Ok((Linear::new(Tensor::cat(&matrices, 0)?, None), added))
}

/// The norm after something was added, by its place in the file.
fn norm(added: Vec<f32>, weights: &VarBuilder<'_>) -> Result<AddNorm> {
    let weights = weights.pp("LayerNorm");
    let (spread, mean) = (column(&weights, WIDTH, "weight")?, column(&weights, WIDTH, "bias")?);
    Ok(AddNorm { added, spread, mean })
}

fn column(weights: &VarBuilder<'_>, count: usize, name: &str) -> Result<Vec<f32>> {
    weights.get(count, name)?.to_vec1()
}

/// What the tokens of one text find in each other.
fn attend(attended: &Tensor) -> Result<Tensor> {
    let count = attended.dim(0)?;
    let parts = attended.reshape((count, 3, HEADS, HEAD_WIDTH))?.permute((1, 2, 0, 3))?;
    let (queries, keys, values) = (parts.get(0)?, parts.get(1)?, parts.get(2)?);
    let shares = queries.matmul(&keys.transpose(D::Minus1, D::Minus2)?)?;
    shares.inplace_op1(&Softmax)?;
    shares.matmul(&values)?.transpose(0, 1)?.reshape((count, WIDTH))
}

/// The vector of the same direction whose length is one.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    // What comes out of a norm is never all zeroes; a file that is not the model may be anything.
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}
