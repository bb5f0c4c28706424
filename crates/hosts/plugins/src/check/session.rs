//! A run in progress: the plugin's process, started again when a case has ended it, and what was found so far.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use loggia_jsonrpc::Method;
use loggia_protocol_mehrhof::{AgentInit, ProviderInit, WorkflowInit};
use loggia_wire::child::{ChildSpec, Environment};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::judge::{Answer, Heard, failed, noted, skipped};
use super::report::{Outcome, Report};
use super::talk::{Noise, Talk, keep};
use super::{CheckOptions, judge};
use crate::executable::Invocation;
use crate::manifest::{Manifest, PluginKind};

/// As many of its last lines on stderr as are told.
const SHOWN_STDERR: usize = 5;

/// A run in progress.
pub(super) struct Session<'a> {
    pub(super) options: &'a CheckOptions,
    pub(super) manifest: &'a Manifest,
    directory: PathBuf,
    invocation: Invocation,
    report: Report,
    talk: Option<Talk>,
    noise: Noise,
    complaints: Arc<AtomicU64>,
    stderr: Vec<String>,
    /// The longest that a question without network took.
    pub(super) slowest: Duration,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        options: &'a CheckOptions,
        directory: &Path,
        manifest: &'a Manifest,
        invocation: Invocation,
        report: Report,
    ) -> Self {
        Self {
            options,
            manifest,
            directory: directory.to_owned(),
            invocation,
            report,
            talk: None,
            noise: Noise::default(),
            complaints: Arc::default(),
            stderr: Vec::new(),
            slowest: Duration::ZERO,
        }
    }

    /// The first call of the plugin's kind.
    pub(super) fn init_name(&self) -> &'static str {
        match self.manifest.kind() {
            PluginKind::Provider => ProviderInit::NAME,
            PluginKind::Agent => AgentInit::NAME,
            PluginKind::Workflow => WorkflowInit::NAME,
        }
    }

    /// Starts the plugin and hands it its configuration; what it said, if that can be read.
    pub(super) async fn begin(&mut self) -> Option<Box<RawValue>> {
        let name = self.init_name();
        let mut talk = match self.start().await {
            Ok(talk) => talk,
            Err(came) => {
                self.tell("start", Duration::ZERO, failed("a process", came));
                return None;
            }
        };
        let heard = talk.ask(name, Some(&self.config()), self.options.limits.init).await;
        let told = match (self.manifest.kind(), &heard.answer) {
            (PluginKind::Provider, answer) => answer.read::<ProviderInit>().err(),
            (PluginKind::Agent, answer) => answer.read::<AgentInit>().err(),
            (PluginKind::Workflow, answer) => answer.read::<WorkflowInit>().err(),
        };
        self.keep(talk, &heard.answer).await;
        match told {
            None => {
                let is_object =
                    matches!(&heard.answer, Answer::Result(result) if result.get().starts_with('{'));
                let odd = || noted("an object", heard.answer.words());
                self.tell(name, heard.took, if is_object { Outcome::Passed } else { odd() });
                match heard.answer {
                    Answer::Result(result) => Some(result),
                    _ => None,
                }
            }
            Some(outcome) => {
                self.tell(name, heard.took, outcome);
                self.tell("everything else", Duration::ZERO, skipped(format!("`{name}` did not work")));
                None
            }
        }
    }

    /// Calls a method within its usual limit, in a process that has its configuration.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Heard {
        self.ask_as(method, Some(params)).await
    }

    /// The same, perhaps without parameters.
    pub(super) async fn ask_as(&mut self, method: &str, params: Option<Value>) -> Heard {
        let limit = self.options.limits.of(method);
        let mut talk = match self.talk().await {
            Ok(talk) => talk,
            Err(came) => return Heard { answer: Answer::Gone(came), took: Duration::ZERO },
        };
        let heard = talk.ask(method, params.as_ref(), limit).await;
        if limit == self.options.limits.question {
            self.slowest = self.slowest.max(heard.took);
        }
        self.keep(talk, &heard.answer).await;
        heard
    }

    /// The process, for whoever speaks to it in another way; it is given back with [`Session::keep`].
    pub(super) async fn talk(&mut self) -> Result<Talk, String> {
        match self.talk.take() {
            Some(talk) => Ok(talk),
            None => self.fresh().await,
        }
    }

    /// Another process, which has its configuration.
    pub(super) async fn fresh(&mut self) -> Result<Talk, String> {
        let mut talk = self.start().await?;
        let heard = talk.ask(self.init_name(), Some(&self.config()), self.options.limits.init).await;
        match heard.answer {
            Answer::Result(_) => Ok(talk),
            other => {
                let words = format!("`{}` when it was started again: {}", self.init_name(), other.words());
                self.drop(talk).await;
                Err(words)
            }
        }
    }

    /// Takes a process back, unless there is nobody left to ask.
    pub(super) async fn keep(&mut self, talk: Talk, answer: &Answer) {
        if answer.is_lost() {
            self.drop(talk).await;
        } else {
            self.talk = Some(talk);
        }
    }

    /// Ends a process and keeps what it said.
    pub(super) async fn drop(&mut self, mut talk: Talk) {
        talk.kill().await;
        let stderr = talk.stderr();
        if !stderr.is_empty() {
            self.stderr = stderr;
        }
        let Noise { lines, shown, wrong_ids, uncalled } = std::mem::take(&mut talk.noise);
        self.noise.lines += lines;
        shown.into_iter().for_each(|line| keep(&mut self.noise.shown, line));
        wrong_ids.into_iter().for_each(|id| keep(&mut self.noise.wrong_ids, id));
        uncalled.into_iter().for_each(|method| keep(&mut self.noise.uncalled, method));
    }

    pub(super) fn tell(&mut self, name: impl Into<String>, took: Duration, outcome: Outcome) {
        self.report.tell(name, took, outcome);
    }

    /// Tells what was heard.
    pub(super) fn judge(&mut self, name: impl Into<String>, heard: &Heard, outcome: Outcome) {
        self.report.tell(name, heard.took, outcome);
    }

    pub(super) async fn let_go(&mut self) {
        if let Some(talk) = self.talk.take() {
            self.drop(talk).await;
        }
    }

    pub(super) fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) fn config(&self) -> Value {
        json!({ "config": self.options.config.0 })
    }

    pub(super) fn finish(mut self) -> Report {
        self.report.stderr_lines = self.complaints.load(Relaxed);
        let from = self.stderr.len().saturating_sub(SHOWN_STDERR);
        self.report.stderr = self.stderr[from..].iter().map(|line| judge::cut(line)).collect();
        self.report
    }

    async fn start(&mut self) -> Result<Talk, String> {
        let spec = ChildSpec::new(&self.manifest.name, &self.invocation.program)
            .args(self.invocation.arguments.iter().cloned())
            .cwd(&self.directory)
            .environment(Environment::Exactly(self.environment()));
        let line = self.options.limits.line;
        let started = Talk::start(&self.options.keeper, spec, line, self.complaints.clone()).await;
        started.map_err(|error| format!("it cannot be started: {error}"))
    }

    /// As a host gives it: all of the user's, and the manifest's defaults for what is not in it.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let given = &self.options.environment;
        let unset = |name: &str| given.iter().all(|(known, _)| known != name);
        let defaults = self.manifest.environment.iter().filter(|variable| unset(&variable.name));
        let defaults = defaults.filter_map(|variable| Some((&variable.name, variable.default.as_ref()?)));
        let defaults = defaults.map(|(name, value)| (name.into(), value.into()));
        given.iter().cloned().chain(defaults).collect()
    }
}
