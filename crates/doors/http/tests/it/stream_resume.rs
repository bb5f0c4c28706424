//! Streams that are cut and picked up again.

use std::time::Duration;

use loggia_domain::{Passing, Preset};
use loggia_engine::Told;
use loggia_http::Timing;
use serde_json::{Value, json};

use crate::stream_support::{DRIVER, Heard, NARROW, calls, connect, says, world, world_with};

/// The numbered messages up to a number, from a client that comes after another.
async fn numbered(
    world: &crate::stream_support::World,
    session: loggia_domain::SessionId,
    after: u64,
    last: u64,
) -> Vec<Value> {
    let mut client = world.join_after(session, "late", after).await;
    client.prompt("never mind").await;
    // What the client says is answered after the past was told, or before; the past is there in any case.
    while client.last < last {
        client.next().await;
    }
    // All messages of the last event, too: the answer to the next message comes behind them.
    while client.transcript.numbered.last().is_none_or(|message| message["type"] != "session.state") {
        client.next().await;
    }
    client.transcript.numbered
}

#[tokio::test]
async fn a_stream_is_picked_up_after_any_event_without_gap_or_repeat() {
    let script = [
        calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }"),
        calls("update_plan", "{ steps = [{ description = \"Look\" }], current = 0, rationale = \"r\" }"),
        "[[reply]]\nparts = [{ text = \"hm\" }, { hang = true }]\n".to_owned(),
    ];
    let world = world(&[("a.txt", "old\n")], &script.concat()).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut bob = world.join(session, "bob", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    alice.approve(&asked["request_id"]).await;
    alice.until_done().await;
    alice.prompt("plan").await;
    alice.until_done().await;
    bob.until_done().await;
    bob.until_done().await;
    // A turn is under way, so that nothing more is stored by what the others ask.
    alice.prompt("hang").await;
    alice.until("assistant.token").await;
    let live = bob.transcript.numbered.clone();
    let last = bob.last;
    let everything: Vec<Value> = numbered(&world, session, 0, last).await;
    assert_eq!(&everything[..live.len()], live);
    for after in 0..last {
        let expected: Vec<&Value> =
            live.iter().filter(|message| message["seq"].as_u64().unwrap() > after).collect();
        let told = numbered(&world, session, after, last).await;
        let told: Vec<&Value> =
            told.iter().filter(|message| message["seq"].as_u64().unwrap() <= last).collect();
        assert_eq!(told, expected, "after {after}");
    }
}

#[tokio::test]
async fn a_cut_in_the_middle_of_a_turn_loses_nothing() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let world = world(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::Ask).await;
    let mut steady = world.join(session, "steady", &[]).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    let mut heard = alice.transcript.numbered.clone();
    // The wire is cut: no goodbye.
    let (last, socket) = (alice.last, alice.socket);
    drop(socket.into_inner());
    // Messages of the same event may not have come: an event counts as heard once a later one was.
    let complete = last - 1;
    heard.retain(|message| message["seq"].as_u64().unwrap() <= complete);
    let mut alice = world.join_after(session, "alice", complete).await;
    alice.approve(&asked["request_id"]).await;
    alice.until_done().await;
    steady.until_done().await;
    heard.extend(alice.transcript.numbered.clone());
    let echo = |message: &&Value| message["type"] == "client.echo";
    let without_echo = |list: &[Value]| -> Vec<Value> { list.iter().filter(|m| !echo(m)).cloned().collect() };
    assert_eq!(without_echo(&heard), without_echo(&steady.transcript.numbered));
}

#[tokio::test]
async fn twenty_clients_cut_at_different_places_end_with_the_same_events() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let world = world(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::Ask).await;
    let mut driver = world.join(session, "driver", &[]).await;
    let mut steady = world.join(session, "steady", &[]).await;
    let mut others = Vec::new();
    for _ in 0..20 {
        others.push(world.join(session, "other", &[]).await);
    }
    driver.prompt("write").await;
    let asked = driver.until("tool.request_approval").await;
    // Half of them are cut while the turn waits, the others while it goes on or after it.
    let mut cut = Vec::new();
    for (place, mut client) in others.into_iter().enumerate() {
        if place == 10 {
            driver.approve(&asked["request_id"]).await;
        }
        let most = if place < 10 { place % 4 } else { place % 10 };
        while client.transcript.numbered.len() <= most {
            client.next().await;
        }
        cut.push((client.last, client.transcript.numbered));
        drop(client.socket.into_inner());
    }
    steady.until_done().await;
    let everything = steady.transcript.numbered;
    for (last, mut heard) in cut {
        // Messages of one event share its number: only when a later one was heard is it known to be whole.
        let complete = last.saturating_sub(1);
        heard.retain(|message| message["seq"].as_u64().unwrap() <= complete);
        let mut again = world.join_after(session, "other", complete).await;
        again.until_done().await;
        heard.extend(again.transcript.numbered);
        assert_eq!(heard, everything, "cut after {last}");
    }
}

#[tokio::test]
async fn one_who_resumes_hears_the_text_of_replies_that_passed() {
    let world = world(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("read").await;
    alice.until_done().await;
    let mut bob = world.join_after(session, "bob", 0).await;
    assert_eq!(bob.until("assistant.token").await["token"], "Let me see. ");
    assert_eq!(bob.until_done().await["message"], "Done.");
    // A place that has not come yet is the newest one.
    let mut carol = world.join_after(session, "carol", 1_000_000).await;
    carol.say(json!({"type": "client.cancel"})).await;
    assert_eq!(carol.next().await["type"], "server.error");
}

#[tokio::test]
async fn a_client_that_stops_reading_is_told_from_the_journal_when_it_reads_again() {
    let script = "[[reply]]\nrepeat = true\nparts = [{ tokens = { count = 2, text = \"TEXT\" } }]\n"
        .replace("TEXT", &"long ".repeat(1000));
    let world = world(&[], &script).await;
    let session = world.open(Preset::Ask).await;
    let path = format!("/v1/sessions/{session}/stream");
    let address = world.listen_narrowly(&DRIVER).await;
    let mut sleeper = connect(address, &path, Some(NARROW)).await.unwrap();
    sleeper.hello("sleeper", &[]).await;
    let mut alice = world.join(session, "alice", &["delta_only"]).await;
    // Far more than the buffers in between can hold.
    for _ in 0..20 {
        alice.prompt("again").await;
        alice.until_done().await;
    }
    while sleeper.last < alice.last {
        sleeper.next().await;
    }
    let turns = sleeper.text().matches("assistant.message_final").count();
    assert_eq!(turns, 20);
    let seqs: Vec<u64> =
        sleeper.transcript.numbered.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted());
}

#[tokio::test]
async fn a_client_that_never_reads_again_is_closed_and_may_resume() {
    let timing = Timing {
        blocked: Duration::from_millis(500),
        farewell: Duration::from_secs(15),
        ..Timing::default()
    };
    let script =
        format!("[[reply]]\nparts = [{{ tokens = {{ count = 8, text = \"{}\" }} }}]\n", "x".repeat(1 << 16));
    let world = world_with(&[], &script, timing, None).await;
    let session = world.open(Preset::Ask).await;
    let mut watch = watcher(&world, session).await;
    let path = format!("/v1/sessions/{session}/stream");
    let address = world.listen_narrowly(&DRIVER).await;
    let mut sleeper = connect(address, &path, Some(NARROW)).await.unwrap();
    sleeper.hello("sleeper", &[]).await;
    sleeper.prompt("talk").await;
    // It has given up its place before it is let go.
    loop {
        if let Told::Passing(passing) = watch.1.next().await.unwrap()
            && matches!(&*passing, Passing::ClientLeft { client } if client.name == "sleeper")
        {
            break;
        }
    }
    assert_eq!(sleeper.until_closed().await, Some(4409));
    let mut again = world.join_after(session, "sleeper", sleeper.last).await;
    assert_eq!(again.until_done().await["message"].as_str().unwrap().len(), 8 << 16);
}

async fn watcher(
    world: &crate::stream_support::World,
    session: loggia_domain::SessionId,
) -> (loggia_engine::Seat, loggia_engine::Subscription) {
    let client = loggia_domain::Client {
        id: loggia_domain::ClientId::new(),
        name: "inside".to_owned(),
        door: loggia_domain::Door::Inside,
        role: loggia_domain::Role::Watch,
        abilities: loggia_domain::Abilities::default(),
    };
    let (seat, state) = world.engine.join(session, client, loggia_engine::OnLeave::Keep).await.unwrap();
    let subscription = seat.subscribe(state.last_seq);
    (seat, subscription)
}

#[tokio::test]
async fn others_see_who_is_there() {
    let world = world(&[], &says(&[])).await;
    let session = world.open(Preset::Ask).await;
    let (seat, _) = watcher(&world, session).await;
    let mut client = world.join(session, "editor", &["diff_preview", "terminal_exec"]).await;
    let there = seat.clients().await.unwrap();
    let editor = there.iter().find(|client| client.name == "editor").unwrap();
    assert!(editor.abilities.applies_patches && editor.abilities.runs_commands);
    client.socket.close(None).await.unwrap();
    while client.hear().await != Heard::Closed(None) {}
    while seat.clients().await.unwrap().len() > 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn open_questions_come_first_and_are_not_repeated_in_the_past() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let world = world(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut steady = world.join(session, "steady", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    alice.until("session.state").await;
    while steady.last < alice.last {
        steady.next().await;
    }
    steady.until("session.state").await;
    let live = steady.transcript.numbered.clone();
    let newest = alice.last;
    for after in 0..=newest {
        let path = format!("/v1/sessions/{session}/stream?after={after}");
        let mut client = world.connect(&DRIVER, &path).await;
        client.say(json!({"type": "client.hello", "client_info": {"name": "late", "version": "1"}})).await;
        assert_eq!(client.next().await["last_seq"], newest);
        let state = client.next().await;
        assert_eq!((&state["type"], state.get("seq")), (&json!("session.state"), None));
        let (patch, question) = (client.next().await, client.next().await);
        assert_eq!(
            (&patch["type"], &patch["seq"]),
            (&json!("patch.proposed"), &asked["seq"]),
            "after {after}"
        );
        assert_eq!(question, asked, "after {after}");
        // The answer to this comes behind the past, or within it.
        client
            .say(json!({"type": "client.approval_response", "request_id": "nonsense", "approved": true}))
            .await;
        let is_shown = |message: &Value| *message == patch || *message == question;
        let seq = |message: &Value| message["seq"].as_u64().unwrap();
        let expected: Vec<Value> =
            live.iter().filter(|message| seq(message) > after && !is_shown(message)).cloned().collect();
        while client.transcript.numbered.len() < 2 + expected.len() || !client.text().contains("server.error")
        {
            client.next().await;
        }
        assert_eq!(client.transcript.numbered[2..], expected, "after {after}");
    }
}

#[tokio::test]
async fn a_page_costs_what_it_holds() {
    let script = "[[reply]]\nrepeat = true\nparts = [{ text = \"Yes.\" }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    for _ in 0..30 {
        alice.prompt("again").await;
        alice.until_done().await;
    }
    let all = world.get(&format!("/v1/sessions/{session}/events?after=0&limit=1000")).await;
    world.read.take();
    let (mut after, mut pages, mut events) = (0, 0, Vec::new());
    loop {
        let page = world.get(&format!("/v1/sessions/{session}/events?after={after}&limit=7")).await;
        let read = world.read.take();
        assert!(read <= 7, "a page of 7 events after {after} has read {read}");
        events.extend(page["events"].as_array().unwrap().clone());
        pages += 1;
        let Some(next) = page["next_after"].as_u64() else { break };
        after = next;
    }
    assert!(pages > 10);
    assert_eq!(Value::from(events), all["events"]);
}

#[tokio::test]
async fn a_list_reads_the_journal_of_a_session_once() {
    let world = world(&[], "[[reply]]\nrepeat = true\nparts = [{ text = \"Yes.\" }]\n").await;
    world.open(Preset::Ask).await;
    let first = world.get("/v1/sessions").await;
    assert!(world.read.take() > 0);
    assert_eq!(world.get("/v1/sessions").await, first);
    assert_eq!(world.read.take(), 0);
}

#[tokio::test]
async fn a_stream_is_picked_up_without_reading_the_journal_from_its_beginning() {
    let script = "[[reply]]\nrepeat = true\nparts = [{ text = \"Yes.\" }]\n";
    let world = world(&[], script).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    for _ in 0..100 {
        alice.prompt("again").await;
        alice.until_done().await;
    }
    let last = alice.last;
    world.read.take();
    for behind in 0..20 {
        let mut again = world.join_after(session, "alice", last - behind).await;
        while behind > 0 && again.last < last {
            again.next().await;
        }
        let read = world.read.take();
        // Those that are told, and those of the turn before them.
        assert!(read < 40, "one who was {behind} events behind made {read} of {last} be read");
    }
}

#[tokio::test]
async fn what_was_said_before_a_tool_was_called_is_in_the_list_of_events() {
    let world = world(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("read").await;
    alice.until_done().await;
    let page = world.get(&format!("/v1/sessions/{session}/events?after=0")).await;
    let kinds: Vec<&str> =
        page["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["client.echo", "assistant.token", "tool.execute"]);
    assert_eq!(page["events"][1]["token"], "Let me see. ");
}
