//! Turns: what starts one, what it uses, how it ends.

use std::borrow::Cow;
use std::fmt::Write;

use crate::{Aim, CodeContext, ContentHash, JsonText, ModelTrouble};

/// A model's name, `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName(pub String);

impl ModelName {
    /// The provider of what answers while no model is set.
    pub const NO_PROVIDER: &str = "none";

    /// The provider of agents that plugins bring.
    pub const GUESTS: &str = "plugin";

    /// The name under which a plugin's agent is chosen like a model.
    pub fn of_guest(agent: &str) -> Self {
        Self(format!("{}:{agent}", Self::GUESTS))
    }

    /// The agent it names, if that is a plugin's.
    pub fn guest(&self) -> Option<&str> {
        let (provider, agent) = self.0.split_once(':')?;
        (provider == Self::GUESTS).then_some(agent)
    }

    /// Whether it names what answers while no model is set.
    pub fn is_none(&self) -> bool {
        self.0.split_once(':').is_some_and(|(provider, _)| provider == Self::NO_PROVIDER)
    }
}

/// What the model of one session is told, whatever is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnInstructions {
    /// In the place of what every model is told. What the workspace says is told in any case.
    pub instead: Option<String>,
    /// Besides all that.
    pub added: Option<String>,
}

impl OwnInstructions {
    /// The longest text of each: as much as a model should have to read before its work.
    pub const MAX_BYTES: usize = 64 << 10;
}

/// What a client asks of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Instruction {
    /// In the user's words.
    pub text: String,
    /// What the client sent along: open files, selection, diagnostics. The engine hands it to the model; the door
    /// that took it knows its shape.
    pub context: Option<JsonText>,
    /// What it is for and about, if the client said: the engine looks up what belongs to it.
    pub aim: Option<Aim>,
    /// Files that matter to whoever asks, as far as the client said: code that belongs to the instruction is looked for
    /// there first.
    pub nearby: CodeContext,
    /// Whether changes are only collected, to be decided about together at the end.
    pub preview: bool,
    /// What the user shows with it, in order.
    pub images: Vec<Image>,
    /// Whether the turn waits after each step that called tools, until somebody says whether it goes on.
    pub step_by_step: bool,
    /// What its client wants the turn held to.
    pub restraint: Restraint,
}

/// What a turn is held to, whatever the policy and earlier answers allow. It only ever tightens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restraint {
    /// Nothing is changed, and nothing is run.
    pub reading_only: bool,
    /// Tools that are not called, by their names.
    pub without: Vec<String>,
}

impl Restraint {
    /// Nothing more than the policy holds the turn.
    pub fn is_none(&self) -> bool {
        !self.reading_only && self.without.is_empty()
    }
}

impl Instruction {
    /// In the user's words, with a mark for each image before them: all that can be told of images in text.
    pub fn told(&self) -> Cow<'_, str> {
        if self.images.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut told = String::new();
        for (place, image) in self.images.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(told, "[{}]", image.mark(place + 1));
        }
        told.push_str(&self.text);
        Cow::Owned(told)
    }
}

/// An image that goes with an instruction. The journal holds this; the bytes are a blob of the store, so that reading
/// a journal, copying it or telling of it costs the same with images as without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The hash its bytes are kept under.
    pub hash: ContentHash,
    /// What it is: `image/png`.
    pub media_type: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// The name its user knows it by.
    pub name: Option<String>,
}

impl Image {
    /// How it is spoken of; `number` counts from 1.
    pub fn mark(&self, number: usize) -> String {
        match &self.name {
            Some(name) => format!("Image #{number}: {name}"),
            None => format!("Image #{number}"),
        }
    }
}

/// Where relevant code was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RetrievalStage {
    /// By the names of definitions.
    Symbols,
    /// By words.
    Text,
    /// By meaning.
    Vectors,
    /// Putting the findings in order.
    Ranking,
}

/// What a model call or a turn used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens in.
    pub input: u64,
    /// Of those, tokens the provider had cached.
    pub cached: u64,
    /// Tokens out.
    pub output: u64,
    /// Cost in millionths of a US dollar, where the price is known.
    pub micro_dollars: Option<u64>,
}

impl Usage {
    /// Nothing, and known to cost nothing.
    pub const NONE: Self = Self { input: 0, cached: 0, output: 0, micro_dollars: Some(0) };

    /// The sum of two; the cost is known only if both are.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            micro_dollars: self.micro_dollars.zip(other.micro_dollars).map(|(a, b)| a.saturating_add(b)),
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model had nothing more to call.
    Done,
    /// Somebody cancelled it.
    Cancelled,
    /// It was cut by a crash or a stop of the daemon, and can be continued.
    Interrupted,
    /// It took as many steps as it may, by the policy or by whoever takes it step by step.
    StepLimit,
    /// It used up its budget.
    BudgetLimit,
    /// It failed.
    Failed(TurnFailure),
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnFailure {
    /// The model or its provider.
    Model {
        /// What it said.
        message: String,
        /// Whether trying again can help.
        retry_helps: bool,
        /// What kind of trouble it is.
        trouble: ModelTrouble,
    },
    /// Looking for context.
    Retrieval {
        /// What went wrong.
        message: String,
    },
    /// The policy forbids what the turn needs.
    Policy {
        /// What is forbidden, and by which rule.
        message: String,
    },
    /// A fault of ours.
    Internal {
        /// What went wrong.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_marked_before_the_words() {
        let image = |name: Option<&str>| Image {
            hash: ContentHash::of(b"x"),
            media_type: "image/png".to_owned(),
            bytes: 1,
            name: name.map(str::to_owned),
        };
        let mut instruction = Instruction { text: "Look.".to_owned(), ..Instruction::default() };
        assert_eq!(instruction.told(), "Look.");
        instruction.images = vec![image(Some("shot.png")), image(None)];
        assert_eq!(instruction.told(), "[Image #1: shot.png]\n[Image #2]\nLook.");
    }

    #[test]
    fn a_sum_knows_its_cost_only_if_both_parts_do() {
        let priced = Usage { input: 1, cached: 0, output: 2, micro_dollars: Some(3) };
        assert_eq!(priced.plus(priced), Usage { input: 2, cached: 0, output: 4, micro_dollars: Some(6) });
        assert_eq!(priced.plus(Usage::default()).micro_dollars, None);
    }
}
