//! Turns that a plugin's agent takes.
//!
//! Such an agent has no conversation: it is handed one text, works, and says what it does as it does it. Here that becomes
//! replies like a model's: each time it wants a tool called, what it said so far is a reply with that call, which goes
//! the way of every call; what came of it is handed back, and the next reply begins. What it wants changed in files is
//! collected and becomes one last call, of [`APPLY_CHANGES`].
//!
//! What always holds:
//! - a run is let go of when its turn ends, however it ends, and its host then stops it;
//! - a run that fails changes no file; what it said is kept;
//! - nothing is run twice by itself: an agent may have done things nobody knows of.

mod changes;
mod prompt;
mod question;
mod run;

use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{
    AgentRequest, GuestError, ModelError, ModelErrorKind, ModelInfo, ModelName, ModelTrouble, TaskId, Tool,
    ToolSpec,
};
use loggia_tree::Root;
use tracing::Instrument;

pub(super) use changes::APPLY_CHANGES;
pub(super) use run::Run;

use crate::engine::Shared;
use crate::session::{Said, State};
use crate::turn::reply::Broken;
use crate::turn::{Stop, Turn, failed, spans};
use crate::workspace::blocking;

/// The tools that agents are told about: few, and such as every agent knows what to do with. The others can be called
/// by whoever knows them.
const OFFERED: [&str; 8] = [
    "read_file",
    "list_directory",
    "search_text",
    "write_file",
    "edit_file",
    "apply_patch",
    "delete_file",
    "run_command",
];

/// Those among them that change nothing and run nothing.
const READING: [&str; 3] = ["read_file", "list_directory", "search_text"];

/// The engine's own tools: what agents of plugins need besides those of the workspace.
pub(crate) fn own_tools(root: &Arc<Root>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(changes::ApplyChanges::new(root)), Arc::new(question::AskPerson::new())]
}

/// Whether the agent has ended its work and all that was left to do was to change files. The journal says it, so that a
/// turn that waited for an answer while the daemon was down does not begin anew.
pub(super) fn is_over(state: &State) -> bool {
    // A turn that somebody continues has had no step yet.
    let is_guest = state.model.as_ref().is_some_and(|model| model.guest().is_some());
    let Some(turn) = state.turn.as_ref().filter(|turn| is_guest && turn.steps > 0) else { return false };
    let said = state.history.items().iter().rev().take_while(|item| item.seq > turn.began_at);
    let last = said.map(|item| &item.said).find(|said| matches!(said, Said::Assistant { .. }));
    match last {
        Some(Said::Assistant { message, .. }) => message.calls.iter().any(changes::is_last),
        _ => false,
    }
}

impl Turn {
    /// Lets the agent work until it wants a tool called or is done, and records what it said.
    pub(super) async fn guest_step(
        &mut self,
        state: &State,
        agent: &str,
        at_work: &mut Option<Run>,
    ) -> Result<(), Stop> {
        let mut run = match at_work.take().filter(|run| run.agent == agent) {
            Some(mut run) => {
                run.answer(state, &self.shared.masker);
                run
            }
            None => self.begin_run(state, agent).await?,
        };
        let name = ModelName::of_guest(agent);
        let span = spans::model_call(&name);
        let heard = self.hear(state, &name, &mut run.segment()).instrument(span.clone()).await;
        spans::model_replied(&span, &heard);
        drop(span);
        match heard? {
            Ok(mut replied) => {
                *at_work = run.after(&mut replied.message);
                self.replied(state, replied).await
            }
            Err(Broken { error, partial }) => {
                if let Some(event) = partial {
                    self.link.record(vec![event]).await?;
                }
                Err(named(agent, error))
            }
        }
    }

    async fn begin_run(&mut self, state: &State, agent: &str) -> Result<Run, Stop> {
        let missing = |error: String| {
            failed(&ModelError::new(ModelErrorKind::Permanent, error).with(ModelTrouble::NoModel))
        };
        let home = self.shared.home_of(state, self.workspace.workspace()).await;
        let home = home.map_err(|error| missing(error.to_string()))?;
        let home_root = home.root.clone();
        let found = self.shared.agent(home, agent).await.map_err(|error| missing(error.to_string()))?;
        let refused = |error: GuestError| named(agent, failure(&error));
        let request = self.informed_request(state, &ModelInfo::of_guest(agent)).await?;
        let only_reads = state.turn.as_ref().is_some_and(|turn| turn.instruction.restraint.reading_only);
        let offered: &[&str] = if only_reads { &READING } else { &OFFERED };
        let is_offered = |spec: &&ToolSpec| offered.contains(&spec.name.as_str());
        let tools: Vec<ToolSpec> = request.tools.iter().filter(is_offered).cloned().collect();
        let aim = state.turn.as_ref().and_then(|turn| turn.instruction.aim.as_ref());
        let task = state.task.as_ref();
        let mut environment = task.map(|task| task.start.environment.clone()).unwrap_or_default();
        if !environment.is_empty() && !is_trusted(&self.shared, home_root).await {
            // What a workspace's own files say to programs counts only while somebody trusts them.
            environment.clear();
        }
        if environment.is_empty() {
            found.ready().await.map_err(refused)?;
        }
        let asked = AgentRequest {
            text: prompt::render(&request.messages),
            task: task.map(|_| TaskId::of(self.session).to_string()),
            step: task.and_then(|task| task.open.as_ref()).map(|open| open.name.clone()),
            files: aim
                .map(|aim| aim.files.iter().map(|file| file.path.clone()).collect())
                .unwrap_or_default(),
            tools: tools.clone(),
            environment,
        };
        let run = found.run(asked).await.map_err(refused)?;
        Ok(Run::new(agent, run, &tools))
    }
}

async fn is_trusted(shared: &Shared, root: PathBuf) -> bool {
    let trust = Arc::clone(&shared.trust);
    blocking(move || trust.is_trusted(&root)).await
}

/// Why an agent did not go on, as models say it.
fn failure(error: &GuestError) -> ModelError {
    let kind = match error {
        // It may have been the moment.
        GuestError::TimedOut(_) | GuestError::Gone(_) | GuestError::Failed(_) => {
            ModelErrorKind::Transient { retry_after: None }
        }
        GuestError::Unsupported(_)
        | GuestError::NotFound(_)
        | GuestError::Refused(_)
        | GuestError::NoAccess(_)
        | GuestError::Untrusted(_) => ModelErrorKind::Permanent,
    };
    let trouble = match error {
        GuestError::TimedOut(_) => ModelTrouble::TimedOut,
        GuestError::NoAccess(_) => ModelTrouble::Key,
        GuestError::NotFound(_) | GuestError::Unsupported(_) => ModelTrouble::NoModel,
        GuestError::Gone(_) | GuestError::Failed(_) => ModelTrouble::Server,
        GuestError::Refused(_) | GuestError::Untrusted(_) => ModelTrouble::Unknown,
    };
    ModelError::new(kind, error.to_string()).with(trouble)
}

/// The end of the turn by an agent's failure, with its name.
fn named(agent: &str, error: ModelError) -> Stop {
    failed(&ModelError { message: format!("the agent `{agent}` did not finish: {}", error.message), ..error })
}
