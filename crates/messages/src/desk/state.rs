//! What is on a desk: the open document, its file, its steps, and what is told about it.
//!
//! Everything here may wait for the disk. Invariants: every change is one revision and at most one step; a change that
//! somebody else made to the file is taken over only if nothing is lost by it, and overwritten only if that file is
//! named.

use loggia_domain::{
    DeskEvent, DocumentId, MessageError, MessageFormat, MessagePatch, MessageText, OpenMessage, Opening,
    PatchedMessage, ProposedMessage, Unsaved,
};
use loggia_tree::{Meta, TreePath};
use tokio::sync::broadcast;

use crate::desk::files::{Encoding, Files, kind_of};
use crate::document::Document;
use crate::history::History;

/// A desk.
#[derive(Debug)]
pub(crate) struct State {
    files: Files,
    events: broadcast::Sender<DeskEvent>,
    open: Option<Open>,
}

/// A document that is open.
#[derive(Debug)]
struct Open {
    id: DocumentId,
    document: Document,
    revision: u64,
    history: History,
    encoding: Encoding,
    file: Option<OpenFile>,
    proposal: Option<Proposed>,
}

/// Its file.
#[derive(Debug)]
struct OpenFile {
    path: TreePath,
    /// What was known of it when it was last looked at.
    seen: Option<Meta>,
    /// The text it holds; nothing if it is not there, or no such text.
    holds: Option<String>,
    /// Whether it holds what somebody else put there, and this document was not made from.
    is_theirs: bool,
}

/// What was proposed for a file last.
#[derive(Debug)]
struct Proposed {
    path: TreePath,
    /// Of this revision.
    revision: u64,
    text: String,
    bytes: Vec<u8>,
    seen: Option<Meta>,
}

impl State {
    pub(crate) fn new(files: Files, events: broadcast::Sender<DeskEvent>) -> Self {
        Self { files, events, open: None }
    }

    pub(crate) fn current(&mut self) -> Option<OpenMessage> {
        self.refresh();
        self.open.as_ref().map(|open| open.summary(&self.files))
    }

    pub(crate) fn open(&mut self, opening: Opening) -> Result<OpenMessage, MessageError> {
        self.refresh();
        self.check_nothing_lost()?;
        let open = match opening {
            Opening::New { text, format } => {
                let document = Document::read_format(text, format)?;
                Open::new(document, Encoding::Utf8, None)
            }
            Opening::File(path) => {
                let path = self.files.locate(&path)?;
                let missing = || MessageError::BadFile(format!("`{path}` does not exist"));
                let file = self.files.read(&path)?.ok_or_else(missing)?;
                let kind = kind_of(&path, &file.text)?;
                let document = Document::read(file.text.clone(), kind)?;
                let holds =
                    OpenFile { path, seen: Some(file.meta), holds: Some(file.text), is_theirs: false };
                Open::new(document, file.encoding, Some(holds))
            }
        };
        let summary = self.open.insert(open).summary(&self.files);
        self.tell(DeskEvent::Opened(summary.clone()));
        Ok(summary)
    }

    pub(crate) fn read(&mut self, format: MessageFormat) -> Result<MessageText, MessageError> {
        let open = self.refreshed()?;
        let text = open.document.write(format)?;
        Ok(MessageText { text, message: self.summary()? })
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<Option<String>, MessageError> {
        self.refreshed()?.document.get(path)
    }

    /// The open document, for those who only look at it.
    pub(crate) fn document(&mut self) -> Result<&Document, MessageError> {
        Ok(&self.refreshed()?.document)
    }

    pub(crate) fn replace(&mut self, text: &str, format: MessageFormat) -> Result<OpenMessage, MessageError> {
        let open = self.refreshed()?;
        let text = open.document.replaced(text, format)?;
        self.change(text)?;
        self.summary()
    }

    pub(crate) fn patch(&mut self, patches: &[MessagePatch]) -> Result<PatchedMessage, MessageError> {
        let patched = self.refreshed()?.document.patched(patches)?;
        self.change(patched.text)?;
        Ok(PatchedMessage { message: self.summary()?, applied: patched.applied, refused: patched.refused })
    }

    pub(crate) fn propose(
        &mut self,
        patches: &[MessagePatch],
        path: Option<&str>,
    ) -> Result<ProposedMessage, MessageError> {
        let named = path.map(|path| self.files.locate(path)).transpose()?;
        let files = self.files.clone();
        let open = self.refreshed()?;
        let path = open.destination(named)?;
        Files::check_writable(&path)?;
        let patched = if patches.is_empty() {
            crate::document::Patched {
                text: open.document.text().to_owned(),
                applied: 0,
                refused: Vec::new(),
            }
        } else {
            open.document.patched(patches)?
        };
        let bytes = open.encoding.encode(&patched.text)?;
        let before = files.bytes(&path)?;
        let seen = before.as_ref().map(|(_, meta)| *meta);
        open.proposal = Some(Proposed {
            path: path.clone(),
            revision: open.revision,
            text: patched.text,
            bytes: bytes.clone(),
            seen,
        });
        Ok(ProposedMessage {
            path: path.as_str().to_owned(),
            before: before.map(|(bytes, _)| bytes),
            after: bytes,
            applied: patched.applied,
            refused: patched.refused,
        })
    }

    pub(crate) fn undo(&mut self) -> Result<OpenMessage, MessageError> {
        let open = self.refreshed()?;
        let text = open.history.undo(open.document.text());
        let text = text.ok_or_else(|| MessageError::NoStep("there is no step to take back".to_owned()))?;
        self.put(text)?;
        self.summary()
    }

    pub(crate) fn redo(&mut self) -> Result<OpenMessage, MessageError> {
        let open = self.refreshed()?;
        let text = open.history.redo(open.document.text());
        let text = text.ok_or_else(|| MessageError::NoStep("there is no step to make again".to_owned()))?;
        self.put(text)?;
        self.summary()
    }

    pub(crate) fn save(&mut self, path: Option<&str>) -> Result<OpenMessage, MessageError> {
        let named = path.map(|path| self.files.locate(path)).transpose()?;
        let files = self.files.clone();
        let open = self.refreshed()?;
        let own = open.file.as_ref().map(|file| file.path.clone());
        let path = open.destination(named)?;
        let text = open.document.text().to_owned();
        let seen = files.write(&path, &open.encoding.encode(&text)?)?;
        let elsewhere = own.as_ref() != Some(&path);
        open.file = Some(OpenFile { path, seen, holds: Some(text), is_theirs: false });
        let message = self.summary()?;
        self.tell(DeskEvent::Saved { message: message.clone(), elsewhere });
        Ok(message)
    }

    pub(crate) fn close(&mut self, unsaved: Unsaved) -> Result<(), MessageError> {
        self.refreshed()?;
        if unsaved == Unsaved::Keep {
            self.check_nothing_lost()?;
        }
        self.open = None;
        self.tell(DeskEvent::Closed);
        Ok(())
    }

    fn check_nothing_lost(&self) -> Result<(), MessageError> {
        match &self.open {
            Some(open) if open.is_unsaved() => Err(MessageError::Conflict(
                "the open message has changes that are not saved: save it, or close it and discard them"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn summary(&self) -> Result<OpenMessage, MessageError> {
        self.open.as_ref().map(|open| open.summary(&self.files)).ok_or(MessageError::NoneOpen)
    }

    fn refreshed(&mut self) -> Result<&mut Open, MessageError> {
        self.refresh();
        self.open.as_mut().ok_or(MessageError::NoneOpen)
    }

    /// Changes the text, as a step.
    fn change(&mut self, text: String) -> Result<(), MessageError> {
        let open = self.open.as_mut().ok_or(MessageError::NoneOpen)?;
        if open.document.text() == text {
            return Ok(());
        }
        let document = open.document.with_text(text)?;
        open.history.keep(open.document.text(), document.text());
        self.show(document);
        Ok(())
    }

    /// Changes the text to what a step leads to.
    fn put(&mut self, text: String) -> Result<(), MessageError> {
        let open = self.open.as_mut().ok_or(MessageError::NoneOpen)?;
        let document = open.document.with_text(text)?;
        self.show(document);
        Ok(())
    }

    fn show(&mut self, document: Document) {
        let Some(open) = &mut self.open else { return };
        open.document = document;
        open.revision += 1;
        let summary = open.summary(&self.files);
        self.tell(DeskEvent::Changed(summary));
    }

    fn tell(&self, event: DeskEvent) {
        // Nobody may be listening.
        let _ = self.events.send(event);
    }

    /// Looks at the files: whether what was proposed is there, and whether somebody else changed the file.
    fn refresh(&mut self) {
        self.take_over_proposal();
        let Some(open) = &mut self.open else { return };
        let is_unsaved = open.is_unsaved();
        let Some(file) = &mut open.file else { return };
        // What cannot be looked at has not changed, as far as is known.
        let Ok(seen) = self.files.stat(&file.path) else { return };
        if seen == file.seen {
            return;
        }
        let found = self.files.read(&file.path);
        file.seen = seen;
        let holds = match found {
            Ok(found) => found.filter(|found| found.encoding == open.encoding).map(|found| found.text),
            Err(_) => None,
        };
        if holds == file.holds && holds.is_some() {
            return;
        }
        file.holds.clone_from(&holds);
        // A file that is gone can be written again: nobody loses anything.
        file.is_theirs = seen.is_some() && holds.as_deref() != Some(open.document.text());
        let Some(text) = holds.filter(|_| !is_unsaved && file.is_theirs) else { return };
        match self.change(text) {
            Ok(()) => {
                if let Some(file) = self.open.as_mut().and_then(|open| open.file.as_mut()) {
                    file.is_theirs = false;
                }
            }
            Err(error) => tracing::warn!(%error, "the message's file is no such message any more"),
        }
    }

    fn take_over_proposal(&mut self) {
        let Some(open) = &mut self.open else { return };
        let Some(proposal) = &open.proposal else { return };
        if proposal.revision != open.revision {
            open.proposal = None;
            return;
        }
        let holds = match self.files.stat(&proposal.path) {
            Ok(Some(seen)) if Some(seen) != proposal.seen && seen.len == proposal.bytes.len() as u64 => {
                self.files.bytes(&proposal.path)
            }
            _ => return,
        };
        let Ok(Some((bytes, seen))) = holds else { return };
        if bytes != proposal.bytes {
            return;
        }
        let Some(Proposed { path, text, .. }) = open.proposal.take() else { return };
        let elsewhere = open.file.as_ref().map(|file| &file.path) != Some(&path);
        open.file = Some(OpenFile { path, seen: Some(seen), holds: Some(text.clone()), is_theirs: false });
        if let Err(error) = self.change(text) {
            tracing::warn!(%error, "what was proposed is no such message");
        }
        if let Ok(message) = self.summary() {
            self.tell(DeskEvent::Saved { message, elsewhere });
        }
    }
}

impl Open {
    fn new(document: Document, encoding: Encoding, file: Option<OpenFile>) -> Self {
        let history = History::default();
        Self { id: DocumentId::new(), document, revision: 1, history, encoding, file, proposal: None }
    }

    /// Where it is written: where somebody says, or to its own file unless that holds what somebody else wrote.
    fn destination(&self, named: Option<TreePath>) -> Result<TreePath, MessageError> {
        match (named, &self.file) {
            (Some(named), _) => Ok(named),
            (None, None) => Err(MessageError::NoFile),
            (None, Some(file)) if file.is_theirs => Err(MessageError::Conflict(format!(
                "somebody else changed `{}` meanwhile: save it elsewhere, name it to overwrite it, or close this and open it again",
                file.path
            ))),
            (None, Some(file)) => Ok(file.path.clone()),
        }
    }

    /// Whether its file holds something else; of one without a file, whether there is anything to lose.
    fn is_unsaved(&self) -> bool {
        match &self.file {
            Some(file) => file.holds.as_deref() != Some(self.document.text()),
            None => !self.document.text().is_empty(),
        }
    }

    fn summary(&self, files: &Files) -> OpenMessage {
        OpenMessage {
            id: self.id,
            file: self.file.as_ref().map(|file| files.absolute(&file.path)),
            path: self.file.as_ref().map(|file| file.path.as_str().to_owned()),
            kind: self.document.kind(),
            revision: self.revision,
            unsaved: self.is_unsaved(),
            can_undo: self.history.can_undo(),
            can_redo: self.history.can_redo(),
            bytes: self.document.text().len() as u64,
        }
    }
}
