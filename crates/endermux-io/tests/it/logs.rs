//! Who hears what was logged.

use std::borrow::Cow;

use loggia_endermux_io::limits::{LOG_PIECE, LOG_QUEUE, MAX_LOG};
use loggia_endermux_io::{Log, extras};
use loggia_protocol_endermux::ColorLevel;
use serde_json::json;

use crate::support::{World, hello_with};

/// Says for which colours it was rendered.
struct Coloured;

impl Log for Coloured {
    fn text(&self, level: ColorLevel) -> Cow<'_, str> {
        Cow::Owned(format!("{}\n", level.name()))
    }

    fn weight(&self) -> usize {
        0
    }
}

#[tokio::test]
async fn only_those_who_subscribed_hear_logs_and_only_from_then_on() {
    let world = World::new().await;
    let mut deaf = world.welcomed().await;
    let mut raw = world.welcomed().await;
    world.console().broadcast("before\n");
    raw.subscribe().await;
    raw.subscribe().await;
    world.console().broadcast("after\n");
    assert_eq!(raw.log().await, "after\n");
    raw.ping("1").await;
    deaf.ping("1").await;
}

#[tokio::test]
async fn everybody_gets_the_text_for_its_own_colours() {
    let world = World::new().await;
    let mut clients = Vec::new();
    for level in ColorLevel::ALL {
        let mut raw = world.raw().await;
        raw.send(hello_with("unknown", level).to_string()).await;
        raw.receive().await;
        raw.receive().await;
        raw.subscribe().await;
        clients.push((level, raw));
    }
    world.console().broadcast(Coloured);
    for (level, raw) in &mut clients {
        assert_eq!(raw.log().await, format!("{}\n", level.name()));
    }
}

#[tokio::test]
async fn a_huge_line_arrives_in_pieces() {
    let world = World::new().await;
    let mut raw = world.subscribed().await;
    let line = "é".repeat(LOG_PIECE) + "\n";
    world.console().broadcast(line.clone());
    let mut got = String::new();
    while got.len() < line.len() {
        got += &raw.log().await;
    }
    assert_eq!(got, line);
    world.console().broadcast("x".repeat(MAX_LOG * 3) + "\n");
    world.console().broadcast("next\n");
    let mut got = String::new();
    while !got.ends_with("next\n") {
        got += &raw.log().await;
    }
    assert!(got.contains("bytes left out"));
}

#[tokio::test]
async fn one_client_can_be_told_something_alone() {
    let world = World::new().await;
    let (mut one, mut other) = (world.subscribed().await, world.subscribed().await);
    let ids = world.until_present(2).await;
    assert!(world.console().send_to(ids[0], &"for you\n"));
    assert_eq!(one.log().await, "for you\n");
    other.ping("1").await;
    drop(one);
    world.until_present(1).await;
    assert!(!world.console().send_to(ids[0], &"gone\n"));
}

#[tokio::test]
async fn those_who_negotiated_for_it_get_what_they_missed_first() {
    let world = World::new().await;
    world.console().broadcast("one\n");
    world.console().broadcast(Coloured);
    let mut raw = world.raw().await;
    raw.send(hello_with(extras::BACKLOG, ColorLevel::Indexed8).to_string()).await;
    assert_eq!(raw.receive().await["data"]["selectedCapabilities"][extras::BACKLOG], 1);
    raw.receive().await;
    raw.send(r#"{"type":"LOG_SUBSCRIBE","data":{}}"#).await;
    assert_eq!(raw.log().await, "one\n");
    assert_eq!(raw.log().await, "INDEXED_8\n");
    world.console().broadcast("three\n");
    assert_eq!(raw.log().await, "three\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_subscribes_during_a_flood_misses_nothing_and_hears_nothing_twice() {
    let world = World::new().await;
    let console = world.console().clone();
    let flood = std::thread::spawn(move || {
        for number in 0..800 {
            console.broadcast(format!("{number}\n"));
        }
    });
    let mut raw = world.raw().await;
    raw.send(hello_with(extras::BACKLOG, ColorLevel::None).to_string()).await;
    raw.receive().await;
    raw.receive().await;
    raw.send(r#"{"type":"LOG_SUBSCRIBE","data":{}}"#).await;
    for number in 0..800 {
        assert_eq!(raw.log().await, format!("{number}\n"));
    }
    flood.join().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_loses_the_oldest_logs_and_no_answers() {
    let world = World::new().await;
    let mut stalled = world.subscribed().await;
    let mut other = world.subscribed().await;
    stalled.send(json!({"type": "PING", "requestId": "early", "data": {}}).to_string()).await;
    let line = |number: usize| format!("{number} {}\n", "x".repeat(1000));
    let (bursts, burst) = (3 * LOG_QUEUE / 1000 / 100, 100);
    let count = bursts * burst;
    for start in (0..count).step_by(burst) {
        (start..start + burst).for_each(|number| world.console().broadcast(line(number)));
        // The other one hears every line, however long the first one sleeps.
        for number in start..start + burst {
            assert_eq!(other.log().await, line(number));
        }
    }
    other.ping("alive").await;
    stalled.send(json!({"type": "PING", "requestId": "late", "data": {}}).to_string()).await;
    let (mut got, mut skipped, mut pongs) = (Vec::new(), 0, Vec::new());
    while pongs.len() < 2 {
        let message = stalled.receive().await;
        if message["type"] == "PONG" {
            pongs.push(message["requestId"].as_str().unwrap().to_owned());
            continue;
        }
        let text = message["data"]["rendered"].as_str().unwrap();
        match text.strip_prefix("… ") {
            Some(gap) => skipped += gap.strip_suffix(" lines skipped\n").unwrap().parse::<usize>().unwrap(),
            None => got.push(text.split(' ').next().unwrap().parse::<usize>().unwrap()),
        }
    }
    assert_eq!(pongs, ["early", "late"]);
    assert!(skipped > 0);
    assert_eq!(got.len() + skipped, count);
    assert!(got.is_sorted() && got.ends_with(&[count - 1]));
}
