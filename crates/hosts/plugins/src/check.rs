//! A plugin's conformance run: it is started for real, spoken to in every method it has, well and badly, and what came
//! is told like the results of a test suite.
//!
//! Knows what the protocol promises and what hosts put up with. What breaks a host is a failure, what hosts tolerate is a
//! note. Refuses to know tasks and sessions; the environment and the keeper arrive as values.
//!
//! What always holds:
//! - nothing is sent that is known to change something outside: comments, labels and branches are only asked for without
//!   the parameters they need, and effects run only if [`CheckOptions::effects`] says so;
//! - lines that are no messages are sent only if [`CheckOptions::malformed`] says so: real plugins die of them;
//! - every process that was started is gone when the run is over.

mod agent;
mod common;
mod ending;
mod judge;
mod provider;
mod report;
mod session;
mod talk;
mod workflow;

pub use report::{Case, Outcome, Report};

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use loggia_jsonrpc::Json;
use loggia_wire::child::Keeper;

use crate::executable::resolve;
use crate::limits::Limits;
use crate::manifest::{Manifest, Role};
use session::Session;

/// How a plugin is checked.
#[derive(Clone)]
pub struct CheckOptions {
    /// What starts it.
    pub keeper: Keeper,
    /// The environment it gets, besides the defaults of its manifest.
    pub environment: Vec<(OsString, OsString)>,
    /// What it is handed when it starts, an object.
    pub config: Json,
    /// A reference to a task that is there, for providers. Without one, the first task it lists is taken.
    pub reference: Option<String>,
    /// What an agent is told to do.
    pub prompt: String,
    /// Whether effects are run.
    pub effects: bool,
    /// Whether lines are sent that are no messages.
    pub malformed: bool,
    /// How long it may take for what.
    pub limits: Limits,
}

impl std::fmt::Debug for CheckOptions {
    /// Values of the environment and of the configuration may be secrets and are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckOptions")
            .field("reference", &self.reference)
            .field("effects", &self.effects)
            .field("malformed", &self.malformed)
            .finish_non_exhaustive()
    }
}

/// What an agent is told to do if nobody says otherwise: little, and nothing that needs tools.
pub const USUAL_PROMPT: &str = "Answer with the one word `hello`. Do not use any tools.";

/// Checks the plugin in a directory.
pub async fn check(directory: &Path, options: &CheckOptions) -> Report {
    let mut report = Report::new(directory);
    let manifest = match Manifest::read(directory) {
        Ok(manifest) => manifest,
        Err(error) => {
            let came = crate::plugins::with_causes(&error);
            report.tell("manifest", Duration::ZERO, judge::failed("a `plugin.yaml` that can be read", came));
            return report;
        }
    };
    report.is_of(&manifest);
    report.tell("manifest", Duration::ZERO, Outcome::Passed);
    let variable = |name: &str| {
        let found = options.environment.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    };
    for warning in manifest.warnings(|name| variable(name).is_some()) {
        report.tell("manifest: warnings", Duration::ZERO, judge::noted("nothing to mind", warning));
    }
    let search = variable("PATH").unwrap_or(OsStr::new(""));
    let invocation = match resolve(&manifest.executable, directory, search) {
        Ok(invocation) => invocation,
        Err(error) => {
            let came = error.to_string();
            report.tell("executable", Duration::ZERO, judge::failed("a program that can be started", came));
            return report;
        }
    };
    report.tell("executable", Duration::ZERO, Outcome::Passed);
    let mut session = Session::new(options, directory, &manifest, invocation, report);
    if let Some(told) = session.begin().await {
        match &manifest.role {
            Role::Provider(role) => provider::check(&mut session, role, &told).await,
            Role::Agent(_) => agent::check(&mut session).await,
            Role::Workflow(_) => workflow::check(&mut session, &told).await,
        }
        common::check(&mut session).await;
        ending::check(&mut session).await;
    }
    session.finish()
}
