//! How a stream begins: the client says who it is, the server says what is on.

use std::sync::Arc;

use loggia_domain::{CodeIndex, IndexState, ModelName};
use loggia_protocol_agent_server::{
    ClientHello, ClientMessage, ModelCapability, ModelInfo, ServerCapability, ServerHello, ServerInfo,
    ServerMessage,
};

use crate::door::Inner;
use crate::model_name;
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
        match ClientMessage::decode(&text) {
            Ok(ClientMessage::Hello(hello)) => return Ok(hello),
            Ok(_) => outgoing.complain(invalid("/type", "`client.hello` first")).await?,
            Err(error) => outgoing.complain(error.to_server_error().error).await?,
        }
    }
}

/// The server in its own words: only what is really on.
pub(super) fn server_hello(
    inner: &Inner,
    model: Option<&ModelName>,
    index: Option<&Arc<dyn CodeIndex>>,
) -> ServerMessage {
    let usable =
        index.is_some_and(|index| matches!(index.status().state, IndexState::Ready | IndexState::Stale));
    let rag = usable.then_some(ServerCapability::AgenticRag);
    let capabilities = rag.into_iter().chain([ServerCapability::MultiFileEdit]).collect();
    // What cannot be found is not in use.
    let model = inner.parts.models.find(model).ok().map(|model| model_info(&model.info().name));
    let server_info = ServerInfo { version: inner.settings.version.clone(), model, capabilities };
    ServerMessage::Hello(ServerHello { server_info })
}

fn model_info(name: &ModelName) -> ModelInfo {
    let (provider, model_name) = model_name::split(name);
    ModelInfo { provider, model_name, capabilities: vec![ModelCapability::Chat, ModelCapability::Refactor] }
}
