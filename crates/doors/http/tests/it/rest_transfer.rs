//! Journals taken elsewhere and brought back.

use serde_json::json;

use crate::support::Builder;

const TALK: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Done.\" }]\n";

#[tokio::test]
async fn an_exported_journal_is_imported_as_it_was() {
    let house = Builder::new().start(TALK).await;
    let id = house.session().await;
    house.turn(&id, "one").await;
    let export = house.get(&format!("/v1/sessions/{id}/export")).await.ok(200);
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
    assert!(export.header("content-disposition").unwrap().contains(&id));
    let path = format!("/v1/sessions/import?workspace_id={}", house.world.workspace.id);
    let kind = "content-type: application/x-ndjson\r\n";
    let copy = house.ask_more("POST", &path, kind, &export.body).await.ok(201).json();
    let copied = copy["session_id"].as_str().unwrap();
    assert_ne!(copied, id);
    let events = |id: &str| format!("/v1/sessions/{id}/events");
    assert_eq!(house.get(&events(copied)).await.json(), house.get(&events(&id)).await.json());
    // A line that is no event: nothing is made.
    let sessions = house.get("/v1/sessions").await.json()["sessions"].as_array().unwrap().len();
    for body in [
        format!("{}not json\n", export.body),
        export.body.lines().skip(1).collect::<Vec<_>>().join("\n"),
        format!("{0}{0}", export.body),
        "{}\n".to_owned(),
        "\n\n".to_owned(),
    ] {
        let refused = house.ask_more("POST", &path, kind, &body).await;
        assert!(refused.problem().starts_with("422 invalid-body"), "{refused:?}");
    }
    assert_eq!(house.get("/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), sessions);
    let nowhere = house.ask_more("POST", "/v1/sessions/import", kind, &export.body).await;
    assert_eq!(nowhere.problem(), "400 bad-request");
}

#[tokio::test]
async fn a_long_journal_is_exported_whole() {
    let house = Builder::new().start(TALK).await;
    let id = house.session().await;
    let mut player = house.player(&id).await;
    let session = house.get(&format!("/v1/sessions/{id}")).await.json();
    let mut last = session["last_seq"].as_u64().unwrap();
    // More than two of the pages in which it is read.
    while last < 1200 {
        last = player
            .seat
            .intend(loggia_domain::Intent::Rename { title: format!("t{last}") })
            .await
            .unwrap()
            .seq
            .0;
    }
    player.play("end").await;
    let export = house.get(&format!("/v1/sessions/{id}/export")).await.ok(200);
    let lines: Vec<&str> = export.body.lines().collect();
    let session = house.get(&format!("/v1/sessions/{id}")).await.json();
    let stored = house.world.engine.events(id.parse().unwrap(), loggia_domain::Seq(0), 5000).await.unwrap();
    assert_eq!(lines.len(), stored.len());
    assert_eq!(stored.last().map(|event| json!(event.seq.0)), Some(session["last_seq"].clone()));
}
