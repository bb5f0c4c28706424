//! One command of an extension, from its start to where the extension has gone quiet, with the dialogs in between.
//!
//! What always holds: only dialogs of that extension in that workspace are answered here. What somebody else answered
//! first is not asked any longer.

use std::collections::VecDeque;
use std::path::PathBuf;

use loggia_client::{Client, Heard, SessionStream};
use loggia_protocol_agent_server::{
    self as wire, ClientCapability, DialogId, DialogRequest, LogLevel, OpenMessage, RunExtensionParams,
    SaveMessageParams, ServerMessage, WindowOpened, WorkspaceId,
};
use serde_json::json;

use super::super::messages::{self, MessageAt, MessageOpening};
use super::super::{say, say_json};
use super::answers::{Answers, Prepared};
use super::{dialogs, said};
use crate::ask::workspace;
use crate::paint::printable;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// The name under which other clients see us.
const NAME: &str = "loggia ext run";

/// A command to run.
#[derive(Debug, Clone)]
pub struct ExtensionRun {
    /// Whose.
    pub extension: String,
    /// Which.
    pub command: String,
    /// The workspace's directory.
    pub workspace: PathBuf,
    /// A file to open first, relative to the workspace.
    pub message: Option<String>,
    /// Whether the message is saved afterwards, if all went well.
    pub save: bool,
    /// How many seconds to wait at most; as the server is configured otherwise.
    pub timeout_s: Option<u64>,
    /// Whether the answer to every question is yes.
    pub yes: bool,
    /// Answers that were given beforehand.
    pub answers: Vec<Prepared>,
    /// Where paths begin that are typed.
    pub here: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// Runs a command and tells how it went.
///
/// # Errors
/// See [`CliError`].
pub async fn extension_run(
    client: &Client,
    options: ExtensionRun,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let workspace_id = workspace(client, &options.workspace).await?.workspace_id;
    let at = MessageAt { workspace: options.workspace.clone(), json: options.json };
    if let Some(path) = &options.message {
        messages::open(client, &at, MessageOpening::File(path.clone())).await?;
    }
    let answers = Answers::new(options.answers.clone(), options.yes);
    let stream = match answers.are_there() || terminal.can_ask() {
        true => Some(listen(client).await?),
        false => None,
    };
    let params = RunExtensionParams {
        workspace_id: workspace_id.clone(),
        command: options.command.clone(),
        timeout_s: options.timeout_s,
    };
    let run = client.run_extension(&options.extension, &params);
    let mut attending = Attending {
        options: &options,
        workspace: workspace_id,
        stream,
        answers,
        answered: None,
        is_refused: false,
        waiting: VecDeque::new(),
    };
    let done = attending.until(run, terminal, interrupts).await?;
    if let Some(stream) = attending.stream {
        stream.close().await;
    }
    let Some(done) = done else { return Ok(Outcome::Cancelled) };
    let trouble = Trouble::of(&done, attending.is_refused);
    let saved = match options.save && trouble.is_none() {
        true => {
            let message = messages::find(client, &at).await?;
            Some(client.save_message(&message.message_id, &SaveMessageParams::default()).await?)
        }
        false => None,
    };
    tell(&done, saved.as_ref(), &options, terminal)?;
    if let (true, Some(trouble)) = (options.save, trouble) {
        super::warn(terminal, &format!("the message is not saved, since {}", trouble.words()))?;
    }
    Ok(match trouble {
        Some(Trouble::Busy) => Outcome::LimitReached,
        Some(Trouble::Refused) => Outcome::Refused,
        // Without anything to save, what an extension says is for whoever reads it.
        Some(Trouble::Error) if options.save => Outcome::Faulty,
        Some(Trouble::Error) | None => Outcome::Done,
    })
}

/// What keeps a run from having gone well. The protocol has no answer to a command: this is all that can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// It was not done when the time was up.
    Busy,
    /// An answer that was given beforehand did not count.
    Refused,
    /// The extension said something at the level of errors.
    Error,
}

impl Trouble {
    fn of(done: &wire::ExtensionRun, is_refused: bool) -> Option<Self> {
        match done.still_busy {
            true => Some(Self::Busy),
            false if is_refused => Some(Self::Refused),
            false => done.said.iter().any(|entry| entry.level == LogLevel::Error).then_some(Self::Error),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Busy => "the command is not done",
            Self::Refused => "an answer of `--answer` was refused",
            Self::Error => "the extension told of an error",
        }
    }
}

/// A stream on which dialogs are heard. The server knows of us when this is there.
async fn listen(client: &Client) -> Result<SessionStream, CliError> {
    let follow = client.follow_all().named(NAME, env!("CARGO_PKG_VERSION"));
    let mut stream = follow.also_able_to(ClientCapability::Dialogs).open().await?;
    match stream.next().await {
        Some(Ok(_)) => Ok(stream),
        Some(Err(error)) => Err(error.into()),
        None => Err(CliError::Ended),
    }
}

fn tell(
    done: &wire::ExtensionRun,
    saved: Option<&OpenMessage>,
    options: &ExtensionRun,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    if options.json {
        return say_json(terminal, &json!({ "run": done, "saved": saved }));
    }
    said(&done.said, &done.extension, terminal)?;
    let (name, command) = (printable(&done.extension), printable(&options.command));
    let end = if done.still_busy { "is still busy; it is not waited for any longer" } else { "is done" };
    let saved = saved.map(|message| format!("; saved {}", messages::named(message))).unwrap_or_default();
    say(terminal, &format!("{name}: {command} {end}{saved}"))
}

/// What came from the stream that is about our extension.
#[derive(Debug)]
enum News {
    Asked(DialogRequest),
    Ended(DialogId),
    Window(WindowOpened),
    /// Something we said does not count.
    Refused(String),
}

/// A run that is attended to.
struct Attending<'o> {
    options: &'o ExtensionRun,
    workspace: WorkspaceId,
    stream: Option<SessionStream>,
    answers: Answers,
    /// Answered here, and not known to be closed yet.
    answered: Option<DialogRequest>,
    /// Whether an answer that was given beforehand did not count.
    is_refused: bool,
    /// Came while a dialog was open here.
    waiting: VecDeque<News>,
}

impl Attending<'_> {
    /// Answers dialogs until the run is over; nothing if somebody does not want to wait for it.
    async fn until(
        &mut self,
        run: impl Future<Output = Result<wire::ExtensionRun, loggia_client::Error>>,
        terminal: &mut Terminal,
        interrupts: &mut Interrupts,
    ) -> Result<Option<wire::ExtensionRun>, CliError> {
        tokio::pin!(run);
        loop {
            let news = tokio::select! {
                biased;
                done = &mut run => return Ok(Some(done?)),
                news = self.next() => news?,
                () = interrupts.next() => return Ok(None),
            };
            match news {
                News::Asked(dialog) => {
                    let answer = if self.answers.are_there() {
                        Some(self.answers.to(&dialog))
                    } else {
                        tokio::select! {
                            biased;
                            done = &mut run => {
                                terminal.keys.release();
                                return Ok(Some(done?));
                            }
                            ended = self.ended(&dialog.dialog_id) => {
                                ended?;
                                None
                            }
                            answer = dialogs::ask(&dialog, terminal, interrupts) => Some(answer?),
                        }
                    };
                    self.answer(dialog, answer, terminal).await?;
                }
                News::Refused(why) => self.refused(&why, terminal).await?,
                News::Window(window) => dialogs::tell_window(&window, terminal)?,
                News::Ended(id) => {
                    self.answered.take_if(|dialog| dialog.dialog_id == id);
                }
            }
        }
    }

    /// Asks once more what was answered in a way that does not count; what was answered beforehand is cancelled.
    async fn refused(&mut self, why: &str, terminal: &mut Terminal) -> Result<(), CliError> {
        super::warn(terminal, why)?;
        match self.answered.take() {
            Some(dialog) if self.answers.are_there() => {
                self.is_refused = true;
                self.answer(dialog, Some(dialogs::Answer::Cancelled), terminal).await
            }
            Some(dialog) => {
                self.waiting.push_front(News::Asked(dialog));
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn answer(
        &mut self,
        dialog: DialogRequest,
        answer: Option<dialogs::Answer>,
        terminal: &mut Terminal,
    ) -> Result<(), CliError> {
        let (Some(answer), Some(stream)) = (answer, &self.stream) else {
            terminal.keys.release();
            return terminal.err("\n(it has been answered elsewhere)\n").map_err(CliError::Output);
        };
        let response = answer.to(&dialog, &self.options.here);
        stream.speaker().answer_dialog(response).await?;
        self.answered = Some(dialog);
        Ok(())
    }

    /// The next thing about our extension; for ever nothing without a stream.
    async fn next(&mut self) -> Result<News, CliError> {
        match self.waiting.pop_front() {
            Some(news) => Ok(news),
            None => self.heard().await,
        }
    }

    /// Waits until a dialog is not open any more. What else comes meanwhile is kept.
    async fn ended(&mut self, id: &DialogId) -> Result<(), CliError> {
        loop {
            match self.heard().await? {
                News::Ended(ended) if ended == *id => return Ok(()),
                news => self.waiting.push_back(news),
            }
        }
    }

    async fn heard(&mut self) -> Result<News, CliError> {
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        let is_ours = |workspace: &WorkspaceId, extension: &str| {
            *workspace == self.workspace && extension == self.options.extension
        };
        loop {
            match stream.next().await {
                Some(Ok(Heard::Message(ServerMessage::DialogRequest(dialog))))
                    if is_ours(&dialog.workspace_id, &dialog.extension) =>
                {
                    return Ok(News::Asked(dialog));
                }
                Some(Ok(Heard::Message(ServerMessage::DialogClosed(closed)))) => {
                    return Ok(News::Ended(closed.dialog_id));
                }
                Some(Ok(Heard::Message(ServerMessage::WindowOpened(window))))
                    if is_ours(&window.workspace_id, &window.extension) =>
                {
                    return Ok(News::Window(window));
                }
                Some(Ok(Heard::Message(ServerMessage::Error(error)))) => {
                    return Ok(News::Refused(error.error.message));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                // The server has said goodbye; the run tells what became of it.
                None => return std::future::pending().await,
            }
        }
    }
}
