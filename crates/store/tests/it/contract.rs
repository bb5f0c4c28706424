//! What every store promises, tried through the trait alone.

use loggia_domain::{
    Actor, BlobError, ContentHash, EventBody, MessageId, ModelName, NewEvent, RunningReply, Seq, SessionId,
    SessionQuery, Store, StoreError, Timestamp, TurnId, Workspace, WorkspaceId,
};

use crate::support::{Stage, opened, reply_ended, session_with, started};

async fn numbers(store: &dyn Store, session: SessionId, after: u64, limit: usize) -> Vec<u64> {
    store.events(session, Seq(after), limit).await.unwrap().iter().map(|event| event.seq.0).collect()
}

#[tokio::test]
async fn events_come_back_as_they_were_in_order_and_in_pages() {
    let stage = Stage::new();
    let store = stage.store();
    let session = SessionId::new();
    let first = store.append(session, vec![opened(WorkspaceId::new(), 1), started("one", 2)]).await.unwrap();
    let second = store.append(session, vec![started("two – é 😀\u{0}", 3)]).await.unwrap();
    let all = store.events(session, Seq(0), 100).await.unwrap();
    assert_eq!(all, [first, second].concat());
    assert_eq!(numbers(&*store, session, 0, 2).await, [1, 2]);
    assert_eq!(numbers(&*store, session, 2, 2).await, [3]);
    assert_eq!(numbers(&*store, session, 3, 2).await, [0; 0]);
    assert_eq!(numbers(&*store, session, u64::MAX, 2).await, [0; 0]);
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_reopening() {
    let stage = Stage::new();
    let session = session_with(&*stage.store(), WorkspaceId::new(), 10, 5).await;
    let store = stage.store();
    assert_eq!(numbers(&*store, session, 0, 100).await, (1..=11).collect::<Vec<_>>());
    let appended = store.append(session, vec![started("after", 6)]).await.unwrap();
    assert_eq!(appended[0].seq, Seq(12), "the numbers go on where they were");
}

#[tokio::test]
async fn a_journal_begins_with_its_opening_and_only_there() {
    let stage = Stage::new();
    let store = stage.store();
    let workspace = WorkspaceId::new();
    let session = SessionId::new();
    for events in [
        vec![started("too early", 1)],
        vec![started("too early", 1), opened(workspace, 1)],
        vec![opened(workspace, 1), opened(workspace, 1)],
        vec![],
    ] {
        assert!(matches!(store.append(session, events).await, Err(StoreError::MisplacedOpening)));
    }
    assert!(
        matches!(store.session(session).await, Err(StoreError::NoSuchSession(_))),
        "nothing was left behind"
    );
    store.append(session, vec![opened(workspace, 1)]).await.unwrap();
    let again = store.append(session, vec![started("x", 2), opened(workspace, 2)]).await;
    assert!(matches!(again, Err(StoreError::MisplacedOpening)));
    assert_eq!(numbers(&*store, session, 0, 10).await, [1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_at_once_keep_their_own_order() {
    let stage = Stage::new();
    let store = stage.store();
    let tasks = (0..16).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let session = session_with(&*store, WorkspaceId::new(), 0, 1).await;
            for number in 0..50 {
                let stored = store.append(session, vec![started(&number.to_string(), 2)]).await.unwrap();
                assert_eq!(stored[0].seq, Seq(number + 2));
            }
            session
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        let session = task.await.unwrap();
        assert_eq!(numbers(&*store, session, 0, 100).await, (1..=51).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn one_refused_append_does_not_spoil_those_beside_it() {
    let stage = Stage::new();
    let store = stage.store();
    let good = session_with(&*store, WorkspaceId::new(), 0, 1).await;
    let appends = (0..50).map(|number| {
        let session = if number % 2 == 0 { good } else { SessionId::new() };
        store.append(session, vec![started("x", 2)])
    });
    let outcomes = futures_util::future::join_all(appends.collect::<Vec<_>>()).await;
    let taken = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(taken, 25);
    assert_eq!(numbers(&*store, good, 0, 100).await, (1..=26).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_tail_of_a_running_reply_is_kept_until_its_end_is_stored() {
    let stage = Stage::new();
    let session = session_with(&*stage.store(), WorkspaceId::new(), 0, 1).await;
    let (turn, message) = (TurnId::new(), MessageId::new());
    let reply = |text: &str| RunningReply { turn, message, text: text.to_owned(), thought: "hm".to_owned() };
    {
        let store = stage.store();
        assert_eq!(store.kept_reply(session).await.unwrap(), None);
        store.keep_reply(session, reply("half")).await.unwrap();
        store.keep_reply(session, reply("half a repl")).await.unwrap();
    }
    let store = stage.store();
    assert_eq!(store.kept_reply(session).await.unwrap(), Some(reply("half a repl")));
    store.append(session, vec![reply_ended(MessageId::new(), "another", 2)]).await.unwrap();
    assert!(store.kept_reply(session).await.unwrap().is_some(), "the end of another reply is not its end");
    store.append(session, vec![reply_ended(message, "half a reply, whole", 3)]).await.unwrap();
    assert_eq!(store.kept_reply(session).await.unwrap(), None);
    let nobody = store.keep_reply(SessionId::new(), reply("x")).await;
    assert!(matches!(nobody, Err(StoreError::NoSuchSession(_))));
}

#[tokio::test]
async fn summaries_follow_the_journal() {
    let stage = Stage::new();
    let store = stage.store();
    let workspace = WorkspaceId::new();
    let session = session_with(&*store, workspace, 1, 10).await;
    let event = |body, at| NewEvent { at: Timestamp(at), turn: None, body };
    let by = || Actor::Engine;
    let model = ModelName("ollama:small".to_owned());
    store
        .append(
            session,
            vec![
                event(EventBody::SessionRenamed { title: "a name".to_owned(), by: by() }, 20),
                event(EventBody::ModelChanged { model: model.clone(), reason: None, by: by() }, 30),
                event(EventBody::SessionClosed { by: by() }, 40),
            ],
        )
        .await
        .unwrap();
    let summary = store.session(session).await.unwrap();
    assert_eq!((summary.title.as_deref(), summary.model), (Some("a name"), Some(model)));
    assert_eq!((summary.created, summary.updated), (Timestamp(10), Timestamp(40)));
    assert_eq!((summary.last_seq, summary.closed, summary.workspace), (Seq(5), true, workspace));
    let summary = store.session(session).await.unwrap();
    drop(store);
    assert_eq!(stage.store().session(session).await.unwrap(), summary, "and tell the same after reopening");
}

#[tokio::test]
async fn listings_come_newest_first_in_pages_without_gap_or_repeat() {
    let stage = Stage::new();
    let store = stage.store();
    let (here, there) = (WorkspaceId::new(), WorkspaceId::new());
    let mut expected = Vec::new();
    for number in 0..25 {
        // Some share their time: the id decides then.
        expected.push((number / 2, session_with(&*store, here, 0, number / 2).await));
        session_with(&*store, there, 0, number).await;
    }
    expected.sort();
    let expected: Vec<SessionId> = expected.into_iter().rev().map(|(_, id)| id).collect();
    let mut listed = Vec::new();
    let mut cursor = None;
    loop {
        let query = SessionQuery { workspace: Some(here), limit: 4, cursor };
        let page = store.sessions(query).await.unwrap();
        listed.extend(page.items.iter().map(|summary| summary.id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, expected);
    let all = store.sessions(SessionQuery { workspace: None, limit: 1000, cursor: None }).await.unwrap();
    assert_eq!((all.items.len(), all.next), (50, None));
    for cursor in ["", "x", "1-x", "1-turn_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f", "; DROP TABLE sessions"] {
        let query = SessionQuery { workspace: None, limit: 1, cursor: Some(cursor.to_owned()) };
        assert!(matches!(store.sessions(query).await, Err(StoreError::BadCursor(_))), "{cursor}");
    }
}

#[tokio::test]
async fn a_deleted_session_is_gone_and_the_others_stay() {
    let stage = Stage::new();
    let store = stage.store();
    let (gone, stays) = (
        session_with(&*store, WorkspaceId::new(), 3, 1).await,
        session_with(&*store, WorkspaceId::new(), 3, 1).await,
    );
    store.delete_session(gone).await.unwrap();
    assert!(matches!(store.session(gone).await, Err(StoreError::NoSuchSession(_))));
    assert!(matches!(store.events(gone, Seq(0), 10).await, Err(StoreError::NoSuchSession(_))));
    assert!(matches!(store.delete_session(gone).await, Err(StoreError::NoSuchSession(_))));
    assert!(matches!(store.append(gone, vec![started("x", 1)]).await, Err(StoreError::MisplacedOpening)));
    assert_eq!(numbers(&*store, stays, 0, 10).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_workspace_is_registered_once_per_root() {
    let stage = Stage::new();
    let store = stage.store();
    let workspace = |name: &str, root: &str| Workspace {
        id: WorkspaceId::new(),
        name: name.to_owned(),
        root: root.into(),
        created: Timestamp(1),
    };
    let first = store.register_workspace(workspace("a", "/srv/a")).await.unwrap();
    assert_eq!(store.register_workspace(workspace("other name", "/srv/a")).await.unwrap(), first);
    let second = store.register_workspace(workspace("b", "/srv/b")).await.unwrap();
    assert_eq!(store.workspaces().await.unwrap(), [first.clone(), second]);
    assert_eq!(store.workspace(first.id).await.unwrap(), first);
    let nobody = store.workspace(WorkspaceId::new()).await;
    assert!(matches!(nobody, Err(StoreError::NoSuchWorkspace(_))));
}

#[tokio::test]
async fn a_workspace_is_forgotten_unless_a_session_tells_of_it() {
    let stage = Stage::new();
    let store = stage.store();
    let workspace = |root: &str| Workspace {
        id: WorkspaceId::new(),
        name: root.to_owned(),
        root: root.into(),
        created: Timestamp(1),
    };
    let empty = store.register_workspace(workspace("/srv/a")).await.unwrap();
    let used = store.register_workspace(workspace("/srv/b")).await.unwrap();
    session_with(&*store, used.id, 1, 1).await;
    store.forget_workspace(empty.id).await.unwrap();
    store.forget_workspace(used.id).await.unwrap();
    assert_eq!(store.workspaces().await.unwrap(), [used]);
    store.forget_workspace(empty.id).await.unwrap();
}

#[tokio::test]
async fn blobs_are_kept_under_their_hash() {
    let stage = Stage::new();
    let store = stage.store();
    let hash = store.put_blob(b"abc".to_vec()).await.unwrap();
    assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(store.put_blob(b"abc".to_vec()).await.unwrap(), hash);
    assert_eq!(store.blob(hash).await.unwrap(), b"abc");
    let empty = store.put_blob(Vec::new()).await.unwrap();
    assert_eq!(store.blob(empty).await.unwrap(), b"");
    let missing = store.blob(ContentHash([7; 32])).await;
    assert!(matches!(missing, Err(StoreError::Blob { fault: BlobError::Missing, .. })));
    let name = hash.to_string();
    let file = stage.directory.path().join("blobs").join(&name[..2]).join(&name[2..]);
    std::fs::write(file, "abd").unwrap();
    let damaged = store.blob(hash).await;
    assert!(matches!(damaged, Err(StoreError::Blob { fault: BlobError::Damaged, .. })));
    assert_eq!(store.put_blob(b"abc".to_vec()).await.unwrap(), hash);
    assert_eq!(store.blob(hash).await.unwrap(), b"abc", "keeping the bytes again repairs what was damaged");
}

#[tokio::test]
async fn half_a_blob_that_a_crash_left_is_removed() {
    let stage = Stage::new();
    let drafts = stage.directory.path().join("blobs/drafts");
    std::fs::create_dir_all(&drafts).unwrap();
    std::fs::write(drafts.join("half"), "ab").unwrap();
    let store = stage.store();
    assert!(!drafts.exists());
    let hash = store.put_blob(b"abc".to_vec()).await.unwrap();
    assert_eq!(store.blob(hash).await.unwrap(), b"abc");
    assert_eq!(std::fs::read_dir(&drafts).unwrap().count(), 0);
}
