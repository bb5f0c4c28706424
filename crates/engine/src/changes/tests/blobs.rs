//! A store as the place where bytes are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use loggia_domain::{
    BlobError, BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};

use crate::changes::Blobs;

/// Keeps blobs and nothing else.
#[derive(Default)]
struct BlobStore(Mutex<HashMap<ContentHash, Vec<u8>>>);

fn nothing<T: 'static>() -> BoxFuture<'static, Result<T, StoreError>> {
    Box::pin(async { Err(StoreError::Unavailable("only blobs are kept".to_owned())) })
}

impl Store for BlobStore {
    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        Box::pin(async move {
            // Like a real one, it answers later and from elsewhere.
            tokio::task::yield_now().await;
            let hash = ContentHash::of(&bytes);
            self.0.lock().unwrap().insert(hash, bytes);
            Ok(hash)
        })
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let kept = self.0.lock().unwrap().get(&hash).cloned();
            kept.ok_or(StoreError::Blob { hash, fault: BlobError::Missing })
        })
    }

    fn append(&self, _: SessionId, _: Vec<NewEvent>) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        nothing()
    }

    fn events(&self, _: SessionId, _: Seq, _: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        nothing()
    }

    fn keep_reply(&self, _: SessionId, _: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        nothing()
    }

    fn kept_reply(&self, _: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>> {
        nothing()
    }

    fn export(
        &self,
        _: SessionId,
        _: Seq,
        _: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>> {
        nothing()
    }

    fn import(
        &self,
        _: SessionId,
        _: WorkspaceId,
        _: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        nothing()
    }

    fn fork(
        &self,
        _: SessionId,
        _: Seq,
        _: SessionId,
        _: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        nothing()
    }

    fn sessions(&self, _: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>> {
        nothing()
    }

    fn session(&self, _: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        nothing()
    }

    fn delete_session(&self, _: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        nothing()
    }

    fn register_workspace(&self, _: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        nothing()
    }

    fn forget_workspace(&self, _: WorkspaceId) -> BoxFuture<'_, Result<(), StoreError>> {
        nothing()
    }

    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>> {
        nothing()
    }

    fn workspace(&self, _: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        nothing()
    }
}

#[tokio::test]
async fn a_store_keeps_bytes_for_a_thread_that_may_block() {
    let store: Arc<dyn Store> = Arc::new(BlobStore::default());
    let work = tokio::task::spawn_blocking(move || {
        let contents: Vec<Vec<u8>> = (0..100_u8).map(|number| vec![number]).collect();
        store.keep(contents.clone()).unwrap();
        for bytes in contents {
            assert_eq!(store.kept(ContentHash::of(&bytes)).unwrap(), bytes);
        }
        store.kept(ContentHash::of(b"never kept")).is_err()
    });
    assert!(work.await.unwrap());
}
