//! Three epochs on one socket.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use loggia_endermux_io::Client;
use loggia_endermux_io::client::{ConnectError, Event, Options};
use loggia_protocol_endermux::{ColorLevel, Epoch, HandshakeFailure};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use crate::support::{Raw, World, hello, hello_with_range};

async fn raw(world: &World, tagged: bool) -> Raw {
    Raw { tagged, ..world.raw().await }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(body).unwrap();
    gzip.finish().unwrap()
}

/// A frame of epoch 17 with a compressed body.
fn compressed(body: &[u8]) -> Vec<u8> {
    let stored = gzip(body);
    let mut frame = i32::try_from(stored.len() + 1).unwrap().to_be_bytes().to_vec();
    frame.push(1);
    frame.extend_from_slice(&stored);
    frame
}

#[tokio::test]
async fn each_epoch_is_answered_in_its_own_framing_on_the_same_socket() {
    let world = World::new().await;
    let cases = [(15, false, hello()), (16, false, hello_with_range(16)), (17, true, hello_with_range(17))];
    let mut clients = Vec::new();
    for (epoch, tagged, hello) in cases {
        let mut raw = raw(&world, tagged).await;
        raw.send(hello.to_string()).await;
        assert_eq!(raw.receive().await["data"]["transportEpoch"], epoch);
        assert_eq!(raw.receive().await["type"], "INTERACTIVITY_STATUS");
        raw.subscribe().await;
        clients.push(raw);
    }
    let epochs: Vec<i32> = world.console().clients().iter().map(|client| client.epoch.number()).collect();
    assert_eq!(epochs, [15, 16, 17]);
    world.console().broadcast("for all\n");
    for raw in &mut clients {
        assert_eq!(raw.log().await, "for all\n");
    }
}

#[tokio::test]
async fn another_epoch_is_refused_in_the_framing_of_the_question() {
    let world = World::new().await;
    let mut old = hello();
    old["data"]["transportEpoch"] = json!(14);
    let mut backwards = hello_with_range(17);
    backwards["data"]["transportEpochRange"] = json!({"min": 17, "max": 16, "exclude": []});
    let cases = [
        (false, old, "unsupported_transport_epoch", 15),
        (false, hello_with_range(17), "unsupported_transport_epoch", 16),
        (true, hello_with_range(18), "unsupported_transport_epoch", 17),
        (true, hello(), "invalid_transport_epoch_range", 17),
        (true, backwards, "invalid_transport_epoch_range", 17),
    ];
    for (tagged, hello, reason, expected) in cases {
        let mut raw = raw(&world, tagged).await;
        raw.send(hello.to_string()).await;
        let reject = raw.receive().await;
        assert_eq!(reject["data"]["reason"], reason);
        assert_eq!(reject["data"]["expectedTransportEpoch"], expected);
        assert_eq!(raw.rest().await, b"");
    }
}

#[tokio::test]
async fn long_messages_are_compressed_in_epoch_17_and_short_ones_are_not() {
    let world = World::new().await;
    let mut raw = raw(&world, true).await;
    raw.send(hello_with_range(17).to_string()).await;
    assert_eq!(raw.receive_body().await.0, Some(0));
    raw.receive().await;
    raw.subscribe().await;
    let line = "x".repeat(2048) + "\n";
    world.console().broadcast(line.clone());
    let (tag, body) = raw.receive_body().await;
    let message: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((tag, &message["data"]["rendered"]), (Some(1), &json!(line)));
}

#[tokio::test]
async fn a_compressed_hello_is_welcome() {
    let world = World::new().await;
    let mut raw = raw(&world, true).await;
    raw.send_bytes(&compressed(hello_with_range(17).to_string().as_bytes())).await;
    assert_eq!(raw.receive().await["type"], "WELCOME");
}

#[tokio::test]
async fn a_gzip_bomb_ends_its_own_connection_only() {
    let world = World::new().await;
    let mut bystander = world.subscribed().await;
    let bomb = compressed(&vec![b' '; 32 * 1024 * 1024]);
    let mut first = raw(&world, true).await;
    first.send_bytes(&bomb).await;
    assert_eq!(first.rest().await, b"");
    let mut welcomed = raw(&world, true).await;
    welcomed.send(hello_with_range(17).to_string()).await;
    welcomed.receive().await;
    welcomed.receive().await;
    welcomed.send_bytes(&bomb).await;
    assert_eq!(welcomed.rest().await, b"");
    world.until_present(1).await;
    bystander.ping("alive").await;
}

#[tokio::test]
async fn compression_nobody_defined_and_damaged_data_close_the_connection() {
    let world = World::new().await;
    for frame in [&b"\0\0\0\x03\x02{}"[..], b"\0\0\0\x05\x01abcd", b"\0\0\0\x03\x7f{}"] {
        let mut raw = raw(&world, true).await;
        raw.send_bytes(frame).await;
        assert_eq!(raw.rest().await, b"", "{frame:?}");
    }
}

#[tokio::test]
async fn our_client_speaks_the_newest_epoch_both_know() {
    let world = World::new().await;
    for epoch in [Epoch::Fifteen, Epoch::Sixteen, Epoch::Seventeen] {
        let options = Options { epochs: vec![epoch], ..Options::new(ColorLevel::None) };
        let (client, _events) = Client::connect(&world.path, &options).await.unwrap();
        assert_eq!(client.selected().epoch, epoch);
        client.ping().await.unwrap();
    }
    let (client, _events) = Client::connect(&world.path, &Options::new(ColorLevel::None)).await.unwrap();
    assert_eq!(client.selected().epoch, Epoch::Seventeen);
}

/// A server that knows one epoch, as existing ones do: frames of another kind are closed without a word.
async fn foreign_server(listener: UnixListener, epoch: i32) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let length = stream.read_i32().await.unwrap();
        let mut body = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        let tagged = body.first() == Some(&0);
        if tagged != (epoch == 17) {
            continue;
        }
        let hello: serde_json::Value = serde_json::from_slice(&body[usize::from(tagged)..]).unwrap();
        let data = &hello["data"];
        let fits = if epoch == 15 {
            data["transportEpoch"] == 15
        } else {
            data["transportEpochRange"]["max"] == epoch
        };
        let selected = json!({"command_execute": 1, "log_forward": 1, "interactivity_status": 1});
        let reply = if fits {
            json!({"type": "WELCOME", "requestId": hello["requestId"],
                "data": {"transportEpoch": epoch, "selectedCapabilities": selected}})
        } else {
            // A range is looked for before it is looked into.
            let misses_range = epoch > 15 && data["transportEpochRange"].is_null();
            let reason =
                if misses_range { "invalid_transport_epoch_range" } else { "unsupported_transport_epoch" };
            json!({"type": "REJECT", "requestId": hello["requestId"], "data": {"reason": reason, "message": "No",
                "expectedTransportEpoch": epoch, "missingRequiredCapabilities": []}})
        };
        let mut raw = Raw { stream, tagged };
        raw.send(reply.to_string()).await;
        if fits {
            raw.rest().await;
        }
    }
}

#[tokio::test]
async fn our_client_finds_the_epoch_of_a_server_that_knows_one() {
    for (number, epoch) in [(15, Epoch::Fifteen), (16, Epoch::Sixteen), (17, Epoch::Seventeen)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        let serving = tokio::spawn(foreign_server(UnixListener::bind(&path).unwrap(), number));
        let (client, mut events) = Client::connect(&path, &Options::new(ColorLevel::None)).await.unwrap();
        assert_eq!(client.selected().epoch, epoch);
        client.close();
        assert!(matches!(events.next().await, Some(Event::Closed(_))));
        serving.abort();
    }
}

#[tokio::test]
async fn a_server_that_was_updated_or_set_back_is_found_in_its_new_epoch() {
    let all = [(15, Epoch::Fifteen), (16, Epoch::Sixteen), (17, Epoch::Seventeen)];
    for (before, (number, epoch)) in all.iter().flat_map(|(_, before)| all.map(|now| (*before, now))) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        let serving = tokio::spawn(foreign_server(UnixListener::bind(&path).unwrap(), number));
        let options = Options { fitted: Some(before), ..Options::new(ColorLevel::None) };
        let connected = Client::connect(&path, &options).await;
        let (client, _events) =
            connected.unwrap_or_else(|error| panic!("{before:?}, now {epoch:?}: {error}"));
        assert_eq!(client.selected().epoch, epoch);
        serving.abort();
    }
}

#[tokio::test]
async fn an_epoch_our_client_does_not_speak_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    let serving = tokio::spawn(foreign_server(UnixListener::bind(&path).unwrap(), 15));
    let options = Options { epochs: vec![Epoch::Sixteen], ..Options::new(ColorLevel::None) };
    let error = Client::connect(&path, &options).await.unwrap_err();
    assert!(error.is_final());
    let ConnectError::Incompatible(HandshakeFailure::EpochMismatch { server, client }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((server, client), (15, 16));
    serving.abort();
}

#[tokio::test]
async fn a_server_that_answers_nothing_is_no_final_failure() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("console.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.shutdown().await;
        }
    });
    let error = Client::connect(&path, &Options::new(ColorLevel::None)).await.unwrap_err();
    assert!(matches!(error, ConnectError::NoAnswer) && !error.is_final(), "{error:?}");
    serving.abort();
}
