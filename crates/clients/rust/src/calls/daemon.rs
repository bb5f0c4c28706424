//! The server itself: its health, its figures, its contract, its end.

use loggia_protocol_agent_server::{DoctorReport, Health};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// Whether the server works. Needs no token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn health(&self) -> Result<Health, Error> {
        self.ask(Ask::get(&["v1", "health"])).await
    }

    /// What is set up, what works, and what to do about the rest.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn doctor(&self) -> Result<DoctorReport, Error> {
        self.ask(Ask::get(&["v1", "doctor"])).await
    }

    /// Asks the server to stop.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn stop(&self) -> Result<(), Error> {
        self.tell(Ask::post(&["v1", "stop"])).await
    }

    /// The server's figures, as Prometheus reads them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn metrics(&self) -> Result<String, Error> {
        self.ask_text(Ask::get(&["metrics"])).await
    }

    /// The contract as OpenAPI, JSON text.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn openapi(&self) -> Result<String, Error> {
        self.ask_text(Ask::get(&["v1", "openapi.json"])).await
    }

    /// The JSON schema of one message or body.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn schema(&self, name: &str) -> Result<String, Error> {
        self.ask_text(Ask::get(&["v1", "schemas", name])).await
    }
}
