//! Calls, and what is done about the ways in which they fail.

use std::time::Duration;

use loggia_jsonrpc::{ErrorObject, Method};
use loggia_protocol_mehrhof::{
    Ping, ProviderCapability, Reaction, codes, is_required, limits as usual, retry_after,
};

use super::Plugin;
use crate::error::{Fault, PluginError};
use crate::process::CallFault;

/// The pause before the first of several tries; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// However long a service wants us to wait, somebody waits for us.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Plugin {
    /// Calls a method; again after a pause where the service behind the plugin wants fewer calls.
    pub(crate) async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, PluginError> {
        if self.known().absent.contains(M::NAME) {
            return Err(self.fail(M::NAME, Fault::Unsupported, Vec::new()));
        }
        let mut pause = FIRST_PAUSE;
        for _ in 0..usual::RATE_LIMIT_RETRIES {
            let error = match self.call_once::<M>(params).await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            let Fault::Answered(answer) = &error.fault else { return Err(error) };
            if Reaction::to(answer.code) != Reaction::RetryLater {
                return Err(error);
            }
            let wait = retry_after(answer).unwrap_or(pause).min(LONGEST_PAUSE);
            tracing::debug!(plugin = self.name(), method = M::NAME, ?wait, "told to come back later");
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        self.call_once::<M>(params).await
    }

    /// Calls a method whose parameters hold two spellings; with the documented one alone if both are too much.
    pub(crate) async fn call_in_both_spellings<M: Method>(
        &self,
        params: M::Params,
        documented: impl FnOnce(M::Params) -> M::Params,
    ) -> Result<M::Result, PluginError> {
        match self.call::<M>(&params).await {
            Err(PluginError {
                fault: Fault::Answered(ErrorObject { code: codes::INVALID_PARAMS, .. }),
                ..
            }) => {
                tracing::debug!(
                    plugin = self.name(),
                    method = M::NAME,
                    "trying the documented spelling alone"
                );
                self.call::<M>(&documented(params)).await
            }
            end => end,
        }
    }

    /// Asks for a sign of life; that the plugin does not know the word is one.
    ///
    /// # Errors
    /// [`PluginError`] when there is none.
    pub async fn ping(&self) -> Result<(), PluginError> {
        match self.call_once::<Ping>(&Default::default()).await {
            Ok(_) => Ok(()),
            Err(PluginError {
                fault: Fault::Answered(_) | Fault::Unsupported | Fault::NoAccess { .. } | Fault::WrongShape(_),
                method: Ping::NAME,
                ..
            }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn call_once<M: Method>(&self, params: &M::Params) -> Result<M::Result, PluginError> {
        let held = self.hold(M::NAME).await?;
        // What the plugin can do is known for sure once it runs.
        if let Some(needed) = ProviderCapability::needed_by(M::NAME)
            && !self.has(&needed)
        {
            held.release();
            return Err(self.fail(M::NAME, Fault::Unsupported, Vec::new()));
        }
        let answer = match held.process() {
            None => Err(CallFault::Stopping),
            Some(process) => {
                let called = process.call::<M>(self.context().limits.of(M::NAME), params);
                tokio::select! {
                    biased;
                    answer = called => answer,
                    () = self.closing().cancelled() => Err(CallFault::Stopping),
                }
            }
        };
        match answer {
            Ok(result) => {
                held.answered();
                Ok(result)
            }
            Err(fault) => Err(held.failed(M::NAME, fault).await),
        }
    }

    /// What an error answer means for us, and what is remembered of it.
    pub(crate) fn judge(&self, method: &'static str, fault: Fault) -> Fault {
        let Fault::Answered(error) = fault else { return fault };
        match Reaction::to(error.code) {
            Reaction::TreatAsAbsent if !is_required(method) => {
                self.known().absent.insert(method);
                Fault::Unsupported
            }
            Reaction::DropCapability => {
                self.known().dropped.extend(ProviderCapability::needed_by(method));
                Fault::Answered(error)
            }
            Reaction::AskForCredentials => {
                let variables = self.manifest().environment.iter().map(|variable| variable.name.clone());
                Fault::NoAccess { error, variables: variables.collect() }
            }
            Reaction::FailAndLog => {
                tracing::warn!(plugin = self.name(), method, %error, "one of us does not keep to the protocol");
                Fault::Answered(error)
            }
            _ => Fault::Answered(error),
        }
    }
}
