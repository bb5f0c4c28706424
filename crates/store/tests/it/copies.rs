//! Journals that are carried elsewhere and forked, tried through the trait alone.

use loggia_domain::{
    Actor, Budget, EventBody, MessageId, ModelName, NewEvent, Seq, SessionId, Store, StoreError, Timestamp,
    WorkspaceId,
};

use crate::support::{Stage, opened, reply_ended, session_with, started};

fn renamed(title: &str, at: i64) -> NewEvent {
    let body = EventBody::SessionRenamed { title: title.to_owned(), by: Actor::Engine };
    NewEvent { at: Timestamp(at), turn: None, body }
}

/// A session with an event of several kinds, and a name.
async fn lively_session(store: &dyn Store) -> SessionId {
    let session = SessionId::new();
    let events = vec![
        opened(WorkspaceId::new(), 10),
        started("two – é 😀\u{0}\n", 20),
        renamed("a name", 30),
        reply_ended(MessageId::new(), "four", 40),
    ];
    store.append(session, events).await.unwrap();
    session
}

async fn lines_of(store: &dyn Store, session: SessionId) -> Vec<String> {
    let lines = store.export(session, Seq(0), 1000).await.unwrap();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[tokio::test]
async fn a_journal_is_exported_as_numbered_lines_in_pages() {
    let stage = Stage::new();
    let store = stage.store();
    let session = session_with(&*store, WorkspaceId::from_bytes([1; 16]), 0, 5).await;
    store.append(session, vec![renamed("b\nc", 6)]).await.unwrap();
    assert_eq!(
        store.export(session, Seq(0), 10).await.unwrap(),
        [
            (
                Seq(1),
                r#"{"format":1,"seq":1,"at":5,"kind":"session_opened","data":{"workspace":"ws_01010101010101010101010101010101","budget":{},"by":{"engine":{}}}}"#.to_owned()
            ),
            (
                Seq(2),
                r#"{"seq":2,"at":6,"kind":"session_renamed","data":{"title":"b\nc","by":{"engine":{}}}}"#.to_owned()
            ),
        ]
    );
    assert_eq!(store.export(session, Seq(1), 10).await.unwrap()[0].0, Seq(2));
    assert_eq!(store.export(session, Seq(0), 1).await.unwrap().len(), 1);
    assert_eq!(store.export(session, Seq(2), 10).await.unwrap(), []);
    let nobody = store.export(SessionId::new(), Seq(0), 10).await;
    assert!(matches!(nobody, Err(StoreError::NoSuchSession(_))));
}

#[tokio::test]
async fn an_imported_journal_is_the_exported_one_in_another_workspace() {
    let (here, there) = (Stage::new(), Stage::new());
    let (origin, target) = (here.store(), there.store());
    let session = lively_session(&*origin).await;
    let (copy, workspace) = (SessionId::new(), WorkspaceId::new());
    let lines = lines_of(&*origin, session).await;
    let summary = target.import(copy, workspace, lines.clone()).await.unwrap();

    let mut expected = origin.session(session).await.unwrap();
    (expected.id, expected.workspace) = (copy, workspace);
    assert_eq!(summary, expected);
    assert_eq!(target.session(copy).await.unwrap(), expected);

    let mut events = origin.events(session, Seq(0), 100).await.unwrap();
    let EventBody::SessionOpened { workspace: its, forked_from, .. } = &mut events[0].body else {
        panic!("no opening")
    };
    *its = workspace;
    *forked_from = Some((SessionId::ELSEWHERE, Seq(4)));
    assert_eq!(target.events(copy, Seq(0), 100).await.unwrap(), events);
    assert_eq!(lines_of(&*target, copy).await[1..], lines[1..]);
    let more = target.append(copy, vec![started("more", 50)]).await.unwrap();
    assert_eq!(more[0].seq, Seq(5), "the numbers go on where they were");
}

#[tokio::test]
async fn a_journal_does_not_say_itself_what_of_it_is_past() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let mut lines = lines_of(&*store, session).await;
    let claim = format!(r#""forked_from":{{"session":"{session}","seq":1}},"by""#);
    lines[0] = lines[0].replacen(r#""by""#, &claim, 1);
    let copy = SessionId::new();
    store.import(copy, WorkspaceId::new(), lines).await.unwrap();
    let events = store.events(copy, Seq(0), 1).await.unwrap();
    let EventBody::SessionOpened { forked_from, .. } = &events[0].body else { panic!("no opening") };
    assert_eq!(*forked_from, Some((SessionId::ELSEWHERE, Seq(4))));
}

#[tokio::test]
async fn numbers_with_gaps_are_kept_and_continued() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let mut lines = lines_of(&*store, session).await;
    lines.remove(1);
    let copy = SessionId::new();
    let summary = store.import(copy, WorkspaceId::new(), lines).await.unwrap();
    assert_eq!(summary.last_seq, Seq(4));
    let events = store.events(copy, Seq(0), 10).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [1, 3, 4]);
}

#[tokio::test]
async fn a_line_that_is_no_event_is_named_and_nothing_is_left_behind() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let good = lines_of(&*store, session).await;
    let changed = |line: usize, from: &str, to: &str| {
        let mut lines = good.clone();
        assert!(lines[line - 1].contains(from), "{}", lines[line - 1]);
        lines[line - 1] = lines[line - 1].replace(from, to);
        lines
    };
    let without_first = good[1..].to_vec();
    let twice = [&good[..], &good[..]].concat();
    let blank = [&good[..], &[String::new()]].concat();
    for (lines, line, said) in [
        (vec![], 1, "there is nothing"),
        (without_first, 1, "the first line of a journal tells its format"),
        (changed(1, r#""format":1"#, r#""format":2"#), 1, "it is in format 2; this program reads format 1"),
        (changed(1, r#""seq":1"#, r#""seq":2"#), 1, "a journal begins with number 1, not 2"),
        (changed(2, r#"{"seq":2"#, r#"{"format":1,"seq":2"#), 2, "another journal begins here"),
        (changed(3, r#""seq":3"#, r#""seq":2"#), 3, "number 2 comes after number 2"),
        (
            changed(4, r#""seq":4"#, r#""seq":9223372036854775808"#),
            4,
            "number 9223372036854775808 is too large",
        ),
        (changed(4, r#""seq":4"#, r#""seq":-4"#), 4, "invalid value: integer `-4`, expected u64"),
        (
            changed(3, "session_renamed", "session_painted"),
            3,
            "`session_painted` is no kind of event we know",
        ),
        (changed(3, r#""title":"a name""#, r#""title":7"#), 3, "`title`: invalid type: integer `7`"),
        (changed(2, "turn_0", "ses_0"), 2, "is not an id of the form `turn_…`"),
        (changed(4, r#"{"seq""#, r#"["seq""#), 4, "expected"),
        (twice, 5, "another journal begins here"),
        (blank, 5, "EOF while parsing a value"),
    ] {
        let copy = SessionId::new();
        let error = store.import(copy, WorkspaceId::new(), lines).await.unwrap_err();
        let StoreError::BadImport { line: named, reason } = &error else { panic!("{error}") };
        assert_eq!(*named, line, "{reason}");
        assert!(reason.contains(said), "{reason}");
        assert!(matches!(store.session(copy).await, Err(StoreError::NoSuchSession(_))));
    }
}

#[tokio::test]
async fn an_opening_that_comes_again_or_late_is_named() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let good = lines_of(&*store, session).await;
    let unmarked = good[0].replace(r#""format":1,"#, "").replace(r#""seq":1"#, r#""seq":9"#);
    let again = [&good[..], &[unmarked]].concat();
    let late = vec![good[1].replace(r#"{"seq":2"#, r#"{"format":1,"seq":1"#)];
    for (lines, line, said) in
        [(again, 5, "the session is opened again"), (late, 1, "begins with the opening of its session")]
    {
        let error = store.import(SessionId::new(), WorkspaceId::new(), lines).await.unwrap_err();
        let StoreError::BadImport { line: named, reason } = &error else { panic!("{error}") };
        assert_eq!(*named, line);
        assert!(reason.contains(said), "{reason}");
    }
}

#[tokio::test]
async fn no_session_is_replaced_by_an_import_or_a_fork() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let other = session_with(&*store, WorkspaceId::new(), 1, 1).await;
    let imported = store.import(other, WorkspaceId::new(), lines_of(&*store, session).await).await;
    assert!(matches!(imported, Err(StoreError::MisplacedOpening)));
    let forked = store.fork(session, Seq(9), other, opened(WorkspaceId::new(), 1)).await;
    assert!(matches!(forked, Err(StoreError::MisplacedOpening)));
    let onto_itself = store.fork(session, Seq(9), session, opened(WorkspaceId::new(), 1)).await;
    assert!(matches!(onto_itself, Err(StoreError::MisplacedOpening)));
    assert_eq!(store.session(other).await.unwrap().last_seq, Seq(2));
}

fn forked_opening(from: SessionId, through: u64, title: Option<&str>) -> NewEvent {
    let body = EventBody::SessionOpened {
        workspace: WorkspaceId::from_bytes([7; 16]),
        title: title.map(str::to_owned),
        model: Some(ModelName("local:small".to_owned())),
        preset: None,
        budget: Budget::default(),
        forked_from: Some((from, Seq(through))),
        by: Actor::Engine,
    };
    NewEvent { at: Timestamp(100), turn: None, body }
}

#[tokio::test]
async fn a_fork_has_its_own_opening_and_the_past_of_the_other() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let (early, late, only) = (SessionId::new(), SessionId::new(), SessionId::new());
    let opening = |through| forked_opening(session, through, Some("fork"));

    let summary = store.fork(session, Seq(2), early, opening(2)).await.unwrap();
    assert_eq!((summary.title.as_deref(), summary.last_seq), (Some("fork"), Seq(2)));
    assert_eq!(summary.workspace, WorkspaceId::from_bytes([7; 16]));
    assert_eq!(summary.model, Some(ModelName("local:small".to_owned())));
    let summary = store.fork(session, Seq(u64::MAX), late, opening(u64::MAX)).await.unwrap();
    assert_eq!(summary.title.as_deref(), Some("a name"), "it was renamed after its opening");
    assert_eq!((summary.last_seq, summary.created, summary.closed), (Seq(4), Timestamp(100), false));
    assert_eq!(store.session(late).await.unwrap(), summary);
    assert_eq!(store.fork(session, Seq(0), only, opening(0)).await.unwrap().last_seq, Seq(1));

    let origin = store.events(session, Seq(0), 10).await.unwrap();
    let events = store.events(late, Seq(0), 10).await.unwrap();
    assert_eq!(events[0].body, opening(u64::MAX).body);
    assert_eq!(events[1..], origin[1..]);

    let stored = store.append(early, vec![started("another way", 200)]).await.unwrap();
    assert_eq!(stored[0].seq, Seq(3));
    assert_eq!(store.events(session, Seq(0), 10).await.unwrap(), origin, "the other does not notice");
    store.delete_session(session).await.unwrap();
    assert_eq!(store.events(late, Seq(0), 10).await.unwrap(), events, "nor the fork when the other goes");
}

#[tokio::test]
async fn a_fork_needs_a_session_and_an_opening() {
    let stage = Stage::new();
    let store = stage.store();
    let session = lively_session(&*store).await;
    let nobody = store.fork(SessionId::new(), Seq(1), SessionId::new(), opened(WorkspaceId::new(), 1)).await;
    assert!(matches!(nobody, Err(StoreError::NoSuchSession(_))));
    let unopened = store.fork(session, Seq(1), SessionId::new(), started("x", 1)).await;
    assert!(matches!(unopened, Err(StoreError::MisplacedOpening)));
}
