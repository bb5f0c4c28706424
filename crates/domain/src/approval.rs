//! Questions put to people, and their answers.

use crate::{JsonText, PatchId};

/// How much can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// May these changes be made?
    Patches {
        /// The tool that proposes them.
        tool: String,
        /// Each of them, proposed before the question.
        patches: Vec<PatchId>,
    },
    /// May this command run?
    Command {
        /// The command line.
        command: String,
        /// Where, relative to the root.
        directory: String,
        /// With which variables besides the usual ones.
        environment: Vec<(String, String)>,
        /// Why, in the model's words.
        reason: Option<String>,
    },
    /// May this tool be called?
    Tool {
        /// The tool.
        tool: String,
        /// With what.
        arguments: JsonText,
    },
}

/// What somebody decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAnswer {
    /// How much of what was asked is allowed.
    pub scope: ApprovalScope,
    /// For how long the answer holds.
    pub remember: Remember,
    /// What the one who decided wants the model to know.
    pub comment: Option<String>,
}

/// How much of what was asked is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalScope {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// Only these patches; the others are refused.
    Patches(Vec<PatchId>),
    /// Only these hunks, counted from 0; every other hunk of every patch is refused.
    Hunks(Vec<(PatchId, Vec<usize>)>),
}

/// For how long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remember {
    /// For this question.
    Once,
    /// For questions like it in this session.
    Session,
    /// For questions like it in this workspace.
    Workspace,
}
