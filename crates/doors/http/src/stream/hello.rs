//! How a stream begins: the client says who it is, the server says what is on.

use std::sync::Arc;

use loggia_domain::{CodeIndex, IndexState, ModelName, Seq};
use loggia_protocol_agent_server::{
    ClientHello, ClientMessage, ListedModel, ModelInfo, ServerCapability, ServerHello, ServerInfo,
    ServerMessage,
};

use crate::door::Inner;
use crate::from_wire::{message, sorted};
use crate::rest::models::listed;
use crate::stream::socket::{End, Incoming, Outgoing};
use crate::to_wire::invalid;

/// Waits for the hello. Anything else is answered, and does not make the wait longer.
pub(super) async fn hello(
    inner: &Inner,
    incoming: &mut Incoming<'_>,
    outgoing: &mut Outgoing<'_>,
) -> Result<ClientHello, End> {
    let deadline = tokio::time::sleep(inner.streams.timing().hello);
    tokio::pin!(deadline);
    loop {
        let text = tokio::select! {
            biased;
            () = inner.parts.stop.cancelled() => return Err(End::STOPPING),
            () = &mut deadline => return Err(End::NO_HELLO),
            text = incoming.next() => text?,
        };
        match message(&text) {
            Ok(ClientMessage::Hello(hello)) => return Ok(hello),
            Ok(_) => outgoing.complain(invalid("/type", "`client.hello` first")).await?,
            Err(error) => outgoing.complain(error).await?,
        }
    }
}

/// What a client is greeted with.
pub(super) struct Welcome<'a> {
    pub(super) hello: &'a ClientHello,
    /// The newest event, where there are any.
    pub(super) last_seq: Option<Seq>,
    /// The session's model, if it has one of its own.
    pub(super) model: Option<&'a ModelName>,
    pub(super) index: Option<&'a Arc<dyn CodeIndex>>,
}

impl Welcome<'_> {
    /// The server in its own words: only what is really on.
    pub(super) fn message(&self, inner: &Inner) -> ServerMessage {
        let is_usable = |index: &Arc<dyn CodeIndex>| {
            matches!(index.status().state, IndexState::Ready | IndexState::Stale)
        };
        let rag = self.index.is_some_and(is_usable).then_some(ServerCapability::AgenticRag);
        let capabilities = rag.into_iter().chain([ServerCapability::MultiFileEdit]).collect();
        // What cannot be found is not in use, and a search is no model.
        let found = match self.model.and_then(ModelName::guest) {
            Some(agent) => Some(loggia_domain::ModelInfo::of_guest(agent)),
            None => inner.parts.models.find(self.model).ok().map(|model| model.info()),
        };
        let model = found.filter(|info| !info.name.is_none()).map(|info| model_info(&info));
        let server_info = ServerInfo { version: inner.settings.version.clone(), model, capabilities };
        let (understood, not_understood) = sorted(&self.hello.client_info.capabilities);
        let last_seq = self.last_seq.map(|seq| seq.0);
        ServerMessage::Hello(ServerHello { server_info, last_seq, understood, not_understood })
    }
}

/// A model as it is listed.
fn model_info(info: &loggia_domain::ModelInfo) -> ModelInfo {
    let ListedModel { provider, model_name, capabilities, .. } = listed(info);
    ModelInfo { provider, model_name, capabilities }
}
