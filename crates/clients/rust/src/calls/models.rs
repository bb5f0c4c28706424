//! Models: which there are, and which is the default.

use loggia_protocol_agent_server::{CurrentModel, ModelList, TestModelParams, TestModelResult};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// Lists the models, and the providers that do not answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn models(&self) -> Result<ModelList, Error> {
        self.ask(Ask::get(&["v1", "models"])).await
    }

    /// The model of new sessions.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn current_model(&self) -> Result<CurrentModel, Error> {
        self.ask(Ask::get(&["v1", "models", "current"])).await
    }

    /// Sets the model of new sessions.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn put_current_model(&self, model: &CurrentModel) -> Result<CurrentModel, Error> {
        self.ask(Ask::put(&["v1", "models", "current"]).json(model)).await
    }

    /// Forgets which model was chosen for new sessions: the one counts that the server was configured with, or finds.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn forget_current_model(&self) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "models", "current"])).await
    }

    /// Asks a model for one word; without a name, that of new sessions. It may cost something.
    ///
    /// # Errors
    /// See [`Error`]. A model that does not work is no error: the answer says so.
    pub async fn test_model(&self, params: &TestModelParams) -> Result<TestModelResult, Error> {
        self.ask(Ask::post(&["v1", "models", "test"]).json(params)).await
    }
}
