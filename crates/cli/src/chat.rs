//! A conversation: one prompt after the other, in one session.
//!
//! What always holds: what goes wrong with one prompt is told, and the next one can be typed.

mod complete;
mod line;
mod prompt;

use std::path::PathBuf;
use std::pin::pin;

use loggia_client::Client;
use loggia_protocol_agent_server::{Budget, EditorContext, Mention, PolicyPreset, Session, UserMessage};

use crate::ask::{Approvals, Ask, Revive, SessionChoice, converse, find_session, open_session};
use crate::commands::{Undo, redo, undo};
use crate::editor::{self, Editor, Typed};
use crate::interrupts::Interrupt;
use crate::paint::{ASIDE, CODE, ERROR, printable};
use crate::spent::Spent;
use crate::{CliError, Interrupts, Outcome, Terminal, describe};
use line::Line;
use prompt::{MARK, Mark, Names};

pub(crate) use line::COMMANDS;

/// How to converse.
#[derive(Debug, Clone)]
pub struct Chat {
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
    /// The answers, questions and errors, and nothing around them.
    pub quiet: bool,
    /// Where what was typed is remembered; nowhere otherwise.
    pub history: Option<PathBuf>,
    /// What brings the server back when it has gone.
    pub revive: Option<Revive>,
}

/// Converses until whoever types leaves.
///
/// # Errors
/// When there is no terminal to type in, or it cannot be written to any more.
pub async fn chat(
    client: &Client,
    options: Chat,
    terminal: &mut Terminal,
    interrupts: Interrupts,
) -> Result<Outcome, CliError> {
    let editor = match terminal.lines.take() {
        Some(lines) => Editor::given(lines),
        None if terminal.can_edit() => {
            let names = Box::new(Names(options.workspace.clone()));
            let line = editor::line(names, MARK, options.history.as_deref());
            line.and_then(|line| Editor::begin(line, Mark)).map_err(CliError::Keyboard)?
        }
        None => return Err(CliError::NoTerminal),
    };
    let mut talk = Talk { client, session: None, last: None, options, terminal, interrupts };
    talk.greet().await?;
    talk.go(editor).await
}

/// A conversation on its way.
struct Talk<'a> {
    client: &'a Client,
    /// Opened with the first prompt.
    session: Option<Session>,
    /// What the last prompt took.
    last: Option<Spent>,
    options: Chat,
    terminal: &'a mut Terminal,
    interrupts: Interrupts,
}

impl Talk<'_> {
    async fn go(&mut self, mut editor: Editor) -> Result<Outcome, CliError> {
        loop {
            let Some(typed) = self.typed(&mut editor).await else { return Ok(Outcome::Left) };
            let text = match typed {
                Typed::Line(text) => text,
                Typed::Interrupted => {
                    self.aside("Ctrl-D leaves.")?;
                    continue;
                }
                Typed::Ended => return Ok(Outcome::Done),
                Typed::Broken(error) => return Err(CliError::Keyboard(error)),
            };
            match self.take(line::read(&text)).await {
                Ok(true) => {}
                Ok(false) => return Ok(Outcome::Done),
                Err(error @ CliError::Output(_)) => return Err(error),
                Err(error) => self.complain(&error)?,
            }
            if self.interrupts.are_over() {
                return Ok(Outcome::Left);
            }
        }
    }

    /// Waits for a line; nothing if we are to end. Ctrl-C and Ctrl-Z are keys here.
    async fn typed(&mut self, editor: &mut Editor) -> Option<Typed> {
        let mut typing = pin!(editor.next());
        loop {
            tokio::select! {
                typed = &mut typing => return Some(typed),
                interrupt = self.interrupts.any() => if interrupt == Interrupt::End {
                    return None;
                },
            }
        }
    }

    /// Says who will answer, and how to get on.
    async fn greet(&mut self) -> Result<(), CliError> {
        let who = match (&self.options.model, &self.options.session) {
            (Some(name), _) => Some(shown(name)),
            // A session that goes on has its own, and tells it with its first answer.
            (None, SessionChoice::Id(_) | SessionChoice::Latest) => None,
            (None, SessionChoice::New) => match self.client.current_model().await {
                Ok(model) => Some(describe::model(&model.provider, &model.model_name)),
                // Whatever else is wrong is told with the first prompt.
                Err(_) => None,
            },
        };
        let who = who.map(|name| format!("{name} answers. ")).unwrap_or_default();
        self.aside(&format!("{who}Ask away. /help lists commands, Ctrl-D leaves."))
    }

    /// Does what a line says; false when it says goodbye.
    async fn take(&mut self, line: Line) -> Result<bool, CliError> {
        match line {
            Line::Nothing => {}
            Line::Leave => return Ok(false),
            Line::Prompt { text, files } => self.prompt(text, files, self.options.approvals).await?,
            // The session is what it would be: it is the turn that gets no yes.
            Line::Plan { text, files } => self.prompt(text, files, Approvals::ReadOnly).await?,
            Line::Undo => self.step(true).await?,
            Line::Redo => self.step(false).await?,
            Line::New => {
                (self.session, self.last, self.options.session) = (None, None, SessionChoice::New);
                self.aside("The next prompt begins a new session.")?;
            }
            Line::Model(None) => {
                let model = self.session.as_ref().and_then(|session| session.model.as_ref());
                let name = model.map(|model| format!("{}:{}", model.provider, model.model_name));
                let name = name.or_else(|| self.options.model.clone());
                self.aside(
                    &name.unwrap_or_else(|| "The server's choice; /model NAME changes it.".to_owned()),
                )?;
            }
            Line::Model(Some(name)) => self.switch(name).await?,
            Line::Cost => self.cost().await?,
            Line::Help => self.help()?,
            Line::Unknown(word) => self.aside(&format!("There is no {word}; /help lists what there is."))?,
        }
        Ok(true)
    }

    async fn prompt(
        &mut self,
        text: String,
        files: Vec<String>,
        approvals: Approvals,
    ) -> Result<(), CliError> {
        let options = self.ask();
        let session = match &self.session {
            // What came since it was asked last is the past.
            Some(session) => find_session(self.client, &options, &session.session_id).await?,
            None => open_session(self.client, &options).await?,
        };
        let mentions: Vec<Mention> = files.into_iter().map(|path| Mention::File { path }).collect();
        let context = (!mentions.is_empty())
            .then(|| EditorContext { mentions: Some(mentions), ..EditorContext::default() });
        let read_only = approvals == Approvals::ReadOnly;
        let message = UserMessage { message: text, context, read_only };
        let options = Ask { approvals, ..options };
        let ended =
            converse(self.client, &session, message, &options, self.terminal, &mut self.interrupts).await;
        self.session = Some(session);
        self.last = Some(ended?.spent);
        Ok(())
    }

    /// Goes on with another model; what was said stays said.
    async fn switch(&mut self, name: String) -> Result<(), CliError> {
        let wanted = crate::ask::model(&name)?;
        let session = match (&self.session, &self.options.session) {
            (None, SessionChoice::New) => {
                self.aside(&format!("The conversation begins with {name}."))?;
                self.options.model = Some(name);
                return Ok(());
            }
            (None, _) => open_session(self.client, &self.ask()).await?.session_id,
            (Some(session), _) => session.session_id.clone(),
        };
        self.session = Some(self.client.set_session_model(&session, &wanted).await?);
        self.aside(&format!("The conversation goes on with {name}."))?;
        self.options.model = Some(name);
        Ok(())
    }

    /// What the last prompt and the whole session took, as the server counts it.
    async fn cost(&mut self) -> Result<(), CliError> {
        let Some(session) = &self.session else { return self.aside("Nothing was asked yet.") };
        let session = self.client.session(&session.session_id).await?;
        let all = Spent::from(session.state.usage).words();
        if let Some(last) = self.last {
            self.aside(&format!("The last prompt took {}.", last.words()))?;
        }
        self.aside(&format!("The session took {all}."))
    }

    async fn step(&mut self, back: bool) -> Result<(), CliError> {
        let session = self.session.as_ref().map(|session| SessionChoice::Id(session.session_id.clone()));
        let session = session.unwrap_or_else(|| self.options.session.clone());
        // It was typed: that is the yes.
        let options =
            Undo { session, workspace: self.options.workspace.clone(), steps: None, yes: true, json: false };
        match back {
            true => undo(self.client, options, self.terminal, &mut self.interrupts).await?,
            false => redo(self.client, options, self.terminal, &mut self.interrupts).await?,
        };
        Ok(())
    }

    fn ask(&self) -> Ask {
        let Chat { workspace, model, session, approvals, preset, budget, quiet, revive, .. } =
            self.options.clone();
        Ask { model, session, approvals, preset, budget, quiet, revive, ..Ask::new(String::new(), workspace) }
    }

    fn help(&mut self) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let mut text = String::new();
        for (name, what) in COMMANDS {
            let padded = format!("{name:<10}");
            text.push_str(&format!("  {} {what}\n", paint.text(CODE, padded)));
        }
        text.push_str(&format!("  {} names a file\n", paint.text(CODE, format!("{:<10}", "@path"))));
        self.terminal.err(&text).map_err(CliError::Output)
    }

    fn aside(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.terminal.paint_err().foreign(ASIDE, text);
        let text = self.terminal.folded(&format!("{text}\n"));
        self.terminal.err(&text).map_err(CliError::Output)
    }

    fn complain(&mut self, error: &CliError) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let (what, hint) = (error.to_string(), error.hint());
        let text = format!(
            "{} {}\n{} {hint}\n",
            paint.text(ERROR, "error:"),
            printable(&what),
            paint.text(CODE, "hint:")
        );
        let text = self.terminal.folded(&text);
        self.terminal.err(&text).map_err(CliError::Output)
    }
}

/// `PROVIDER:MODEL` as people read it.
fn shown(name: &str) -> String {
    let (provider, model) = name.split_once(':').unwrap_or(("", name));
    describe::model(provider, model)
}
