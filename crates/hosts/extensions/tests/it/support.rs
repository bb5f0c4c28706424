//! A workspace with extensions in it, a desk with a message on it, and people who answer as they were told.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loggia_domain::{
    CommandDone, ExtensionLogEntry, ExtensionState, ExtensionSummary, GuestCommands, GuestError, Timestamp,
    Workspace, WorkspaceId,
};
use loggia_extensions::{ExtensionEntry, Extensions, HostSettings, Limits};
use loggia_wire::child::Keeper;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::desk::Desk;
use crate::people::People;

/// Whatever is waited for takes milliseconds; a busy machine gets much more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// For what is meant to run out.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

const PUPPET: &str = include_str!("puppet.py");

pub(crate) fn keeper() -> Keeper {
    let none: [&str; 0] = [];
    Keeper::new(env!("CARGO_BIN_EXE_extensions-keeper"), none)
}

pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap();
    vec![
        ("PATH".into(), path),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("PYTHONIOENCODING".into(), "utf-8".into()),
    ]
}

/// A workspace and what belongs to it.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    pub(crate) desk: Arc<Desk>,
    pub(crate) people: Arc<People>,
    pub(crate) entries: Vec<ExtensionEntry>,
    pub(crate) limits: Limits,
    pub(crate) trusted: Arc<AtomicBool>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            desk: Desk::new(),
            people: People::new(),
            entries: Vec::new(),
            // A busy machine starts Python slowly.
            limits: Limits { initialize: PATIENCE, ..Limits::default() },
            trusted: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Adds a puppet with a plan.
    pub(crate) fn puppet(&mut self, name: &str, plan: &Value) -> &mut ExtensionEntry {
        let heard = self.directory.path().join(name);
        std::fs::create_dir_all(&heard).unwrap();
        let script = self.directory.path().join("puppet.py");
        std::fs::write(&script, PUPPET).unwrap();
        let mut entry = ExtensionEntry::new("python3");
        entry.args = vec![script.to_str().unwrap().to_owned(), plan.to_string()];
        entry.name = Some(name.to_owned());
        entry.env.insert("HEARD".to_owned(), heard.to_str().unwrap().to_owned());
        self.entries.push(entry);
        self.entries.last_mut().unwrap()
    }

    /// Adds a script beside others.
    pub(crate) fn script(&mut self, file: &str, source: &str) -> PathBuf {
        let script = self.directory.path().join(file);
        std::fs::write(&script, source).unwrap();
        self.entries.push(ExtensionEntry::new(format!("python3 '{}'", script.display())));
        script
    }

    pub(crate) fn settings(&self) -> HostSettings {
        let trusted = self.trusted.clone();
        HostSettings {
            workspace: Workspace {
                id: WorkspaceId::new(),
                name: "world".to_owned(),
                root: self.directory.path().to_owned(),
                created: Timestamp(0),
            },
            entries: self.entries.clone(),
            environment: environment(),
            data_directory: self.directory.path().join("data"),
            limits: self.limits,
            trust: Arc::new(move || trusted.load(SeqCst)),
        }
    }

    pub(crate) fn host(&self) -> Extensions {
        Extensions::new(keeper(), self.settings(), self.desk.clone(), self.people.clone())
    }

    /// Lets commands rest for long: for those that end in another way, however slow the machine is.
    pub(crate) fn be_patient(&mut self) {
        self.limits.quiet = PATIENCE;
    }

    /// A host in which everything that is to run does.
    pub(crate) async fn started(&self) -> Extensions {
        let host = self.host();
        for summary in host.start_all().await {
            assert_eq!(
                summary.state,
                ExtensionState::Running,
                "{}: {:?}",
                summary.name,
                host.logs(&summary.name)
            );
        }
        host
    }

    /// All that a puppet heard, as it was sent, with what its headers looked like.
    pub(crate) fn wire(&self, name: &str) -> Vec<Value> {
        let file = self.directory.path().join(name).join("wire.log");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The messages with a method that a puppet heard.
    pub(crate) fn heard(&self, name: &str) -> Vec<Value> {
        let all = self.wire(name).into_iter().map(|heard| heard["message"].clone());
        all.filter(|message| message["method"].is_string()).collect()
    }

    /// The parameters of all messages of a method that a puppet heard.
    pub(crate) fn told(&self, name: &str, method: &str) -> Vec<Value> {
        let heard = self.heard(name).into_iter().filter(|message| message["method"] == method);
        heard.map(|message| message["params"].clone()).collect()
    }
}

/// A world with one puppet that runs.
pub(crate) struct One {
    pub(crate) world: World,
    pub(crate) host: Extensions,
}

impl One {
    pub(crate) async fn new(plan: Value) -> Self {
        Self::within(plan, |_| {}).await
    }

    pub(crate) async fn within(plan: Value, change: impl FnOnce(&mut World)) -> Self {
        let mut world = World::new();
        world.puppet("one", &plan);
        change(&mut world);
        let host = world.started().await;
        Self { world, host }
    }

    /// Gives a command and does not wait for it to be done.
    pub(crate) fn give(&self, command: &str) -> tokio::task::JoinHandle<Result<CommandDone, GuestError>> {
        let (host, command) = (self.host.clone(), command.to_owned());
        tokio::spawn(async move { host.execute(command, None, Some(PATIENCE)).await })
    }

    /// Runs the command `go`, and gives what the puppet said about so many answers.
    pub(crate) async fn answers(&self, count: usize) -> Vec<Value> {
        self.give("go");
        eventually("all answers", || self.all_answers().len() >= count).await;
        self.all_answers()
    }

    /// What the puppet said about answers so far.
    pub(crate) fn all_answers(&self) -> Vec<Value> {
        answers(&texts(&self.host, "one"))
    }

    pub(crate) fn summary(&self) -> ExtensionSummary {
        self.host.list().remove(0)
    }
}

pub(crate) fn answers(texts: &[String]) -> Vec<Value> {
    let answers = texts.iter().filter_map(|text| text.strip_prefix("answer "));
    answers.map(|answer| serde_json::from_str(answer).unwrap()).collect()
}

/// What is in the log of an extension.
pub(crate) fn texts(host: &Extensions, name: &str) -> Vec<String> {
    host.logs(name).unwrap().into_iter().map(|entry: ExtensionLogEntry| entry.text).collect()
}

pub(crate) fn state(host: &Extensions, name: &str) -> ExtensionState {
    host.list().into_iter().find(|summary| summary.name == name).unwrap().state
}

/// Why an extension failed.
pub(crate) fn failure(host: &Extensions, name: &str) -> String {
    match state(host, name) {
        ExtensionState::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

/// One command with these steps.
pub(crate) fn doing(steps: Value) -> Value {
    json!({ "commands": { "go": steps } })
}

/// A plan that subscribes to these events.
pub(crate) fn hearing(events: Value) -> Value {
    json!({ "init": { "events": events } })
}

/// Waits for something another process does.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A process that runs; a zombie nobody has reaped yet does not.
pub(crate) fn is_alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

/// Answers of people, in the order in which they are asked for.
pub(crate) type Script<T> = Mutex<VecDeque<T>>;

/// Variables as settings have them.
pub(crate) fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
