//! What the agent is about: thinking, planning, looking for code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::server::Stamp;
use crate::words::open_words;

/// What the agent is doing right now. Passing: it is not kept and has no number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "assistant.thinking")]
pub struct Thinking {
    /// Which part of the work.
    pub phase: Phase,
    /// In words.
    pub message: String,
    /// The model is asked again, for this time: what it had said of the running reply is not part of it. Absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

impl Message for Thinking {
    const TYPE: &'static str = "assistant.thinking";
}

open_words! {
    /// A part of the agent's work.
    pub enum Phase {
        /// Reading the instruction.
        Analyzing = "analyzing",
        /// Making steps of it.
        Planning = "planning",
        /// Looking for code.
        Retrieving = "retrieving",
        /// Running tools.
        Executing = "executing",
    }
}

/// What the agent means to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "agent.plan")]
pub struct Plan {
    /// In order.
    pub steps: Vec<PlanStep>,
    /// Why.
    pub rationale: String,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for Plan {
    const TYPE: &'static str = "agent.plan";
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// Its number, from 1.
    pub step_number: u32,
    /// What is to be done.
    pub description: String,
    /// To which files, relative to the workspace root.
    #[serde(default)]
    pub files_involved: Vec<String>,
}

/// How the search for relevant code goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "agent.retrieve.status")]
pub struct RetrieveStatus {
    /// Which search.
    pub stage: RetrievalStage,
    /// How much it found.
    pub results_count: u64,
    /// In words.
    pub message: String,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for RetrieveStatus {
    const TYPE: &'static str = "agent.retrieve.status";
}

open_words! {
    /// A kind of search.
    pub enum RetrievalStage {
        /// By names of functions, types and variables.
        SymbolSearch = "symbol_search",
        /// By words.
        TextSearch = "text_search",
        /// By meaning.
        VectorSearch = "vector_search",
        /// Putting the results in order.
        Reranking = "reranking",
    }
}
