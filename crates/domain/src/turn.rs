//! Turns: what starts one, what it uses, how it ends.

use crate::{Aim, JsonText};

/// A model's name, `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName(pub String);

impl ModelName {
    /// The provider of what answers while no model is set.
    pub const NO_PROVIDER: &str = "none";

    /// Whether it names what answers while no model is set.
    pub fn is_none(&self) -> bool {
        self.0.split_once(':').is_some_and(|(provider, _)| provider == Self::NO_PROVIDER)
    }
}

/// What a client asks of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// In the user's words.
    pub text: String,
    /// What the client sent along: open files, selection, diagnostics. The engine hands it to the model; the door
    /// that took it knows its shape.
    pub context: Option<JsonText>,
    /// What it is for and about, if the client said: the engine looks up what belongs to it.
    pub aim: Option<Aim>,
    /// Whether changes are only collected, to be decided about together at the end.
    pub preview: bool,
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
    /// It took as many steps as it may.
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
    fn a_sum_knows_its_cost_only_if_both_parts_do() {
        let priced = Usage { input: 1, cached: 0, output: 2, micro_dollars: Some(3) };
        assert_eq!(priced.plus(priced), Usage { input: 2, cached: 0, output: 4, micro_dollars: Some(6) });
        assert_eq!(priced.plus(Usage::default()).micro_dollars, None);
    }
}
