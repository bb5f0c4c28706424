//! Which handler answers what.

use axum::Router;

use crate::Door;

impl Door {
    /// Everything the door answers, for any kind of connection. Requests carry a [`Peer`](crate::Peer) as an
    /// extension.
    pub fn router(&self) -> Router {
        Router::new().merge(crate::stream::routes()).with_state(std::sync::Arc::clone(&self.0))
    }
}
