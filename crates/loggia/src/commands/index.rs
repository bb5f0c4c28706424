//! `loggia index` and `loggia search`: the code index of a workspace.

use loggia_cli::{IndexBuilding, IndexDrop, IndexOf, IndexShow, IndexSteer, Outcome, Search, SearchWay};

use super::client::{self, Home};
use crate::cli::{
    IndexBuildArguments, IndexCommand, IndexDropArguments, IndexPlace, IndexStatusArguments, SearchArguments,
    SearchWayArguments,
};
use crate::errors::Error;

/// Runs `loggia index`.
pub(crate) fn run(home: &Home, command: IndexCommand) -> Result<Outcome, Error> {
    match command {
        IndexCommand::Status(IndexStatusArguments { place, skipped }) => {
            let options = IndexShow { of: of(home, place)?, skipped };
            client::run(home, async |client, terminal| {
                loggia_cli::index_status(client, options, terminal).await
            })
        }
        IndexCommand::Build(IndexBuildArguments { place, rebuild }) => {
            let options = IndexBuilding { of: of(home, place)?, anew: rebuild };
            client::run_asking(home, async |client, terminal, interrupts| {
                loggia_cli::index_build(client, options, terminal, interrupts).await
            })
        }
        IndexCommand::Watch(place) => {
            let options = of(home, place)?;
            client::run_asking(home, async |client, terminal, interrupts| {
                loggia_cli::index_watch(client, options, terminal, interrupts).await
            })
        }
        IndexCommand::Pause(place) => steer(home, place, IndexSteer::Pause),
        IndexCommand::Resume(place) => steer(home, place, IndexSteer::Resume),
        IndexCommand::Cancel(place) => steer(home, place, IndexSteer::Cancel),
        IndexCommand::Drop(IndexDropArguments { place, yes }) => {
            let options = IndexDrop { of: of(home, place)?, yes };
            client::run_asking(home, async |client, terminal, interrupts| {
                loggia_cli::index_drop(client, options, terminal, interrupts).await
            })
        }
    }
}

/// Runs `loggia search`.
pub(crate) fn search(home: &Home, arguments: SearchArguments) -> Result<Outcome, Error> {
    let SearchArguments { words, way, kinds, paths, limit, place } = arguments;
    let way = match chosen(&way) {
        // Nothing but a definition has a kind.
        SearchWay::All if !kinds.is_empty() => SearchWay::Symbols,
        way => way,
    };
    let options = Search { of: of(home, place)?, query: words.join(" "), way, kinds, paths, limit };
    client::run_asking(home, async |client, terminal, interrupts| {
        loggia_cli::search(client, options, terminal, interrupts).await
    })
}

fn chosen(way: &SearchWayArguments) -> SearchWay {
    match way {
        SearchWayArguments { symbols: true, .. } => SearchWay::Symbols,
        SearchWayArguments { text: true, .. } => SearchWay::Words,
        SearchWayArguments { vector: true, .. } => SearchWay::Vectors,
        SearchWayArguments { regex: true, .. } => SearchWay::Regex,
        SearchWayArguments { phrase: true, .. } => SearchWay::Phrase,
        SearchWayArguments { references: true, .. } => SearchWay::References,
        _ => SearchWay::All,
    }
}

fn steer(home: &Home, place: IndexPlace, how: IndexSteer) -> Result<Outcome, Error> {
    let options = of(home, place)?;
    client::run(home, async |client, terminal| loggia_cli::index_steer(client, options, how, terminal).await)
}

fn of(home: &Home, place: IndexPlace) -> Result<IndexOf, Error> {
    Ok(IndexOf { workspace: home.workspace(place.workspace.as_deref())?, json: place.json })
}
