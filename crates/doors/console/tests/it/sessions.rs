//! Sessions: beginning, taking, showing.

use loggia_domain::Preset;

use crate::support::House;

#[tokio::test]
async fn a_session_is_begun_listed_and_shown() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    assert_eq!(terminal.run("sessions").await, "no sessions; `new` begins one\n[0]");
    let begun = terminal.run("use new").await;
    let root = house.world.root().display().to_string();
    assert!(begun.ends_with(&format!(" is in use in {root}\n[0]")), "{begun}");
    let id = &begun[..6];
    let listed = terminal.run("sessions").await;
    assert!(listed.starts_with(&format!("* {id}  ")), "{listed}");
    let shown = terminal.run("show").await;
    assert!(shown.contains("\n  status     idle\n") && shown.contains("by console 1\n"), "{shown}");
    let clients = terminal.run("clients").await;
    assert!(clients.contains(&format!(" uses {id}\n")), "{clients}");
}

#[tokio::test]
async fn a_session_is_taken_by_any_part_of_its_id() {
    let house = House::open("").await;
    let id = house.world.open(Preset::Ask).await.to_string();
    let terminal = house.terminal().await;
    for typed in [id.as_str(), &id[..12], &id[4..20], &id[30..]] {
        let taken = terminal.run(&format!("use {typed}")).await;
        assert!(taken.starts_with(&id[30..]) && taken.ends_with("[0]"), "{typed}: {taken}");
    }
    assert!(terminal.run("use ffffffff").await.starts_with("error: there is no session `ffffffff`\n"));
    assert!(terminal.run("use ab").await.starts_with("error: `ab` is too short for an id\n"));
    house.world.open(Preset::Ask).await;
    assert!(terminal.run("use ses_").await.ends_with("[2]"));
    assert!(terminal.run(&format!("use {}", &id[..8])).await.starts_with("error: 2 sessions are called"));
}

#[tokio::test]
async fn a_new_session_works_where_it_is_told_to() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    let other = tempfile::tempdir().unwrap();
    let place = other.path().canonicalize().unwrap().join("my project");
    std::fs::create_dir(&place).unwrap();
    let begun = terminal.run(&format!("new '{}'", place.display())).await;
    assert!(begun.ends_with(&format!(" is in use in {}\n[0]", place.display())), "{begun}");
    let again = terminal.run("new").await;
    assert!(again.ends_with(&format!(" is in use in {}\n[0]", place.display())), "{again}");
    assert!(terminal.run("new /no/such/place").await.ends_with("[5]"));
}

#[tokio::test]
async fn whoever_leaves_gives_up_its_place() {
    let house = House::open("").await;
    let terminal = house.terminal().await;
    terminal.run("new").await;
    assert_eq!(house.world.engine.activity().clients, 1);
    let mut there = tokio::time::interval(std::time::Duration::from_millis(5));
    drop(terminal);
    while house.world.engine.activity().clients > 0 {
        there.tick().await;
    }
    assert_eq!(house.door.clients(), 0);
}

#[tokio::test]
async fn a_session_that_is_deleted_is_in_use_no_more() {
    let house = House::open("").await;
    let mut terminal = house.terminal().await;
    let id = house.world.open(Preset::Ask).await;
    terminal.run(&format!("use {id}")).await;
    house.world.engine.delete_session(id).await.unwrap();
    terminal.until("was deleted").await;
    assert!(terminal.run("show").await.starts_with("error: no session is in use\n"));
}
