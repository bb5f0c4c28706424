//! Processes that runs have for themselves, because they have variables of their own.
//!
//! Invariant: whether the agent can work is asked in the process that has the variables; a key may be among them.

use loggia_jsonrpc::Method;
use loggia_protocol_mehrhof::{AgentAvailable, AgentAvailableResult};

use super::run::METHOD;
use crate::error::{Fault, PluginError};
use crate::plugin::Plugin;
use crate::process::Process;

/// Notes that a plugin has a run in a process of its own, as long as this is there.
pub(super) struct OwnRun(Plugin);

impl OwnRun {
    /// Begins the process, which can work.
    pub(super) async fn begin(
        plugin: &Plugin,
        variables: &[(String, String)],
    ) -> Result<(Process, Self), PluginError> {
        // Noted before it begins, so that whoever takes trust back in the meantime finds it.
        plugin.known().own_runs += 1;
        let own = Self(plugin.clone());
        let process = plugin.begin(METHOD, variables).await?.0;
        if !plugin.is_trusted() {
            return Err(plugin.fail(METHOD, Fault::Untrusted, Vec::new()));
        }
        Ok((own.able(process).await?, own))
    }

    /// The process, if the agent can work in it.
    async fn able(&self, process: Process) -> Result<Process, PluginError> {
        let Self(plugin) = self;
        let limit = plugin.context().limits.of(AgentAvailable::NAME);
        let answer = tokio::select! {
            biased;
            answer = process.call::<AgentAvailable>(limit, &Default::default()) => answer,
            () = plugin.closing().cancelled() => return Err(plugin.let_go(AgentAvailable::NAME, process)),
        };
        let (fault, stderr, kept) = match answer {
            Ok(answer) if answer.available => return Ok(process),
            Ok(answer) => (not_available(&answer), process.stderr().lines(), Some(process)),
            Err(fault) => {
                let (fault, stderr, kept) = process.explain(fault).await;
                match (plugin.judge(AgentAvailable::NAME, fault), kept) {
                    // It need not know the question.
                    (Fault::Unsupported, Some(process)) => return Ok(process),
                    (fault, kept) => (fault, stderr, kept),
                }
            }
        };
        if let Some(process) = kept {
            let context = plugin.context().clone();
            plugin.context().tasks.spawn(async move { process.stop(&context).await });
        }
        Err(plugin.fail(AgentAvailable::NAME, fault, stderr))
    }
}

impl Drop for OwnRun {
    fn drop(&mut self) {
        self.0.known().own_runs -= 1;
    }
}

/// What an agent's answer means that it cannot work.
pub(super) fn not_available(answer: &AgentAvailableResult) -> Fault {
    Fault::Failed(answer.why_not().unwrap_or("it does not say why").to_owned())
}
