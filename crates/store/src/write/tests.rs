//! A database that must not grow: what SQLite says of a full disk, without one.

use loggia_domain::{
    Actor, Budget, Event, EventBody, NewEvent, SessionId, StoreError, Timestamp, WorkspaceId,
};
use rusqlite::Connection;

use super::{Job, Writer};
use crate::open::{open_reader, open_writer};
use crate::{read, rows};

fn event(body: EventBody) -> NewEvent {
    NewEvent { at: Timestamp(1), turn: None, body }
}

fn opening() -> NewEvent {
    event(EventBody::SessionOpened {
        workspace: WorkspaceId::new(),
        title: None,
        model: None,
        preset: None,
        budget: Budget::default(),
        forked_from: None,
        by: Actor::Engine,
    })
}

fn kilobyte() -> NewEvent {
    event(EventBody::SessionRenamed { title: "x".repeat(1000), by: Actor::Engine })
}

async fn append(writer: &Writer, session: SessionId, event: NewEvent) -> Result<Vec<Event>, StoreError> {
    let row = rows::encode(&event.body).unwrap();
    writer.write(|answer| Job::Append { session, events: vec![(event, row)], answer }).await
}

/// Appends until there is no room, and tells how many were acknowledged.
async fn fill(writer: &Writer, session: SessionId) -> usize {
    let mut acknowledged = 0;
    loop {
        match append(writer, session, kilobyte()).await {
            Ok(_) => acknowledged += 1,
            Err(error) => {
                assert!(matches!(error, StoreError::Full), "{error}");
                return acknowledged;
            }
        }
    }
}

fn count(connection: &Connection, session: SessionId) -> usize {
    read::events(connection, session, loggia_domain::Seq(0), usize::MAX).unwrap().len()
}

#[tokio::test]
async fn a_database_that_cannot_grow_is_full_and_goes_on_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.sqlite");
    let connection = open_writer(&path).unwrap();
    connection.pragma_update(None, "max_page_count", 100).unwrap();
    let writer = Writer::on(connection).unwrap();
    let (first, second) = (SessionId::new(), SessionId::new());
    append(&writer, first, opening()).await.unwrap();
    append(&writer, second, opening()).await.unwrap();
    let (in_first, in_second) = (fill(&writer, first).await, fill(&writer, second).await);
    assert!(in_first > 50, "a hundred pages hold more than {in_first} kilobytes");

    let reader = open_reader(&path).unwrap();
    assert_eq!(count(&reader, first), in_first + 1, "nothing that was acknowledged is lost");
    writer.write(|answer| Job::DeleteSession { session: first, answer }).await.unwrap();
    let more = fill(&writer, second).await;
    assert!(more > 50, "the room of {in_first} events was free, and {more} went in");
    assert_eq!(count(&reader, second), in_second + more + 1);
}
