//! Starting an engine: what a crash left half done is put right before anybody comes.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use loggia_domain::{Event, EventBody, Seq, SessionId, Store};
use loggia_tree::{HardLinkRule, Root, RootSettings};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::{ApplyJournal, ApplyKind, ApplyMark, UnfinishedApply};
use crate::counts::Counters;
use crate::engine::current_model::CurrentModel;
use crate::engine::{Engine, Shared, arrivals};
use crate::error::EngineError;
use crate::parts::{Parts, Settings};
use crate::policies::Policies;
use crate::secrets::Masker;
use crate::tasks::{Desk, clear_leftovers};
use crate::trust::TrustStore;
use crate::workspace::RUNNING;

/// How far behind its mark an event of an unfinished change can be; it is the next or the one after.
const LOOK: usize = 64;

impl Engine {
    /// Starts an engine.
    ///
    /// # Errors
    /// If its own files cannot be read.
    pub async fn start(parts: Parts, settings: Settings) -> Result<Self, EngineError> {
        let shared = Shared {
            policies: Arc::new(Policies::new(settings.data.join("policies"), settings.policy.clone())),
            masker: Arc::new(Masker::new(settings.secrets.iter().cloned())),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            counters: Counters::default(),
            current_model: CurrentModel::open(&settings.data, settings.pinned_model)?,
            trust: Arc::new(TrustStore::open(settings.data.join("trust.toml"))?),
            desk: Desk::new(&settings.data),
            sessions: Mutex::new(HashMap::new()),
            arrivals: broadcast::Sender::new(arrivals::ROOM),
            workspaces: Mutex::new(HashMap::new()),
            parts,
            settings,
        };
        let engine = Self { shared: Arc::new(shared) };
        engine.finish_changes().await?;
        engine.settle_cut_commands().await;
        // In the background: it may have to ask a repository, and nobody waits for it but whoever starts a task.
        let leftovers = engine.clone();
        engine.shared.tasks.spawn(async move { clear_leftovers(&leftovers).await });
        Ok(engine)
    }

    /// Brings files in line with journals: a change whose event was stored stays, any other is taken back.
    async fn finish_changes(&self) -> Result<(), EngineError> {
        let unreadable = |error: crate::changes::JournalError| EngineError::Unfinished(error.to_string());
        let journal = ApplyJournal::open(&self.shared.apply_journal()).map_err(unreadable)?;
        let leftovers = journal.unfinished().map_err(unreadable)?;
        for error in leftovers.damaged {
            tracing::error!(%error, "the record of an unfinished change cannot be read");
        }
        for unfinished in leftovers.applies {
            self.finish_change(unfinished).await?;
        }
        Ok(())
    }

    /// Loads the sessions in which a command ran when we were killed: what it changed is found now, before people
    /// change more.
    async fn settle_cut_commands(&self) {
        for session in cut_sessions(&self.shared.settings.data.join("mirrors")) {
            if let Err(error) = self.shared.loaded(session).await {
                tracing::warn!(%session, %error, "what a command changed before a crash could not be found");
            }
        }
    }

    async fn finish_change(&self, unfinished: UnfinishedApply) -> Result<(), EngineError> {
        let store = &self.shared.parts.store;
        let unreadable = |error: crate::changes::JournalError| EngineError::Unfinished(error.to_string());
        if is_recorded(store, unfinished.owner()).await? {
            return unfinished.forget().map_err(unreadable);
        }
        let home = self.shared.settings.home.clone();
        let blobs = Arc::clone(store);
        let rolled = tokio::task::spawn_blocking(move || {
            let settings = RootSettings { hard_links: HardLinkRule::Refuse, home };
            let root = Root::open(unfinished.root(), settings).map_err(|error| error.to_string())?;
            unfinished.roll_back(&root, &blobs).map_err(|error| error.to_string())
        });
        match rolled.await.map_err(|error| error.to_string()).and_then(|rolled| rolled) {
            Ok(result) if result.failed.is_empty() => {
                tracing::info!("an unfinished change was taken back");
            }
            Ok(result) => {
                let files = result.failed.len();
                tracing::error!(files, "part of an unfinished change could not be taken back");
            }
            // The workspace may be on a disk that is not there today; the record stays for another start.
            Err(error) => tracing::error!(%error, "an unfinished change could not be taken back"),
        }
        Ok(())
    }
}

/// The sessions whose commands are still marked as running.
fn cut_sessions(mirrors: &Path) -> BTreeSet<SessionId> {
    let entries = |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten();
    let marks = entries(mirrors).flat_map(|mirror| entries(&mirror.path().join(RUNNING)).collect::<Vec<_>>());
    let session = |mark: std::fs::DirEntry| {
        let name = mark.file_name();
        name.to_str()?.split_once('.')?.0.parse().ok()
    };
    marks.filter_map(session).collect()
}

/// Whether the journal knows of a change.
async fn is_recorded(store: &Arc<dyn Store>, mark: ApplyMark) -> Result<bool, EngineError> {
    use loggia_domain::StoreError;
    let events = match store.events(mark.session, Seq(mark.after.0), LOOK).await {
        Ok(events) => events,
        Err(StoreError::NoSuchSession(_)) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let is_it = |event: &Event| match (&event.body, mark.kind) {
        (EventBody::PatchApplied { patch, .. }, ApplyKind::Patches(first)) => *patch == first,
        (EventBody::Undone { checkpoint, .. }, ApplyKind::Undo(wanted))
        | (EventBody::Redone { checkpoint, .. }, ApplyKind::Redo(wanted)) => *checkpoint == wanted,
        _ => false,
    };
    Ok(events.iter().any(is_it))
}
