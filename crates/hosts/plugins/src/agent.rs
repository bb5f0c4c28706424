//! Agents: a plugin as what does a turn's work.

mod fences;
mod heard;
mod own;
mod run;
mod tools;

use loggia_domain::{AgentBackend, AgentRequest, AgentRun, BoxFuture, GuestError};
use loggia_jsonrpc::Json;
use loggia_protocol_mehrhof as wire;
use loggia_protocol_mehrhof::AgentAvailable;

use crate::aliases::merged;
use crate::error::{Fault, PluginError};
use crate::manifest::Role;
use crate::plugin::{Plugin, Told};

/// A plugin that does the work.
#[derive(Debug, Clone)]
pub struct GuestAgent {
    plugin: Plugin,
    name: String,
}

impl GuestAgent {
    /// The agent in a plugin, if it is one.
    pub fn of(plugin: Plugin) -> Option<Self> {
        let name = match &plugin.manifest().role {
            Role::Agent(role) => role.name.clone(),
            _ => return None,
        };
        Some(Self { plugin, name })
    }

    /// The agent in a plugin under another name.
    pub(crate) fn called(plugin: Plugin, name: &str) -> Option<Self> {
        Some(Self { name: name.to_owned(), ..Self::of(plugin)? })
    }

    /// The plugin it is in.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// The model it said it uses, when it started last.
    pub fn model(&self) -> Option<String> {
        match &self.plugin.known().told {
            Some(Told::Agent(told)) => told.agent_model().map(str::to_owned),
            _ => None,
        }
    }

    async fn available(&self) -> Result<(), PluginError> {
        match self.plugin.call::<AgentAvailable>(&Default::default()).await {
            Ok(answer) if answer.available => Ok(()),
            Ok(answer) => Err(self.plugin.complain("agent.available", own::not_available(&answer))),
            // It need not know the question.
            Err(PluginError { fault: Fault::Unsupported, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl AgentBackend for GuestAgent {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async { Ok(self.available().await?) })
    }

    fn run(&self, request: AgentRequest) -> BoxFuture<'_, Result<AgentRun, GuestError>> {
        Box::pin(async move {
            let variables = request.environment.clone();
            let known = self.plugin.variables().iter().cloned();
            let environment = merged(known.chain(request.environment));
            let params = params(AgentRequest { environment, ..request });
            Ok(run::begin(&self.plugin, params, &variables).await?)
        })
    }
}

/// What is wanted, in the protocol's words.
fn params(request: AgentRequest) -> wire::AgentRunParams {
    let AgentRequest { text, task, step, files, tools, environment } = request;
    let tools = tools.into_iter().map(|tool| wire::ToolDefinition {
        name: tools::to_wire(&tool.name).to_owned(),
        description: Some(tool.description).filter(|text| !text.is_empty()),
        input_schema: serde_json::from_str(&tool.parameters.0).map_or_else(|_| Json::object(), Json),
    });
    wire::AgentRunParams {
        prompt: text,
        context: Some(wire::RunContext { task_id: task, phase: step, files }),
        tools: tools.collect(),
        env: environment.into_iter().collect(),
    }
}
