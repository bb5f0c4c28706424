//! One plugin: started when it is needed, asked one thing at a time, started again when it ended, given up when it
//! ends again and again.
//!
//! Whoever holds a plugin's slot speaks to its process; everybody else waits. A holder that goes away in the middle
//! takes the process along, because nobody could tell a late answer from the next one.

mod call;
mod held;
mod known;

pub(crate) use held::Held;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_jsonrpc::{Json, Method};
use loggia_protocol_mehrhof::{
    AgentInit, AgentInitParams, Ping, ProviderInit, ProviderInitParams, WorkflowInit, WorkflowInitParams,
    limits as usual,
};
use loggia_wire::child::{RestartPolicy, Restarts};
use tokio_util::sync::CancellationToken;

use crate::aliases::{Variables, merged};
use crate::context::Context;
use crate::discovery::Scope;
use crate::error::{Fault, PluginError};
use crate::executable::resolve;
use crate::manifest::{Manifest, Role};
use crate::process::{CallFault, Process};
use held::Slot;
use known::Known;
pub(crate) use known::Told;

/// Keeps Python from writing files beside the programs it reads.
const NO_BYTECODE: &str = "PYTHONDONTWRITEBYTECODE";

/// A plugin of a host. Cheap to clone; all clones are the same plugin.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
}

struct Inner {
    manifest: Manifest,
    directory: PathBuf,
    scope: Scope,
    config: Json,
    /// Variables that its processes get besides the host's.
    variables: Variables,
    context: Arc<Context>,
    /// It is not to be asked any more.
    closing: CancellationToken,
    slot: Arc<tokio::sync::Mutex<Slot>>,
    known: Mutex<Known>,
}

/// How a plugin is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch {
    /// The process, if it runs.
    pub pid: Option<i32>,
    /// What went wrong when it was given up, if it was.
    pub given_up: Option<String>,
    /// Lines its process wrote that were no messages, and answers nobody waited for.
    pub stray_lines: u64,
}

impl Plugin {
    pub(crate) fn new(
        manifest: Manifest,
        directory: PathBuf,
        scope: Scope,
        config: Json,
        variables: Variables,
        context: Arc<Context>,
    ) -> Self {
        // Starting is somebody's wish each time, so there is no pause; only an answer clears the record.
        let restarts = Restarts::new(RestartPolicy {
            first_pause: Duration::ZERO,
            longest_pause: Duration::ZERO,
            give_up_after: usual::MAX_CRASHES_IN_A_ROW,
            well_after: Duration::MAX,
        });
        let slot = Arc::new(tokio::sync::Mutex::new(Slot::new(restarts)));
        let known = Mutex::default();
        let closing = context.closing.child_token();
        let inner = Inner { manifest, directory, scope, config, variables, context, closing, slot, known };
        Self { inner: Arc::new(inner) }
    }

    /// The same program with other variables, in a process of its own.
    pub(crate) fn with_variables(&self, variables: Variables) -> Self {
        let Inner { manifest, directory, scope, config, context, .. } = &*self.inner;
        let (config, context) = (config.clone(), Arc::clone(context));
        Self::new(manifest.clone(), directory.clone(), *scope, config, variables, context)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.inner.manifest.name
    }

    /// What it says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.inner.directory
    }

    /// Whether this is another handle on the same plugin.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether nothing is different but perhaps the variables.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let (own, other) = (&*self.inner, &*other.inner);
        own.manifest == other.manifest
            && own.directory == other.directory
            && own.scope == other.scope
            && own.config == other.config
            && Arc::ptr_eq(&own.context, &other.context)
    }

    /// Whose it is.
    pub fn scope(&self) -> Scope {
        self.inner.scope
    }

    /// Whether it may run now.
    pub fn is_trusted(&self) -> bool {
        self.inner.scope == Scope::Global || (self.context().trust)(&self.inner.directory)
    }

    /// How it is doing.
    pub fn sketch(&self) -> Sketch {
        let mut sketch = self.known().sketch.clone();
        // While somebody speaks to it, it runs; and what becomes of it then is noted.
        if let Ok(slot) = self.inner.slot.try_lock()
            && !slot.process.as_ref().is_some_and(Process::is_alive)
        {
            sketch.pid = None;
        }
        sketch
    }

    /// Whether nothing of it runs, and nothing is about to.
    pub(crate) fn is_idle(&self) -> bool {
        let is_empty = self.inner.slot.try_lock().is_ok_and(|slot| slot.process.is_none());
        is_empty && self.known().own_runs == 0
    }

    /// Starts it if it does not run, and hands it its configuration: what every call does first.
    ///
    /// # Errors
    /// [`PluginError`] when it cannot be started or refuses its configuration.
    pub async fn start(&self) -> Result<(), PluginError> {
        self.hold(self.init_name()).await?.release();
        Ok(())
    }

    /// Lets a plugin that was given up try again. One that somebody speaks to is not given up, and is not waited for.
    pub fn revive(&self) {
        let Ok(mut slot) = self.inner.slot.try_lock() else { return };
        slot.revive();
        let mut known = self.known();
        known.sketch.given_up = None;
        known.absent.clear();
        known.dropped.clear();
    }

    /// Tries, in a process of its own, whether it starts, takes its configuration and gives a sign of life. Whoever uses
    /// the plugin meanwhile is neither waited for nor disturbed.
    pub(crate) async fn try_out(&self) -> Result<(), PluginError> {
        let (process, _) = self.begin(Ping::NAME, &[]).await?;
        let limit = self.context().limits.of(Ping::NAME);
        let answer = tokio::select! {
            biased;
            answer = process.call::<Ping>(limit, &Default::default()) => answer,
            () = self.closing().cancelled() => return Err(self.let_go(Ping::NAME, process)),
        };
        let process = match answer {
            // That it does not know the word is a sign of life, too.
            Ok(_) | Err(CallFault::Answered(_) | CallFault::WrongShape(_)) => process,
            Err(fault) => {
                let (fault, stderr, kept) = process.explain(fault).await;
                if let Some(process) = kept {
                    process.stop(self.context()).await;
                }
                return Err(self.fail(Ping::NAME, fault, stderr));
            }
        };
        process.stop(self.context()).await;
        Ok(())
    }

    /// Stops its process, if it runs: asked, told, and at last killed. The next call starts another.
    pub async fn stop(&self) {
        let process = self.inner.slot.lock().await.process.take();
        if let Some(process) = process {
            let exit = process.stop(self.context()).await;
            tracing::debug!(plugin = self.name(), ?exit, "stopped");
        }
        self.known().sketch.pid = None;
    }

    /// Ends a process in the middle of a call, because nobody is to be asked any more: it has its time to notice. The
    /// host's stop waits for it.
    pub(crate) fn let_go(&self, method: &'static str, process: Process) -> PluginError {
        let stderr = process.stderr().lines();
        let context = self.context().clone();
        self.context().tasks.spawn(async move { process.cancel(&context).await });
        self.fail(method, Fault::Stopping, stderr)
    }

    /// Cancelled when it is not to be asked any more.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.inner.closing
    }

    /// Variables that its processes get besides the host's.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.inner.variables
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.inner.context
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fail(&self, method: &'static str, fault: Fault, stderr: Vec<String>) -> PluginError {
        PluginError { plugin: self.name().to_owned(), method, fault, stderr }
    }

    /// A failure that the plugin told of in an answer that looks well.
    pub(crate) fn complain(&self, method: &'static str, fault: Fault) -> PluginError {
        let stderr = self.known().stderr.lines();
        self.fail(method, fault, stderr)
    }

    /// The first call its kind gets.
    fn init_name(&self) -> &'static str {
        match self.inner.manifest.role {
            Role::Provider(_) => "provider.init",
            Role::Agent(_) => "agent.init",
            Role::Workflow(_) => "workflow.init",
        }
    }

    /// Starts a process and hands it its configuration. `variables` are for this process alone.
    pub(crate) async fn begin(
        &self,
        method: &'static str,
        variables: &[(String, String)],
    ) -> Result<(Process, Told), PluginError> {
        let none = Vec::new;
        let Inner { manifest, directory, context, .. } = &*self.inner;
        if !self.is_trusted() {
            return Err(self.fail(method, Fault::Untrusted, none()));
        }
        let search = context.variable("PATH").unwrap_or(OsStr::new(""));
        let invocation = resolve(&manifest.executable, directory, search)
            .map_err(|error| self.fail(method, Fault::Executable(error), none()))?;
        let environment = self.environment(variables);
        let process = Process::start(context, &manifest.name, directory, invocation, environment)
            .await
            .map_err(|error| self.fail(method, Fault::NotStarted(error), none()))?;
        let told = tokio::select! {
            told = self.init(&process) => told,
            () = self.closing().cancelled() => Err(CallFault::Stopping),
        };
        match told {
            Ok(told) => Ok((process, told)),
            Err(CallFault::Stopping) => Err(self.let_go(self.init_name(), process)),
            Err(fault) => {
                let (fault, stderr, _) = process.explain(fault).await;
                let fault = self.judge(self.init_name(), fault);
                Err(self.fail(self.init_name(), fault, stderr))
            }
        }
    }

    async fn init(&self, process: &Process) -> Result<Told, CallFault> {
        let limit = self.context().limits.init;
        let config = self.inner.config.clone();
        Ok(match self.inner.manifest.role {
            Role::Provider(_) => {
                Told::Provider(process.call::<ProviderInit>(limit, &ProviderInitParams { config }).await?)
            }
            Role::Agent(_) => {
                Told::Agent(process.call::<AgentInit>(limit, &AgentInitParams { config }).await?)
            }
            Role::Workflow(_) => {
                Told::Workflow(process.call::<WorkflowInit>(limit, &WorkflowInitParams { config }).await?)
            }
        })
    }

    /// The host's environment, the manifest's defaults for what is not in it, the plugin's own variables, and what is for
    /// one process alone.
    fn environment(&self, variables: &[(String, String)]) -> Vec<(OsString, OsString)> {
        let context = self.context();
        let own = merged(self.variables().iter().chain(variables).cloned());
        let is_own = |name: &OsStr| own.iter().any(|(known, _)| known.as_str() == name);
        let defaults = self.inner.manifest.environment.iter().filter_map(|variable| {
            let is_set = context.variable(&variable.name).is_some() || is_own(OsStr::new(&variable.name));
            let default = variable.default.as_ref().filter(|_| !is_set)?;
            Some((OsString::from(&variable.name), OsString::from(default)))
        });
        // What a workspace brings is under version control, and what Python would put beside it is nobody's work.
        let is_loud = context.variable(NO_BYTECODE).is_none() && !is_own(OsStr::new(NO_BYTECODE));
        let quiet = (self.inner.scope == Scope::Project && is_loud)
            .then(|| (OsString::from(NO_BYTECODE), OsString::from("1")));
        let inherited = context.environment.iter().filter(|(name, _)| !is_own(name)).cloned();
        let all: Vec<_> = inherited.chain(quiet).chain(defaults).collect();
        all.into_iter().chain(own.into_iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name())
            .field("directory", &self.inner.directory)
            .finish_non_exhaustive()
    }
}
