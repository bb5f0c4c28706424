//! Manifests: what a plugin says about itself before it runs.
//!
//! Read leniently: unknown keys are ignored, numbers are taken where text is meant, an absent list is an empty one.
//! What is needed and missing is named by its dotted name, and broken YAML by its line and column.
//!
//! Invariant: reading a manifest opens one file, no larger than [`MAX_MANIFEST`], inside the plugin's own directory.

mod raw;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use loggia_protocol_mehrhof::{
    AgentCapability, EffectDeclaration, GuardDeclaration, PhaseDeclaration, ProviderCapability,
};

/// What the file is called.
const FILE: &str = "plugin.yaml";

/// Real manifests have a few hundred bytes; one this large is something else.
const MAX_MANIFEST: u64 = 256 * 1024;

/// A name people type and read in lists.
const MAX_NAME: usize = 128;

/// What a provider's priority is when it says nothing, as the guides for plugin authors have it.
const USUAL_PRIORITY: i64 = 50;

/// What a plugin says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Its name: what it is enabled, configured and replaced by.
    pub name: String,
    /// Its version. Never compared.
    pub version: String,
    /// The version of the protocol it speaks.
    pub protocol: String,
    /// What it is.
    pub description: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Where people read about it.
    pub homepage: Option<String>,
    /// The version of the host it wants; shown, never checked.
    pub requires: Option<String>,
    /// What is started.
    pub executable: Executable,
    /// What it adds.
    pub role: Role,
    /// Variables it reads.
    pub environment: Vec<Variable>,
}

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executable {
    /// A program with its arguments; never empty.
    Command(Vec<String>),
    /// One file.
    Path(String),
}

/// What a plugin adds.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// A place that tasks come from.
    Provider(ProviderRole),
    /// An agent.
    Agent(AgentRole),
    /// Steps, guards and effects.
    Workflow(WorkflowRole),
}

/// A place that tasks come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRole {
    /// The provider's name.
    pub name: String,
    /// What references begin with, without the colon; at least one.
    pub schemes: Vec<String>,
    /// Who is asked first about a reference: the highest.
    pub priority: i64,
    /// What it can do, until it says so itself.
    pub capabilities: Vec<ProviderCapability>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRole {
    /// The agent's name.
    pub name: String,
    /// Whether it tells its answer bit by bit; for information only.
    pub streaming: bool,
    /// What it can do, for information only.
    pub capabilities: Vec<AgentCapability>,
}

/// Steps, guards and effects. What counts is what the running plugin says; this is for showing, but for `critical`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkflowRole {
    /// Phases.
    pub phases: Vec<PhaseDeclaration>,
    /// Guards.
    pub guards: Vec<GuardDeclaration>,
    /// Effects.
    pub effects: Vec<EffectDeclaration>,
}

/// The three kinds of plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PluginKind {
    /// Brings tasks.
    Provider,
    /// Does the work.
    Agent,
    /// Has a say in how it goes.
    Workflow,
}

/// A variable that a plugin reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the plugin is of little use without it.
    pub required: bool,
    /// What it is if nobody set it.
    pub default: Option<String>,
}

/// What is wrong with a manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("cannot read `{}`", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is no file, or none of the plugin's own.
    #[error("`{}` {problem}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The text is no YAML, or a value is not what it should be.
    #[error("`{}`, line {line}, column {column}: {reason}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// Where: the line, from 1; 0 if nobody knows.
        line: u64,
        /// Where: the column, from 1; 0 if nobody knows.
        column: u64,
        /// What is wrong there.
        reason: String,
    },
    /// Something is needed and not there.
    #[error("`{}`: `{field}` is required", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// What is missing, by its dotted name.
        field: &'static str,
    },
    /// A value nobody can use.
    #[error("`{}`: `{field}` is `{given}`; it must be {wanted}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong, by its dotted name.
        field: &'static str,
        /// What it is.
        given: String,
        /// What it should be.
        wanted: &'static str,
    },
}

impl Manifest {
    /// Reads the manifest of a plugin's directory.
    ///
    /// # Errors
    /// [`ManifestError`], with the file and the place in it.
    pub fn read(directory: &Path) -> Result<Self, ManifestError> {
        let file = directory.join(FILE);
        let text = read_text(directory, &file)?;
        Self::parse(&file, &text)
    }

    /// Whether a directory has something that looks like a manifest.
    pub(crate) fn is_in(directory: &Path) -> bool {
        directory.join(FILE).symlink_metadata().is_ok()
    }

    /// Reads a manifest's text; `file` is for messages.
    ///
    /// # Errors
    /// [`ManifestError`], with the file and the place in it.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ManifestError> {
        let raw: raw::Manifest = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location();
            ManifestError::Broken {
                file: file.to_owned(),
                line: place.map_or(0, |place| place.line()),
                column: place.map_or(0, |place| place.column()),
                reason: plain(error.without_snippet()),
            }
        })?;
        raw.check(file)
    }

    /// Which of the three kinds it is.
    pub fn kind(&self) -> PluginKind {
        match self.role {
            Role::Provider(_) => PluginKind::Provider,
            Role::Agent(_) => PluginKind::Agent,
            Role::Workflow(_) => PluginKind::Workflow,
        }
    }

    /// What to tell people who want to use it: a protocol nobody knows, variables that are not set.
    pub fn warnings(&self, is_set: impl Fn(&str) -> bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.protocol != "1" && !self.protocol.starts_with("1.") {
            warnings.push(format!("it speaks version `{}` of the protocol; we speak 1", self.protocol));
        }
        for variable in &self.environment {
            if variable.required && variable.default.is_none() && !is_set(&variable.name) {
                warnings.push(format!(
                    "it needs the variable `{}`, which the server does not have; `plugins.variables` names those that it is given",
                    variable.name
                ));
            }
        }
        warnings
    }
}

impl PluginKind {
    /// The word for it, as manifests have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Agent => "agent",
            Self::Workflow => "workflow",
        }
    }
}

/// The first line of what the parser says, without the place, which is told apart.
fn plain(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let end = [" at line ", ", line ", " (line "].iter().filter_map(|mark| line.find(mark)).min();
    let words = &line[..end.unwrap_or(line.len())];
    // What a reader of YAML calls its own parts says nothing to whoever wrote the file.
    let meant = [
        ("expected sequence start", "a list is needed here"),
        ("expected mapping start", "keys with values are needed here"),
        ("use Option<", "a text is needed here"),
    ];
    let meant = meant.iter().find(|(theirs, _)| words.contains(theirs));
    meant.map_or(words, |(_, ours)| ours).to_owned()
}

fn read_text(directory: &Path, file: &Path) -> Result<String, ManifestError> {
    let unreadable = |source| ManifestError::Unreadable { file: file.to_owned(), source };
    let unusable = |problem| ManifestError::Unusable { file: file.to_owned(), problem };
    let real = file.canonicalize().map_err(unreadable)?;
    if !real.starts_with(directory.canonicalize().map_err(unreadable)?) {
        return Err(unusable("leads out of the plugin's directory"));
    }
    // Opening a pipe would wait for somebody to write.
    if !real.metadata().map_err(unreadable)?.is_file() {
        return Err(unusable("is not a file"));
    }
    let mut text = String::new();
    let opened = File::open(&real).map_err(unreadable)?;
    opened.take(MAX_MANIFEST + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_MANIFEST {
        return Err(unusable("is too large for a manifest (over 256 KiB)"));
    }
    Ok(text)
}
