//! One question to the agent: from the prompt to the end of its turn.

mod face;
mod lines;
mod open;
mod question;
mod tail;
mod turn;
mod view;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use loggia_client::Client;
use loggia_protocol_agent_server::{Budget, PolicyPreset, SessionId, UserMessage};

pub(crate) use open::{find as find_session, latest, model, session as open_session, workspace};
pub(crate) use turn::{Work, Worked, attend, run as converse};
pub(crate) use view::View;

use crate::{CliError, Interrupts, Terminal};
use face::Face;

/// What to ask, and how.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What to do or to answer.
    pub prompt: String,
    /// What was piped in.
    pub stdin_context: Option<String>,
    /// The project's directory.
    pub workspace: PathBuf,
    /// The model as `PROVIDER:MODEL`; the server's choice otherwise.
    pub model: Option<String>,
    /// In which session.
    pub session: SessionChoice,
    /// Who answers questions.
    pub approvals: Approvals,
    /// A preset of the policy for a new session.
    pub preset: Option<PolicyPreset>,
    /// How much a new session may use.
    pub budget: Option<Budget>,
    /// Every event as a line of JSON.
    pub json: bool,
    /// The answer, questions and errors, and nothing around them.
    pub quiet: bool,
    /// What brings the server back when it has gone; without it, it is only waited for.
    pub revive: Option<Revive>,
}

impl Ask {
    /// A prompt in a new session, with questions asked.
    pub fn new(prompt: impl Into<String>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            prompt: prompt.into(),
            stdin_context: None,
            workspace: workspace.into(),
            model: None,
            session: SessionChoice::New,
            approvals: Approvals::Ask,
            preset: None,
            budget: None,
            json: false,
            quiet: false,
            revive: None,
        }
    }
}

/// In which session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionChoice {
    /// A new one.
    #[default]
    New,
    /// This one; the beginning of its id is enough.
    Id(SessionId),
    /// The one of this workspace in which something happened last.
    Latest,
}

/// Who answers the agent's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approvals {
    /// Whoever sits at the keyboard, or anybody else first. Without a keyboard the answer is no.
    #[default]
    Ask,
    /// Nobody: the answer is yes. The policy still forbids what it forbids.
    Yes,
    /// Nobody: nothing is changed and nothing is run.
    ReadOnly,
    /// Other clients of the session, however long that takes.
    Elsewhere,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The turn is done, also if of a change only a part was taken, or if without a model a search has answered.
    Done,
    /// It is done, but something that the agent wanted was refused, by people or by the policy.
    Refused,
    /// It was cancelled.
    Cancelled,
    /// We left; it may go on without us.
    Left,
    /// The model failed.
    ModelFailed,
    /// It used all it may.
    LimitReached,
    /// It was cut off by the end of the server, and can be continued.
    Interrupted,
    /// It is done and told of faults: a command of an extension that did not go well.
    Faulty,
    /// Something else failed.
    Failed,
}

impl Outcome {
    /// In one word, as it is written to programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Left => "left",
            Self::ModelFailed => "model_failed",
            Self::LimitReached => "limit_reached",
            Self::Interrupted => "interrupted",
            Self::Faulty => "faulty",
            Self::Failed => "failed",
        }
    }
}

/// Brings the server back. Called each time it is found to be gone; it may come to nothing.
#[derive(Clone)]
pub struct Revive(Arc<dyn Fn() -> Reviving + Send + Sync>);

type Reviving = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Revive {
    /// In this way.
    pub fn new<F: Future<Output = ()> + Send + 'static>(way: impl Fn() -> F + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::pin(way())))
    }

    fn begin(&self) -> Reviving {
        (self.0)()
    }
}

impl fmt::Debug for Revive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Revive")
    }
}

/// Asks, and shows what happens until the turn has ended.
///
/// # Errors
/// When it cannot be asked or followed to its end; see [`CliError::hint`]. A turn that ends badly is an [`Outcome`].
pub async fn ask(
    client: &Client,
    options: Ask,
    terminal: &mut Terminal,
    interrupts: Interrupts,
) -> Result<Outcome, CliError> {
    let mut interrupts = interrupts;
    let read_only = options.approvals == Approvals::ReadOnly;
    let message = UserMessage { message: open::message(&options)?, context: None, read_only };
    let session = tokio::select! {
        session = open::session(client, &options) => session?,
        () = interrupts.next() => {
            Face::new(terminal, &options).never_began()?;
            return Ok(Outcome::Left);
        }
    };
    Ok(turn::run(client, &session, message, &options, terminal, &mut interrupts).await?.outcome)
}
