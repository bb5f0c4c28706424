//! A plugin of any of the three kinds, and the answer to one call.

use loggia_jsonrpc::{Method, decode};
use serde_json::value::{RawValue, to_raw_value};

use crate::agent::Agent;
use crate::error::PluginError;
use crate::provider::Provider;
use crate::wire::Wire;
use crate::workflow::Workflow;
use crate::{agent, provider, workflow};

/// A plugin of any kind.
pub struct Plugin(Kind);

enum Kind {
    Provider(Box<dyn Provider>),
    Agent(Box<dyn Agent>),
    Workflow(Box<dyn Workflow>),
}

impl Plugin {
    /// A place that tasks come from.
    pub fn provider(provider: impl Provider + 'static) -> Self {
        Self(Kind::Provider(Box::new(provider)))
    }

    /// Something that does the work of a prompt.
    pub fn agent(agent: impl Agent + 'static) -> Self {
        Self(Kind::Agent(Box::new(agent)))
    }

    /// Steps, guards and effects.
    pub fn workflow(workflow: impl Workflow + 'static) -> Self {
        Self(Kind::Workflow(Box::new(workflow)))
    }

    /// Answers one call.
    pub(crate) fn answer(
        &mut self,
        method: &str,
        params: &str,
        wire: &Wire,
    ) -> Result<Box<RawValue>, PluginError> {
        match &mut self.0 {
            Kind::Provider(provider) => provider::answer(provider.as_mut(), method, params),
            Kind::Agent(agent) => agent::answer(agent.as_mut(), method, params, wire),
            Kind::Workflow(workflow) => workflow::answer(workflow.as_mut(), method, params),
        }
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            Kind::Provider(_) => "Plugin(provider)",
            Kind::Agent(_) => "Plugin(agent)",
            Kind::Workflow(_) => "Plugin(workflow)",
        })
    }
}

/// Reads a call's parameters, has it served, and writes its result.
pub(crate) fn reply<M: Method>(
    params: &str,
    serve: impl FnOnce(M::Params) -> Result<M::Result, PluginError>,
) -> Result<Box<RawValue>, PluginError> {
    let params =
        decode::<M::Params>(params).map_err(|error| PluginError::invalid_params(error.to_string()))?;
    let result = serve(params)?;
    to_raw_value(&result).map_err(PluginError::internal)
}

/// Something that a call must have.
pub(crate) fn needed<'a, T: ?Sized>(value: Option<&'a T>, name: &str) -> Result<&'a T, PluginError> {
    value.ok_or_else(|| PluginError::invalid_params(format!("`{name}` is required")))
}
