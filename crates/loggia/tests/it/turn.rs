//! One whole turn against a running server: it reads a file, asks about a command, runs it and replies.

use std::time::Duration;

use loggia_client::{Client, Heard, Server as Place, SessionStream};
use loggia_protocol_agent_server::{
    ApprovalId, CreateSessionParams, PolicyPreset, RegisterWorkspaceParams, ServerMessage, SessionId,
};

use crate::server::Server;
use crate::stage::Stage;

/// Far longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A word that is in the prompt, the file, the command and the reply, and has no business in logs and telemetry.
pub(crate) const PRIVATE: &str = "very-private-word";

const SCRIPT: &str = r#"
[[reply]]
parts = [
    { call = { tool = "read_file", arguments = { path = "greeting.txt" } } },
    { call = { tool = "run_command", arguments = { command = "echo very-private-word" } } },
]
usage = { input = 120, output = 14 }

[[reply]]
repeat = true
parts = [{ text = "very-private-word" }]
usage = { input = 10, output = 3 }
"#;

/// A server that can play the turn.
pub(crate) fn start(stage: &Stage, variables: &[(&str, &str)], arguments: &[&str]) -> Server {
    start_playing(SCRIPT, stage, variables, arguments)
}

/// A server that can play another one.
pub(crate) fn start_playing(
    script: &str,
    stage: &Stage,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Server {
    stage.write("project/greeting.txt", PRIVATE);
    let script = stage.write("script.toml", script);
    let model = format!("scripted:{}", script.display());
    // Whatever this machine has for a sandbox, the command shall run.
    let mut all = vec!["--workspace", ".", "--model", &model, "--set", "sandbox.required=false"];
    all.extend(arguments);
    Server::start_with(stage, variables, &all)
}

pub(crate) fn client(server: &Server) -> Client {
    let token = std::fs::read_to_string(server.field("token_file")).unwrap();
    let address = server.address();
    let place = Place::Tcp { host: address.ip().to_string(), port: address.port() };
    Client::new(place).with_token(token.trim())
}

/// A session in the project.
pub(crate) async fn session(stage: &Stage, client: &Client) -> SessionId {
    session_under(None, stage, client).await
}

/// A session in the project with other rules.
pub(crate) async fn session_under(
    policy_preset: Option<PolicyPreset>,
    stage: &Stage,
    client: &Client,
) -> SessionId {
    let root_path = stage.path("project").to_str().unwrap().to_owned();
    let workspace =
        client.register_workspace(&RegisterWorkspaceParams { root_path, name: None }).await.unwrap();
    let params = CreateSessionParams {
        workspace_id: workspace.workspace_id,
        title: None,
        model: None,
        policy_preset,
        budget: None,
    };
    client.create_session(&params).await.unwrap().session_id
}

/// Waits until the command is asked about.
pub(crate) async fn until_asked(stream: &mut SessionStream) -> ApprovalId {
    let asked = async {
        loop {
            if let Heard::Message(ServerMessage::CommandRequestApproval(asked)) =
                stream.next().await.unwrap().unwrap()
                && asked.requires_approval
            {
                return ApprovalId(asked.command_id.0);
            }
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap()
}

/// Plays the turn to its end, and leaves.
pub(crate) async fn play(stage: &Stage, server: &Server) -> SessionId {
    let client = client(server);
    let session = session(stage, &client).await;
    let mut stream = client.follow(&session).named("tester", "1").open().await.unwrap();
    stream.speaker().prompt(PRIVATE).await.unwrap();
    let asked = until_asked(&mut stream).await;
    stream.speaker().decide(asked, true).await.unwrap();
    until_final(&mut stream).await;
    stream.close().await;
    session
}

/// Waits for the last words of a turn.
pub(crate) async fn until_final(stream: &mut SessionStream) {
    let ended = async {
        while !matches!(stream.next().await.unwrap().unwrap(), Heard::Message(ServerMessage::MessageFinal(_)))
        {
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

/// Waits for the end of a server that was told to end.
pub(crate) async fn end(server: Server) -> (Option<i32>, String, String) {
    server.signal(rustix::process::Signal::TERM);
    tokio::task::spawn_blocking(move || server.wait()).await.unwrap()
}
