//! The model as an embedder.
//!
//! Knows the threads on which the model works and how texts become tokens. What always holds: one batch is made at a
//! time, so that memory is bounded and nobody waits longer than for one batch of each other one who asks.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use loggia_domain::{BoxFuture, Embedder, EmbedderError};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::{Semaphore, oneshot};

use crate::minilm::apart;
use crate::minilm::model::{MAX_TOKENS, Model, WIDTH};
use crate::minilm::weights::{self, MODEL, TOKENIZER};
use crate::{EmbedError, MAX_BATCH};

/// A text is cut off here before it is split: what comes later is beyond the last token that is looked at, unless
/// somebody writes words of hundreds of letters.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// More threads than this have too little to do each.
const MAX_THREADS: usize = 8;

/// How much less urgent vectors are than what people wait for, as `nice` counts.
const NICE: i32 = 10;

/// all-MiniLM-L6-v2 in this process.
pub struct MiniLm {
    parts: Arc<Parts>,
    /// The only threads on which it works.
    threads: ThreadPool,
    /// Whose turn it is.
    turn: Arc<Semaphore>,
}

struct Parts {
    model: Model,
    tokenizer: Tokenizer,
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLm").finish_non_exhaustive()
    }
}

impl MiniLm {
    /// Checks and reads the files of the model: some tenths of a second, and for a moment twice their size in memory.
    ///
    /// # Errors
    ///
    /// Which file is missing or another one, or why the model cannot be made of them.
    pub async fn open(directory: &Path) -> Result<Self, EmbedError> {
        let directory = directory.to_owned();
        let parts = apart(move || Parts::read(&directory)).await?;
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = ThreadPoolBuilder::new()
            .num_threads(available.min(MAX_THREADS))
            .thread_name(|number| format!("minilm-{number}"))
            .start_handler(|_| lower_priority())
            // Whoever waits for the batch is told; without this the process would end.
            .panic_handler(|_| ())
            .build()
            .map_err(failed)?;
        Ok(Self { parts: Arc::new(parts), threads, turn: Arc::new(Semaphore::new(1)) })
    }

    /// The vectors of at most [`MAX_BATCH`] texts.
    async fn batch(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(failed)?;
        let (answer, answered) = oneshot::channel();
        let parts = Arc::clone(&self.parts);
        self.threads.spawn(move || {
            // Whoever asked may be gone; the turn ends with the work all the same.
            let _turn = turn;
            let _ = answer.send(parts.vectors(&texts));
        });
        answered.await.map_err(|_| EmbedError::Model("it gave up in the middle".to_owned()))?
    }
}

impl Parts {
    fn read(directory: &Path) -> Result<Self, EmbedError> {
        let model = Model::read(&weights::read(directory, MODEL)?).map_err(failed)?;
        let mut tokenizer = Tokenizer::from_bytes(weights::read(directory, TOKENIZER)?).map_err(failed)?;
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(failed)?.with_padding(None);
        Ok(Self { model, tokenizer })
    }

    fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut tokens = Vec::with_capacity(texts.len());
        for text in texts {
            let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
            tokens.push(self.tokenizer.encode_fast(text, true).map_err(failed)?);
        }
        let numbers: Vec<&[u32]> = tokens.iter().map(tokenizers::Encoding::get_ids).collect();
        self.model.vectors(&numbers).map_err(failed)
    }
}

impl Embedder for MiniLm {
    fn dimensions(&self) -> usize {
        WIDTH
    }

    fn identity(&self) -> String {
        format!("minilm:all-MiniLM-L6-v2:{MAX_TOKENS}:{}", &MODEL.sha256[..12])
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(MAX_BATCH) {
                vectors.extend(self.batch(batch.to_vec()).await?);
            }
            Ok(vectors)
        })
    }
}

fn failed(error: impl fmt::Display) -> EmbedError {
    EmbedError::Model(error.to_string())
}

fn lower_priority() {
    // On Linux this is about the calling thread alone. Where it is not allowed, vectors are as urgent as all else.
    let _ = rustix::process::setpriority_process(None, NICE);
}

#[cfg(test)]
mod tests;
