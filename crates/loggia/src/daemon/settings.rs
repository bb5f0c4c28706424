//! What was asked of `loggia serve`, once flags and configuration are read.

use std::path::PathBuf;
use std::time::Duration;

use loggia_domain::Policy;
use loggia_engine::dialogs::DialogSettings;
use loggia_engine::tasks::TaskSettings;

use super::indexes::IndexRules;
use super::models;
use crate::cli::GlobalFlags;
use crate::config::Config;
use crate::config::catalogue::Known;
use crate::config::endpoints::Endpoint;

/// What a daemon is started with.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where to listen besides the Unix socket, as it was written.
    pub(crate) addr: Option<String>,
    /// Names besides the loopback's under which it may be asked.
    pub(crate) hosts: Vec<String>,
    /// Origins besides its own whose pages may ask.
    pub(crate) origins: Vec<String>,
    /// Whether and how connections are encrypted.
    pub(crate) tls: TlsChoice,
    /// Whether other machines may connect without encryption.
    pub(crate) insecure: bool,
    /// The model of new sessions.
    pub(crate) model: Option<String>,
    /// Where that is set, for people.
    pub(crate) model_origin: Option<String>,
    /// Whether that counts before a choice that was kept.
    pub(crate) pinned_model: bool,
    /// Endpoints of models besides the usual ones.
    pub(crate) endpoints: Vec<Endpoint>,
    /// What is known better about models.
    pub(crate) catalogue: Vec<Known>,
    /// What holds in a workspace as far as its own policy does not say otherwise.
    pub(crate) policy: Policy,
    /// How tasks go.
    pub(crate) tasks: TaskSettings,
    /// What extensions' dialogs may.
    pub(crate) dialogs: DialogSettings,
    /// How code indexes are kept; nothing where there are none.
    pub(crate) index: Option<IndexRules>,
    /// Workspaces to register.
    pub(crate) workspaces: Vec<PathBuf>,
    /// Whether readiness is told as JSON.
    pub(crate) json: bool,
    /// Whether to show the page in a browser.
    pub(crate) open: bool,
    /// Whether whoever started us has gone, or is about to.
    pub(crate) detached: bool,
    /// Whether to leave when nobody needs us: nobody asked for a server, only for an answer.
    pub(crate) auto: bool,
    /// How long nobody may be there before we leave, if we do; never otherwise.
    pub(crate) idle_exit: Option<Duration>,
    /// Flags that count before files, also in workspaces that are looked at later.
    pub(crate) flags: GlobalFlags,
}

/// Whether and how connections are encrypted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TlsChoice {
    /// Not at all.
    Off,
    /// With a certificate of our own.
    SelfSigned,
    /// With these files.
    Files {
        /// The certificate, and those that vouch for it.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
}

impl Settings {
    /// What an engine is started with that serves one command alone.
    pub(crate) fn of_command(config: &Config, flags: &GlobalFlags) -> Self {
        // A plugin's agent is no engine's default: the command asks for it itself.
        let model = config.model().filter(|name| !models::is_agent(name));
        Self {
            addr: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            tls: TlsChoice::Off,
            insecure: false,
            model: model.map(str::to_owned),
            model_origin: config.model_origin(),
            pinned_model: model.is_some() && config.is_model_pinned(),
            endpoints: config.endpoints(),
            catalogue: config.catalogue(),
            policy: config.policy(),
            tasks: config.tasks(),
            dialogs: config.dialogs(),
            // It would be built anew for each command.
            index: None,
            workspaces: Vec::new(),
            json: false,
            open: false,
            detached: false,
            auto: false,
            idle_exit: None,
            flags: flags.clone(),
        }
    }

    /// The host of the address, without brackets.
    pub(crate) fn host(&self) -> Option<&str> {
        let addr = self.addr.as_deref()?;
        let host = addr.rsplit_once(':').map_or(addr, |(host, _)| host);
        Some(host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host))
    }
}
