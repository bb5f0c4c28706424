//! `loggia attach`: a terminal on a console.

use std::future::pending;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use anstream::{AutoStream, ColorChoice};
use loggia_cli::{Attach, Attached, ColorLevel, Filter};
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;

use super::client::{self, Home};
use crate::cli::AttachArguments;
use crate::config::Config;
use crate::daemon::DaemonError;
use crate::daemon::directories::{self, RuntimeDirectory};
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Where what was typed to Loggia's own console is remembered, in the data directory.
const HISTORY: &str = "console-history";

/// The same for consoles of other servers: their commands are other ones.
const OTHER_HISTORY: &str = "other-console-history";

/// Runs the command.
pub(crate) fn run(config: &Config, home: &Home, arguments: &AttachArguments) -> Result<ExitCode, Error> {
    let runtime = client::runtime()?;
    let done = runtime.block_on(async {
        let socket = match &arguments.socket {
            Some(socket) => {
                std::path::absolute(socket).map_err(|source| Error::Input { path: socket.clone(), source })?
            }
            None => {
                home.client().await?;
                RuntimeDirectory::of(&home.places).console_socket()
            }
        };
        let options = options(config, home, arguments, socket)?;
        let hung_up = hung_up()?;
        let (interrupts, listening) = client::interrupts_and_end()?;
        let listening = tokio::spawn(listening);
        let mut terminal = client::terminal();
        let done = tokio::select! {
            done = loggia_cli::attach(&options, &mut terminal, interrupts) => done,
            () = hung_up => Ok(Attached::Cancelled),
        };
        listening.abort();
        Ok(match done? {
            Attached::Done => ExitCode::Success,
            Attached::Cancelled => ExitCode::Cancelled,
            Attached::Failed(status) => ExitCode::of_command(status),
        })
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}

fn options(
    config: &Config,
    home: &Home,
    arguments: &AttachArguments,
    socket: PathBuf,
) -> Result<Attach, Error> {
    let data = home.places.data();
    directories::make_private(data)?;
    let history = if arguments.socket.is_some() { OTHER_HISTORY } else { HISTORY };
    Ok(Attach {
        socket,
        color_level: color_level(),
        filter: Filter { grep: arguments.grep.clone(), level: arguments.level.map(Into::into) },
        read_only: arguments.read_only,
        json: arguments.json,
        quiet: config.log_level() < LevelFilter::WARN,
        history: Some(data.join(history)),
        commands: arguments.commands.clone(),
        piped: !arguments.read_only && !io::stdin().is_terminal(),
    })
}

/// The colours of standard output, once they are settled. How many there are is what the terminal says of itself.
fn color_level() -> ColorLevel {
    if AutoStream::choice(&io::stdout()) == ColorChoice::Never {
        return ColorLevel::None;
    }
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let (term, colors) = (of("TERM"), of("COLORTERM"));
    level_of(&term, &colors)
}

fn level_of(term: &str, colors: &str) -> ColorLevel {
    match () {
        () if term == "dumb" => ColorLevel::None,
        () if matches!(colors, "truecolor" | "24bit") || term.contains("truecolor") => ColorLevel::TrueColor,
        () if term.contains("256color") => ColorLevel::Indexed256,
        () => ColorLevel::Indexed16,
    }
}

/// SIGHUP from now on, where a line is edited: the terminal may be there still, and is put back. Elsewhere it does what it
/// always does, so that `nohup` works.
fn hung_up() -> Result<impl Future<Output = ()>, DaemonError> {
    let edits = io::stdin().is_terminal() && io::stdout().is_terminal();
    let signals = edits.then(|| signal(SignalKind::hangup())).transpose();
    let mut signals = signals.map_err(|source| DaemonError::Runtime { source })?;
    Ok(async move {
        match &mut signals {
            Some(signals) => {
                signals.recv().await;
            }
            None => pending().await,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_says_how_many_colours_it_has() {
        assert_eq!(level_of("xterm-256color", "truecolor"), ColorLevel::TrueColor);
        assert_eq!(level_of("xterm-256color", ""), ColorLevel::Indexed256);
        assert_eq!(level_of("xterm", ""), ColorLevel::Indexed16);
        assert_eq!(level_of("dumb", "truecolor"), ColorLevel::None);
    }
}
