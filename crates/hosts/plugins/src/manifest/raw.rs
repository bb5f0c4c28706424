//! A manifest as it is written, and the checks that make it one we can use.
//!
//! The order of the checks is that of existing hosts, so that the first complaint is the same everywhere.

use std::collections::BTreeMap;
use std::path::Path;

use loggia_protocol_mehrhof as wire;
use serde::{Deserialize, Deserializer};

use super::{
    AgentRole, Executable, MAX_NAME, ManifestError, ProviderRole, Role, USUAL_PRIORITY, Variable,
    WorkflowRole,
};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Manifest {
    version: Option<String>,
    name: Option<String>,
    #[serde(rename = "type")] // A word of the language.
    kind: Option<String>,
    description: Option<String>,
    author: Option<String>,
    homepage: Option<String>,
    requires: Option<String>,
    protocol: Option<String>,
    executable: Option<Program>,
    #[serde(default, deserialize_with = "present")]
    provider: Option<Provider>,
    #[serde(default, deserialize_with = "present")]
    agent: Option<Agent>,
    #[serde(default, deserialize_with = "present")]
    workflow: Option<Workflow>,
    env: Option<BTreeMap<String, Option<Setting>>>,
}

#[derive(Debug, Default, Deserialize)]
struct Program {
    command: Option<Vec<String>>,
    path: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Provider {
    name: Option<String>,
    schemes: Option<Vec<String>>,
    priority: Option<i64>,
    capabilities: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct Agent {
    name: Option<String>,
    streaming: Option<bool>,
    capabilities: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct Workflow {
    phases: Option<Vec<Part>>,
    guards: Option<Vec<Part>>,
    effects: Option<Vec<Part>>,
}

#[derive(Debug, Default, Deserialize)]
struct Part {
    name: Option<String>,
    description: Option<String>,
    after: Option<String>,
    before: Option<String>,
    critical: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
struct Setting {
    description: Option<String>,
    required: Option<bool>,
    default: Option<String>,
}

/// A key with nothing behind it is there all the same.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Some(Option::deserialize(deserializer)?.unwrap_or_default()))
}

impl Manifest {
    pub(super) fn check(self, file: &Path) -> Result<super::Manifest, ManifestError> {
        let missing = |field| ManifestError::Missing { file: file.to_owned(), field };
        let wrong = |field, given: &str, wanted| ManifestError::Wrong {
            file: file.to_owned(),
            field,
            given: given.chars().take(MAX_NAME).collect(),
            wanted,
        };
        let version = filled(self.version).ok_or_else(|| missing("version"))?;
        let name = filled(self.name).ok_or_else(|| missing("name"))?;
        if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(wrong("name", &name, "at most 128 characters in one line"));
        }
        let kind = filled(self.kind).ok_or_else(|| missing("type"))?;
        if !["provider", "agent", "workflow"].contains(&kind.as_str()) {
            return Err(wrong("type", &kind, "`provider`, `agent` or `workflow`"));
        }
        let protocol = filled(self.protocol).ok_or_else(|| missing("protocol"))?;
        let executable = self.executable.and_then(Program::check).ok_or_else(|| missing("executable"))?;
        let role = match kind.as_str() {
            "provider" => {
                let provider = self.provider.ok_or_else(|| missing("provider"))?;
                Role::Provider(provider.check(&missing)?)
            }
            "agent" => Role::Agent(self.agent.ok_or_else(|| missing("agent"))?.check(&missing)?),
            _ => Role::Workflow(self.workflow.ok_or_else(|| missing("workflow"))?.check()),
        };
        let environment = self.env.unwrap_or_default().into_iter().map(|(name, setting)| {
            let Setting { description, required, default } = setting.unwrap_or_default();
            Variable { name, description, required: required.unwrap_or(false), default }
        });
        Ok(super::Manifest {
            name,
            version,
            protocol,
            description: filled(self.description),
            author: filled(self.author),
            homepage: filled(self.homepage),
            requires: filled(self.requires),
            executable,
            role,
            environment: environment.collect(),
        })
    }
}

impl Program {
    fn check(self) -> Option<Executable> {
        let command = self.command.filter(|command| command.first().is_some_and(|word| !word.is_empty()));
        command.map(Executable::Command).or_else(|| filled(self.path).map(Executable::Path))
    }
}

impl Provider {
    fn check(self, missing: &dyn Fn(&'static str) -> ManifestError) -> Result<ProviderRole, ManifestError> {
        let name = filled(self.name).ok_or_else(|| missing("provider.name"))?;
        // Some are written with the colon that follows them in a reference.
        let bare = |scheme: String| scheme.trim().trim_end_matches('/').trim_end_matches(':').to_owned();
        let schemes: Vec<String> = self.schemes.unwrap_or_default().into_iter().map(bare).collect();
        let schemes: Vec<String> = schemes.into_iter().filter(|scheme| !scheme.is_empty()).collect();
        if schemes.is_empty() {
            return Err(missing("provider.schemes"));
        }
        let capabilities = self.capabilities.unwrap_or_default().into_iter().filter_map(read_word).collect();
        let priority = self.priority.unwrap_or(USUAL_PRIORITY);
        Ok(ProviderRole { name, schemes, priority, capabilities })
    }
}

impl Agent {
    fn check(self, missing: &dyn Fn(&'static str) -> ManifestError) -> Result<AgentRole, ManifestError> {
        let name = filled(self.name).ok_or_else(|| missing("agent.name"))?;
        let capabilities = self.capabilities.unwrap_or_default().into_iter().filter_map(read_word).collect();
        Ok(AgentRole { name, streaming: self.streaming.unwrap_or(false), capabilities })
    }
}

impl Workflow {
    /// What has no name cannot be meant.
    fn check(self) -> WorkflowRole {
        let named = |parts: Option<Vec<Part>>| {
            let parts = parts.unwrap_or_default().into_iter();
            parts.filter_map(|mut part| filled(part.name.take()).map(|name| (name, part)))
        };
        let phase = |(name, part): (String, Part)| wire::PhaseDeclaration {
            name,
            description: part.description,
            after: part.after,
            before: part.before,
        };
        let guard =
            |(name, part): (String, Part)| wire::GuardDeclaration { name, description: part.description };
        let effect = |(name, part): (String, Part)| wire::EffectDeclaration {
            name,
            description: part.description,
            critical: part.critical,
        };
        WorkflowRole {
            phases: named(self.phases).map(phase).collect(),
            guards: named(self.guards).map(guard).collect(),
            effects: named(self.effects).map(effect).collect(),
        }
    }
}

/// Reads one of the protocol's words, which all stand for themselves if nobody knows them.
fn read_word<T: for<'de> Deserialize<'de>>(word: String) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word)).ok()
}

fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
