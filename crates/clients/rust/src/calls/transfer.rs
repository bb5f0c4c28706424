//! Whole journals, out and in, as JSON Lines.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use loggia_protocol_agent_server::{Session, SessionId, WorkspaceId};

use crate::client::Ask;
use crate::{Client, Error};

/// What JSON Lines are called.
const JSON_LINES: &str = "application/x-ndjson";

/// A journal on its way out, piece by piece: it may be larger than memory.
#[derive(Debug)]
pub struct Export(Incoming);

impl Export {
    /// The next piece; pieces do not end where lines do. `None` when all of it was given.
    ///
    /// # Errors
    /// When the connection is lost: then the journal is not complete.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.0.frame().await {
            let frame = frame.map_err(|error| Error::Interrupted(error.into()))?;
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

impl Client {
    /// Begins to read a session's journal.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn export_session(&self, id: &SessionId) -> Result<Export, Error> {
        let response = self.open(Ask::get(&["v1", "sessions", &id.0, "export"])).await?;
        Ok(Export(response.into_body()))
    }

    /// Makes a session in a workspace from an exported journal.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn import_session(
        &self,
        workspace: &WorkspaceId,
        lines: impl Into<Bytes>,
    ) -> Result<Session, Error> {
        let ask = Ask::post(&["v1", "sessions", "import"]).query("workspace_id", Some(&workspace.0));
        self.ask(ask.body(lines.into(), JSON_LINES)).await
    }
}
