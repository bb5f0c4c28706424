//! The `loggia` command: parse, load the configuration, run one command, report, leave.
//!
//! This crate wires the others together. What it owns itself is what a person at a terminal meets: flags,
//! configuration, messages and exit codes. Data goes to stdout, talk goes to stderr.
//!
//! What always holds: nothing prints or exits except through [`output`], [`errors`] and this file, and a
//! reader that closes our stdout early is a normal end.

mod cli;
mod color;
mod commands;
mod config;
mod daemon;
mod env_vars;
mod errors;
mod exit_code;
mod inspect;
mod logging;
mod nearest;
mod output;
mod rpc;
mod supervise;
mod telemetry;

use loggia_console::Journal;
use tracing::level_filters::LevelFilter;

use crate::cli::{
    AskArguments, Asked, Cli, Command, ConfigCommand, ExtensionCommand, ExtensionSubcommand, GlobalFlags,
    HiddenCommand, IndexCommand, IndexSubcommand, ModelCommand, PluginCommand, PluginSubcommand,
    PolicyCommand, ServeArguments, SessionsCommand, TaskCommand, TurnArguments,
};
use crate::commands::client::Home;
use crate::commands::serve::Starter;
use crate::config::places::Places;
use crate::config::trust::Trust;
use crate::config::{Config, OwnFlag, keys};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::logging::{Format, Heard};
use crate::telemetry::Telemetry;

fn main() -> std::process::ExitCode {
    color::settle(color::asked_early());
    let done = match cli::parse() {
        Ok(Asked::Public(cli)) => run(cli),
        Ok(Asked::Agent(words)) => return rpc::run(GlobalFlags::default(), &words).into(),
        Ok(Asked::Hidden(HiddenCommand::Supervise)) => return supervise::run(),
        Ok(Asked::Hidden(HiddenCommand::Docs(arguments))) => commands::docs::run(&arguments),
        Ok(Asked::Hidden(HiddenCommand::Serve { flags, arguments })) => serve_detached(&flags, &arguments),
        Err(error) => return errors::report_usage(&error).into(),
    };
    match done {
        Ok(code) => code.into(),
        Err(error) => errors::report(&error).into(),
    }
}

fn run(cli: Cli) -> Result<ExitCode, Error> {
    match cli.command {
        // Its configuration is read by the process that stays.
        Command::Serve(arguments) if arguments.detach => commands::serve::detach(&cli.flags, &arguments),
        Command::Serve(arguments) => {
            let config = Config::load(&cli.flags, &commands::serve::own_flags(&arguments))?;
            let (telemetry, journal) = (Telemetry::asked(&config), Journal::new());
            begin(&config, config.log_format(), telemetry.as_ref(), Some(&journal));
            commands::serve::run(&config, &cli.flags, &arguments, Starter::Stays, telemetry, journal)
        }
        Command::Rpc(arguments) => Ok(rpc::run(cli.flags, &arguments.words)),
        Command::Ask(arguments) => ask(&cli.flags, &arguments),
        Command::Chat(arguments) => chat(&cli.flags, &arguments),
        Command::Attach(arguments) => {
            let (config, home) = client_of(&cli.flags)?;
            commands::attach::run(&config, &home, &arguments)
        }
        Command::Sessions { command: Some(SessionsCommand::Resume(arguments)), .. }
            if arguments.prompt.is_empty() && !arguments.json =>
        {
            chat(&cli.flags, &AskArguments::from(arguments).turn)
        }
        Command::Sessions { command: Some(SessionsCommand::Resume(arguments)), .. } => {
            ask(&cli.flags, &arguments.into())
        }
        Command::Sessions { command, usual } => {
            let command = command.unwrap_or(SessionsCommand::List(usual));
            commands::sessions::run(&as_client(&cli.flags)?, command).map(ExitCode::from)
        }
        Command::Undo(arguments) => {
            commands::undo::undo(&as_client(&cli.flags)?, arguments).map(ExitCode::from)
        }
        Command::Redo(arguments) => {
            commands::undo::redo(&as_client(&cli.flags)?, arguments).map(ExitCode::from)
        }
        Command::Model { command, usual } => {
            let command = command.unwrap_or(ModelCommand::List(usual));
            let (config, home) = client_of(&cli.flags)?;
            commands::model::run(&config, &home, command).map(ExitCode::from)
        }
        Command::Policy { command, usual } => {
            let command = command.unwrap_or(PolicyCommand::Show(usual));
            commands::policy::run(&as_client(&cli.flags)?, command).map(ExitCode::from)
        }
        Command::Task { command, usual } => {
            let command = command.map_or(TaskCommand::List(usual), |command| *command);
            let (config, home) = client_of(&cli.flags)?;
            commands::task::run(&config, &home, command).map(ExitCode::from)
        }
        Command::Plugin { command: Some(PluginSubcommand::Host(command)), .. } => {
            commands::plugin::run(&as_client(&cli.flags)?, command)
        }
        Command::Search(arguments) => {
            commands::index::search(&as_client(&cli.flags)?, arguments).map(ExitCode::from)
        }
        Command::Index { command, usual } => {
            let command = command.unwrap_or(IndexSubcommand::Kept(IndexCommand::Status(usual)));
            match command {
                IndexSubcommand::Kept(command) => {
                    commands::index::run(&as_client(&cli.flags)?, command).map(ExitCode::from)
                }
                IndexSubcommand::Pull(arguments) => {
                    let (config, home) = client_of(&cli.flags)?;
                    commands::index_pull::run(&config, &home.places, &arguments)
                }
            }
        }
        Command::Plugin { command: None, usual } => {
            commands::plugin::run(&as_client(&cli.flags)?, PluginCommand::List(usual))
        }
        Command::Ext { command: Some(ExtensionSubcommand::Host(command)), .. } => {
            commands::extension::run(&as_client(&cli.flags)?, command)
        }
        Command::Ext { command: None, usual } => {
            commands::extension::run(&as_client(&cli.flags)?, ExtensionCommand::List(usual))
        }
        Command::Message { command: Some(command), .. } => {
            commands::message::run(&as_client(&cli.flags)?, *command)
        }
        Command::Message { command: None, usual } => {
            commands::message::status(&as_client(&cli.flags)?, &usual)
        }
        Command::Trust(arguments) => {
            commands::trust::run(&as_client(&cli.flags)?, &arguments).map(ExitCode::from)
        }
        Command::Init(arguments) => {
            let (config, home) = client_of(&cli.flags)?;
            commands::init::run(&config, &home, &arguments)
        }
        Command::Doctor(arguments) => match as_client(&cli.flags) {
            Err(Error::Config(error)) => commands::doctor::run_misconfigured(&error, &arguments),
            home => commands::doctor::run(&home?, &arguments),
        },
        Command::Inspect(arguments) => {
            start(&cli.flags, &[])?;
            commands::inspect::run(&arguments)
        }
        Command::Config(ConfigCommand::Show(arguments)) => {
            commands::config_show::run(&start(&cli.flags, &[])?, &arguments)
        }
        // The rest must work however broken the configuration is.
        Command::Plugin { command: Some(PluginSubcommand::Check(arguments)), .. } => {
            commands::plugin_check::run(&cli.flags, &arguments)
        }
        Command::Plugin { command: Some(PluginSubcommand::New(arguments)), .. } => {
            commands::plugin_new::run(&arguments)
        }
        Command::Ext { command: Some(ExtensionSubcommand::Check(arguments)), .. } => {
            commands::extension_check::run(&cli.flags, &arguments)
        }
        Command::Ext { command: Some(ExtensionSubcommand::New(arguments)), .. } => {
            commands::extension_new::run(&arguments)
        }
        Command::Wrap(arguments) => commands::wrap::run(&cli.flags, &arguments),
        Command::Open(arguments) => commands::open::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Stop(arguments) => commands::stop::run(&arguments),
        Command::Config(ConfigCommand::Path(arguments)) => commands::config_path::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
    }
}

/// Asks, with the configuration of the workspace that is asked about.
fn ask(flags: &GlobalFlags, arguments: &AskArguments) -> Result<ExitCode, Error> {
    let (config, home) = prepare(flags, &arguments.turn)?;
    commands::ask::run(&config, flags, home, arguments)
}

/// Converses, in the same way.
fn chat(flags: &GlobalFlags, arguments: &TurnArguments) -> Result<ExitCode, Error> {
    let (config, home) = prepare(flags, arguments)?;
    commands::chat::run(&config, home, arguments).map(ExitCode::from)
}

fn prepare(flags: &GlobalFlags, arguments: &TurnArguments) -> Result<(Config, Home), Error> {
    let mut places = match &arguments.workspace {
        Some(directory) => Places::around(Some(directory))?,
        None => Places::find()?,
    };
    places.trust = arguments.trust.then_some(Trust::Full);
    let config = Config::load_in(&places, flags, &commands::ask::own_flags(arguments))?;
    begin_client(&config);
    let home = Home::new(places, &config);
    Ok((config, home))
}

/// Starts a command that is a client, and says where its server is.
fn as_client(flags: &GlobalFlags) -> Result<Home, Error> {
    client_of(flags).map(|(_, home)| home)
}

fn client_of(flags: &GlobalFlags) -> Result<(Config, Home), Error> {
    let places = Places::find()?;
    let config = Config::load_in(&places, flags, &[])?;
    begin_client(&config);
    let home = Home::new(places, &config);
    Ok((config, home))
}

/// A client is silent about what goes well, unless somebody wants to know: what it shows is its answer.
fn begin_client(config: &Config) {
    begin_client_heard(config, Heard::Everybody);
}

/// The same, with a word on who is heard.
fn begin_client_heard(config: &Config, heard: Heard) {
    color::settle(config.color());
    let level = if config.is_set(&keys::LOG_LEVEL) { config.log_level() } else { LevelFilter::WARN };
    logging::start(level, config.log_format(), heard, None, None);
    if level >= LevelFilter::WARN {
        errors::warn_of_ignored(config);
    }
}

/// A daemon whose starter goes. What it logs is looked at later.
fn serve_detached(flags: &GlobalFlags, arguments: &ServeArguments) -> Result<ExitCode, Error> {
    daemon::detach::leave_terminal();
    let config = Config::load(flags, &commands::serve::own_flags(arguments))?;
    let format = config.log_format();
    let format = if format == Format::Text { Format::TimedText } else { format };
    let (telemetry, journal) = (Telemetry::asked(&config), Journal::new());
    begin(&config, format, telemetry.as_ref(), Some(&journal));
    commands::serve::run(&config, flags, arguments, Starter::Goes, telemetry, journal)
}

/// Loads the configuration and makes colours and the log follow it.
fn start(flags: &GlobalFlags, of_command: &[OwnFlag<'_>]) -> Result<Config, Error> {
    let config = Config::load(flags, of_command)?;
    begin(&config, config.log_format(), None, None);
    Ok(config)
}

fn begin(config: &Config, format: Format, telemetry: Option<&Telemetry>, journal: Option<&Journal>) {
    color::settle(config.color());
    logging::start(config.log_level(), format, Heard::Everybody, telemetry, journal);
    if config.log_level() >= LevelFilter::WARN {
        errors::warn_of_ignored(config);
    }
}
