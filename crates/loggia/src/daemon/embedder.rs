//! Who makes vectors for the indexes of a daemon.
//!
//! Knows the words of the configuration and whom they mean. Nobody waits for an embedder: it is looked for when the first
//! index is opened, and again while it is away; an index gets it when it is there.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use loggia_domain::{BoxFuture, Embedder, ModelName};
use loggia_embed::{Choice, EndpointSettings, Protocol, Secret};
use loggia_index::{FileIndex, Making};
use loggia_models::{EndpointKind, Environment, Service};
use tokio::sync::watch;

use super::{DaemonError, models};
use crate::config::endpoints::Endpoint as Configured;

/// What the model in this process is called.
pub(crate) const MINILM: &str = "minilm";

/// How long an embedder that is away is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// An embedder that is there, or will be.
#[derive(Clone)]
pub(crate) struct EmbedderSource(Arc<Inner>);

struct Inner {
    open: Box<dyn Fn() -> Opening + Send + Sync>,
    state: watch::Sender<State>,
}

type Opening = BoxFuture<'static, Result<Arc<dyn Embedder>, String>>;

#[derive(Clone)]
enum State {
    /// Nobody needed it yet.
    Unasked,
    Away(Option<String>),
    There(Arc<dyn Embedder>),
}

impl EmbedderSource {
    /// The embedder of a name; `weights` is where the files of a model in this process are. Nothing is asked and nothing
    /// is read yet.
    pub(crate) fn new(
        name: &str,
        weights: PathBuf,
        endpoints: &[Configured],
        environment: Environment,
    ) -> Result<Self, DaemonError> {
        if name == MINILM {
            return Ok(Self::opened_by(move || Box::pin(opened(Choice::MiniLm(weights.clone())))));
        }
        let wrong = |reason| DaemonError::UnknownEmbedder { reason };
        let service = models::service(&ModelName(name.to_owned()), endpoints, environment).map_err(wrong)?;
        let protocol = protocol(service.kind())
            .ok_or_else(|| wrong(format!("we do not know how `{name}` would be asked for vectors")))?;
        Ok(Self::opened_by(move || Box::pin(connected(service.clone(), protocol))))
    }

    fn opened_by(open: impl Fn() -> Opening + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { open: Box::new(open), state: watch::Sender::new(State::Unasked) }))
    }

    /// Gives the embedder to an index, as soon as it is there and the index still is.
    pub(crate) fn serve(&self, index: &Arc<FileIndex>) {
        self.begin();
        let (mut state, index) = (self.0.state.subscribe(), Arc::downgrade(index));
        tokio::spawn(async move {
            let is_there = |state: &State| matches!(state, State::There(_));
            // Where nobody looks any more, there is nobody to serve.
            let Ok(State::There(embedder)) = state.wait_for(is_there).await.map(|state| state.clone()) else {
                return;
            };
            while let Some(index) = index.upgrade() {
                let embedder = Arc::clone(&embedder);
                // Vectors of earlier days are read, which takes a moment.
                let given =
                    tokio::task::spawn_blocking(move || index.embed_with(embedder, Making::All)).await;
                let Ok(Err(error)) = given else { return };
                tracing::warn!(%error, "vectors cannot be kept");
                // A disk that is full today is not so forever.
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        });
    }

    /// Waits until it was looked for, and an index has it if it is there.
    pub(crate) async fn given_to(&self, index: &Arc<FileIndex>) {
        self.begin();
        let mut state = self.0.state.subscribe();
        let was_looked_for = |state: &State| matches!(state, State::There(_) | State::Away(Some(_)));
        let found = state.wait_for(was_looked_for).await.map(|state| state.clone());
        if let Ok(State::There(embedder)) = found {
            let index = Arc::clone(index);
            // One that has it keeps it; that vectors cannot be kept is told by the index.
            let _ = tokio::task::spawn_blocking(move || index.embed_with(embedder, Making::All)).await;
        }
    }

    /// Why there is none, if it was looked for in vain.
    pub(crate) fn trouble(&self) -> Option<String> {
        match &*self.0.state.borrow() {
            State::Away(Some(why)) => Some(why.clone()),
            State::Away(None) | State::Unasked | State::There(_) => None,
        }
    }

    /// Begins to look, unless that was begun.
    fn begin(&self) {
        let begins = self.0.state.send_if_modified(|state| {
            let begins = matches!(state, State::Unasked);
            if begins {
                *state = State::Away(None);
            }
            begins
        });
        if begins {
            tokio::spawn(look(Arc::downgrade(&self.0)));
        }
    }
}

/// Looks until the embedder is there, or nobody needs it any more.
async fn look(source: Weak<Inner>) {
    let mut told = None;
    loop {
        let Some(opening) = source.upgrade().map(|source| (source.open)()) else { return };
        let opened = opening.await;
        let Some(source) = source.upgrade() else { return };
        match opened {
            Ok(embedder) => {
                tracing::info!(embedder = embedder.identity(), "vectors can be made");
                source.state.send_replace(State::There(embedder));
                return;
            }
            Err(why) => {
                // Once for each reason: it may be away for days.
                if told.as_ref() != Some(&why) {
                    tracing::warn!(%why, "vectors cannot be made");
                }
                told = Some(why.clone());
                source.state.send_replace(State::Away(Some(why)));
            }
        }
        drop(source);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// How an endpoint is asked for vectors, as far as we know.
fn protocol(kind: EndpointKind) -> Option<Protocol> {
    match kind {
        EndpointKind::OpenAi => Some(Protocol::OpenAi),
        EndpointKind::Ollama => Some(Protocol::Ollama),
        EndpointKind::Anthropic | EndpointKind::Gemini => None,
    }
}

/// An endpoint that answered.
async fn connected(service: Service, protocol: Protocol) -> Result<Arc<dyn Embedder>, String> {
    let key = service.key().await.map_err(|error| error.message)?;
    let settings = EndpointSettings {
        url: service.url().to_owned(),
        key: key.map(|key| Secret::new(key.expose())),
        ..EndpointSettings::new(protocol, service.model())
    };
    opened(Choice::Endpoint(settings)).await
}

async fn opened(choice: Choice) -> Result<Arc<dyn Embedder>, String> {
    loggia_embed::open(choice).await.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CodeQuery, EmbedderError, IndexBuild, QueryKind, Timestamp, Workspace, WorkspaceId};
    use tokio::sync::Notify;

    use super::*;
    use crate::daemon::indexes::Indexes;

    /// To whom all means the same.
    struct Same;

    impl Embedder for Same {
        fn dimensions(&self) -> usize {
            1
        }

        fn identity(&self) -> String {
            "same".to_owned()
        }

        fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedderError>> {
            Box::pin(async move { Ok(vec![vec![1.0]; texts.len()]) })
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_by_meaning_alone_waits_for_an_embedder_that_is_still_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("work");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.rs"), "fn orchard() {}\n").unwrap();
        let workspace =
            Workspace { id: WorkspaceId::new(), name: "work".to_owned(), root, created: Timestamp::now() };
        let found = Arc::new(Notify::new());
        let is_found = Arc::clone(&found);
        let source = EmbedderSource::opened_by(move || {
            let is_found = Arc::clone(&is_found);
            Box::pin(async move {
                is_found.notified().await;
                Ok(Arc::new(Same) as Arc<dyn Embedder>)
            })
        });
        let indexes = Indexes::new(directory.path(), false, Some(source.clone()));
        let index = indexes.finder()(&workspace).unwrap();
        index.build(IndexBuild::Rebuild).await.unwrap();
        // Who waits so far is who gives the embedder to the index.
        let waiting = source.0.state.receiver_count();
        let mut search = index.search(CodeQuery::new("anything", QueryKind::Vectors, 1));
        let waits = async {
            while source.0.state.receiver_count() == waiting {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            said = &mut search => panic!("nobody waited: {said:?}"),
            () = waits => {}
        }
        found.notify_one();
        search.await.unwrap();
        indexes.stop().await;
    }

    fn error(name: &str) -> String {
        let source = EmbedderSource::new(name, PathBuf::new(), &[], Environment::empty());
        source.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_embedder_is_named_like_a_model() {
        for name in ["minilm", "ollama:nomic-embed-text", "openai:text-embedding-3-small"] {
            assert_eq!(error(name), "", "{name}");
        }
        assert_eq!(
            error("anthropic:claude"),
            "`index.embedder`: we do not know how `anthropic:claude` would be asked for vectors"
        );
        assert!(error("olama:all-minilm").ends_with("did you mean `ollama:all-minilm`?"));
        assert!(error("mini").contains("`mini` is not a model's name"));
    }
}
