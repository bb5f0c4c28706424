//! What can stand in the way of a daemon, and what to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use loggia_endermux_io::server::BindError;
use loggia_engine::EngineError;
use loggia_http::{DoorError, TlsError};
use loggia_models::ScriptError;
use loggia_protocol_agent_server::CONTROL_VERSION;
use loggia_store::OpenError;

use super::lock::Record;
use super::open::Unopened;
use crate::errors::ErrorKind;

/// A daemon that does not come up, does not answer, or did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    /// There is one.
    #[error("a daemon is running already: {0}")]
    Running(Record),
    /// Its lock cannot be used.
    #[error("cannot use the lock `{}`", path.display())]
    Lock {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A directory of ours cannot be used.
    #[error("cannot use the directory `{}`", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A directory of ours can be looked into by others.
    #[error("others can look into the directory `{}`", path.display())]
    OpenDirectory {
        /// Which.
        path: PathBuf,
    },
    /// There is nowhere to write the log.
    #[error("cannot write the log `{}`", path.display())]
    Log {
        /// The log's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system gives no threads or signals.
    #[error("cannot start the runtime")]
    Runtime {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The sessions cannot be opened.
    #[error("cannot open the store")]
    Store {
        /// Why.
        #[from]
        source: OpenError,
    },
    /// Nobody could be let in.
    #[error("cannot open the door")]
    Door {
        /// Why.
        #[from]
        source: DoorError,
    },
    /// The engine cannot start.
    #[error("cannot start the engine")]
    Engine {
        /// Why.
        #[source]
        source: EngineError,
    },
    /// A directory cannot be a workspace.
    #[error("cannot use `{}` as a workspace", path.display())]
    Workspace {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: EngineError,
    },
    /// A model is named that nobody provides.
    #[error("{reason}{}", origin.as_ref().map(|origin| format!(" (set by `{origin}`)")).unwrap_or_default())]
    UnknownModel {
        /// What is not known, and what was probably meant.
        reason: String,
        /// Who named it: a file and its line, a variable or a flag.
        origin: Option<String>,
    },
    /// Somebody is to make vectors who cannot.
    #[error("`index.embedder`: {reason}")]
    UnknownEmbedder {
        /// What is wrong, and what was probably meant.
        reason: String,
    },
    /// What is said to be known better about a model makes no sense.
    #[error("`catalogue.{model:?}`: {what}")]
    Catalogue {
        /// Which model.
        model: String,
        /// What is wrong.
        what: String,
    },
    /// A model's script cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    ReadScript {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A model's script makes no sense.
    #[error("the script `{}` cannot be understood", path.display())]
    Script {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: ScriptError,
    },
    /// Others would hear everything.
    #[error("`{address}` can be reached by other machines, and the connection would not be encrypted")]
    Insecure {
        /// What was to be bound.
        address: SocketAddr,
    },
    /// There is no certificate to use.
    #[error("cannot set up TLS")]
    Tls {
        /// Why.
        #[from]
        source: TlsError,
    },
    /// An address cannot be bound.
    #[error("cannot listen on `{addr}`")]
    Listen {
        /// As it was written.
        addr: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Somebody else answers where our socket should be.
    #[error("somebody answers on `{}` already", path.display())]
    SocketTaken {
        /// The socket.
        path: PathBuf,
    },
    /// The console's socket cannot be had.
    #[error("the console cannot be opened")]
    Console {
        /// Why.
        #[from]
        source: BindError,
    },
    /// A listener broke while it was used.
    #[error("cannot accept connections any more")]
    Broken {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A second signal came.
    #[error("stopped without waiting for what was under way")]
    Cut,
    /// Another process of ours cannot be started.
    #[error("cannot start the daemon")]
    Start {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is one, and it says nothing.
    #[error("the daemon does not answer: {0}")]
    Silent(Record),
    /// It only has its Unix socket, which browsers do not speak to.
    #[error("the server that runs has no address for browsers: {0}")]
    NoAddress(Record),
    /// There is none.
    #[error("no server runs")]
    NotRunning,
    /// The page cannot be shown.
    #[error("no browser could be started")]
    Unopened {
        /// Why.
        #[source]
        source: Unopened,
    },
    /// It has gone while it was needed.
    #[error("the server has gone")]
    Lost,
    /// It answers, but not clients of the rpc door.
    #[error("the server that runs has no rpc door: {0}")]
    NoRpc(Record),
    /// It answers something else.
    #[error("the daemon refused: {status}")]
    Refused {
        /// What it answered.
        status: String,
    },
    /// One was started for this, and ended before it was ready. It has said why.
    #[error("the server ended before it was ready{}", if said.is_empty() { String::new() } else { format!(": {said}") })]
    NotStarted {
        /// Its exit code, if it ended by itself.
        code: Option<i32>,
        /// What it said.
        said: String,
    },
    /// It and we do not understand each other.
    #[error(
        "the server that runs is loggia {version}, whose control version is {control}, and that of this command is {CONTROL_VERSION}"
    )]
    OtherControl {
        /// Its version.
        version: String,
        /// Its control version.
        control: u32,
    },
    /// Messages would be lost with it.
    #[error("what is open is not saved: {}", .0.join(", "))]
    UnsavedMessages(Vec<String>),
    /// It takes its time.
    #[error("the daemon has not stopped yet: {0}")]
    StillThere(Record),
}

impl DaemonError {
    /// The same, with where the model is set that it is about.
    pub(crate) fn set_by(self, origin: Option<&str>) -> Self {
        match self {
            Self::UnknownModel { reason, origin: None } => {
                Self::UnknownModel { reason, origin: origin.map(str::to_owned) }
            }
            other => other,
        }
    }

    /// What it means to the caller.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Insecure { .. } => ErrorKind::Usage,
            Self::UnknownModel { .. }
            | Self::UnknownEmbedder { .. }
            | Self::Catalogue { .. }
            | Self::ReadScript { .. }
            | Self::Script { .. }
            | Self::Workspace { .. }
            | Self::Tls { .. } => ErrorKind::Configuration,
            Self::Running(_)
            | Self::Listen { .. }
            | Self::SocketTaken { .. }
            | Self::Console { .. }
            | Self::Store { .. }
            | Self::Door { .. }
            | Self::Directory { .. }
            | Self::Log { .. }
            | Self::OpenDirectory { .. }
            | Self::Lock { .. }
            | Self::Silent(_)
            | Self::NoAddress(_)
            | Self::NotRunning
            | Self::Unopened { .. }
            | Self::Lost
            | Self::NoRpc(_)
            | Self::OtherControl { .. }
            | Self::Refused { .. }
            | Self::StillThere(_) => ErrorKind::Unavailable,
            Self::UnsavedMessages(_) => ErrorKind::Refused,
            Self::Runtime { .. }
            | Self::Engine { .. }
            | Self::Broken { .. }
            | Self::Cut
            | Self::NotStarted { .. }
            | Self::Start { .. } => ErrorKind::Internal,
        }
    }

    /// What to try.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Running(_) => {
                "`loggia open` shows its page, `loggia status` tells more about it, `loggia stop` stops it"
            }
            Self::UnsavedMessages(_) => {
                "`loggia message save` saves it, `loggia stop --discard` loses what was changed"
            }
            Self::NotRunning => "`loggia serve --open` starts one and shows its page",
            Self::NoAddress(_) => {
                "`loggia stop && loggia serve --open` starts one that has, and shows its page"
            }
            Self::Unopened { .. } => "open the address yourself, within two minutes",
            Self::Store { source: OpenError::InUse { .. } } => {
                "it has another runtime directory: set `LOGGIA_RUNTIME_DIR` to find it, or `LOGGIA_DATA_DIR` to have data of its own"
            }
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "another server may be running; stop it, or pass `--addr 127.0.0.1:0` to take a free port"
            }
            Self::Insecure { .. } => {
                "add `--tls self-signed`, or `--insecure` if the network is as safe as this machine"
            }
            Self::UnknownModel { .. } => {
                "models are called `provider:model`, as in `openai:gpt-5`; `loggia model list` tells which there are, `scripted:FILE` plays a script"
            }
            Self::UnknownEmbedder { .. } => {
                "embedders are called `minilm` or `provider:model`, as in `ollama:nomic-embed-text`; empty means none"
            }
            Self::Catalogue { .. } => {
                "correct it in the configuration; `loggia config show` tells where it is set"
            }
            Self::OtherControl { control, .. } if *control < CONTROL_VERSION => {
                "restart the server, which is the older one: `loggia stop`; the next command starts a new one"
            }
            Self::OtherControl { .. } => {
                "update this command, which is the older one; or stop the server with `loggia stop`, and the next command starts one of its own version"
            }
            Self::Lost => {
                "its log tells why: `daemon.log` in the data directory; the next command starts another one"
            }
            Self::NoRpc(_) => "it is an older one: run `loggia stop`; the next command starts a new one",
            Self::NotStarted { .. } => "`loggia serve` runs it here, where you can watch it",
            Self::SocketTaken { .. } | Self::Console { source: BindError::Taken { .. } } => {
                "set `LOGGIA_RUNTIME_DIR` to a directory of its own, or stop whoever answers"
            }
            Self::Directory { path, source } | Self::Lock { path, source } | Self::Log { path, source } => {
                return Some(way_out(path, source.kind()));
            }
            Self::Store { source: OpenError::NotWritable { path, source } } => {
                return Some(way_out(path, source.kind()));
            }
            Self::OpenDirectory { path } => {
                let path = path.display();
                return Some(format!(
                    "if it is only for Loggia, close it with `chmod 700 '{path}'`; else name another"
                ));
            }
            Self::Silent(record) | Self::StillThere(record) => {
                return Some(format!("look at it with `ps {0}`, end it with `kill {0}`", record.pid));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// What to do about a place of ours that cannot be used.
fn way_out(path: &Path, why: io::ErrorKind) -> String {
    const ELSEWHERE: &str = "`LOGGIA_DATA_DIR` and `LOGGIA_RUNTIME_DIR` name other directories";
    let path = path.display();
    match why {
        io::ErrorKind::PermissionDenied => format!(
            "`ls -ld '{path}'` tells who owns it; if it is yours, `chmod u+rwx '{path}'` and the same above it; {ELSEWHERE}"
        ),
        io::ErrorKind::ReadOnlyFilesystem => format!("the disk is mounted read-only there; {ELSEWHERE}"),
        io::ErrorKind::StorageFull => format!("the disk is full; make room, or {ELSEWHERE}"),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("something that is no directory is in its way; move that, or {ELSEWHERE}")
        }
        _ => format!("look at it with `ls -ld '{path}'`; {ELSEWHERE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_used_is_told_with_the_way_out() {
        let error = |kind: io::ErrorKind| {
            let error = DaemonError::Directory { path: "/data/loggia".into(), source: kind.into() };
            format!("{error} | {}", error.hint().unwrap())
        };
        let denied = error(io::ErrorKind::PermissionDenied);
        assert!(
            denied.starts_with("cannot use the directory `/data/loggia` | `ls -ld '/data/loggia'`"),
            "{denied}"
        );
        assert!(denied.contains("chmod u+rwx"), "{denied}");
        assert!(error(io::ErrorKind::ReadOnlyFilesystem).contains("mounted read-only"));
        assert!(error(io::ErrorKind::NotADirectory).ends_with("`LOGGIA_RUNTIME_DIR` name other directories"));
    }
}
