//! A run in progress: the extension's process, started again when a case has ended it, and what was found so far.

use std::ffi::OsString;
use std::time::Duration;

use loggia_jsonrpc::Method;
use loggia_protocol_hermes::{API_VERSION, Initialize, environment};
use loggia_wire::child::{ChildSpec, Environment};
use serde_json::{Value, json};

use super::CheckOptions;
use super::judge::Answer;
use super::played::Played;
use super::report::{Outcome, Report};
use super::talk::{Noise, Talk};
use crate::entry::ExtensionEntry;

/// As many of its last lines on stderr as are told.
const SHOWN_STDERR: usize = 5;

/// A run in progress.
pub(super) struct Session<'a> {
    pub(super) options: &'a CheckOptions,
    entry: &'a ExtensionEntry,
    words: Vec<String>,
    report: Report,
    talk: Option<Talk>,
    noise: Noise,
    stderr: Vec<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        options: &'a CheckOptions,
        entry: &'a ExtensionEntry,
        words: Vec<String>,
        report: Report,
    ) -> Self {
        Self { options, entry, words, report, talk: None, noise: Noise::default(), stderr: Vec::new() }
    }

    pub(super) fn tell(&mut self, name: impl Into<String>, took: Duration, outcome: Outcome) {
        self.report.tell(name, took, outcome);
    }

    pub(super) fn is_of(&mut self, name: &str, version: &str) {
        self.report.is_of(name, version);
    }

    /// Starts it, and says nothing yet.
    pub(super) async fn start(&mut self) -> Result<Talk, String> {
        let options = self.options;
        std::fs::create_dir_all(&options.data_directory)
            .map_err(|error| format!("its data directory cannot be made: {error}"))?;
        let directory = self
            .entry
            .cwd
            .as_ref()
            .map_or_else(|| options.directory.clone(), |cwd| options.directory.join(cwd));
        let program = crate::extension::located(&self.words[0], &directory);
        let spec = ChildSpec::new("extension", program)
            .args(&self.words[1..])
            .cwd(directory)
            .environment(Environment::Exactly(self.environment()));
        Talk::start(&options.keeper, spec, options.limits.frame, Played::new(&options.message)).await
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let data = self.options.data_directory.clone().into_os_string();
        let added = [
            (environment::HERMES_VERSION.into(), env!("CARGO_PKG_VERSION").into()),
            (environment::HERMES_API_VERSION.into(), API_VERSION.into()),
            (environment::HERMES_DATA_DIR.into(), data),
        ];
        let own = self.entry.env.iter().map(|(name, value)| (name.into(), value.into()));
        self.options.environment.iter().cloned().chain(added).chain(own).collect()
    }

    /// What it is greeted with.
    pub(super) fn greeting(&self) -> Value {
        json!({
            "hermesVersion": env!("CARGO_PKG_VERSION"), "apiVersion": API_VERSION,
            "dataDirectory": self.options.data_directory
        })
    }

    /// The process that runs; started and greeted if none does.
    pub(super) async fn talk(&mut self) -> Result<Talk, String> {
        if let Some(talk) = self.talk.take() {
            return Ok(talk);
        }
        let mut talk = self.start().await?;
        let greeting = self.greeting();
        let (answer, _) = talk.ask(Initialize::NAME, &greeting, self.options.limits.initialize).await;
        match answer {
            Answer::Result(_) => Ok(talk),
            other => {
                let came = format!("a start after which `initialize` gave {}", other.words());
                self.drop(talk).await;
                Err(came)
            }
        }
    }

    /// Gives a process back that is well.
    pub(super) fn keep(&mut self, talk: Talk) {
        self.talk = Some(talk);
    }

    /// Ends a process, and keeps what it said.
    pub(super) async fn drop(&mut self, mut talk: Talk) {
        talk.kill().await;
        let Noise { bodies, objections, strays, told } = std::mem::take(&mut talk.noise);
        self.noise.bodies.extend(bodies);
        self.noise.objections.extend(objections);
        self.noise.strays.extend(strays);
        self.noise.told.extend(told);
        self.stderr.extend(talk.stderr());
    }

    /// Ends the process that runs.
    pub(super) async fn let_go(&mut self) {
        if let Some(talk) = self.talk.take() {
            self.drop(talk).await;
        }
    }

    /// What came that should not have.
    pub(super) fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) async fn finish(mut self) -> Report {
        self.let_go().await;
        let shown = self.stderr.len().saturating_sub(SHOWN_STDERR);
        self.report.stderr = self.stderr.split_off(shown);
        self.report
    }
}
