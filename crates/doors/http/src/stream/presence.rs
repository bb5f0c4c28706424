//! Who comes and goes, as lines of the log.

use loggia_domain::{Client, SessionId};

/// A client on a session; dropping it says that the client has left.
pub(super) struct Presence {
    session: SessionId,
    client: String,
}

impl Presence {
    pub(super) fn new(session: SessionId, client: &Client) -> Self {
        let client = client.name.clone();
        tracing::info!(%session, client, "client connected");
        Self { session, client }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        tracing::info!(session = %self.session, client = self.client, "client left");
    }
}
