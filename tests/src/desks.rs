//! A desk and extensions for tests of what is around them.
//!
//! The pretended message is lines of `KEY=VALUE`, whatever format it is asked for in, and a path is a key. Beyond that it
//! does what a desk is to do: revisions, undo, files, proposals that it takes over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use loggia_domain::{
    BoxFuture, CommandDone, DeskEvent, DeskEvents, Dialog, DialogAnswer, DialogBody, DialogId, Dialogs,
    DocumentId, ExtensionAbout, ExtensionDesk, ExtensionDeskError, ExtensionListing, ExtensionLogEntry,
    ExtensionLogLevel, ExtensionState, ExtensionSummary, GuestButton, GuestCommand, GuestCommands,
    GuestError, MessageDesk, MessageError, MessageFinding, MessageFormat, MessageKind, MessagePatch,
    MessageSchema, MessageText, OpenMessage, Opening, PatchedMessage, ProposedMessage, RefusedPatch,
    SchemaField, SchemaOverlay, Timestamp, Unsaved, Workspace, WorkspaceId,
};
use loggia_engine::{DeskTools, DialogBoard};
use tokio::sync::broadcast;

/// A desk whose messages are lines of `KEY=VALUE`.
#[derive(Debug)]
pub struct PretendDesk {
    root: PathBuf,
    state: Mutex<Option<Open>>,
    events: broadcast::Sender<DeskEvent>,
}

#[derive(Debug, Clone)]
struct Open {
    id: DocumentId,
    path: Option<String>,
    text: String,
    saved: Option<String>,
    revision: u64,
    undo: Vec<String>,
    redo: Vec<String>,
    proposed: Option<(String, String)>,
}

impl PretendDesk {
    /// A desk over a directory, with nothing open.
    pub fn new(root: PathBuf) -> Self {
        Self { root, state: Mutex::default(), events: broadcast::Sender::new(64) }
    }

    fn state(&self) -> MutexGuard<'_, Option<Open>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self, open: &Open) -> OpenMessage {
        OpenMessage {
            id: open.id,
            file: open.path.as_ref().map(|path| self.root.join(path)),
            path: open.path.clone(),
            kind: MessageKind::Hl7,
            revision: open.revision,
            unsaved: open.saved.as_deref() != Some(&open.text),
            can_undo: !open.undo.is_empty(),
            can_redo: !open.redo.is_empty(),
            bytes: open.text.len() as u64,
        }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Self, &mut Open) -> Result<T, MessageError>,
    ) -> Result<T, MessageError> {
        match &mut *self.state() {
            Some(open) => work(self, open),
            None => Err(MessageError::NoneOpen),
        }
    }

    fn change(&self, open: &mut Open, text: String) -> OpenMessage {
        open.undo.push(std::mem::replace(&mut open.text, text));
        open.redo.clear();
        open.revision += 1;
        self.tell(DeskEvent::Changed(self.shown(open)));
        self.shown(open)
    }

    fn tell(&self, event: DeskEvent) {
        // Nobody may be listening.
        let _ = self.events.send(event);
    }

    fn current_now(&self) -> Option<OpenMessage> {
        let mut state = self.state();
        let open = state.as_mut()?;
        if let Some((path, text)) =
            open.proposed.take_if(|(path, text)| read(&self.root, path).as_ref() == Some(text))
        {
            (open.path, open.saved, open.text) = (Some(path), Some(text.clone()), text);
            open.revision += 1;
        }
        Some(self.shown(open))
    }
}

fn read(root: &Path, path: &str) -> Option<String> {
    std::fs::read_to_string(root.join(path)).ok()
}

fn entries(text: &str) -> Vec<(String, String)> {
    let entry = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    text.lines().filter_map(entry).collect()
}

fn patched(text: &str, patches: &[MessagePatch]) -> (String, usize, Vec<RefusedPatch>) {
    let mut entries = entries(text);
    let (mut applied, mut refused) = (0, Vec::new());
    for (index, patch) in patches.iter().enumerate() {
        let place = entries.iter().position(|(key, _)| *key == patch.path);
        let value = patch.value.clone().unwrap_or_default();
        match place {
            Some(place) if patch.remove => drop(entries.remove(place)),
            Some(place) => entries[place].1 = value,
            None if patch.create => entries.push((patch.path.clone(), value)),
            None => {
                let why = format!("there is no `{}`", patch.path);
                refused.push(RefusedPatch { index, path: patch.path.clone(), why });
                continue;
            }
        }
        applied += 1;
    }
    let text = entries.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    (text, applied, refused)
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl MessageDesk for PretendDesk {
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>> {
        ready(self.current_now())
    }

    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        let (path, text) = match opening {
            Opening::New { text, .. } => (None, text),
            Opening::File(path) => match read(&self.root, &path) {
                Some(text) => (Some(path), text),
                None => return ready(Err(MessageError::BadFile(format!("`{path}` is not there")))),
            },
        };
        if text.contains('\0') {
            return ready(Err(MessageError::BadText("it holds a NUL".to_owned())));
        }
        let open = Open {
            id: DocumentId::new(),
            saved: path.is_some().then(|| text.clone()),
            path,
            text,
            revision: 1,
            undo: Vec::new(),
            redo: Vec::new(),
            proposed: None,
        };
        let shown = self.shown(&open);
        *self.state() = Some(open);
        self.tell(DeskEvent::Opened(shown.clone()));
        ready(Ok(shown))
    }

    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>> {
        ready(self.with(|desk, open| {
            let text = match format {
                MessageFormat::Hl7 => open.text.clone(),
                MessageFormat::Json => {
                    let members =
                        entries(&open.text).into_iter().map(|(key, value)| format!("{key:?}:{value:?}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }
                MessageFormat::Yaml | MessageFormat::Toml => {
                    return Err(MessageError::BadFormat("only hl7 and json are pretended".to_owned()));
                }
            };
            Ok(MessageText { text, message: desk.shown(open) })
        }))
    }

    fn get(&self, path: String) -> BoxFuture<'_, Result<Option<String>, MessageError>> {
        ready(self.with(|_, open| {
            if path.contains(' ') {
                return Err(MessageError::BadPath(format!("`{path}` is not a path")));
            }
            Ok(entries(&open.text).into_iter().find(|(key, _)| *key == path).map(|(_, value)| value))
        }))
    }

    fn replace(&self, text: String, _: MessageFormat) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        ready(self.with(|desk, open| Ok(desk.change(open, text))))
    }

    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>> {
        ready(self.with(|desk, open| {
            let (text, applied, refused) = patched(&open.text, &patches);
            let message = if applied > 0 { desk.change(open, text) } else { desk.shown(open) };
            Ok(PatchedMessage { message, applied, refused })
        }))
    }

    fn propose(
        &self,
        patches: Vec<MessagePatch>,
        path: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>> {
        ready(self.with(|desk, open| {
            let path = path.or_else(|| open.path.clone()).ok_or(MessageError::NoFile)?;
            let (text, applied, refused) = patched(&open.text, &patches);
            open.proposed = Some((path.clone(), text.clone()));
            let before = std::fs::read(desk.root.join(&path)).ok();
            Ok(ProposedMessage { path, before, after: text.into_bytes(), applied, refused })
        }))
    }

    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        ready(self.with(|desk, open| {
            let text =
                open.undo.pop().ok_or_else(|| MessageError::NoStep("there is nothing to undo".to_owned()))?;
            open.redo.push(std::mem::replace(&mut open.text, text));
            open.revision += 1;
            desk.tell(DeskEvent::Changed(desk.shown(open)));
            Ok(desk.shown(open))
        }))
    }

    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        ready(self.with(|desk, open| {
            let text =
                open.redo.pop().ok_or_else(|| MessageError::NoStep("there is nothing to redo".to_owned()))?;
            open.undo.push(std::mem::replace(&mut open.text, text));
            open.revision += 1;
            desk.tell(DeskEvent::Changed(desk.shown(open)));
            Ok(desk.shown(open))
        }))
    }

    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        ready(self.with(|desk, open| {
            let elsewhere = path.is_some() && path != open.path;
            let path = path.or_else(|| open.path.clone()).ok_or(MessageError::NoFile)?;
            let written = std::fs::write(desk.root.join(&path), &open.text);
            written.map_err(|error| MessageError::BadFile(error.to_string()))?;
            (open.path, open.saved) = (Some(path), Some(open.text.clone()));
            desk.tell(DeskEvent::Saved { message: desk.shown(open), elsewhere });
            Ok(desk.shown(open))
        }))
    }

    fn close(&self, unsaved: Unsaved) -> BoxFuture<'_, Result<(), MessageError>> {
        let mut state = self.state();
        let closed = match &*state {
            None => Err(MessageError::NoneOpen),
            Some(open) if unsaved == Unsaved::Keep && self.shown(open).unsaved => {
                Err(MessageError::Conflict("there are changes that are not saved".to_owned()))
            }
            Some(_) => Ok(()),
        };
        if closed.is_ok() {
            *state = None;
            self.tell(DeskEvent::Closed);
        }
        ready(closed)
    }

    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>> {
        ready(self.with(|_, open| {
            let empty = entries(&open.text).into_iter().filter(|(_, value)| value.is_empty());
            let finding = |(path, _)| MessageFinding { path, wrong: true, what: "it is empty".to_owned() };
            Ok(empty.map(finding).collect())
        }))
    }

    fn schema(&self) -> MessageSchema {
        let field = SchemaField {
            field: 5,
            component: Some(1),
            name: "Name".to_owned(),
            required: Some(true),
            longest: Some(20),
            ..SchemaField::default()
        };
        MessageSchema { segments: BTreeMap::from([("PID".to_owned(), vec![field])]) }
    }

    fn lay_over(&self, _: Vec<SchemaOverlay>) {}

    fn watch(&self) -> DeskEvents {
        let events = futures_util::stream::unfold(self.events.subscribe(), |mut events| async move {
            loop {
                match events.recv().await {
                    Ok(event) => return Some((event, events)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        events.boxed()
    }
}

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

/// The desks of workspaces, made when they are looked for.
#[derive(Debug, Clone, Default)]
pub struct Desks(Arc<Mutex<BTreeMap<WorkspaceId, Arc<PretendDesk>>>>);

impl Desks {
    /// The desk of a workspace; the same one each time.
    pub fn of(&self, workspace: &Workspace) -> Arc<PretendDesk> {
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let desk = desks.entry(workspace.id);
        Arc::clone(desk.or_insert_with(|| Arc::new(PretendDesk::new(workspace.root.clone()))))
    }
}

impl Desks {
    /// What an engine is made of that has these, and tools for them.
    pub fn for_engine(
        self,
        extensions: Arc<PretendExtensions>,
        dialogs: DialogBoard,
    ) -> loggia_engine::Desks {
        loggia_engine::Desks {
            messages: Arc::new(move |workspace| Some(self.of(workspace) as Arc<dyn MessageDesk>)),
            extensions,
            dialogs,
            tools: Arc::new(|desk, commands| DeskTools {
                messages: desk.as_ref().map(loggia_tools::for_messages).unwrap_or_default(),
                commands: loggia_tools::for_commands(&commands),
            }),
        }
    }

    /// The same with extensions and a board of their own.
    pub fn whole() -> loggia_engine::Desks {
        let (desks, dialogs) = (Self::default(), DialogBoard::default());
        let extensions = Arc::new(PretendExtensions::new(desks.clone(), dialogs.clone()));
        desks.for_engine(extensions, dialogs)
    }
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
