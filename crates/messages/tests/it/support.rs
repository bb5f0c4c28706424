//! A workspace with a desk on it.

use std::path::PathBuf;

use futures_util::{FutureExt, StreamExt};
use loggia_domain::{DeskEvent, DeskEvents, MessageDesk, MessageFormat, MessagePatch, OpenMessage, Opening};
use loggia_messages::Desk;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) desk: Desk,
    pub(crate) events: DeskEvents,
    directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let desk = Desk::new(directory.path());
        Self { events: desk.watch(), desk, directory }
    }

    /// With this file open.
    pub(crate) async fn with(path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let world = Self::new();
        world.write(path, bytes);
        world.open(path).await;
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), bytes).unwrap();
    }

    pub(crate) fn read_file(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub(crate) async fn open(&self, path: &str) -> OpenMessage {
        self.desk.open(Opening::File(path.to_owned())).await.unwrap()
    }

    pub(crate) async fn read(&self, format: MessageFormat) -> String {
        self.desk.read(format).await.unwrap().text
    }

    pub(crate) async fn hl7(&self) -> String {
        self.read(MessageFormat::Hl7).await
    }

    pub(crate) async fn current(&self) -> OpenMessage {
        self.desk.current().await.unwrap()
    }

    /// What was told since it was last asked.
    pub(crate) fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Some(Some(event)) = self.events.next().now_or_never() {
            told.push(match event {
                DeskEvent::Opened(message) => format!("opened {}", message.revision),
                DeskEvent::Changed(message) => format!("changed {}", message.revision),
                DeskEvent::Saved { message, elsewhere } => {
                    format!("saved {}{}", message.path.unwrap(), if elsewhere { " elsewhere" } else { "" })
                }
                DeskEvent::Closed => "closed".to_owned(),
            });
        }
        told
    }
}

pub(crate) fn set(path: &str, value: &str) -> MessagePatch {
    MessagePatch { path: path.to_owned(), value: Some(value.to_owned()), ..MessagePatch::default() }
}

pub(crate) fn create(path: &str, value: Option<&str>) -> MessagePatch {
    let value = value.map(str::to_owned);
    MessagePatch { path: path.to_owned(), value, create: true, ..MessagePatch::default() }
}

pub(crate) fn remove(path: &str) -> MessagePatch {
    MessagePatch { path: path.to_owned(), remove: true, ..MessagePatch::default() }
}
