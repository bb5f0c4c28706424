//! The process that a client started, when it serves the client itself and keeps nothing.

use std::time::Duration;

use loggia_rpc::{Exit, Launch, LaunchError};
use tokio_util::sync::CancellationToken;

use crate::cli::GlobalFlags;
use crate::config::Config;
use crate::config::places::Places;
use crate::daemon::Settings;
use crate::daemon::ephemeral::Ephemeral;
use crate::daemon::signals::Signals;
use crate::errors::Error;

/// How long the engine may take to close what nobody will open again. The connection has had most of the time there is.
const LAST_BREATH: Duration = Duration::from_millis(50);

/// Serves the client on the standard streams until it goes or a signal comes.
pub(super) async fn run(
    signals: &mut Signals,
    config: &Config,
    flags: &GlobalFlags,
    places: &Places,
    launch: Result<Launch, LaunchError>,
) -> Result<Exit, Error> {
    let settings = Settings::of_command(config, flags);
    let house = tokio::select! {
        house = Ephemeral::start(&settings, places) => house?,
        // Nothing has begun.
        _ = signals.next() => return Ok(Exit { code: 0, reason: None }),
    };
    let stop = CancellationToken::new();
    let (stdin, stdout) = (tokio::io::stdin(), tokio::io::stdout());
    let mut serving = std::pin::pin!(loggia_rpc::serve(house.rpc(), launch, stdin, stdout, stop.clone()));
    let exit = loop {
        tokio::select! {
            exit = &mut serving => break exit,
            _ = signals.next() => stop.cancel(),
        }
    };
    if tokio::time::timeout(LAST_BREATH, house.end()).await.is_err() {
        tracing::debug!("what ran is left");
    }
    Ok(exit)
}
