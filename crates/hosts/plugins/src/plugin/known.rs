//! What is known of a plugin beside its manifest: what it said when it started, and what it turned out not to have.

use std::collections::HashSet;

use loggia_protocol_mehrhof::{AgentInitResult, ProviderCapability, ProviderInitResult, WorkflowInitResult};

use loggia_wire::child::StderrTail;

use super::{Plugin, Sketch};
use crate::manifest::Role;

/// What a plugin said when it was handed its configuration.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Provider(ProviderInitResult),
    Agent(AgentInitResult),
    Workflow(WorkflowInitResult),
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    /// What it said when it started last.
    pub(crate) told: Option<Told>,
    /// Optional methods it does not have.
    pub(crate) absent: HashSet<&'static str>,
    /// Capabilities it said it lacks after all.
    pub(crate) dropped: HashSet<ProviderCapability>,
    /// The last lines of its process.
    pub(crate) stderr: StderrTail,
    pub(crate) sketch: Sketch,
    /// Runs that have processes of their own.
    pub(crate) own_runs: usize,
}

impl Plugin {
    /// Whether it can do something: what it said itself counts, and the manifest before that.
    pub(crate) fn has(&self, capability: &ProviderCapability) -> bool {
        if *capability == ProviderCapability::Read {
            return true;
        }
        let known = self.known();
        if known.dropped.contains(capability) {
            return false;
        }
        let said = match &known.told {
            Some(Told::Provider(told)) => told.capabilities.as_ref(),
            _ => None,
        };
        match (said, &self.manifest().role) {
            (Some(said), _) => said.contains(capability),
            (None, Role::Provider(role)) => role.capabilities.contains(capability),
            (None, _) => false,
        }
    }
}
