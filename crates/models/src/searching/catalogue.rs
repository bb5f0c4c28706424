//! The models there are, and a search where there is none.

use std::sync::Arc;

use loggia_domain::{
    BoxFuture, Finding, Model, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelListing,
    ModelName, ModelRequest, ReplyStream,
};

use crate::searching::{SearchingModel, answer};

/// Models of another catalogue; where that has no default, a search answers. Named models are never replaced: whoever
/// asks for one is told why it is not there.
pub struct SearchingCatalogue {
    models: Option<Arc<dyn ModelCatalogue>>,
    search: Arc<SearchingModel>,
}

impl std::fmt::Debug for SearchingCatalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchingCatalogue").finish_non_exhaustive()
    }
}

impl SearchingCatalogue {
    /// No models at all.
    pub fn alone() -> Self {
        Self { models: None, search: Arc::new(SearchingModel) }
    }

    /// These models, and a search when they have no default: neither when it is looked up nor when it is to reply.
    pub fn behind(models: Arc<dyn ModelCatalogue>) -> Self {
        Self { models: Some(models), search: Arc::new(SearchingModel) }
    }
}

impl ModelCatalogue for SearchingCatalogue {
    fn find(&self, name: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        let search = || Arc::clone(&self.search) as Arc<dyn Model>;
        if name.is_some_and(|name| *name == SearchingModel::name()) {
            return Ok(search());
        }
        let found = match (&self.models, name) {
            (Some(models), _) => models.find(name),
            (None, None) => return Ok(search()),
            (None, Some(name)) => Err(missing(&format!("there is no model `{}`, nor any other", name.0))),
        };
        match (found, name) {
            (Ok(model), None) => Ok(Arc::new(OrSearch { model, search: Arc::clone(&self.search) })),
            (Err(error), None) if error.kind == ModelErrorKind::NotConfigured => Ok(search()),
            (found, _) => found,
        }
    }

    fn find_for_work<'a>(
        &'a self,
        name: Option<&'a ModelName>,
    ) -> BoxFuture<'a, Result<Arc<dyn Model>, ModelError>> {
        let is_search = name.is_some_and(ModelName::is_none);
        match &self.models {
            // A search stands in for the default, which is asked for then.
            Some(models) => models.find_for_work(name.filter(|_| !is_search)),
            None => Box::pin(std::future::ready(Err(missing("no model is set")))),
        }
    }

    fn list(&self) -> BoxFuture<'_, ModelListing> {
        let nobody =
            || (ModelName::NO_PROVIDER.to_owned(), missing("no model is set, so only searches answer"));
        match &self.models {
            Some(models) => models.list(),
            None => {
                let listing = ModelListing { models: Vec::new(), errors: vec![nobody()] };
                Box::pin(std::future::ready(listing))
            }
        }
    }

    fn doctor(&self) -> BoxFuture<'_, Vec<Finding>> {
        match &self.models {
            Some(models) => models.doctor(),
            None => Box::pin(std::future::ready(Vec::new())),
        }
    }
}

fn missing(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::NotConfigured, format!("{what}; {}", answer::HOW))
}

/// A default that may turn out to be none when it is to reply.
struct OrSearch {
    model: Arc<dyn Model>,
    search: Arc<SearchingModel>,
}

impl Model for OrSearch {
    fn info(&self) -> ModelInfo {
        let info = self.model.info();
        // A default that is still being looked for has no provider yet; until it is found, the search would answer.
        if info.name.0.contains(':') { info } else { self.search.info() }
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        Box::pin(async move {
            match self.model.reply(request.clone()).await {
                Err(error) if error.kind == ModelErrorKind::NotConfigured => self.search.reply(request).await,
                reply => reply,
            }
        })
    }
}
