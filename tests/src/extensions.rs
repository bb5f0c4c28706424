//! Extensions for tests of what is around them: they do as their commands say, on pretended desks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loggia_domain::{
    BoxFuture, CommandDone, Dialog, DialogAnswer, DialogBody, DialogId, Dialogs, ExtensionAbout,
    ExtensionDesk, ExtensionDeskError, ExtensionListing, ExtensionLogEntry, ExtensionLogLevel,
    ExtensionState, ExtensionSummary, GuestButton, GuestCommand, GuestCommands, GuestError, MessageDesk,
    MessagePatch, Timestamp, Workspace,
};
use loggia_engine::DialogBoard;

use crate::desks::{Desks, PretendDesk, ready};

/// Two extensions that do as their commands say: `demo` runs, `other` is disabled.
///
/// `demo/say` says something, `demo/patch` changes `NAME` on the desk, `demo/write` writes `by-extension.txt`,
/// `demo/ask` asks a question of whoever is there and says the answer, `demo/open` lets a file be chosen, `demo/busy`
/// never ends.
#[derive(Debug)]
pub struct PretendExtensions {
    desks: Desks,
    dialogs: DialogBoard,
    state: Mutex<ExtensionState>,
    ran: Arc<Mutex<Vec<String>>>,
}

impl PretendExtensions {
    /// Extensions that work on these desks and show their dialogs there.
    pub fn new(desks: Desks, dialogs: DialogBoard) -> Self {
        Self { desks, dialogs, state: Mutex::new(ExtensionState::Idle), ran: Arc::default() }
    }

    /// The commands that ran, in order, and changes of trust.
    pub fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: ExtensionState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn summaries(&self) -> Vec<ExtensionSummary> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let runs = state == ExtensionState::Running;
        let demo = ExtensionSummary {
            name: "demo".to_owned(),
            command: vec!["python3".to_owned(), "demo.py".to_owned()],
            of_workspace: false,
            about: runs.then(|| ExtensionAbout {
                name: "Demo".to_owned(),
                version: "1.0.0".to_owned(),
                ..ExtensionAbout::default()
            }),
            commands: if runs { commands() } else { Vec::new() },
            events: if runs { vec!["message/changed".to_owned()] } else { Vec::new() },
            has_schema: false,
            process: runs.then_some(4711),
            state,
        };
        let other = ExtensionSummary {
            name: "other".to_owned(),
            command: vec!["other".to_owned()],
            of_workspace: true,
            state: ExtensionState::Disabled,
            about: None,
            commands: Vec::new(),
            events: Vec::new(),
            has_schema: false,
            process: None,
        };
        vec![demo, other]
    }

    fn one(&self, name: &str) -> Result<ExtensionSummary, ExtensionDeskError> {
        let found = self.summaries().into_iter().find(|extension| extension.name == name);
        match found {
            Some(extension) if extension.state == ExtensionState::Disabled => {
                Err(ExtensionDeskError::NotAllowed(format!("`{name}` is disabled")))
            }
            Some(extension) => Ok(extension),
            None => Err(ExtensionDeskError::NotFound(format!("there is no extension `{name}`"))),
        }
    }
}

fn commands() -> Vec<GuestCommand> {
    let command = |id: &str, title: &str, button: Option<GuestButton>| GuestCommand {
        id: id.to_owned(),
        extension: "demo".to_owned(),
        title: title.to_owned(),
        button,
    };
    let button =
        GuestButton { id: "say".to_owned(), icon: "<svg viewBox='0 0 9 9'/>".to_owned(), group: None };
    let mut all = vec![command("demo/say", "Say something", Some(button))];
    let others = ["patch", "write", "ask", "open", "busy"];
    all.extend(others.map(|name| command(&format!("demo/{name}"), name, None)));
    all
}

fn entry(text: impl Into<String>) -> ExtensionLogEntry {
    ExtensionLogEntry { at: Timestamp(1_700_000_000_000), level: ExtensionLogLevel::Info, text: text.into() }
}

impl ExtensionDesk for PretendExtensions {
    fn list(&self, _: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        ready(Ok(ExtensionListing { extensions: self.summaries(), problems: Vec::new() }))
    }

    fn start_all(&self, workspace: Workspace) -> BoxFuture<'_, Result<ExtensionListing, ExtensionDeskError>> {
        self.set(ExtensionState::Running);
        self.list(workspace)
    }

    fn restart(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        if let Err(error) = self.one(&extension) {
            return ready(Err(error));
        }
        self.set(ExtensionState::Running);
        ready(self.one(&extension))
    }

    fn stop(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<ExtensionSummary, ExtensionDeskError>> {
        if let Err(error) = self.one(&extension) {
            return ready(Err(error));
        }
        self.set(ExtensionState::Stopped);
        ready(self.one(&extension))
    }

    fn logs(
        &self,
        _: Workspace,
        extension: String,
    ) -> BoxFuture<'_, Result<Vec<ExtensionLogEntry>, ExtensionDeskError>> {
        ready(self.one(&extension).map(|_| vec![entry("started")]))
    }

    fn commands(
        &self,
        workspace: Workspace,
    ) -> BoxFuture<'_, Result<Arc<dyn GuestCommands>, ExtensionDeskError>> {
        self.set(ExtensionState::Running);
        let commands: Arc<dyn GuestCommands> = Arc::new(PretendCommands {
            desk: self.desks.of(&workspace),
            dialogs: self.dialogs.clone(),
            ran: Arc::clone(&self.ran),
            workspace,
        });
        ready(Ok(commands))
    }

    fn trust_changed(&self, _: Workspace) -> BoxFuture<'_, ()> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).push("trust changed".to_owned());
        ready(())
    }
}

#[derive(Debug)]
struct PretendCommands {
    workspace: Workspace,
    desk: Arc<PretendDesk>,
    dialogs: DialogBoard,
    ran: Arc<Mutex<Vec<String>>>,
}

impl PretendCommands {
    async fn ask(&self, body: DialogBody) -> String {
        let dialog = Dialog {
            id: DialogId::new(),
            workspace: self.workspace.id,
            guest: "demo".to_owned(),
            title: Some("Demo".to_owned()),
            body,
        };
        match self.dialogs.ask(dialog).await {
            Ok(DialogAnswer::Seen) => "seen".to_owned(),
            Ok(DialogAnswer::Confirmed(yes)) => if yes { "yes" } else { "no" }.to_owned(),
            Ok(DialogAnswer::Chosen(None)) => "cancelled".to_owned(),
            Ok(DialogAnswer::Chosen(Some(paths))) => {
                let name =
                    |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                paths.iter().map(name).collect::<Vec<_>>().join(", ")
            }
            Err(error) => error.to_string(),
        }
    }
}

impl GuestCommands for PretendCommands {
    fn commands(&self) -> BoxFuture<'_, Result<Vec<GuestCommand>, GuestError>> {
        ready(Ok(commands()))
    }

    fn execute(
        &self,
        command: String,
        extension: Option<String>,
        _: Option<Duration>,
    ) -> BoxFuture<'_, Result<CommandDone, GuestError>> {
        Box::pin(async move {
            let unknown = || GuestError::NotFound(format!("there is no command `{command}`"));
            if extension.is_some_and(|extension| extension != "demo") {
                return Err(unknown());
            }
            self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(command.clone());
            let said = match command.as_str() {
                "demo/say" => "hello".to_owned(),
                "demo/patch" => {
                    let patch = MessagePatch {
                        path: "NAME".to_owned(),
                        value: Some("BY EXTENSION".to_owned()),
                        ..MessagePatch::default()
                    };
                    match self.desk.patch(vec![patch]).await {
                        Ok(patched) => format!("{} applied", patched.applied),
                        Err(error) => error.to_string(),
                    }
                }
                "demo/write" => {
                    match std::fs::write(self.workspace.root.join("by-extension.txt"), "written\n") {
                        Ok(()) => "written".to_owned(),
                        Err(error) => error.to_string(),
                    }
                }
                "demo/ask" => {
                    let words = loggia_domain::ConfirmWords::YesNo;
                    self.ask(DialogBody::Confirm { text: "Go on?".to_owned(), words }).await
                }
                "demo/open" => {
                    let body = DialogBody::ChooseFiles { several: false, start: None, kinds: Vec::new() };
                    self.ask(body).await
                }
                "demo/busy" => std::future::pending().await,
                _ => return Err(unknown()),
            };
            Ok(CommandDone { extension: "demo".to_owned(), still_busy: false, said: vec![entry(said)] })
        })
    }
}
