//! Plans: what the agent says it is going to do.

/// A list of steps and where the agent is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// In order.
    pub steps: Vec<PlanStep>,
    /// The step under way, counted from 0; the number of steps when all are done.
    pub current: usize,
    /// Why this way.
    pub rationale: String,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// What is done in it.
    pub description: String,
    /// The files it touches, as far as is known, relative to the root.
    pub files: Vec<String>,
}
