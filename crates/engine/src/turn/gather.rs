//! Looking up what belongs to an instruction and was not sent along, by what it is for.
//!
//! Fixing needs what was changed and what failed last; testing the tests and what they test; explaining just the place in
//! question; refactoring what a file uses and what uses it. Knows where each is found. Refuses to know how clients say
//! what they want: the instruction's aim says it.
//!
//! What always holds:
//! - files are reached through the workspace's root and as far as the policy lets them be read without asking; git is
//!   read by its tool, under the policy; nothing is run and nothing is written;
//! - secrets are masked before anything is cut;
//! - it takes a bounded time on threads that may block, ends with its turn, and takes a bounded part of the model's
//!   window;
//! - want of context fails no turn.

mod commands;
mod explain;
mod files;
mod fix;
mod imports;
mod language;
mod listing;
mod patience;
mod piece;
mod plain;
mod refactor;
mod scope;
mod test_files;
mod tests_of;

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{Aim, EventBody, ModelInfo, Purpose, RetrievalStage, Seq, ToolCall, ToolContext};

use crate::session::State;
use crate::turn::excerpt::{Excerpt, tell};
use crate::turn::gather::commands::Ran;
use crate::turn::gather::files::Files;
use crate::turn::gather::patience::patiently;
use crate::turn::{Stop, Turn, context};

/// How long people wait for what is looked up before the model is asked without the rest.
const PATIENCE: Duration = Duration::from_secs(2);

/// As much as is told in all: some sixteen thousand tokens, which somebody pays for.
const MOST: usize = 64 << 10;

/// Less room than this is better left to what was said.
const LEAST: usize = 1 << 10;

/// How far back in the journal commands are looked for: what failed longer ago is not what is asked about.
const LOOK_BACK: usize = 2000;

/// How the model is told what this is.
const HEADING: &str = "What belongs to this, looked up in the workspace before you began:";

/// What was looked up.
#[derive(Debug, Default)]
struct Gathered {
    /// What there is to say about it.
    notes: Vec<String>,
    /// What was found, the most important first.
    excerpts: Vec<Excerpt>,
    /// Whether an index of symbols had a part in it.
    by_symbols: bool,
}

impl Gathered {
    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds a piece, unless its place is there already.
    fn add(&mut self, excerpt: Excerpt) {
        if !self.excerpts.iter().any(|known| (&known.place, known.lines) == (&excerpt.place, excerpt.lines)) {
            self.excerpts.push(excerpt);
        }
    }
}

impl Turn {
    /// What the model is told besides the instruction for as long as the turn lasts; empty if nothing belongs to it.
    pub(super) async fn gather(&self, state: &State, model: &ModelInfo) -> Result<String, Stop> {
        let Some(turn) = &state.turn else { return Ok(String::new()) };
        let Some(aim) = &turn.instruction.aim else { return Ok(String::new()) };
        let room = room(state, model);
        if room < LEAST {
            return Ok(String::new());
        }
        let judge = self.workspace.judge(&self.shared, state).await?;
        let files = self.context(state, &judge).await;
        let mut gathered = Gathered::default();
        if aim.purpose == Purpose::Fix {
            self.uncommitted(&judge, &files, &mut gathered).await;
        }
        if !aim.has_output && matches!(aim.purpose, Purpose::Fix | Purpose::Test) {
            self.printed(state, aim.purpose, &mut gathered).await;
        }
        match aim.purpose {
            Purpose::Fix => self.look(aim, files, fix::files, &mut gathered).await,
            Purpose::Test => self.look(aim, files, tests_of::files, &mut gathered).await,
            Purpose::Refactor => self.look(aim, files, refactor::files, &mut gathered).await,
            Purpose::Explain => self.explain(aim, files, &mut gathered).await,
        }
        let Gathered { notes, mut excerpts, by_symbols } = gathered;
        // A turn that goes on after a restart looks again, and has told of it.
        if !excerpts.is_empty() && turn.steps == 0 {
            let stage = if by_symbols { RetrievalStage::Symbols } else { RetrievalStage::Text };
            let results = u32::try_from(excerpts.len()).unwrap_or(u32::MAX);
            self.link.record(vec![EventBody::Retrieved { stage, results }]).await?;
        }
        if notes.is_empty() && excerpts.is_empty() {
            return Ok(String::new());
        }
        let masker = Arc::clone(&self.shared.masker);
        let heading = std::iter::once(HEADING.to_owned()).chain(notes).collect::<Vec<_>>().join("\n");
        let told = patiently(PATIENCE, move |patience| {
            let mut masked = 0;
            for excerpt in excerpts.iter_mut().take_while(|_| !patience.is_over()) {
                excerpt.text = masker.mask(&excerpt.text).into_owned();
                masked += 1;
            }
            // What there was no time to mask is not told.
            tell(&masker.mask(&heading), &excerpts[..masked], room)
        });
        Ok(told.await.unwrap_or_default())
    }

    /// Looks at files where that may block.
    async fn look(
        &self,
        aim: &Aim,
        context: ToolContext,
        find: impl FnOnce(&Aim, &Files, &mut Gathered) + Send + 'static,
        gathered: &mut Gathered,
    ) {
        let (root, aim) = (self.workspace.root(), aim.clone());
        let found = patiently(PATIENCE, move |patience| {
            let mut found = Gathered::default();
            find(&aim, &Files::new(root, context, patience), &mut found);
            found
        });
        let Some(Gathered { notes, excerpts, .. }) = found.await else { return };
        gathered.notes.extend(notes);
        for excerpt in excerpts {
            gathered.add(excerpt);
        }
    }

    /// What the command printed that matters: the last that failed, or the last run of tests.
    async fn printed(&self, state: &State, purpose: Purpose, gathered: &mut Gathered) {
        let after = Seq(state.last_seq.0.saturating_sub(LOOK_BACK as u64));
        let events = match self.shared.parts.store.events(self.session, after, LOOK_BACK).await {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(session = %self.session, %error, "earlier commands cannot be looked up");
                return;
            }
        };
        let ran = commands::commands(&events, |call| self.line_of(call));
        let (found, what) = match purpose {
            Purpose::Fix => (commands::last_failed(&ran), "the last command that failed in this session"),
            _ => (commands::last_tests(&ran), "the last run of tests in this session"),
        };
        let Some(Ran { seq, line, output, .. }) = found else { return };
        let line = shortened(line);
        // What the model still sees is not told twice.
        if state.history.items().iter().any(|item| item.seq == *seq) {
            gathered.note(format!("`{line}` is {what}; what it printed is above."));
        } else {
            gathered.add(Excerpt {
                place: format!("`{line}`, {what}"),
                lines: None,
                role: None,
                text: output.clone(),
            });
        }
    }

    /// What a call runs, if it runs a command.
    fn line_of(&self, call: &ToolCall) -> Option<String> {
        let prepared = self.workspace.tool(&call.tool).ok()?.prepare(&call.arguments).ok()?;
        prepared.demand().command.map(|command| command.line)
    }
}

/// How much may be told: a quarter of the window, and half of what is left of it.
fn room(state: &State, model: &ModelInfo) -> usize {
    let window = model.context_tokens;
    let said = context::size(state.history.items(), model);
    let left = window.saturating_sub(said).saturating_mul(context::BYTES_PER_TOKEN) / 2;
    // A byte for each token of the window: a quarter of it.
    usize::try_from(left.min(window)).unwrap_or(usize::MAX).min(MOST)
}

/// The beginning of a command line, on one line.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 200;
    let first = line.lines().next().unwrap_or_default();
    let end = first.floor_char_boundary(LONGEST);
    if end < line.len() { format!("{}…", &first[..end]) } else { line.to_owned() }
}
