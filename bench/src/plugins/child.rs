//! The other end: a plugin that does nothing, with the kit that authors use.

use std::process::ExitCode;

use loggia_plugin_kit::protocol::{AgentInitResult, AgentRunParams, ReferenceId, WorkUnit};
use loggia_plugin_kit::{Agent, Json, Plugin, PluginError, Provider, Run, run};

/// What an agent says in one run.
pub(super) const EVENTS: usize = 20_000;

/// Which plugin this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Child {
    /// Claims references.
    Provider,
    /// Says the same word many times.
    Agent,
}

impl Child {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Agent => "agent",
        }
    }
}

/// Is that plugin.
pub fn serve(child: Child) -> ExitCode {
    run(match child {
        Child::Provider => Plugin::provider(Nothing),
        Child::Agent => Plugin::agent(Nothing),
    })
}

struct Nothing;

impl Provider for Nothing {
    fn schemes(&self) -> Vec<String> {
        vec!["bench".to_owned()]
    }

    fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError> {
        Err(PluginError::not_found(id.0.clone()))
    }
}

impl Agent for Nothing {
    fn init(&mut self, _config: &Json) -> Result<AgentInitResult, PluginError> {
        Ok(AgentInitResult::default())
    }

    fn run(&mut self, _asked: &AgentRunParams, run: &mut Run) -> Result<Option<u64>, PluginError> {
        for _ in 0..EVENTS {
            run.text("word ")?;
        }
        Ok(None)
    }
}
