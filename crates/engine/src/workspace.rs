//! A workspace that is in use: its root, its tools, its rules, and what undoing needs.
//!
//! Shared by all sessions that work in it. Knows files only through the handle on its root. Refuses to know
//! sessions: what they ask is done and told. Rules are read where that may block: they are files, too.

mod commits;
mod files;
mod instructions;
mod rules;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loggia_domain::{
    CodeIndex, CommandRequest, CommandSpec, GuestCommands, HardLinks, Policy, Preset, Rule, Timestamp, Tool,
    ToolSpec, Workspace, WorkspaceId,
};
use loggia_tree::{HardLinkRule, Root, RootSettings, TreePath};

pub(crate) use files::{Work, blocking};
pub(crate) use watch::{RUNNING, Watch};

use crate::changes::{Applier, ApplyJournal};
use crate::desks::WorkspaceDesks;
use crate::engine::Shared;
use crate::error::EngineError;
use crate::policy::{self, Judge, Place, Suggestion};
use crate::session::State;
use crate::turn::own_tools;
use crate::workspace::commits::Commits;
use crate::workspace::rules::{RuleFiles, Rules};
use crate::workspace::watch::Watcher;

/// A workspace that is in use.
pub(crate) struct OpenWorkspace {
    workspace: Workspace,
    root: Arc<Root>,
    tools: Vec<Arc<dyn Tool>>,
    /// The open message and the extensions, with tools of their own.
    desks: WorkspaceDesks,
    /// Tools of the engine's own, which no model is told about.
    own_tools: Vec<Arc<dyn Tool>>,
    specs: Arc<[ToolSpec]>,
    index: Option<Arc<dyn CodeIndex>>,
    commits: Commits,
    applier: Arc<Applier>,
    watcher: Watcher,
    /// The last compiled rules; most calls are judged by the same ones.
    judge: Mutex<Option<(JudgeKey, Arc<Judge>)>>,
}

/// What a compiled set of rules depends on.
#[derive(Debug, Clone, PartialEq)]
struct JudgeKey {
    policy: Policy,
    preset: Preset,
    session_rules: Vec<Rule>,
    suggestion: Option<Suggestion>,
}

impl OpenWorkspace {
    /// Opens a registered workspace. Touches disks: call it where that may block.
    pub(crate) fn open(shared: &Shared, workspace: Workspace) -> Result<Self, EngineError> {
        // The policy says otherwise when it is first asked.
        let settings = RootSettings { hard_links: HardLinkRule::Refuse, home: shared.settings.home.clone() };
        let root = Arc::new(Root::open(&workspace.root, settings)?);
        let index = (shared.parts.index)(&workspace);
        let tools = (shared.parts.tools)(&root, index.as_ref());
        let specs = tools.iter().map(|tool| tool.spec().clone()).collect();
        let own_tools = own_tools(&root);
        let desks = WorkspaceDesks::of(shared, &workspace);
        let blobs = Arc::new(Arc::clone(&shared.parts.store));
        let journal = ApplyJournal::open(&shared.apply_journal())
            .map_err(|error| EngineError::Workspace { workspace: workspace.id, reason: error.to_string() })?;
        let applier = Arc::new(Applier::new(Arc::clone(&root), blobs, journal));
        let mirror = shared.settings.data.join("mirrors").join(workspace.id.to_string());
        let watcher = Watcher::new(mirror, Arc::clone(&root));
        let (commits, judge) = (Commits::default(), Mutex::new(None));
        Ok(Self { workspace, root, tools, desks, own_tools, specs, index, commits, applier, watcher, judge })
    }

    pub(crate) fn id(&self) -> WorkspaceId {
        self.workspace.id
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The handle on its root.
    pub(crate) fn root(&self) -> Arc<Root> {
        Arc::clone(&self.root)
    }

    pub(crate) fn index(&self) -> Option<&Arc<dyn CodeIndex>> {
        self.index.as_ref()
    }

    /// What its last commits changed.
    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    /// What models are told about the tools that are always there.
    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// What models are told about the tools there are now.
    pub(crate) async fn offered(&self) -> Arc<[ToolSpec]> {
        let offered = self.desks.offered().await;
        match offered.is_empty() {
            true => self.specs(),
            false => self.specs.iter().cloned().chain(offered).collect(),
        }
    }

    /// The commands of its extensions.
    pub(crate) fn guest_commands(&self) -> &Arc<dyn GuestCommands> {
        self.desks.commands()
    }

    /// The tool with this name.
    ///
    /// # Errors
    /// What to tell a model that asks for another one.
    pub(crate) fn tool(&self, name: &str) -> Result<&Arc<dyn Tool>, String> {
        self.tools
            .iter()
            .chain(self.desks.tools())
            .chain(&self.own_tools)
            .find(|tool| tool.spec().name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
                format!("there is no tool `{name}`; there are {}", names.join(", "))
            })
    }

    /// The policy as it is now, with what the workspace's own suggestion makes of it.
    pub(crate) async fn policy(&self, shared: &Shared) -> Result<Arc<Policy>, EngineError> {
        Ok(self.rules(shared).await?.effective)
    }

    /// The rules as they are now. Files are read by them from here on.
    async fn rules(&self, shared: &Shared) -> Result<Rules, EngineError> {
        let files = RuleFiles {
            workspace: self.workspace.id,
            root: Arc::clone(&self.root),
            policies: Arc::clone(&shared.policies),
            trust: Arc::clone(&shared.trust),
        };
        let rules = blocking(move || files.read()).await?;
        self.root.set_hard_links(match rules.effective.hard_links {
            HardLinks::Refuse => HardLinkRule::Refuse,
            HardLinks::Read => HardLinkRule::Read,
        });
        Ok(rules)
    }

    /// When a question that is asked now is given up, if the policy says so.
    pub(crate) async fn approval_expiry(&self, shared: &Shared) -> Option<Timestamp> {
        let policy = self.policy(shared).await.ok()?;
        let limit = Duration::from_secs(policy.limits.approval_timeout_s?);
        let limit = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        Some(Timestamp(Timestamp::now().0.saturating_add(limit)))
    }

    /// The rules that hold for a session now.
    pub(crate) async fn judge(&self, shared: &Shared, state: &State) -> Result<Arc<Judge>, EngineError> {
        self.judge_with(shared, state.opened.preset, state.rules.clone()).await
    }

    /// The rules that hold outside of any session.
    pub(crate) async fn judge_alone(&self, shared: &Shared) -> Result<Arc<Judge>, EngineError> {
        self.judge_with(shared, None, Vec::new()).await
    }

    /// The rules that would hold outside of any session if this were the policy.
    pub(crate) async fn judge_draft(&self, shared: &Shared, draft: Policy) -> Result<Judge, EngineError> {
        let Rules { suggestion, .. } = self.rules(shared).await?;
        let preset = suggestion.as_ref().map_or(draft.preset, |suggestion| suggestion.over(&draft).preset);
        let key = JudgeKey { preset, session_rules: Vec::new(), suggestion, policy: draft };
        self.compile(shared, &key)
    }

    async fn judge_with(
        &self,
        shared: &Shared,
        preset: Option<Preset>,
        session_rules: Vec<Rule>,
    ) -> Result<Arc<Judge>, EngineError> {
        let Rules { policy, suggestion, effective } = self.rules(shared).await?;
        let key = JudgeKey {
            preset: preset.unwrap_or(effective.preset),
            session_rules,
            suggestion,
            policy: Policy::clone(&policy),
        };
        let mut last = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, judge)) = &*last
            && *known == key
        {
            return Ok(Arc::clone(judge));
        }
        let judge = self.compile(shared, &key).map(Arc::new)?;
        *last = Some((key, Arc::clone(&judge)));
        Ok(judge)
    }

    fn compile(&self, shared: &Shared, key: &JudgeKey) -> Result<Judge, EngineError> {
        let (rules, suggestion) = (&key.session_rules, key.suggestion.as_ref());
        Judge::new(&key.policy, key.preset, rules, suggestion, &self.place(shared)).map_err(|error| {
            EngineError::Workspace { workspace: self.workspace.id, reason: error.to_string() }
        })
    }

    fn place(&self, shared: &Shared) -> Place {
        Place { root: self.root.path().to_owned(), home: shared.settings.home.clone() }
    }

    /// A command as the runner takes it.
    ///
    /// # Errors
    /// Why it may not run there.
    pub(crate) async fn command_spec(
        &self,
        shared: &Shared,
        request: CommandRequest,
        policy: &Policy,
        time_limit: Duration,
    ) -> Result<CommandSpec, String> {
        let directory = TreePath::parse(&request.directory).map_err(|error| error.to_string())?;
        let root = Arc::clone(&self.root);
        let directory = blocking(move || root.real_path_of(&directory)).await;
        let directory = directory.map_err(|error| error.to_string())?;
        Ok(CommandSpec {
            line: request.line,
            directory: self.root.path().join(directory.as_str()),
            root: self.root.path().to_owned(),
            environment: request.environment,
            time_limit,
            output_bytes: usize::try_from(policy.limits.output_bytes).unwrap_or(usize::MAX),
            confinement: policy::confinement(policy, &self.place(shared), &shared.own_directories()),
        })
    }
}

impl std::fmt::Debug for OpenWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenWorkspace").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
