//! A home with plugins in it, and a host that has found them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use loggia_domain::{AgentBackend, TaskProvider, WorkflowHook};
use loggia_jsonrpc::Json;
use loggia_plugins::{
    AgentSettings, CheckOptions, HostSettings, Limits, Place, Plugin, Plugins, Scope, USUAL_PROMPT,
};
use loggia_wire::child::Keeper;
use tempfile::TempDir;

/// Whatever is waited for takes milliseconds; a busy machine gets much more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// For what is meant to run out.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// For what is meant to run out, but not before the plugin has said something.
pub(crate) const NOT_SO_SHORT: Duration = Duration::from_secs(2);

const SCRIPT: &str = include_str!("plugin.py");

pub(crate) fn keeper() -> Keeper {
    let none: [&str; 0] = [];
    Keeper::new(env!("CARGO_BIN_EXE_plugins-keeper"), none)
}

/// How a plugin of a home is checked.
pub(crate) fn options(home: &Home) -> CheckOptions {
    CheckOptions {
        keeper: keeper(),
        environment: home.environment.clone(),
        config: Json::object(),
        reference: None,
        prompt: USUAL_PROMPT.to_owned(),
        effects: false,
        malformed: false,
        limits: home.limits,
    }
}

/// Directories with plugins in them.
pub(crate) struct Home {
    directory: TempDir,
    pub(crate) enabled: Vec<String>,
    pub(crate) config: BTreeMap<String, Json>,
    pub(crate) agents: AgentSettings,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) limits: Limits,
    pub(crate) trusted: Arc<AtomicBool>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let path = std::env::var_os("PATH").unwrap();
        Self {
            directory: tempfile::tempdir().unwrap(),
            enabled: Vec::new(),
            config: BTreeMap::new(),
            agents: AgentSettings::default(),
            environment: vec![("PATH".into(), path), ("PYTHONDONTWRITEBYTECODE".into(), "1".into())],
            // A busy machine starts Python slowly.
            limits: Limits { init: PATIENCE, question: PATIENCE, ..Limits::default() },
            trusted: Arc::new(AtomicBool::new(true)),
        }
    }

    pub(crate) fn place(&self, scope: Scope) -> PathBuf {
        self.directory.path().join(scope.name())
    }

    /// Where a plugin of the user's lies.
    pub(crate) fn of(&self, name: &str) -> PathBuf {
        self.place(Scope::Global).join(name)
    }

    /// A directory with a manifest and the script in it.
    pub(crate) fn add_raw(&self, scope: Scope, directory: &str, manifest: &str) -> PathBuf {
        let directory = self.place(scope).join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("plugin.yaml"), manifest).unwrap();
        std::fs::write(directory.join("plugin.py"), SCRIPT).unwrap();
        directory
    }

    /// An enabled plugin of the user's that has these habits.
    pub(crate) fn add(&mut self, kind: &str, name: &str, habits: &[&str]) -> PathBuf {
        self.enabled.push(name.to_owned());
        self.add_raw(Scope::Global, name, &manifest(kind, name, habits))
    }

    /// Looks for plugins now.
    pub(crate) fn host(&self) -> Plugins {
        Plugins::find(keeper(), self.settings())
    }

    /// What a host is made from.
    pub(crate) fn settings(&self) -> HostSettings {
        let trusted = self.trusted.clone();
        let places = [Scope::Global, Scope::Project];
        HostSettings {
            places: places.map(|scope| Place { directory: self.place(scope), scope }).into(),
            enabled: self.enabled.clone(),
            config: self.config.clone(),
            agents: self.agents.clone(),
            environment: self.environment.clone(),
            limits: self.limits,
            trust: Arc::new(move |_| trusted.load(SeqCst)),
        }
    }
}

/// A manifest of a plugin that is the script with these habits.
pub(crate) fn manifest(kind: &str, name: &str, habits: &[&str]) -> String {
    let section = match kind {
        "provider" => {
            "provider:\n  name: jira\n  schemes: [jira]\n  priority: 30\n  capabilities: [read, snapshot, list]\n"
        }
        "agent" => "agent:\n  name: openai\n  streaming: true\n",
        _ => "workflow: {}\n",
    };
    let habits: String = habits.iter().map(|habit| format!(", {habit:?}")).collect();
    format!(
        "version: 1\nname: {name}\ntype: {kind}\nprotocol: \"1\"\n\
         executable:\n  command: [python3, ./plugin.py{habits}]\n{section}"
    )
}

/// A home with one plugin, and the host that found it.
pub(crate) struct One {
    pub(crate) home: Home,
    pub(crate) host: Plugins,
    pub(crate) plugin: Plugin,
}

impl One {
    pub(crate) fn new(kind: &str, habits: &[&str]) -> Self {
        Self::within(kind, habits, |_| {})
    }

    /// The same with other settings.
    pub(crate) fn within(kind: &str, habits: &[&str], change: impl FnOnce(&mut Home)) -> Self {
        let mut home = Home::new();
        home.add(kind, "one", habits);
        change(&mut home);
        let host = home.host();
        let plugin = host.get("one").unwrap().clone();
        Self { home, host, plugin }
    }

    pub(crate) fn provider(&self) -> Arc<dyn TaskProvider> {
        self.host.providers().remove(0)
    }

    pub(crate) fn agent(&self) -> Arc<dyn AgentBackend> {
        self.host.agents().remove(0)
    }

    pub(crate) fn workflow(&self) -> Arc<dyn WorkflowHook> {
        self.host.workflows().remove(0)
    }

    /// The lines of a file that the plugin wrote.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        lines(&self.home.of("one").join(file))
    }

    pub(crate) fn starts(&self) -> usize {
        self.lines("starts.log").len()
    }

    /// The requests of one method, as they were sent.
    pub(crate) fn requests(&self, method: &str) -> Vec<serde_json::Value> {
        let all = self.lines("requests.log");
        let all = all.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        all.filter(|request| request["method"] == method).collect()
    }

    /// The parameters of the only request of a method, as text.
    pub(crate) fn params(&self, method: &str) -> String {
        match &self.requests(method)[..] {
            [request] => request["params"].to_string(),
            other => panic!("one request of {method}, not {other:?}"),
        }
    }
}

pub(crate) fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
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
