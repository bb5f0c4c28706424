//! An endpoint for another client than ours: where it is, and what lets us in.
//!
//! Knows what has to be said to reach a model's endpoint. Refuses to know what else it is asked for.

use std::sync::Arc;

use loggia_domain::{ModelError, ModelName};

use crate::provider::ProviderModel;
use crate::{EndpointKind, Models, Secret};

/// An endpoint that is there by name. Nothing is asked and no key is looked for yet.
#[derive(Debug, Clone)]
pub struct Service(Arc<ProviderModel>);

impl Models {
    /// The endpoint of a model that does something else than reply.
    ///
    /// # Errors
    /// Nobody provides a model of that name.
    pub fn service(&self, name: &ModelName) -> Result<Service, ModelError> {
        self.shelf().model(name).map(Service)
    }
}

impl Service {
    /// Which protocol it speaks.
    pub fn kind(&self) -> EndpointKind {
        self.0.provider.kind
    }

    /// What the addresses of its services begin with.
    pub fn url(&self) -> &str {
        self.0.provider.address.url().as_str()
    }

    /// The model, as the endpoint calls it.
    pub fn model(&self) -> &str {
        &self.0.model
    }

    /// Its key, if it needs one. The keyring may be asked.
    ///
    /// # Errors
    /// It needs one, and there is none.
    pub async fn key(&self) -> Result<Option<Secret>, ModelError> {
        Ok(self.0.key().await?.map(|found| found.key))
    }
}
