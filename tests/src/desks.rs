//! A desk for tests of what is around it.
//!
//! The pretended message is lines of `KEY=VALUE`, whatever format it is asked for in, and a path is a key. Beyond that it
//! does what a desk is to do: revisions, undo, files, proposals that it takes over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use loggia_domain::{
    BoxFuture, DeskEvent, DeskEvents, DocumentId, MessageDesk, MessageError, MessageFinding, MessageFormat,
    MessageKind, MessagePatch, MessageSchema, MessageText, OpenMessage, Opening, PatchedMessage,
    ProposedMessage, RefusedPatch, SchemaField, SchemaOverlay, Unsaved, Workspace, WorkspaceId,
};
use loggia_engine::{DeskTools, DialogBoard};
use tokio::sync::broadcast;

use crate::PretendExtensions;

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

pub(crate) fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
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
