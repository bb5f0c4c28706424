//! A whole door with a whole engine behind it, in this process, on a free port.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use loggia_client::{Client, Server};
use loggia_domain::ModelCatalogue;
use loggia_engine::Engine;
use loggia_http::{Door, Listener};
use loggia_protocol_agent_server::{
    CreateSessionParams, CreateTokenParams, MAX_SOCKETS_PER_TOKEN, PolicyPreset, RegisterWorkspaceParams,
    Scope,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::model::OnlyPacer;
use crate::engine::world::{NEVER, runner, store};

/// Sockets on one token: a few less than it may hold, for whoever looks in.
const SOCKETS_PER_TOKEN: usize = MAX_SOCKETS_PER_TOKEN - 4;

/// A door that is open.
pub(super) struct OpenDoor {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    pub(super) client: Client,
    pub(super) workspace: loggia_protocol_agent_server::WorkspaceId,
    engine: Engine,
    stop: CancellationToken,
    serving: JoinHandle<Result<()>>,
}

impl OpenDoor {
    /// Opens one, with its files and its workspace in a directory.
    pub(super) async fn open(directory: &Path) -> Result<Self> {
        let models: Arc<dyn ModelCatalogue> = Arc::new(OnlyPacer);
        let index: loggia_engine::IndexFinder = Arc::new(|_| None);
        let parts = loggia_engine::Parts {
            store: store(directory)?,
            models: Arc::clone(&models),
            tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
            repositories: loggia_engine::NoRepository::finder(),
            sources: Arc::new(|_| Vec::new()),
            runner: Arc::new(runner()?),
            index: Arc::clone(&index),
            guests: Arc::new(loggia_engine::NoGuests),
            desks: loggia_engine::Desks::default(),
        };
        let data = directory.join("data");
        let settings =
            loggia_engine::Settings { unload_after: NEVER, ..loggia_engine::Settings::new(data.clone()) };
        let engine = Engine::start(parts, settings).await?;
        let stop = CancellationToken::new();
        let examine = loggia_http::examine_nothing();
        let plugins = Arc::new(loggia_domain::NoPlugins);
        let parts = loggia_http::Parts {
            engine: engine.clone(),
            models,
            index,
            plugins,
            examine,
            stop: stop.clone(),
        };
        let settings = loggia_http::Settings {
            data: data.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hosts: Vec::new(),
            origins: Vec::new(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let door = Door::new(parts, settings)?;
        let token = token(&data)?;
        let serving = tokio::spawn({
            let stop = stop.clone();
            async move { Ok(door.serve(Listener::Tcp(listener, None), stop).await?) }
        });
        let server = Server::Tcp { host: address.ip().to_string(), port: address.port() };
        let client = Client::new(server).with_token(token.clone());
        let root = directory.join("work");
        std::fs::create_dir_all(&root)?;
        let root_path = root.to_str().context("a path of plain text")?.to_owned();
        let workspace = client.register_workspace(&RegisterWorkspaceParams { root_path, name: None }).await?;
        Ok(Self { address, token, client, workspace: workspace.workspace_id, engine, stop, serving })
    }

    /// Opens a session.
    pub(super) async fn session(&self) -> Result<String> {
        let params = CreateSessionParams {
            workspace_id: self.workspace.clone(),
            title: Some("bench".to_owned()),
            model: None,
            policy_preset: Some(PolicyPreset::AutoEdit),
            budget: None,
        };
        Ok(self.client.create_session(&params).await?.session_id.0)
    }

    /// Tokens for so many sockets.
    pub(super) async fn tokens(&self, sockets: usize) -> Result<Vec<String>> {
        let mut tokens = Vec::new();
        for number in 0..sockets.div_ceil(SOCKETS_PER_TOKEN) {
            let params = CreateTokenParams { name: format!("bench {number}"), scope: Scope::Drive };
            tokens.push(self.client.create_token(&params).await?.token.0);
        }
        Ok(tokens)
    }

    /// Closes it.
    pub(super) async fn close(self) -> Result<()> {
        self.stop.cancel();
        self.serving.await??;
        self.engine.stop().await;
        Ok(())
    }
}

/// The token of somebody who may do everything.
fn token(data: &Path) -> Result<String> {
    let text = std::fs::read_to_string(data.join("token")).context("the door's own token")?;
    Ok(text.trim().to_owned())
}
