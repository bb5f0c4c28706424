//! `loggia ask`: one prompt to the agent, from here to the end of its turn.

use std::future::Future;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use loggia_cli::{Approvals, Ask, Outcome, Revive, SessionChoice};
use loggia_client::{Client, Server};
use loggia_protocol_agent_server::{PolicyPreset, SessionId};
use tracing::level_filters::LevelFilter;

use super::client::{self, Home};
use super::trust::RunTrust;
use crate::cli::{AskArguments, GlobalFlags, TurnArguments};
use crate::config::places::Places;
use crate::config::trust::Trust;
use crate::config::{Config, OwnFlag, keys};
use crate::daemon::ephemeral::Ephemeral;
use crate::daemon::{Settings, find, models};
use crate::errors::{self, Error};
use crate::exit_code::ExitCode;

/// What is read of a pipe: one byte more than is taken, so that too much is noticed.
const MAX_INPUT_BYTES: u64 = 2 * 1024 * 1024 + 1;

/// What the name of a model that plays a script begins with.
const SCRIPTED: &str = "scripted:";

/// The flags that set a key of the configuration.
pub(crate) fn own_flags(arguments: &TurnArguments) -> [OwnFlag<'_>; 1] {
    [OwnFlag { key: &keys::MODEL_DEFAULT, name: "--model", text: arguments.model.as_deref() }]
}

/// Runs the command.
pub(crate) fn run(
    config: &Config,
    flags: &GlobalFlags,
    home: Home,
    arguments: &AskArguments,
) -> Result<ExitCode, Error> {
    let asked = asked(config, &home, &arguments.turn, arguments.ephemeral)?;
    let prompt = arguments.prompt.join(" ");
    let asked = Ask { prompt, stdin_context: piped()?, json: arguments.json, ..asked };
    let outcome = match arguments.ephemeral {
        true => in_process(config, flags, &home.places, asked)?,
        false => of_server(home, asked)?,
    };
    Ok(outcome.into())
}

/// Asks the server that runs, or one that is started for it.
fn of_server(home: Home, mut asked: Ask) -> Result<Outcome, Error> {
    let home = Arc::new(home);
    asked.revive = Some(revive(&home));
    let script = asked.model.clone().filter(|name| name.starts_with(SCRIPTED));
    let runtime = client::runtime()?;
    let done = runtime.block_on(async {
        let client = home.client_with_model().await?;
        let follows_choice = asked.model.is_none() && asked.session == SessionChoice::New;
        let outcome = trusting(&home, &client, asked.workspace.clone(), ask(&client, asked)).await?;
        if follows_choice && outcome == Outcome::ModelFailed {
            warn_of_choice(&client).await;
        }
        Ok(outcome)
    });
    let done = done.map_err(|error| match (&error, script) {
        (Error::Client(refused), Some(name)) if refused.is_about_model() => Error::ScriptElsewhere { name },
        _ => error,
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}

/// Does something in a workspace that is trusted meanwhile, if somebody said so for this run.
pub(super) async fn trusting<T>(
    home: &Home,
    client: &Client,
    workspace: PathBuf,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    if home.places.trust != Some(Trust::Full) {
        return work.await;
    }
    let run = RunTrust::begin(client, &workspace).await?;
    let done = work.await;
    run.end().await;
    done
}

/// Tells the way out of a choice that does not work.
async fn warn_of_choice(client: &Client) {
    // Whoever cannot be asked has told as much already.
    let Ok(current) = client.current_model().await else { return };
    if let Some(problem) = current.problem.filter(|_| current.chosen) {
        let name = format!("{}:{}", current.provider, current.model_name);
        let message = format!("`{name}`, chosen with `loggia model use`, cannot be used: {problem}");
        let hint = "`loggia model use --unset` forgets the choice; `loggia model list` tells which there are";
        errors::warn(&message, hint);
    }
}

/// Starts a server again when the one that was asked has gone.
pub(super) fn revive(home: &Arc<Home>) -> Revive {
    let home = Arc::clone(home);
    Revive::new(move || {
        let home = Arc::clone(&home);
        async move {
            // What keeps it from coming back is told by whoever waits for it.
            let revived = tokio::task::spawn_blocking(move || find::or_start(&home.places, &home.variables));
            if let Ok(Err(error)) = revived.await {
                tracing::debug!(%error, "no server could be started");
            }
        }
    })
}

/// Asks an engine of this process, of which nothing stays.
fn in_process(config: &Config, flags: &GlobalFlags, places: &Places, asked: Ask) -> Result<Outcome, Error> {
    let runtime = Ephemeral::runtime()?;
    let done = runtime.block_on(async {
        let house = Ephemeral::start(&Settings::of_command(config, flags), places).await?;
        if places.trust == Some(Trust::Full) {
            // It may be below the directory that was found to be the workspace's root.
            house.trust(&asked.workspace)?;
        }
        let client = Client::new(Server::Unix(house.socket()));
        let done = ask(&client, asked).await;
        house.end().await;
        done
    });
    // What did not end in time goes with the process.
    runtime.shutdown_background();
    done
}

async fn ask(client: &Client, asked: Ask) -> Result<Outcome, Error> {
    let (interrupts, listening) = client::interrupts_and_end()?;
    let mut terminal = client::terminal();
    tokio::select! {
        outcome = loggia_cli::ask(client, asked, &mut terminal, interrupts) => Ok(outcome?),
        // Signals never end; if they did, nothing could be cancelled any more.
        () = listening => Ok(Outcome::Cancelled),
    }
}

/// How to ask, from flags and configuration. An engine of this process has the configuration itself, and only agents of
/// plugins are asked for by name.
pub(super) fn asked(
    config: &Config,
    home: &Home,
    arguments: &TurnArguments,
    in_process: bool,
) -> Result<Ask, Error> {
    let workspace = home.workspace(arguments.workspace.as_deref())?;
    let session = match (&arguments.session, arguments.r#continue) {
        (Some(id), _) => SessionChoice::Id(SessionId(id.clone())),
        (None, true) => SessionChoice::Latest,
        (None, false) => SessionChoice::New,
    };
    // What is set around here is for sessions that begin here. One that goes on keeps what it has.
    let (model, preset) = match session {
        SessionChoice::New => (config.own_model(), config.own_preset()),
        _ => (arguments.model.as_deref(), None),
    };
    let approvals = match (arguments.yes, arguments.read_only) {
        (true, _) => Approvals::Yes,
        (_, true) => Approvals::ReadOnly,
        _ => Approvals::Ask,
    };
    Ok(Ask {
        model: model.filter(|name| !in_process || models::is_agent(name)).map(str::to_owned),
        session,
        approvals,
        preset: arguments.policy.map(PolicyPreset::from).or(preset.filter(|_| !in_process)),
        budget: arguments.budget,
        quiet: config.log_level() < LevelFilter::WARN,
        ..Ask::new(String::new(), workspace)
    })
}

/// What is piped in. Nobody's words at a keyboard are waited for.
fn piped() -> Result<Option<String>, Error> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(MAX_INPUT_BYTES).read_to_end(&mut bytes);
    match read {
        Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        // There is none: whoever started us closed it.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error()) => Ok(None),
        Err(source) => Err(Error::Input { path: "standard input".into(), source }),
    }
}
