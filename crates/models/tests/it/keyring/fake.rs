//! A bus with a secret service on it, as far as ours talks to them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use loggia_models::Environment;
use tempfile::TempDir;
use zbus::message::{Header, Type};
use zbus::{Connection, Message, MessageStream, OwnedObjectPath, OwnedVariant, Variant};

/// Any will do.
const GUID: &str = "0123456789abcdef0123456789abcdef";

/// What an unknown name is answered with.
const UNKNOWN: &str = "org.freedesktop.DBus.Error.ServiceUnknown";

/// A secret as it goes over the bus.
type Sealed = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// How the service is.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The entries by account.
    pub(super) entries: BTreeMap<String, Vec<u8>>,
    pub(super) locked: bool,
    /// Whether people unlock it when they are asked.
    pub(super) people_agree: bool,
    /// Whether it never answers.
    pub(super) silent: bool,
    /// Whether there is only a bus.
    pub(super) absent: bool,
}

impl State {
    pub(super) fn with(account: &str, value: impl Into<Vec<u8>>) -> Self {
        Self { entries: BTreeMap::from([(account.to_owned(), value.into())]), ..Self::default() }
    }
}

/// A bus of our own.
pub(super) struct Bus {
    directory: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
    /// Ends the server when it is dropped.
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Bus {
    /// Starts one on a thread of its own: whoever asks it blocks its own.
    pub(super) fn start(state: State) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = std::os::unix::net::UnixListener::bind(directory.path().join("bus")).unwrap();
        listener.set_nonblocking(true).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let server = Server { state: Arc::new(Mutex::new(state)), asked: Arc::clone(&asked) };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = server.listen(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { directory, asked, _stop: stop }
    }

    pub(super) fn directory(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    pub(super) fn environment(&self) -> Environment {
        let address = format!("unix:path={}/bus", self.directory());
        Environment::from([("DBUS_SESSION_BUS_ADDRESS", &*address)])
    }

    /// The methods that were called, of the bus and of the service.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[derive(Clone)]
struct Server {
    state: Arc<Mutex<State>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn listen(self, listener: std::os::unix::net::UnixListener) {
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let stream = stream.into_std().unwrap();
            let server = self.clone();
            tokio::spawn(async move {
                let built = zbus::connection::Builder::unix_stream(stream).server(GUID).p2p().build().await;
                let Ok(connection) = built else { return };
                let mut messages = MessageStream::from(&connection);
                while let Some(Ok(message)) = messages.next().await {
                    if message.message_type() == Type::MethodCall {
                        server.answer(&connection, &message).await.unwrap();
                    }
                }
            });
        }
    }

    async fn answer(&self, bus: &Connection, message: &Message) -> zbus::Result<()> {
        let header = message.header();
        let method = header.member().unwrap().to_string();
        self.asked.lock().unwrap().push(method.clone());
        let state = self.state.lock().unwrap().clone();
        let to_bus = header.destination().is_some_and(|name| name.as_str() == "org.freedesktop.DBus");
        match &*method {
            "Hello" => bus.reply(&header, &":1.1").await,
            _ if state.silent => Ok(()),
            "AddMatch" | "RemoveMatch" => bus.reply(&header, &()).await,
            "ListNames" if !state.absent => bus.reply(&header, &vec!["org.freedesktop.secrets"]).await,
            "ListNames" | "ListActivatableNames" => bus.reply(&header, &Vec::<String>::new()).await,
            _ if to_bus || state.absent => bus.reply_error(&header, UNKNOWN, &"nobody is there").await,
            _ => self.serve(bus, &header, message, &method, state).await,
        }
    }

    async fn serve(
        &self,
        bus: &Connection,
        header: &Header<'_>,
        message: &Message,
        method: &str,
        state: State,
    ) -> zbus::Result<()> {
        let none = path("/");
        let item = header.path().unwrap().as_str().strip_prefix("/item/").unwrap_or_default().to_owned();
        match method {
            "OpenSession" => bus.reply(header, &(Variant::from(""), path("/session"))).await,
            "SearchItems" => {
                let wanted: HashMap<String, String> = message.body().deserialize()?;
                assert_eq!(wanted["service"], "loggia");
                let found = state.entries.keys().filter(|account| **account == wanted["username"]);
                let found: Vec<OwnedObjectPath> =
                    found.map(|account| path(&format!("/item/{account}"))).collect();
                let nothing = Vec::<OwnedObjectPath>::new();
                let both = if state.locked { (nothing, found) } else { (found, nothing) };
                bus.reply(header, &both).await
            }
            "Unlock" => {
                let prompt = if state.locked { path("/prompt") } else { none };
                bus.reply(header, &(Vec::<OwnedObjectPath>::new(), prompt)).await
            }
            "Prompt" => {
                bus.reply(header, &()).await?;
                self.state.lock().unwrap().locked = !state.people_agree;
                let done = (!state.people_agree, Variant::from(""));
                let interface = "org.freedesktop.Secret.Prompt";
                bus.emit_signal(None::<&str>, "/prompt", interface, "Completed", &done).await
            }
            "GetSecret" => {
                let sealed: Sealed =
                    (path("/session"), Vec::new(), state.entries[&item].clone(), "text/plain".to_owned());
                bus.reply(header, &(sealed,)).await
            }
            "ReadAlias" => bus.reply(header, &path("/collection")).await,
            "CreateItem" => {
                let body = message.body();
                let (mut properties, sealed, replaces): (HashMap<String, OwnedVariant>, Sealed, bool) =
                    body.deserialize()?;
                let attributes = properties.remove("org.freedesktop.Secret.Item.Attributes").unwrap();
                let attributes = HashMap::<String, String>::try_from(attributes)?;
                assert!(replaces && attributes["service"] == "loggia");
                self.state.lock().unwrap().entries.insert(attributes["username"].clone(), sealed.2);
                bus.reply(header, &(path("/item/new"), none)).await
            }
            "Delete" => {
                self.state.lock().unwrap().entries.remove(&item);
                bus.reply(header, &none).await
            }
            "Dismiss" => bus.reply(header, &()).await,
            other => panic!("nobody asks a secret service for {other}"),
        }
    }
}

fn path(text: &str) -> OwnedObjectPath {
    OwnedObjectPath::try_from(text).unwrap()
}
