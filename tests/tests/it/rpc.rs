//! The rpc door with commands that really run, and beside the http door.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{ModelAbilities, ModelName, Preset};
use loggia_mock_models::{Answer, Mock, Say, frames, text};
use loggia_models::{Endpoint, EndpointKind, Environment, KeySource, Models, Override, Secret};
use loggia_rpc::{Exit, Launch, Parts, StartWith, serve};
use loggia_tests::World;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::commands::runs;
use crate::examples::recorder::House;
use crate::world;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    serving: JoinHandle<Exit>,
    last_id: u64,
    /// Read while an answer was waited for.
    early: Vec<Value>,
}

impl Client {
    async fn start(world: &World, session: StartWith) -> Self {
        let parts = Parts { engine: world.engine.clone(), models: Arc::clone(&world.catalogue) };
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let launch = Launch { session, ..Launch::new(world.root()) };
        let serving = tokio::spawn(serve(parts, Ok(launch), reader, writer, CancellationToken::new()));
        let (reader, writer) = tokio::io::split(near);
        let reader = BufReader::new(reader);
        let mut client = Self { reader, writer, serving, last_id: 0, early: Vec::new() };
        client.until("hook.sessionStart").await;
        client
    }

    async fn line(&mut self) -> Value {
        let mut text = String::new();
        tokio::time::timeout(PATIENCE, self.reader.read_line(&mut text)).await.unwrap().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": format!("autohand.{method}"), "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        loop {
            let message = self.line().await;
            if message.get("id") == Some(&json!(id)) {
                return message["result"].clone();
            }
            self.early.push(message);
        }
    }

    /// Everything up to a notification, by name and with what it says.
    async fn until(&mut self, method: &str) -> Vec<(String, Value)> {
        let mut heard = Vec::new();
        loop {
            let message = if self.early.is_empty() { self.line().await } else { self.early.remove(0) };
            let name = message["method"].as_str().unwrap().trim_start_matches("autohand.").to_owned();
            let is_it = name == method;
            heard.push((name, message["params"].clone()));
            if is_it {
                return heard;
            }
        }
    }
}

#[tokio::test]
async fn what_a_command_prints_reaches_an_autohand_client() {
    let world = world().start(&runs("echo out; echo err >&2; echo new > made.txt; exit 3")).await;
    let mut client = Client::start(&world, StartWith::Fresh).await;
    client.call("permissionModeSet", json!({"mode": "unrestricted"})).await;
    client.call("prompt", json!({"message": "run"})).await;
    let heard = client.until("toolEnd").await;
    let printed = |stream: &str| -> String {
        let pieces = heard.iter().filter(|(name, said)| name == "toolUpdate" && said["stream"] == stream);
        pieces.map(|(_, said)| said["output"].as_str().unwrap()).collect()
    };
    assert_eq!((printed("stdout"), printed("stderr")), ("out\n".to_owned(), "err\n".to_owned()));
    let modified = heard.iter().find(|(name, _)| name == "hook.fileModified").unwrap();
    assert_eq!((&modified.1["filePath"], &modified.1["changeType"]), (&json!("made.txt"), &json!("create")));
    let (_, ended) = heard.last().unwrap();
    assert_eq!(ended["success"], false);
    assert!(ended["output"].as_str().unwrap().contains("out"), "{ended}");
    assert!(ended["error"].as_str().unwrap().contains("Exit code 3"), "{ended}");
}

/// All the way from a prompt to what a provider is sent.
#[tokio::test]
async fn an_image_reaches_a_provider_as_it_wants_it() {
    let kind = EndpointKind::OpenAi;
    let mock = Mock::start(vec![Answer::frames(&frames(kind, &[text("A cat."), Say::Done]))]).await;
    let model = ModelName("mock:m".to_owned());
    let sees = ModelAbilities { images: true, ..ModelAbilities::default() };
    let settings = loggia_models::Settings {
        endpoints: vec![Endpoint {
            name: "mock".to_owned(),
            kind,
            base_url: Some(mock.address.clone()),
            key: KeySource::Given(Secret::new("a-key")),
            headers: Vec::new(),
        }],
        default: vec![model.clone()],
        overrides: [(model, Override { abilities: Some(sees), ..Override::default() })].into(),
        ..loggia_models::Settings::default()
    };
    let models = Models::new(settings, Environment::empty());
    let world = world().models(Arc::new(models)).start("").await;
    let mut client = Client::start(&world, StartWith::Fresh).await;
    let image = json!({"data": "iVBORw0KGgo=", "mimeType": "image/png", "filename": "cat.png"});
    client.call("prompt", json!({"message": "What is it?", "images": [image]})).await;
    let heard = client.until("turnEnd").await;
    assert!(heard.iter().all(|(name, _)| name != "error"), "{heard:?}");
    let body = &mock.requests()[0].body;
    let said = body["messages"].as_array().unwrap().iter().find(|said| said["role"] == "user").unwrap();
    assert_eq!(said["content"][0]["text"], "[Image #1: cat.png]\nWhat is it?");
    assert_eq!(said["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=");
}

/// Clients that abort kill the agent when its turn has not ended after two seconds.
#[tokio::test]
async fn an_abort_ends_a_command_that_does_not() {
    let world = world().start(&runs("trap '' TERM; echo began; sleep 1000")).await;
    let mut client = Client::start(&world, StartWith::Fresh).await;
    client.call("permissionModeSet", json!({"mode": "unrestricted"})).await;
    client.call("prompt", json!({"message": "run"})).await;
    client.until("toolUpdate").await;
    assert_eq!(client.call("abort", json!({})).await, json!({"success": true}));
    let heard = client.until("turnEnd").await;
    let names: Vec<&str> = heard.iter().map(|(name, _)| name.as_str()).collect();
    let tool_then_turn = ["hook.postTool", "toolEnd", "hook.stop", "hook.postResponse"];
    assert_eq!(names, [tool_then_turn.as_slice(), &["messageStart", "messageEnd", "turnEnd"]].concat());
    assert_eq!(heard[5].1["aborted"], true);
    assert_eq!(heard[6].1["reason"], "aborted");
}

/// Two clients of one door and one of another see the same turn; any of them answers.
#[tokio::test]
async fn two_autohand_clients_and_a_web_socket_share_a_turn() {
    let script = "[[reply]]\nparts = [{ call = { tool = \"write_file\", arguments = { path = \"new.txt\", content = \"hello\\n\" } } }]\n\
                  [[reply]]\nparts = [{ text = \"Done.\" }]";
    for answers in ["first", "second", "web socket"] {
        let house = House::start(&[], script).await;
        let mut wire = house.join(Preset::Ask, &[]).await;
        let session = || StartWith::Resume(wire.session());
        let mut first = Client::start(&house.world, session()).await;
        let mut second = Client::start(&house.world, session()).await;
        first.call("prompt", json!({"message": "Write"})).await;
        let asked = first.until("permissionRequest").await.pop().unwrap().1["requestId"].clone();
        assert_eq!(second.until("permissionRequest").await.pop().unwrap().1["requestId"], asked);
        let shown = wire.until("tool.request_approval").await["request_id"].clone();
        assert_eq!(shown, asked);
        let yes = json!({"requestId": asked, "allowed": true});
        match answers {
            "first" => drop(first.call("permissionResponse", yes.clone()).await),
            "second" => drop(second.call("permissionResponse", yes.clone()).await),
            _ => {
                let answer =
                    json!({"type": "client.approval_response", "request_id": shown, "approved": true});
                wire.say(answer).await;
            }
        }
        wire.until_done().await;
        for client in [&mut first, &mut second] {
            client.until("turnEnd").await;
            assert_eq!(client.call("permissionResponse", yes.clone()).await, json!({"success": false}));
        }
        assert_eq!(house.world.read("new.txt"), "hello\n");
        // One who goes takes nothing away from the others.
        first.writer.shutdown().await.unwrap();
        assert_eq!(first.serving.await.unwrap().code, 0);
        assert_eq!(second.call("getState", json!({})).await["status"], "idle");
    }
}
