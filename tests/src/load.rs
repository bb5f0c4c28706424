//! A model that keeps an engine busy: it reads what was asked and replies at once, slowly or with a change.
//!
//! The instruction says which: `talk` streams a long reply, `edit DIR` changes five files of a directory from one
//! version to the next in one patch.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use loggia_domain::{
    BoxFuture, JsonText, Model, ModelCatalogue, ModelError, ModelInfo, ModelMessage, ModelName, ModelRequest,
    ReplyPart, ReplyStream,
};

/// How many files change together.
pub const FILES: usize = 5;

/// Such a model, which knows where the workspace is.
#[derive(Debug)]
pub struct LoadModel {
    root: PathBuf,
}

/// The only model there is.
#[derive(Debug)]
pub struct OnlyModel(pub Arc<LoadModel>);

impl ModelCatalogue for OnlyModel {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn Model>)
    }
}

impl LoadModel {
    /// A model for this workspace.
    pub fn new(root: PathBuf) -> Arc<Self> {
        Arc::new(Self { root })
    }

    /// The patch from a directory's version to the next one.
    fn change(&self, directory: &str) -> ReplyPart {
        let version = version(&self.root.join(directory)).unwrap_or(0);
        let file = |number: usize| {
            let path = format!("{directory}/{number}");
            let next = version + 1;
            match version {
                0 => format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+version {next}\n"),
                _ => {
                    format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-version {version}\n+version {next}\n")
                }
            }
        };
        let diff: String = (0..FILES).map(file).collect();
        let arguments = format!("{{\"diff\":{}}}", quoted(&diff));
        ReplyPart::Call { provider_id: None, tool: "apply_patch".to_owned(), arguments: JsonText(arguments) }
    }
}

/// The version all files of a directory have; nothing if there are none or they differ.
pub fn version(directory: &std::path::Path) -> Option<u64> {
    let one = |number: usize| {
        let text = std::fs::read_to_string(directory.join(number.to_string())).ok()?;
        text.strip_prefix("version ")?.trim_end().parse::<u64>().ok()
    };
    let first = one(0)?;
    (1..FILES).all(|number| one(number) == Some(first)).then_some(first)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

impl Model for LoadModel {
    fn info(&self) -> ModelInfo {
        ModelInfo::new(ModelName("load".to_owned()), 10_000_000, true)
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let parts: Pin<Box<dyn Stream<Item = ReplyPart> + Send>> = match request.messages.last() {
            Some(ModelMessage::User(text)) if text.starts_with("edit ") => {
                let directory = text.trim_start_matches("edit ").to_owned();
                Box::pin(stream::iter([self.change(&directory)]))
            }
            Some(ModelMessage::User(text)) if text == "talk" => {
                let words = stream::iter(0..2000_u32).then(|number| async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    ReplyPart::Text(format!("word{number} "))
                });
                Box::pin(words)
            }
            _ => Box::pin(stream::iter([ReplyPart::Text("done".to_owned())])),
        };
        Box::pin(async move { Ok(Box::pin(parts.map(Ok)) as ReplyStream) })
    }
}
