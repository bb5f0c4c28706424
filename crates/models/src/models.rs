//! All models by name.

use std::sync::Arc;

use futures_util::StreamExt;
use loggia_domain::{
    BoxFuture, Finding, Model, ModelCatalogue, ModelError, ModelListing, ModelMessage, ModelName,
    ModelRequest, ReplyPart,
};
use tokio::time::Instant;

use crate::auto::Auto;
use crate::chain::Chain;
use crate::doctor::{self, Diagnosis, Tested};
use crate::provider::ProviderModel;
use crate::shelf::Shelf;
use crate::{Environment, Keyring, Settings, listing};

/// Hosted providers and servers on this machine.
///
/// ```
/// use loggia_domain::{ModelCatalogue, ModelName};
/// use loggia_models::{Environment, Models, Settings};
///
/// let environment = Environment::from([("OPENAI_API_KEY", "sk-…")]);
/// let models = Models::new(Settings::default(), environment);
/// let model = models.find(Some(&ModelName("openai:gpt-5".to_owned())))?;
/// assert_eq!(model.info().context_tokens, 400_000);
///
/// let error = models.find(Some(&ModelName("opnai:gpt-5".to_owned()))).err().map(|error| error.message);
/// assert_eq!(error.as_deref(), Some("there is no provider `opnai`; did you mean `openai:gpt-5`?"));
/// # Ok::<(), loggia_domain::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Models {
    shelf: Arc<Shelf>,
    default: Choice,
}

#[derive(Debug)]
enum Choice {
    One(ModelName),
    Chain(Arc<Chain>),
    Searched(Arc<Auto>),
}

impl Models {
    /// Models with these settings. Nothing is asked and nothing is read yet.
    pub fn new(settings: Settings, environment: Environment) -> Self {
        Self::on(Shelf::new(settings, environment, None))
    }

    /// The same with a keyring, which is asked when a key is needed that is nowhere else.
    pub fn with_keyring(settings: Settings, environment: Environment, keyring: Arc<dyn Keyring>) -> Self {
        Self::on(Shelf::new(settings, environment, Some(keyring)))
    }

    fn on(shelf: Shelf) -> Self {
        let shelf = Arc::new(shelf);
        let default = match shelf.settings.default.as_slice() {
            [] => Choice::Searched(Arc::new(Auto::new(Arc::clone(&shelf)))),
            [one] => Choice::One(one.clone()),
            names => Choice::Chain(Arc::new(Chain::new(Arc::clone(&shelf), names.to_vec()))),
        };
        Self { shelf, default }
    }

    pub(crate) fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Looks for a model if none was named, and makes ready what the first reply needs. To be run in the background,
    /// when there is time; a reply that comes before waits for it.
    pub fn look(&self) -> BoxFuture<'static, ()> {
        let shelf = Arc::clone(&self.shelf);
        let named = self.shelf.settings.default.first().cloned();
        let auto = match &self.default {
            Choice::Searched(auto) => Some(Arc::clone(auto)),
            Choice::One(_) | Choice::Chain(_) => None,
        };
        Box::pin(async move {
            let model = match (auto, named) {
                (Some(auto), _) => found(auto.find().await),
                // What is wrong with it is told to whoever asks it.
                (None, named) => named.and_then(|name| shelf.model(&name).ok()),
            };
            let Some(model) = model else { return };
            if let Err(error) = shelf.web.replies(&model.provider.address) {
                tracing::warn!(%error, "models cannot be asked");
            }
        })
    }

    /// The names of the default model and of those to fall back to. Empty while none was named and none was found.
    pub fn defaults(&self) -> Vec<ModelName> {
        match &self.default {
            Choice::Searched(auto) => auto.found().map(|model| model.info.name.clone()).into_iter().collect(),
            Choice::One(_) | Choice::Chain(_) => self.shelf.settings.default.clone(),
        }
    }

    /// What was found, what works, and what to do.
    pub async fn doctor(&self) -> Diagnosis {
        if let Choice::Searched(auto) = &self.default {
            // Finding nothing is an answer too.
            let _ = auto.find().await;
        }
        doctor::examine(&self.shelf, self.defaults()).await
    }

    /// Asks a model, or the default one, for as short a reply as possible.
    ///
    /// # Errors
    /// What a prompt would fail with.
    pub async fn test(&self, name: Option<&ModelName>) -> Result<Tested, ModelError> {
        let model = self.find(name)?;
        let messages = vec![ModelMessage::User("Say `ok`.".to_owned())];
        let request = ModelRequest {
            messages,
            tools: Arc::from([]),
            max_output: Some(doctor::TEST_TOKENS),
            thinking: None,
        };
        let begun = Instant::now();
        let mut reply = model.reply(request).await?;
        let first_piece = begun.elapsed();
        let mut tested = Tested { model: model.info().name, first_piece, usage: None };
        while let Some(part) = reply.next().await {
            match part? {
                ReplyPart::Usage(usage) => tested.usage = Some(usage),
                ReplyPart::Switched { to, .. } => tested.model = to,
                ReplyPart::Text(_) | ReplyPart::Thought(_) | ReplyPart::Call { .. } => {}
            }
        }
        Ok(tested)
    }
}

impl ModelCatalogue for Models {
    fn doctor(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async { Models::doctor(self).await.findings() })
    }

    fn find(&self, name: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        match (name, &self.default) {
            // Whoever names one is told at once that it has no key; with the default it is the turn that ends.
            (Some(name), _) => self.shelf.usable(name).map(|model| model as Arc<dyn Model>),
            (None, Choice::One(name)) => self.shelf.model(name).map(|model| model as Arc<dyn Model>),
            (None, Choice::Chain(chain)) => {
                chain.check()?;
                Ok(Arc::clone(chain) as Arc<dyn Model>)
            }
            (None, Choice::Searched(auto)) => Ok(Arc::clone(auto) as Arc<dyn Model>),
        }
    }

    fn find_for_work<'a>(
        &'a self,
        name: Option<&'a ModelName>,
    ) -> BoxFuture<'a, Result<Arc<dyn Model>, ModelError>> {
        Box::pin(async move {
            match (name, &self.default) {
                // One that has no key is told before the work begins.
                (None, Choice::One(name)) => self.shelf.usable(name).map(|model| model as Arc<dyn Model>),
                (None, Choice::Searched(auto)) => {
                    auto.find().await?;
                    Ok(Arc::clone(auto) as Arc<dyn Model>)
                }
                _ => self.find(name),
            }
        })
    }

    fn list(&self) -> BoxFuture<'_, ModelListing> {
        Box::pin(async move { listing::list(&self.shelf, &self.defaults()).await })
    }
}

/// Writes down what was found.
fn found(model: Result<Arc<ProviderModel>, ModelError>) -> Option<Arc<ProviderModel>> {
    match &model {
        Ok(model) => tracing::info!(model = model.info.name.0, "found a model"),
        Err(error) => tracing::info!(%error, "found no model"),
    }
    model.ok()
}
